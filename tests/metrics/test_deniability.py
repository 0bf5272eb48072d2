"""Plausible deniability: N_w and S_w against the law, brute force and the paper."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from skdptext import DPWordPerturber, WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import (
    Exponential,
    RandomizedResponse,
    WordChannel,
    WordMechanism,
)
from skdptext.metrics import plausible_deniability
from tests.channels import KnownNoise
from tests.conftest import unwatched
from tests.expected import leaks_allowed, refusals
from tests.laws import ALPHA
from tests.memory import traced_memory

pytestmark = leaks_allowed

# In one dimension the length of the noise is exponential with rate ε, so that each
# word stays itself with probability 1 - exp(-ε/2)/2.
LINE = WordEmbedding(["aa", "bb"], [[0.0], [1.0]])


@pytest.fixture
def small(small_embedding):
    return DPWordPerturber(small_embedding, epsilon=6.0, lam=0.5).fit([])


def test_share_is_that_of_the_law():
    epsilons = [0.2, 1.0, 4.0]
    result = plausible_deniability(
        DPWordPerturber(LINE).fit([]), epsilons=epsilons, n_draws=20_000
    )
    for epsilon, counts in zip(epsilons, result.n_unchanged[:, 0], strict=True):
        expected = 1 - np.exp(-epsilon / 2) / 2
        for count in counts:
            p = stats.binomtest(int(count), 20_000, expected).pvalue
            assert p > ALPHA / 6


@pytest.fixture(scope="module")
def repeats(small_embedding, pytestconfig):
    """Fresh draws of 50 words, 40 of each, 400 times."""
    small = DPWordPerturber(small_embedding, epsilon=6.0, lam=0.5).fit([])
    words = small_embedding.words[::4]
    with unwatched(pytestconfig):
        return [plausible_deniability(small, words, n_draws=40) for _ in range(400)]


@pytest.mark.no_cover
def test_unchanged_as_by_perturbing_each_draw(small):
    # Fisher's exact test for every word, the error rate shared by all.
    words, n = small.embedding_.words[::4], 1000
    plain = (small.perturb_words(words, n) == np.array(words)[:, None]).sum(axis=1)
    shared = plausible_deniability(small, words, n_draws=n).n_unchanged
    assert 0.05 * n < plain.mean() < 0.95 * n
    for a, b in zip(plain, shared, strict=True):
        assert stats.fisher_exact([[a, n - a], [b, n - b]]).pvalue > ALPHA / len(words)


@pytest.mark.no_cover
def test_distinct_as_by_perturbing_each_draw(small, repeats):
    # S_w of one word, over and over, against that of independent draws.
    word, n = repeats[0].words[2], repeats[0].n_draws
    plain = small.perturb_words([word], n * len(repeats)).reshape(len(repeats), n)
    plain = [len(set(row)) for row in plain]
    shared = [result.n_distinct[2] for result in repeats]
    assert 2 < np.mean(plain) < n - 2
    assert stats.ks_2samp(plain, shared).pvalue > ALPHA


def test_counts_on_noise_that_is_known(small_embedding):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(50, 8))
    perturber = DPWordPerturber(
        small_embedding, mechanism=KnownNoise(noise), document_length=1
    ).fit([])
    result = plausible_deniability(
        perturber, ["w3", "w9", "w3"], epsilons=[0.5, 3], n_draws=50
    )
    vectors = small_embedding.vectors.astype(float)
    for i, epsilon in enumerate([0.5, 3]):
        for k, word in enumerate([3, 9, 3]):
            points = vectors[word] + noise / epsilon
            apart = points[:, None] - vectors
            out = (apart**2).sum(axis=-1).argmin(axis=1)
            assert result.n_unchanged[i, 0, k] == (out == word).sum()
            assert result.n_distinct[i, 0, k] == len(set(out))


class FixedLaw(WordMechanism):
    """Every word becomes any other with fixed chances."""

    def __init__(self, chances):
        self.chances = chances

    def prepare(self, embedding, epsilon, lam):
        return FixedChannel(self, embedding, epsilon, lam)


class FixedChannel(WordChannel):
    def draw(self, rng, n):
        return (rng.choice(len(self.embedding), n, p=self.mechanism.chances),)

    def apply(self, words, draws):
        return draws[0]

    def exponents(self, x, y):
        return np.zeros((len(x), len(y)))


@pytest.mark.no_cover
def test_standard_errors_are_those_of_repeats(repeats):
    # The means of a repeat are averages over 40 draws and 50 words, close to normal;
    # its squared errors scatter by 0.2 to 0.4 of their mean, as with 12 degrees of
    # freedom at least. Their ratio over fresh repeats then follows F, and each of the
    # four bounds has the false-alarm rate ALPHA / 4.
    n = len(repeats)
    ratio = stats.f(n - 1, 12 * n)
    for statistic in ("unchanged", "distinct"):
        means = [getattr(result, f"n_{statistic}").mean() for result in repeats]
        errors = [getattr(result, f"{statistic}_error") for result in repeats]
        quotient = np.var(means, ddof=1) / np.mean(np.square(errors))
        assert quotient < ratio.isf(ALPHA / 4), statistic
        assert quotient > ratio.ppf(ALPHA / 4), statistic
    # Independent words would promise far less than is true: a quarter of the spread,
    # so that half of it is beyond any chance.
    unchanged = [result.n_unchanged.mean() for result in repeats]
    share = np.mean(unchanged) / 40
    naive = np.sqrt(40 * share * (1 - share) / 50)
    assert naive < np.std(unchanged) / 2


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("n_words", "even"), [(30, True), pytest.param(300, False, marks=pytest.mark.slow)]
)
def test_the_error_of_distinct_words_is_no_jackknife(n_words, even):
    """Of one word that becomes any of so many: the plain jackknife is up to 40 % off.

    A variance of 500 has a standard error of 6 %, the mean of estimates less: five of
    them make 32 %, which is 15 % of the error beside the tenth that is allowed.
    """
    rng = np.random.default_rng(0)
    chances = np.full(n_words, 1 / n_words) if even else rng.dirichlet([0.2] * n_words)
    channel = FixedLaw(chances)
    table = WordEmbedding([f"w{i}" for i in range(n_words)], np.eye(n_words, 2))
    source = DPWordPerturber(table, mechanism=channel, document_length=1).fit([])
    estimates = [plausible_deniability(source, ["w0"], n_draws=50) for _ in range(500)]
    spread = np.std([f.n_distinct[0] for f in estimates], ddof=1)
    claimed = np.sqrt(np.mean([f.distinct_error**2 for f in estimates]))
    assert 0.75 * claimed < spread < 1.25 * claimed


def test_grid_is_its_single_settings(small_embedding):
    epsilons, lams = [2.0, 8.0, 40.0], [0.0, 0.7]
    fitted = DPWordPerturber(small_embedding).fit([])
    words = ["w5", "w6"]
    grid = plausible_deniability(
        fitted, words, epsilons=epsilons, lams=lams, random_state=3
    )
    assert grid.n_unchanged.shape == grid.n_distinct.shape == (3, 2, 2)
    assert grid.unchanged_error.shape == grid.distinct_error.shape == (3, 2)
    for i, epsilon in enumerate(epsilons):
        for j, lam in enumerate(lams):
            one = DPWordPerturber(small_embedding, epsilon=epsilon, lam=lam).fit([])
            alone = plausible_deniability(one, words, random_state=3)
            assert alone.n_unchanged.tolist() == grid.n_unchanged[i, j].tolist()
            assert alone.n_distinct.tolist() == grid.n_distinct[i, j].tolist()
            assert alone.unchanged_error == grid.unchanged_error[i, j]
            assert (alone.epsilons, alone.lams) == ([epsilon], [lam])
    # a missing half of the grid is the perturber's own value
    row = plausible_deniability(fitted, words, epsilons=[2.0], random_state=3)
    assert row.n_unchanged.shape == (1, 1, 2)
    assert row.lams.tolist() == [0.5]
    # along shared noise a word that stays at one ε stays at every larger one
    assert (np.diff(grid.n_unchanged, axis=0) >= 0).all()


@pytest.mark.no_cover
def test_memory_keeps_to_working_memory():
    # All scores of the noise would be 2,000 × 20,000 floats, 153 MB.
    rng = np.random.default_rng(0)
    table = WordEmbedding(
        [f"w{i}" for i in range(20_000)], rng.normal(size=(20_000, 8))
    )
    perturber = DPWordPerturber(table, epsilon=3.0, document_length=1).fit([])
    words = table.words[:4]
    plausible_deniability(perturber, words, n_draws=2)  # kept for the table
    with config_context(working_memory=64), traced_memory() as memory:
        plausible_deniability(perturber, words, n_draws=2000)
    assert memory.peak < 64 * 2**20


def test_seeds(small):
    def draw(state):
        return plausible_deniability(small, random_state=state).n_unchanged.tolist()

    assert draw(0) == draw(0) != draw(1)
    assert draw(None) != draw(None)
    rng = np.random.default_rng(0)
    first = draw(rng)
    assert first != draw(rng)
    assert first == draw(np.random.default_rng(0))


def test_noise_is_not_that_of_a_release():
    # Were the stream replayed, one draw would always agree with the release; else it
    # does with probability 0.51 each time, and 60 times with 1e-17.
    same = 0
    for seed in range(60):
        noisy = DPWordPerturber(LINE, epsilon=0.2, random_state=seed).fit([])
        out = noisy.perturb_words(["aa"])[0, 0] == "aa"
        stays = plausible_deniability(noisy, ["aa"], n_draws=1, random_state=seed)
        same += out == bool(stays.n_unchanged[0])
    assert same < 60
    assert np.isnan(stays.unchanged_error)
    assert np.isnan(stays.distinct_error)
    assert stays.n_distinct.tolist() == [1]


def test_pipeline_and_words(small_embedding):
    X = [["w1", "w2"], ["w3"]]
    perturber = DPWordPerturber(small_embedding, epsilon=1e6)
    pipeline = make_pipeline(perturber, MultinomialNB()).fit(X, [0, 1])
    result = plausible_deniability(pipeline, iter(["W4", "w1"]), n_draws=10)
    assert result.words.tolist() == ["w4", "w1"]
    assert result.n_unchanged.tolist() == [10, 10]
    assert result.n_distinct.tolist() == [1, 1]
    everything = plausible_deniability(pipeline, n_draws=3)
    assert everything.words.tolist() == list(small_embedding.words)
    assert "200 words, 3 draws, mean N_w 3.0, mean S_w 1.0" in repr(everything)


def test_summary_and_frames(small):
    result = plausible_deniability(small, epsilons=[3.0, 9.0], lams=[0, 0.5, 1])
    assert "2 epsilons, 3 lams" in repr(result)
    summary = result.summary()
    for name in ("n_unchanged", "n_distinct"):
        counts, columns = getattr(result, name), summary[name]
        np.testing.assert_allclose(columns["mean"], counts.mean(axis=2))
        np.testing.assert_allclose(columns["std"], counts.std(axis=2))
        for q in (5, 50, 95):
            expected = np.percentile(counts, q, axis=2)
            np.testing.assert_allclose(columns[f"p{q}"], expected)
        half_width = (columns["high"] - columns["low"]) / 2
        np.testing.assert_allclose(half_width, 1.96 * columns["std"] / 10)
        np.testing.assert_allclose(columns["low"] + half_width, columns["mean"])
    frame = result.to_frame()
    assert len(frame) == 2 * 3 * 200
    row = frame[(frame.epsilon == 9) & (frame.lam == 0.5) & (frame.word == "w8")]
    assert row.n_unchanged.tolist() == [result.n_unchanged[1, 1, 8]]
    assert row.n_distinct.tolist() == [result.n_distinct[1, 1, 8]]
    table = result.to_frame(summary=True).set_index(["statistic", "epsilon", "lam"])
    assert table.shape == (12, 8)
    assert table.loc[("n_distinct", 3, 1), "p95"] == summary["n_distinct"]["p95"][0, 2]
    alone = plausible_deniability(small).to_frame(summary=True)
    assert alone.epsilon.tolist() == [6.0, 6.0]
    single = plausible_deniability(small).summary()["n_unchanged"]
    assert all(type(value) is float for value in single.values())


@pytest.mark.no_cover
def test_lam_makes_words_deniable_beyond_chance(built_in):
    """N_w falls and S_w rises with λ, on fresh noise.

    As the noise is common to all λ, the differences vary by a 16th of their size or
    less, so that chance never turns one round. At ε = 25 they also are 9 and more of
    the errors that take the noise for independent (deviation 0.7 over repeats);
    at ε = 15 the smallest, of S_w from λ = 0.5 to 1, is 3 of them.
    """
    result = plausible_deniability(
        DPWordPerturber(built_in).fit([]),
        built_in.words[::80],
        epsilons=[15.0, 25.0],
        lams=[0, 0.5, 1],
        n_draws=400,
    )
    unchanged, distinct = result.summary().values()
    for statistic, sign in ((unchanged, -1), (distinct, 1)):
        for i, errors in enumerate((0, 5)):
            rise = sign * np.diff(statistic["mean"][i])
            squares = statistic["standard_error"][i] ** 2
            error = np.sqrt(np.convolve(squares, [1, 1])[1:-1])
            assert (rise > errors * error).all()


@refusals(
    ({"words": ["nope", "w1"]}, "words must be known to the embedding, got 1"),
    ({"words": "w1"}, "words must be an iterable of str"),
    ({"words": [1]}, "words must be str"),
    ({"words": []}, "words must hold at least one"),
    ({"n_draws": 0}, "n_draws must be an integer >= 1"),
    ({"n_draws": 1.5}, "n_draws must be an integer"),
    ({"epsilons": 3.0}, "epsilons must be a sequence"),
    ({"epsilons": np.array(3.0)}, r"epsilons must be a seq.* got a ndarray"),
    ({"epsilons": np.float64(3.0)}, "epsilons must be a sequence"),
    ({"lams": np.array(0.5)}, r"lams must be a sequence of numbers, got a ndarray"),
    ({"lams": np.array([[0.5]])}, r"lams\[0\] must be a finite number"),
    ({"epsilons": []}, "epsilons must hold at least one"),
    ({"epsilons": [1, 0]}, r"epsilons\[1\] must be a finite number > 0"),
    ({"lams": [1.5]}, r"lams\[0\] must be a finite number in \[0, 1\]"),
    ({"lams": "0"}, "lams must be a sequence"),
    ({"random_state": -1}, "random_state must be"),
)
def test_bad_input(small, options):
    plausible_deniability(small, **options)


def test_perturber_is_checked(small):
    with pytest.raises(InvalidParameterError, match="exactly one word perturber"):
        plausible_deniability(MultinomialNB())
    with pytest.raises(InvalidParameterError, match="must not change after fit"):
        plausible_deniability(small.set_params(epsilon=7.0))
    with pytest.raises(InvalidParameterError, match="lam must be < 1"):
        plausible_deniability(DPWordPerturber("one-hot").fit(np.eye(3)), lams=[1])


def test_exact_statistics_are_the_expectations():
    # every sequence of three outputs of every word, with its probability
    table = WordEmbedding(list("abcd"), [[0.0], [1.0], [1.0], [3.0]])
    for mechanism in (Exponential(), Exponential("half"), RandomizedResponse()):
        perturber = DPWordPerturber(table, lam=0, mechanism=mechanism).fit([])
        result = plausible_deniability(
            perturber, ["d", "a"], epsilons=[0.7, 2.0], n_draws=3
        )
        assert result.exact
        assert "exact" in repr(result)
        for i, epsilon in enumerate((0.7, 2.0)):
            law = np.exp(mechanism.prepare(table, epsilon, 0).log_proba(np.arange(4)))
            for k, word in enumerate((3, 0)):
                p = law[word]
                stays = different = 0.0
                for drawn in np.ndindex(4, 4, 4):
                    chance = p[list(drawn)].prod()
                    stays += chance * drawn.count(word)
                    different += chance * len(set(drawn))
                assert result.n_unchanged[i, 0, k] == pytest.approx(stays, rel=1e-12)
                assert result.n_distinct[i, 0, k] == pytest.approx(different, rel=1e-12)
        assert (result.unchanged_error == 0).all()
        assert (result.distinct_error == 0).all()
        assert result.summary()["n_unchanged"]["standard_error"].tolist() == [[0], [0]]


def test_exact_statistics_of_a_release(small_embedding):
    # 1,000 words a time, drawn as a release draws them
    n, words = 1000, ["w0", "w50", "w199"]
    perturber = DPWordPerturber(
        small_embedding, epsilon=2.5, mechanism=Exponential(), document_length=1
    ).fit([])
    exact = plausible_deniability(perturber, words, n_draws=n)
    drawn = perturber.perturb_words(words, n)
    for k, word in enumerate(words):
        p = exact.n_unchanged[k] / n
        stays = int((drawn[k] == word).sum())
        assert stats.binomtest(stays, n, p).pvalue > ALPHA / 3
    # of certain words too, in whatever blocks
    sure = DPWordPerturber(small_embedding, epsilon=1e5, mechanism=Exponential("half"))
    result = plausible_deniability(sure.fit([]), words)
    assert result.n_unchanged.tolist() == [100] * 3
    assert result.n_distinct.tolist() == [1] * 3
    with config_context(working_memory=1):
        again = plausible_deniability(perturber, n_draws=n)
    np.testing.assert_array_equal(again.n_distinct[[0, 50, 199]], exact.n_distinct)


def test_intervals_are_of_counts_that_can_be():
    twins = WordEmbedding(["a", "b", "c"], [[0.0], [0.0], [9e9]])
    fitted = DPWordPerturber(twins, document_length=1, lam=0).fit([])
    counts = plausible_deniability(fitted, ["a", "b"], n_draws=4).summary()
    # a stays, b never: 2 − 1.96 · 2 / √4
    assert counts["n_unchanged"]["low"] == pytest.approx(0.04)
    assert counts["n_distinct"] | {"low": 1, "high": 1} == counts["n_distinct"]
    one = plausible_deniability(fitted, ["a", "b"], n_draws=1).summary()["n_unchanged"]
    assert (one["low"], one["high"]) == (0, 1)
