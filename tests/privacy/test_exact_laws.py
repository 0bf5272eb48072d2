"""What is promised against exact laws of releases, over all options of the perturber.

On a line, noise is Laplace noise whatever λ is, and the chance that a word becomes
another one a difference of two values of its distribution function. Documents are read
here by rules of their own, and the law of a whole release is enumerated.
"""

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
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.mechanisms import Exponential, RandomizedResponse, TableMechanism
from tests.channels import Stated
from tests.expected import leaks_allowed, refused
from tests.laws import (
    enumerated,
    largest_loss,
    nearest_on_a_line,
    on_a_line,
    uncovered,
    vickrey_rule,
)

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
    lower = str.lower if options["lowercase"] else str
    stop = set(map(lower, ENGLISH_STOP_WORDS if stop == "english" else stop))
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
    rows = [dict(zip(WORDS, row, strict=True)) for row in P.tolist()]

    def of_word(code):
        return {code: 1.0} if isinstance(code, str) else rows[code]

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
    return enumerated(slots, ordered=options["output"] != "bow")


texts = st.lists(st.sampled_from(TOKENS), min_size=0, max_size=3)
documents = st.one_of(texts, texts.map(" ".join))
CHOICES = {
    "document_length": [None, 1, 2],
    "resize": ["truncate", "sample"],
    "oov": ["drop", "error", "keep"],
    "lowercase": [False, True],
    "stop_words": [None, "english", ["Bad"], ["good", "of"]],
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


def of_weights(weights):
    """The law of which these are multiples."""
    return weights / weights.sum(axis=1, keepdims=True)


def random_law(seed):
    """Of any user's own: rows may lack words that others have."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(4, 0.5), 4) * (rng.random((4, 4)) < 0.8) + np.eye(4) / 9
    return of_weights(P)


@settings(max_examples=int(os.environ.get("SKDPTEXT_LAWS", "500")))
@given(
    x=documents,
    y=documents,
    options=options,
    epsilon=st.sampled_from([0.3, 1.0, 3.0]),
    lam=st.sampled_from([0.0, 0.5, 1.0]),
    positions=positions_of_words,
    kind=st.sampled_from([None, "half", "exact", "response", "Vickrey", "stated"]),
    share=st.sampled_from([0.1, 0.3, 1.0]),
    seed=st.integers(0, 10**6),
    delta=st.sampled_from([0.0, 1e-4, 0.01, 0.3]),
)
def test_no_release_loses_more_than_is_promised(
    x, y, options, epsilon, lam, positions, kind, share, seed, delta
):
    """By an exact law of words, which each kind of mechanism has of its own."""
    table = WordEmbedding(WORDS, np.array(positions)[:, None])

    def exponential(channel):
        gaps = np.abs(np.subtract.outer(positions, positions))
        return of_weights(np.exp(-channel.rate * gaps))

    rule = vickrey_rule(positions, share)
    mechanism, law_of = {
        None: (None, lambda _: nearest_on_a_line(positions, epsilon)),
        "half": (Exponential("half"), exponential),
        "exact": (Exponential("exact"), exponential),
        "response": (
            RandomizedResponse(),
            lambda _: of_weights(np.exp(epsilon * np.eye(4))),
        ),
        "Vickrey": (Vickrey(share), lambda _: on_a_line(positions, epsilon, rule)),
        "stated": (Stated(random_law(seed)), lambda _: random_law(seed)),
    }[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        perturber = DPWordPerturber(
            table, epsilon=epsilon, lam=lam, mechanism=mechanism, **options
        ).fit([])
        guarantee = perturber.guarantee()
    P = law_of(perturber.mechanism_)
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-9)
    # it is this law that the mechanism states, where it states one
    if isinstance(perturber.mechanism_, TableMechanism):
        stated = np.exp(perturber.mechanism_.log_proba(np.arange(4)))
        np.testing.assert_allclose(stated, P, atol=1e-9)
    one, two = read(x, options), read(y, options)
    # a guarantee is asked about lists of words
    x, y = (cut(d, options) if isinstance(d, str) else d for d in (x, y))
    if one is None or two is None:
        with pytest.raises(InvalidParameterError):
            guarantee.exponent(x, y)
        return
    claim = guarantee.exponent(x, y)
    first, second = release(one, P, options), release(two, P, options)
    assert sum(first.values()) == pytest.approx(1)
    assert largest_loss(first, second) <= claim + 1e-9
    # what shows is known to show
    if largest_loss(first, second) == math.inf:
        assert claim == math.inf
    # nor does it with a small δ, at a lower exponent
    t = guarantee.exponent(x, y, delta=delta)
    assert t <= claim
    if t < math.inf:
        assert uncovered(first, second, t) <= delta * (1 + 1e-9) + 1e-12


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


@leaks_allowed
def test_a_stated_length_cuts_nothing():
    """As a release does not; in 0.1.0 the exponents below were 0."""
    row = WordEmbedding([f"w{i}" for i in range(12)], np.arange(12.0)[:, None])
    x, y = ["w0"] * 6, ["w0"] * 5 + ["w11"]
    perturber = DPWordPerturber(row, epsilon=1.0, lam=0.0, output="tokens").fit([])
    assert perturber.guarantee(6).exponent(x, y) == 11.0
    for documents in ((x, y), (x, x[:5])):
        with refused("must have n_words=5 words"):
            perturber.guarantee(5).exponent(*documents)
    sampled = perturber.set_params(resize="sample").fit([]).guarantee(2)
    assert not sampled.resampled
    with refused("must have n_words=2 words"):
        sampled.exponent(["w0"], ["w0", "w1"])
    with refused("n_words must be an integer >= 1"):
        perturber.guarantee(0)


def test_one_hot_takes_its_vocabulary_from_the_documents():
    perturber = DPWordPerturber("one-hot", document_length=1)
    with pytest.warns(PrivacyLeakWarning, match="vocabulary .*one-hot"):
        perturber.fit(np.eye(3, dtype=int))
    first = str(perturber.guarantee()).split("\n\n")[1]
    assert first.startswith("WARNING. The vocabulary was taken from the columns")


# -- finite arithmetic ---------------------------------------------------------------


@leaks_allowed
@pytest.mark.parametrize("length", [None, 20])
def test_numerical_delta(small_embedding, length):
    perturber = DPWordPerturber(
        small_embedding, document_length=length, resize="truncate"
    )
    guarantee = perturber.fit([]).guarantee()
    expected = (length or 1) * 2.0**-50
    assert guarantee.numerical_delta == expected
    assert guarantee.compose(3).numerical_delta == 3 * expected
