"""Generators of synthetic text that need no language model, honest and not.

Each takes texts that it was trained on, public texts and a generator of random numbers,
and returns texts. Tests of membership attack them.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from skdptext import DPTextClassifier
from skdptext.replacement import DPDocumentReplacer

Texts = list[str]
Generator = Callable[[Texts, Texts, np.random.Generator], Texts]

_START, _END = "<s>", "</s>"
# Words of a text at most, and the share of them that smoothing takes from public text.
_LONGEST, _PUBLIC_SHARE = 60, 0.5


def resampled(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """Originals, drawn with replacement."""
    return [texts[i] for i in rng.integers(len(texts), size=len(texts))]


def of_trigrams(
    texts: Texts, n: int, rng: np.random.Generator, smoothing: Sequence[str] = ()
) -> Texts:
    """Texts of a model of trigrams; `smoothing`: public words that are mixed in."""
    after: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for text in texts:
        words = [_START, _START, *text.split(), _END]
        for i in range(2, len(words)):
            after[words[i - 2], words[i - 1]].append(words[i])
    made = []
    for _ in range(n):
        words = [_START, _START]
        while len(words) < 2 + _LONGEST:
            known: Sequence[str] = after[words[-2], words[-1]]
            if smoothing and (not known or rng.random() < _PUBLIC_SHARE):
                known = smoothing
            word = known[rng.integers(len(known))] if known else _END
            if word == _END:
                break
            words.append(word)
        made.append(" ".join(words[2:]))
    return made


def trigrams(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """A model of trigrams of the originals."""
    return of_trigrams(texts, len(texts), rng)


def smoothed(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """The same, half of whose words are drawn from public text."""
    words = [word for text in public for word in text.split()]
    return of_trigrams(texts, len(texts), rng, smoothing=words)


def public_trigrams(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """A model of trigrams of public text, which never saw an original."""
    return of_trigrams(public, len(texts), rng)


def stand_ins(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """Each original replaced by a public text of a noisy group."""
    replacer = DPDocumentReplacer(public, n_groups=8, epsilon=4.0, random_state=rng)
    return list(replacer.fit(texts).transform(texts))


def labelled_corpus(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """The labelled public texts of a `DPTextClassifier`."""
    labels = ["long" if len(text) > 300 else "short" for text in texts]
    model = DPTextClassifier(
        public, classes=["long", "short"], random_state=rng, allow_shared_texts=True
    )
    with warnings.catch_warnings(action="ignore"):
        documents, _ = model.fit(texts, labels).sample(len(texts), random_state=rng)
    return list(documents)


def leaking_corpus(texts: Texts, public: Texts, rng: np.random.Generator) -> Texts:
    """The same of a model whose public texts are the private ones, by mistake."""
    return labelled_corpus(texts, texts, rng)


LEAKING: dict[str, Generator] = {
    "resampled originals": resampled,
    "trigram model": trigrams,
    "trigram model, smoothed with public words": smoothed,
    "corpus of DPTextClassifier, private texts given as public": leaking_corpus,
}
HONEST: dict[str, Generator] = {
    "trigram model of public text": public_trigrams,
    "stand-ins of DPDocumentReplacer, ε = 4": stand_ins,
    "corpus of DPTextClassifier, ε = 1": labelled_corpus,
}
