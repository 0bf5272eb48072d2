"""Public documents that are there several times."""

from __future__ import annotations

from skdptext import DPTextClassifier


def test_equal_public_documents_make_no_groups_of_their_own():
    public = ["a cat and a dog", "dogs and a cat", "tea and milk", "milk or tea"] * 10
    model = DPTextClassifier(public, classes=["food", "pets"], epsilon=5.0)
    model.fit(["my cat", "some tea"] * 100, ["pets", "food"] * 100)
    assert model.predict(["cat", "tea"]).tolist() == ["pets", "food"]
