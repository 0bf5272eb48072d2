"""What is promised against exact laws of releases, over all options of the perturber.

On a line, noise is Laplace noise whatever λ is, and the chance that a word becomes
another one a difference of two values of its distribution function. Documents are read
here by rules of their own, and the law of a whole release is enumerated.
"""

from __future__ import annotations

import itertools
import math
import os
import re
import warnings
from collections import Counter

import numpy as np
import pytest
from experiments.mechanisms.recipes import Vickrey
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.embeddings import one_hot_embedding
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.mechanisms import (
    Exponential,
    RandomizedResponse,
    TableMechanism,
)
from tests.channels import Stated
from tests.expected import no_warning, refusals
from tests.laws import largest_loss, nearest_on_a_line, on_a_line, vickrey_rule

# "the" is a stop word of English and a word of the table; so may be any other.
WORDS = ("the", "good", "Bad", "awful")
TOKENS = [*WORDS, "The", "bad", "GOOD", "of", "unknown", "x"]


def cut(text, options):
    text = text.lower() if options["lowercase"] else text
    if options.get("tokenizer") is not None:
        return text.split()
    return re.findall(options["token_pattern"], text)


def read(document, options):
    """Codes of a document: numbers of words, or unknown words that are kept."""
    tokens = cut(document, options) if isinstance(document, str) else list(document)
    stop = options["stop_words"] or ()
    stop = ENGLISH_STOP_WORDS if stop == "english" else stop
    lower = str.lower if options["lowercase"] else str
    codes = []
    for token in tokens:
        if lower(token) in stop:
            continue
        for form in (token, token.lower(), token.capitalize()):
            if form in WORDS:
                codes.append(WORDS.index(form))
                break
        else:
            if options["oov"] == "error":
                return None
            if options["oov"] == "keep":
                codes.append(token)
    n = options["document_length"]
    if n is not None and options["resize"] == "truncate":
        return None if len(codes) < n else codes[:n]
    return codes


def release(codes, P, options):
    """Every release of a document, with its probability."""

    def of_word(code):
        if isinstance(code, str):
            return {code: 1.0}
        return dict(zip(WORDS, P[code], strict=True))

    n = options["document_length"]
    if n is not None and options["resize"] == "sample":
        drawn = codes or range(len(WORDS))
        one = Counter()
        for code in drawn:
            for word, p in of_word(code).items():
                one[word] += p / len(drawn)
        slots = [one] * n
    else:
        slots = [of_word(code) for code in codes]
    shares = Counter()
    for outcome in itertools.product(*(slot.items() for slot in slots)):
        words = tuple(word for word, _ in outcome)
        if options["output"] == "bow":
            words = tuple(sorted(words))
        shares[words] += math.prod(p for _, p in outcome)
    return shares


texts = st.lists(st.sampled_from(TOKENS), min_size=0, max_size=3)
documents = st.one_of(texts, texts.map(" ".join))
CHOICES = {
    "document_length": [None, 1, 2],
    "resize": ["truncate", "sample"],
    "oov": ["drop", "error", "keep"],
    "lowercase": [False, True],
    "stop_words": [None, "english", ["bad"], ["good", "of"]],
    "token_pattern": [r"(?u)\b\w\w+\b", r"\w+"],
    "tokenizer": [None, str.split],
    "output": ["bow", "tokens", "text"],
}
# one draw each: most of the time would go into drawing part by part
combined = itertools.product(*CHOICES.values())
every = [dict(zip(CHOICES, values, strict=True)) for values in combined]
options = st.sampled_from(
    [one for one in every if one["oov"] != "keep" or one["output"] == "text"]
)
positions_of_words = st.sampled_from(
    [p for p in itertools.product(np.arange(13) / 4, repeat=4) if len(set(p)) > 1]
)
epsilons, lams = st.sampled_from([0.3, 1.0, 3.0]), st.sampled_from([0.0, 0.5, 1.0])
ASKED = {"x": documents, "y": documents, "options": options, "epsilon": epsilons,
         "lam": lams, "positions": positions_of_words}  # fmt: skip


