"""The ready-made adversaries, on bags of one embedding."""

from __future__ import annotations

import numpy as np
import pytest

from skdptext import WMDKNNClassifier
from skdptext.attacks import (
    FastTextClassifier,
    KoppelAuthorClassifier,
    paper_adversaries,
)
from skdptext.exceptions import InvalidParameterError


@pytest.fixture(scope="module")
def bags():
    """Two topics over the words of `small_embedding`, and 8 authors' favourites."""
    rng = np.random.default_rng(1)
    topic = np.repeat([0, 1], 20)
    author = np.tile(np.arange(8), 5)
    weights = np.ones((40, 200))
    weights[topic == 0, :60] += 2
    weights[topic == 1, 60:120] += 2
    for i, a in enumerate(author):
        weights[i, 120 + a * 10 : 130 + a * 10] += 12
    counts = np.array([rng.multinomial(60, w / w.sum()) for w in weights])
    return counts, topic, author


def test_the_four_of_table_1(small_embedding, bags):
    counts, topic, author = bags
    adversaries = paper_adversaries(small_embedding, random_state=0)
    assert list(adversaries) == ["SRauth", "SRtopic", "DRauth", "DRtopic"]
    known = np.isin(np.arange(40) // 8, [0, 2, 4])  # every author on both sides
    unknown = ~known
    for name, adversary in adversaries.items():
        y = author if name.endswith("auth") else topic
        adversary.fit(counts[known], y[known])
        chance = 0.25 if name.endswith("auth") else 0.5
        assert adversary.score(counts[unknown], y[unknown]) > chance, name
    same = adversaries["SRauth"], adversaries["SRtopic"]
    assert [(type(a), a.n_neighbors) for a in same] == [
        (WMDKNNClassifier, 1),
        (WMDKNNClassifier, 5),
    ]
    assert isinstance(adversaries["DRauth"], KoppelAuthorClassifier)
    assert isinstance(adversaries["DRtopic"], FastTextClassifier)
    assert adversaries["DRtopic"].pretrained


def test_options(small_embedding):
    adversaries = paper_adversaries(
        small_embedding, topic_model="linear", random_state=3, n_jobs=2
    )
    assert adversaries["DRtopic"].steps[-1][0] == "logisticregression"
    assert adversaries["SRauth"].n_jobs == 2
    assert adversaries["DRauth"].random_state == 3
    with pytest.raises(InvalidParameterError, match="topic_model must be one of"):
        paper_adversaries(small_embedding, topic_model="bert")
    with pytest.raises(InvalidParameterError, match="embedding must be"):
        paper_adversaries(None)
