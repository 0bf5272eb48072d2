"""What a guarantee says: rows against brute force, and the verdicts of these."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skdptext import DPDocumentReplacer, WordEmbedding
from skdptext.learning._guarantee import LearningPart
from skdptext.mechanisms import LossDistribution
from skdptext.privacy import PrivacyGuarantee
from tests.channels import guaranteed
from tests.laws import metric_matrix
from tests.privacy.test_printed_bounds import seen
from tests.privacy.test_stored_guarantees import KINDS, perturber


def distances(embedding, lam):
    """Of all pairs of words, by a linear solve; infinite from a word to itself."""
    M = metric_matrix(embedding.vectors, lam)
    gaps = embedding.vectors[:, None].astype(float) - embedding.vectors
    apart = np.sqrt(np.einsum("ijk,ijk->ij", gaps, gaps @ np.linalg.inv(M)))
    np.fill_diagonal(apart, np.inf)
    return apart


@pytest.mark.parametrize("resampled", [False, True])
@pytest.mark.parametrize(("lam", "n_words"), [(0, 5), (0.6, 5), (0.4, 1), (0, None)])
def test_rows_are_medians_of_the_embedding(small_embedding, lam, n_words, resampled):
    if resampled and n_words is None:
        return
    options = {"n_words": n_words, "releases": 2, "resampled": resampled}
    table = small_embedding.restrict(50)  # all of which are sampled
    guarantee = guaranteed(3.0, lam, table, **options)
    apart = distances(table, lam)
    nearest = apart[np.arange(50), distances(table, 0).argmin(axis=1)]
    random = apart[np.isfinite(apart)]
    rows = guarantee.rows()
    times = [1, n_words or 10] if n_words != 1 or resampled else [1]
    assert len(rows) == 2 * len(times)
    for n, near, far in zip(times, rows[::2], rows[1::2], strict=True):
        assert near["exponent"] == pytest.approx(6 * n * np.median(nearest), rel=1e-6)
        # a sample of 50 of the pairs
        assert far["exponent"] == pytest.approx(6 * n * np.median(random), rel=0.1)
        # of the pair at the median, which is the upper of the middle two
        at = np.sort(nearest)[25]
        loss = LossDistribution.of_noise(3 * at, 8).times(2 * n)
        small = min(6 * n * at, loss.exponent(1e-6))
        assert near["exponent_with_delta"] == pytest.approx(small, rel=1e-6)


def test_rows_of_a_table_with_a_far_mean():
    """float32 would find no neighbours so far from the origin."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(50, 3)) + 1000
    table = WordEmbedding([f"w{i}" for i in range(50)], vectors)
    near, *_ = guaranteed(1.0, 0.0, table).rows()
    nearest = np.median(distances(table, 0.0).min(axis=1))
    assert near["exponent"] == pytest.approx(nearest, rel=1e-4)


VERDICTS = {
    # of two words that are so far apart: random and nearest are the same
    (0.1, 2): "SINGLE WORDS ARE DENIABLE. TYPICAL DOCUMENTS ARE DENIABLE.",
    (0.9, 10): "SINGLE WORDS ARE DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE.",
    (4.6, 1): (
        "SINGLE WORDS ARE PARTLY DENIABLE. TYPICAL DOCUMENTS ARE PARTLY DENIABLE."
    ),
    (4.6, None): (
        "SINGLE WORDS ARE PARTLY DENIABLE. NOTHING USEFUL IS PROMISED FOR DOCUMENTS."
    ),
    # the odds of neighbours change by more than a factor of 100
    (4.61, None): (
        "SINGLE WORDS ARE DENIABLE ONLY AGAINST VERY SIMILAR ONES. NOTHING USEFUL IS "
        "PROMISED FOR DOCUMENTS."
    ),
    (50.0, 1): "NOTHING USEFUL IS PROMISED, FOR SINGLE WORDS OR FOR DOCUMENTS.",
}


@pytest.mark.parametrize(("epsilon", "n_words"), VERDICTS)
def test_the_verdict_is_what_the_numbers_come_to(epsilon, n_words):
    table = WordEmbedding(["a", "b"], [[0.0], [1.0]])
    options = {"epsilon": epsilon, "lam": 0.0, "document_length": n_words}
    said = str(perturber(table, **options).guarantee()).split("\n\n")[1]
    assert " ".join(said.split()).startswith(VERDICTS[epsilon, n_words])
    relied_on = "Do not rely on this release" in said
    assert relied_on == ("NOTHING USEFUL" in said)


def test_words_that_have_neighbours_are_deniable_among_them_only():
    """Two words each lie close together, and pairs far apart."""
    places = np.repeat(np.arange(20) * 100.0, 2) + np.tile([0.0, 1.0], 20)
    table = WordEmbedding([f"w{i}" for i in range(40)], places[:, None])
    said = str(perturber(table, epsilon=3.0, lam=0.0).guarantee())
    assert "SINGLE WORDS ARE PARTLY DENIABLE, AGAINST SIMILAR WORDS ONLY." in said


def stand_ins(epsilon, groups):
    texts = [f"topic{i}" for i in range(groups)]
    made = DPDocumentReplacer(texts, public_labels=range(groups), epsilon=epsilon)
    return made.fit().guarantee()


def sums(epsilon):
    return PrivacyGuarantee.of([LearningPart("person", epsilon, 0.0, 0)])


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (lambda: stand_ins(4.0, 4), "THE IDENTITY OF A DOCUMENT IS HIDDEN."),
        (lambda: stand_ins(4.0, 6), "THE IDENTITY OF A DOCUMENT IS PARTLY HIDDEN."),
        (lambda: stand_ins(20.0, 80), "NOTHING USEFUL IS PROMISED FOR DOCUMENTS."),
        (lambda: sums(1.0), "WHETHER ONE PERSON TOOK PART IS HARD TO TELL."),
        (lambda: sums(2.0), "WHETHER ONE PERSON TOOK PART IS PARTLY HIDDEN."),
        (lambda: sums(4.0), "NOTHING USEFUL IS PROMISED FOR A PERSON."),
    ],
)
def test_the_verdict_on_stand_ins_and_sums(made, verdict):
    assert f"\n\n{verdict}\n" in str(made())


@pytest.mark.parametrize("name", KINDS)
def test_one_statement_as_text_and_as_html(name):
    guarantee = KINDS[name]().with_caveat("Nothing holds.")
    assert "Nothing holds." not in str(KINDS[name]())
    for said in (str(guarantee), seen(guarantee)):
        in_line = " ".join(said.split())
        assert "WARNING. Nothing holds." in in_line
        for limit in guarantee.limits:
            assert limit in in_line
        for row in guarantee.rows():
            assert row["what"] in in_line
            assert math.isfinite(row.get("exponent", row.get("share", 0.0)))