def assert_promised(x, y, options, law_of, table, **parameters):
    """No release of x loses more than is promised, by an exact law of words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        perturber = DPWordPerturber(table, **parameters, **options).fit([])
        guarantee = perturber.guarantee()
    one, two = read(x, options), read(y, options)
    # a guarantee is asked about lists of words
    x, y = (cut(d, options) if isinstance(d, str) else d for d in (x, y))
    if one is None or two is None:
        with pytest.raises(InvalidParameterError):
            guarantee.exponent(x, y)
        return
    claim = guarantee.exponent(x, y)
    P = law_of(perturber.mechanism_)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    first, second = release(one, P, options), release(two, P, options)
    assert sum(first.values()) == pytest.approx(1)
    assert largest_loss(first, second) <= claim + 1e-9
    # what shows is known to show
    if largest_loss(first, second) == math.inf:
        assert claim == math.inf


@settings(max_examples=int(os.environ.get("SKDPTEXT_LAWS", "250")))
@given(
    **ASKED,
    calibration=st.sampled_from([None, "half", "exact"]),
)
def test_no_release_loses_more_than_is_promised(
    x, y, options, epsilon, lam, positions, calibration
):
    table = WordEmbedding(WORDS, np.array(positions)[:, None])
    mechanism = None if calibration is None else Exponential(calibration)

    def law_of(channel):
        if calibration is None:
            return nearest_on_a_line(positions, epsilon)
        P = np.exp(-channel.rate * gaps(positions))
        return P / P.sum(axis=1, keepdims=True)

    given_ = {"epsilon": epsilon, "lam": lam, "mechanism": mechanism}
    assert_promised(x, y, options, law_of, table, **given_)


# -- the other mechanisms, each by a law of its own ------------------------------------


def gaps(positions):
    return np.abs(np.subtract.outer(positions, positions))


def law_of_response(epsilon):
    P = np.where(np.eye(4, dtype=bool), math.exp(epsilon), 1.0)
    return P / P.sum(axis=1, keepdims=True)


def random_law(seed):
    """Of any user's own: rows may lack words that others have."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(4, 0.5), 4) * (rng.random((4, 4)) < 0.8) + np.eye(4) / 9
    return P / P.sum(axis=1, keepdims=True)


