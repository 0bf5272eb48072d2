"""The author problems: known texts, snippets to attribute, and topic training texts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np
from real_data import read_stories

N_KNOWN, N_SNIPPET = 2000, 1000  # words, as in the paper, appendix B.1
MAX_SNIPPETS = 5  # per author
FANDOMS = tuple(f"target_fandom_p0{i}" for i in range(1, 6))
# Like the paper's two: large, with training texts, and as many authors in each.
PAIR = ("target_fandom_p01", "target_fandom_p05")


def ends(text: str, n_first: int, n_last: int) -> tuple[str, str]:
    """So many first words and last words of a longer text, as they stand in it."""
    text = text.strip()
    after, before = text.split(None, n_first)[-1], text.rsplit(None, n_last)[0]
    return text[: len(text) - len(after)].rstrip(), text[len(before) :].lstrip()


@dataclass(frozen=True)
class Problem:
    """Texts as written. Snippets come in rounds: each author's first is round 0."""

    name: str
    known: list[str]
    known_author: np.ndarray
    known_topic: np.ndarray
    snippets: list[str]
    author: np.ndarray
    topic: np.ndarray
    round: np.ndarray
    training: list[str]  # by authors who are in neither of the others
    training_topic: np.ndarray
    elsewhere: list[str]  # of the authors of `known`, in order, in other fandoms

    def first_snippets(self, name: str) -> Problem:
        """The same with one snippet per author, as in the paper."""
        rows = np.flatnonzero(self.round == 0)
        return replace(
            self,
            name=name,
            snippets=[self.snippets[i] for i in rows],
            author=self.author[rows],
            topic=self.topic[rows],
            round=self.round[rows],
        )


def fan_fiction(name: str, fandoms: tuple[str, ...]) -> Problem:
    """Authors of PAN 2019 with 3,000 words or more in one of the fandoms.

    An author's texts are joined in the order of the file. The first 2,000 words are
    the known text; from the end, pieces of 1,000 words are snippets. The topic is the
    fandom. Texts of the same fandoms whose author is in no set train the topic.
    """
    by_author: dict[tuple[str, str], list[str]] = defaultdict(list)
    training: list[tuple[str, str]] = []
    elsewhere: dict[str, list[str]] = defaultdict(list)
    for story in read_stories():
        if story["split"] == "known":
            elsewhere[story["author"]].append(story["text"])
        if story["split"] != "unknown" or story["topic"] not in fandoms:
            continue
        if story["author"] in (None, "None"):
            training.append((story["text"], story["topic"]))
        else:
            key = (story["author"], story["topic"])
            by_author[key].append(story["text"])
    known, known_labels, pieces = [], [], []
    for (author, topic), texts in sorted(by_author.items()):
        rest = "\n".join(texts)
        first = None
        for turn in range(MAX_SNIPPETS):
            if len(rest.split()) < N_KNOWN + N_SNIPPET:
                break
            first, snippet = ends(rest, N_KNOWN, N_SNIPPET)
            pieces.append((turn, author, topic, snippet))
            rest = rest[: rest.rindex(snippet)]
        if first is not None:
            known.append(first)
            known_labels.append((author, topic))
    pieces.sort(key=lambda piece: piece[:2])
    return Problem(
        name,
        known,
        np.array([a for a, _ in known_labels]),
        np.array([t for _, t in known_labels]),
        [text for *_, text in pieces],
        np.array([a for _, a, _, _ in pieces]),
        np.array([t for _, _, t, _ in pieces]),
        np.array([r for r, *_ in pieces]),
        [text for text, _ in training],
        np.array([topic for _, topic in training]),
        ["\n".join(elsewhere[author]) for author, _ in known_labels],
    )