@settings(max_examples=int(os.environ.get("SKDPTEXT_LAWS", "150")))
@given(
    **ASKED,
    kind=st.sampled_from(["response", "Vickrey", "stated"]),
    share=st.sampled_from([0.1, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_no_other_mechanism_loses_more_than_is_promised(
    x, y, options, epsilon, lam, positions, kind, share, seed
):
    table = WordEmbedding(WORDS, np.array(positions)[:, None])
    mechanism, law = {
        "response": lambda: (RandomizedResponse(), law_of_response(epsilon)),
        "Vickrey": lambda: (
            Vickrey(share),
            on_a_line(positions, epsilon, vickrey_rule(positions, share)),
        ),
        "stated": lambda: (Stated(random_law(seed)), random_law(seed)),
    }[kind]()
    given_ = {"epsilon": epsilon, "lam": lam, "mechanism": mechanism}
    assert_promised(x, y, options, lambda _: law, table, **given_)
    # and it is this law that the mechanism states, where it states one
    prepared = mechanism.prepare(table, epsilon, lam)
    if isinstance(prepared, TableMechanism):
        P = np.exp(prepared.log_proba(np.arange(4)))
        np.testing.assert_allclose(P, law, atol=1e-9)


def test_the_enumeration_follows_the_library():
    """The law of a whole release, against draws."""
    options = {
        "document_length": 2, "resize": "truncate", "oov": "drop", "lowercase": True,
        "stop_words": "english", "token_pattern": r"(?u)\b\w\w+\b", "output": "tokens",
    }  # fmt: skip
    positions = [0.0, 0.5, 2.0, 2.75]
    table = WordEmbedding(WORDS, np.array(positions)[:, None])
    perturber = DPWordPerturber(table, epsilon=1.0, **options).fit([])
    document, n = "the of good x unknown BAD awful", 10_000
    drawn = Counter(map(tuple, perturber.transform([document] * n)))
    exact = release(read(document, options), nearest_on_a_line(positions, 1.0), options)
    for words, p in exact.items():
        assert abs(drawn[words] / n - p) < 6 * math.sqrt(p * (1 - p) / n)


def test_a_stated_length_cuts_nothing():
    """As a release does not; in 0.1.0 the exponents below were 0."""
    row = WordEmbedding([f"w{i}" for i in range(12)], np.arange(12.0)[:, None])
    x, y = ["w0"] * 6, ["w0"] * 5 + ["w11"]
    with pytest.warns(PrivacyLeakWarning, match="number of words"):
        perturber = DPWordPerturber(row, epsilon=1.0, lam=0.0, output="tokens").fit([])
    assert perturber.guarantee(6).exponent(x, y) == 11.0
    for documents in ((x, y), (x, x[:5])):
        with pytest.raises(InvalidParameterError, match="must have n_words=5 words"):
            perturber.guarantee(5).exponent(*documents)
    with pytest.warns(PrivacyLeakWarning, match="number of words"):
        sampled = perturber.set_params(resize="sample").fit([]).guarantee(2)
    assert not sampled.resampled
    assert "redrawn" not in str(sampled)
    with pytest.raises(InvalidParameterError, match="must have n_words=2 words"):
        sampled.exponent(["w0"], ["w0", "w1"])
    with pytest.raises(InvalidParameterError, match="n_words must be an integer >= 1"):
        perturber.guarantee(0)


def test_stop_words_do_not_count():
    """As in the attack on 0.1.0, where the exponent was 0."""
    table = WordEmbedding(
        ["the", "of", "good", "great", "bad", "awful"],
        np.array([0.0, 0.1, 2.0, 2.1, -2.0, -2.2])[:, None],
    )
    perturber = DPWordPerturber(
        table,
        epsilon=3.0,
        lam=0.0,
        document_length=2,
        resize="truncate",
        stop_words="english",
    ).fit([])
    guarantee = perturber.guarantee()
    x, y = ["the", "of", "good", "great"], ["the", "of", "bad", "awful"]
    assert guarantee.exponent(x, y) == pytest.approx(3 * (4.0 + 4.3), rel=1e-5)
    assert guarantee.epsilon_for(x, y, factor=2.0) < 0.1


# -- what is said first --------------------------------------------------------------


def test_one_hot_takes_its_vocabulary_from_the_documents():
    bags = np.eye(3, dtype=int)
    perturber = DPWordPerturber("one-hot", document_length=1)
    with pytest.warns(PrivacyLeakWarning, match="vocabulary .*one-hot"):
        perturber.fit(bags)
    guarantee = perturber.guarantee()
    first = str(guarantee).split("\n\n")[1]
    assert first.startswith("WARNING. The vocabulary was taken from the columns")
    assert "The vocabulary was taken" in guarantee._repr_html_()
    both = guarantee.compose(guarantee)
    assert "The vocabulary was taken" in " ".join(str(both).split())
    public = DPWordPerturber(one_hot_embedding(["a", "b", "c"]), document_length=1)
    with no_warning():
        assert "The vocabulary was" not in str(public.fit(bags).guarantee())


def test_an_integer_seed_is_an_equality_oracle(small_embedding):
    def make(seed):
        return DPWordPerturber(
            small_embedding, document_length=2, resize="truncate", random_state=seed
        )

    seeded = make(2**100 + 1)
    with no_warning():  # it may be given ids
        seeded.fit([])
    assert "\n\nWARNING. The noise is repeatable" in str(seeded.guarantee())
    with no_warning():
        fresh = make(None).fit([])
    assert "The noise is repeatable" not in str(fresh.guarantee())
    documents = [["w1", "w2"], ["w3", "w4"], ["w1", "w2"]]
    with pytest.warns(PrivacyLeakWarning, match="equal documents get equal releases"):
        bags = seeded.transform(documents).toarray()
    assert (bags[0] == bags[2]).all()


def noisy_pairs(random_state, ids, n=4000):
    """Two equal documents of one word each: whether the words came out equal."""
    table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    perturber = DPWordPerturber(
        table, epsilon=0.5, lam=0.0, output="tokens", document_length=n,
        resize="truncate",
        random_state=random_state,
    ).fit([])  # fmt: skip
    one, two = perturber.transform([["a"] * n] * 2, document_ids=ids)
    return np.mean(np.array(one) == np.array(two)), perturber


@pytest.mark.parametrize("ids", [["x", "y"], [1, 2], [b"1", b"2"], [1, "1"]])
def test_equal_documents_of_different_ids_get_independent_noise(ids):
    stays = 1 - math.exp(-0.25) / 2
    expected = stays**2 + (1 - stays) ** 2
    share, perturber = noisy_pairs(2**100, ids)
    assert abs(share - expected) < 6 * math.sqrt(expected * (1 - expected) / 4000)
    assert noisy_pairs(2**100, None)[0] == 1
    # and the release is repeatable, whatever is released with it
    documents = [["a"] * 4000] * 2
    again = perturber.transform(documents[:1], document_ids=ids[:1])[0]
    assert again == perturber.transform(documents, document_ids=ids)[0]
    other = perturber.transform(documents, document_ids=ids[::-1])
    assert other[1] == again


def test_an_edited_document_gets_other_noise_under_the_same_id():
    table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    perturber = DPWordPerturber(
        table,
        epsilon=0.5,
        output="tokens",
        document_length=3000,
        resize="truncate",
        random_state=2**100,
    ).fit([])
    one = perturber.transform([["a"] * 3000], document_ids=["i"])[0]
    two = perturber.transform([["a"] * 3001], document_ids=["i"])[0]
    assert 0.2 < np.mean(np.array(one) == np.array(two)) < 0.8


@refusals(
    ("ab", "document_ids must be an iterable of str, int or bytes, got str"),
    (3, "must be an iterable .* got int"),
    ([1.5, 2], "must be str, int or bytes, got float at position 0"),
    ([1, None], "got NoneType at position 1"),
    ([1, True], "got bool at position 1"),
    (["a", "a"], "must differ, .* positions 0 and 1 hold the same"),
    (["a"], "must hold one id per document [(]2[)], got 1"),
    (["a", "b", "c"], "must hold one id per document [(]2[)], got 3"),
)
@pytest.mark.parametrize("random_state", [None, 2**100])
def test_bad_ids(small_embedding, random_state, ids):
    perturber = DPWordPerturber(
        small_embedding, document_length=1, random_state=random_state
    ).fit([])
    perturber.transform([["w1"], ["w2"]], document_ids=ids)


def test_ids_are_routed_as_metadata(small_embedding):
    import sklearn
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    perturber = DPWordPerturber(
        small_embedding, document_length=2, resize="truncate", random_state=2**100
    )
    documents, ids = [["w1", "w2"]] * 3, ["a", "b", "c"]
    with sklearn.config_context(enable_metadata_routing=True):
        perturber.set_transform_request(document_ids=True)
        pipeline = make_pipeline(perturber, TfidfTransformer()).fit(
            documents, document_ids=ids
        )
        routed = pipeline[:-1].transform(documents, document_ids=ids)
    direct = perturber.fit_transform(documents, document_ids=ids)
    np.testing.assert_array_equal(routed.toarray(), direct.toarray())


# -- finite arithmetic ---------------------------------------------------------------


def test_numerical_delta(small_embedding):
    perturber = DPWordPerturber(
        small_embedding, document_length=20, resize="truncate"
    ).fit([])
    guarantee = perturber.guarantee()
    assert guarantee.numerical_delta == 20 * 2.0**-50
    assert guarantee.compose(3).numerical_delta == 60 * 2.0**-50
    assert guarantee.compose(guarantee).numerical_delta == 40 * 2.0**-50
    with pytest.warns(PrivacyLeakWarning):
        word = DPWordPerturber(small_embedding).fit([]).guarantee()
    assert word.numerical_delta == 2.0**-50


class Zeros:
    """A generator that draws float32 normals of exactly 0, as float32 does at times."""

    def __init__(self):
        self.dtypes = []

    def gamma(self, shape, scale, size):
        return np.full(size, shape * scale)

    def standard_normal(self, size, dtype=np.float64):
        self.dtypes.append(np.dtype(dtype))
        return np.ones(size)


@pytest.mark.parametrize("dim", [1, 16, 300])
def test_normals_are_float64_in_every_dimension(dim):
    rng = np.random.default_rng(0)
    table = WordEmbedding([f"w{i}" for i in range(9)], rng.normal(size=(9, dim)))
    channel = DPWordPerturber(table, lam=0.2, document_length=1).fit([]).mechanism_
    source = Zeros()
    channel.draw(source, 3)
    assert source.dtypes == [np.dtype(np.float64)]
