"""Which texts are among others: copies and near-copies, counted in bounded memory."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import blake2b
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from skdptext.exceptions import OutOfVocabularyWarning
from skdptext.utils import warn_once

# A text of fewer letters may be the same as another by chance.
_LONG = 25
# A run: so many words, or so many long words, cut to their first letters. The latter
# stay the same where small words are left out, and endings cut off.
_RUN, _LONG_RUN, _LONG_WORD = 4, 3, 5
# A near-copy: this share of its runs stands in other texts; of so many runs at least.
_NEAR, _FEWEST = 0.7, 4
# Shares of texts above which the two sets are taken to overlap: of different long ones
# word for word, of long ones nearly, and of different ones of any length. Measured on
# random halves, without copies, of five collections: the second is 0 to .1, but .14 of
# tweets, which people repeat. Of copies without small words and endings it is .14 to
# .92, but 0 of fiction.
_COPIES, _NEARLY, _MOSTLY = 0.01, 0.1, 0.5
# Runs of public texts that are held at most, at 21 bytes each; of more, every second,
# fourth, …
_MOST_RUNS = 1 << 23
# Texts that are read at a time
_AT_ONCE = 256
# Positions that a message names
_SHOWN = 5

_ARE_THEY = {"embedding": "is it", "public documents": "are they"}

_WORD = re.compile(r"[^\W_]+")
# Scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Han
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\U00020000-\U0003ffff]"
)


_counted: ContextVar[bool] = ContextVar("skdptext_counted", default=False)


@contextmanager
def shared_texts_counted() -> Iterator[None]:
    """Within it, who releases texts need not count them: a caller has done it."""
    token = _counted.set(True)
    try:
        yield
    finally:
        _counted.reset(token)


def are_shared_texts_counted() -> bool:
    """Whether a caller has counted the texts to be released."""
    return _counted.get()


class SharedTexts(NamedTuple):
    """How many of some public texts are among others, and the other way round.

    `copies` of the different long public texts are there word for word, and
    `different` of those of any length. `public` and `released` are long texts of the
    two sets that are, nearly, in the other; `first` holds the positions of the first
    few such public ones. `strange` of the `n` others have no word of the public texts.
    """

    copies: int
    of_copies: int
    public: int
    of_public: int
    released: int
    of_released: int
    different: int
    of_different: int
    first: tuple[int, ...]
    strange: int = 0
    n: int = 0

    @property
    def mostly(self) -> bool:
        """Whether most public texts are there, be they long or short."""
        return self.different > _MOSTLY * self.of_different

    @property
    def any(self) -> bool:
        """Whether texts are there that do not coincide by chance."""
        return bool(self.copies or self.public or self.released) or self.mostly

    @property
    def too_many(self) -> bool:
        """Whether the two sets overlap."""
        return (
            self.copies > _COPIES * self.of_copies
            or self.public > _NEARLY * self.of_public
            or self.released > _NEARLY * self.of_released
            or self.mostly
        )

    @property
    def why(self) -> str:
        """Which of them are too many; some coincide by chance, and are accepted."""
        long = f"of {_LONG} letters or more that are"
        nearly = (
            f"(nearly: at least {_NEAR:.0%} of their phrases; a form or template that "
            "texts share may be enough)"
        )
        there = f"public texts {long} there (each counted once)"
        close, known = (
            f"public texts {long} nearly there",
            f"texts {long} nearly public",
        )
        counts = (
            (self.copies, self.of_copies, _COPIES, there),
            (self.public, self.of_public, _NEARLY, f"{close} {nearly}"),
            (self.released, self.of_released, _NEARLY, f"{known} {nearly}"),
            (self.different, self.of_different, _MOSTLY, "public texts that are there"),
        )
        n, of, most, what = next(c for c in counts if c[0] > c[1] * c[2])
        at = ""
        if self.first:
            more = self.public - len(self.first)
            listed = ", ".join(map(str, self.first))
            listed += f" and {more:,} more" if more else ""
            several = "s" if self.public > 1 else ""
            at = f" (the public ones: position{several} {listed})"
        return f"{n:,} of {of:,} {what}, where {most:.0%} are accepted{at}"

    def warn_of_strangers(self) -> None:
        """Warn of documents without any public word, by their number alone."""
        warn_without_words(self.strange, self.n, "public documents")

    def __str__(self) -> str:
        return self.sentence("documents to be released")

    def sentence(self, others: str) -> str:
        """How many are in both, where the texts that are not public are called so."""
        length = f"(of {_LONG} letters or more: shorter ones are not counted)"
        public = self.public, self.of_public
        if not self.public and self.mostly:
            public = self.different, self.of_different
            length = "(each counted once)"
        said = []
        if public[0]:
            n, of = public
            are = "are" if n > 1 else "is"
            said.append(f"{n:,} of {of:,} public texts {are} among the {others}")
        if self.released:  # also alone: a short text may stand in a longer public one
            are = "are" if self.released > 1 else "is"
            said.append(
                f"{self.released:,} of {self.of_released:,} {others} {are} among the "
                "public texts"
            )
        return f"{', and '.join(said)}, copies and near-copies {length}"


def warn_without_words(n: int, of: int, known: str, about: Any = None) -> None:
    """Warn of documents that are released as if they were empty.

    The numbers are private: they are for whoever holds the documents, and no part of a
    release.
    """
    if n:
        warn_once(
            f"{n:,} of {of:,} documents hold no word of the {known}, so that nothing "
            f"they say is kept: {_ARE_THEY[known]} for this language and kind of text?",
            OutOfVocabularyWarning,
            about or known,
        )


class KnownTexts:
    """Public texts that are looked for among others.

    Only letters and digits are compared: neither case, blanks and punctuation nor
    accents and the forms of Unicode matter. A text of 25 letters or more is also found
    where most of its runs of words stand in the other texts, whichever of these.

    Parameters
    ----------
    texts : iterable of str, or of lists of str
        Read once, and not kept.
    """

    def __init__(self, texts: Iterable[Any]) -> None:
        self.every = np.uint64(1)
        letters, keys = [], []
        held: list[list[tuple[np.ndarray, np.ndarray]]] = []
        self.words = np.empty(0, np.uint64)
        n = n_held = 0
        for block in _blocks(texts):
            letters.append(block.letters)
            keys.append(block.keys)
            self.words = np.union1d(self.words, block.words)
            held.append([self.sampled(runs, of + n) for runs, of in block.runs])
            n += len(block.letters)
            n_held += sum(len(runs) for runs, _ in held[-1])
            while n_held > _MOST_RUNS:
                self.every *= np.uint64(2)
                held = [[self.sampled(*each) for each in kinds] for kinds in held]
                n_held = sum(len(runs) for kinds in held for runs, _ in kinds)
        self.letters = np.concatenate([np.empty(0, dtype=np.intp), *letters])
        each_key = np.concatenate([np.empty(0, np.uint64), *keys])
        self.keys, self.key_of = np.unique(each_key, return_inverse=True)
        kinds = [_joined(kind) for kind in zip(*held, strict=True)]
        every_run = np.concatenate(
            [np.empty(0, np.uint64), *(runs for runs, _ in kinds)]
        )
        self.runs, at = np.unique(every_run, return_inverse=True)
        ends = np.cumsum([len(runs) for runs, _ in kinds])[:-1]
        places = np.split(at.astype(np.int32), ends) if kinds else []
        # for each kind of run, where it is in `runs`, and which text it is of
        self.places = list(zip(places, (of for _, of in kinds), strict=True))
        # asked first, which spares most searches
        size = 1 << (4 * len(self.runs)).bit_length()
        self._maybe = np.zeros(size, dtype=bool)
        self._maybe[self.runs & np.uint64(size - 1)] = True

    def sampled(
        self, runs: np.ndarray, of: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Those runs that are held, if there are too many for all of them."""
        if self.every == 1:
            return runs, of.astype(np.int32)
        # of the upper bits: the lower ones are those of `_maybe`
        kept = (runs >> np.uint64(40)) % self.every == 0
        return runs[kept], of[kept].astype(np.int32)

    def find(self, runs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which runs are among these texts', and where."""
        there = self._maybe[runs & np.uint64(len(self._maybe) - 1)]
        at, same = _places(self.runs, runs[there])
        there[there] = same
        return there, at[same]

    def count(self) -> SharedCount:
        """A count of these texts among others, which begins."""
        return SharedCount(self)


class SharedCount:
    """Counts public texts among others, which are seen block after block."""

    def __init__(self, known: KnownTexts) -> None:
        self._known = known
        self._key_seen = np.zeros(len(known.keys), dtype=bool)
        self._run_seen = np.zeros(len(known.runs), dtype=bool)
        self._found = self._n = self._strange = self._n_all = 0

    def see(self, texts: Iterable[Any]) -> None:
        """Look at some texts."""
        known = self._known
        for block in _blocks(texts):
            at, same = _places(known.keys, block.keys)
            self._key_seen[at[same]] = True
            near = np.zeros(len(same), dtype=bool)
            for each in block.runs:
                runs, of = known.sampled(*each)
                there, at = known.find(runs)
                self._run_seen[at] = True
                near |= _mostly(there, of, len(near))
            shared = block.of[_places(known.words, block.words)[1]]
            self._strange += len(same) - len(np.unique(shared))
            self._n_all += len(same)
            long = block.letters >= _LONG
            self._found += int((long & (same | near)).sum())
            self._n += int(long.sum())

    def found(self) -> np.ndarray:
        """Which of the known texts are among those seen so far, nearly."""
        known, n = self._known, len(self._known.letters)
        near = self._key_seen[known.key_of]
        for at, of in known.places:
            near |= _mostly(self._run_seen[at], of, n)
        return near

    def result(self) -> SharedTexts:
        """What was counted so far."""
        known, near = self._known, self.found()
        long = known.letters >= _LONG
        there = np.flatnonzero(long & near)
        some = np.zeros((2, len(known.keys)), dtype=bool)
        some[0, known.key_of[long]] = True
        some[1, known.key_of[known.letters > 0]] = True
        return SharedTexts(
            int((some[0] & self._key_seen).sum()),
            int(some[0].sum()),
            len(there),
            int(long.sum()),
            self._found,
            self._n,
            int((some[1] & self._key_seen).sum()),
            int(some[1].sum()),
            tuple(there[:_SHOWN].tolist()),
            self._strange,
            self._n_all,
        )


class _Block:
    """Some texts: how many letters each has, a key of these, and its runs of words.

    `words` are hashes of these, and `of` says which text each is of; `runs` holds the
    same of runs, for each kind.
    """

    def __init__(self, texts: Sequence[Any]) -> None:
        words = [_words(t if isinstance(t, str) else " ".join(t)) for t in texts]
        joined = ["".join(each) for each in words]
        self.letters = np.array(list(map(len, joined)), dtype=np.intp)
        self.keys = _hashes(joined)
        of = self.of = np.repeat(np.arange(len(texts)), list(map(len, words)))
        number: dict[str, int] = {}
        every = np.array(
            [number.setdefault(word, len(number)) for word in chain(*words)],
            dtype=np.intp,
        )
        long = np.array([len(word) >= _LONG_WORD for word in number], dtype=bool)[every]
        cut = _hashes(word[:_LONG_WORD] for word in number)[every]
        whole = self.words = _hashes(number)[every]
        self.runs = [_runs(whole, of, _RUN), _runs(cut[long], of[long], _LONG_RUN)]


def _blocks(texts: Iterable[Any]) -> Iterator[_Block]:
    rest = iter(texts)
    while some := list(islice(rest, _AT_ONCE)):
        yield _Block(some)


def _words(text: str) -> list[str]:
    """Words of a text, without what a copy may change: case, marks, punctuation."""
    if text.isascii():
        return _WORD.findall(text.lower())
    text = unicodedata.normalize("NFKD", text).translate(_unseen()).casefold()
    letters = "".join(_UNSPACED.findall(text))
    if not letters:
        return _WORD.findall(text)
    windows = [letters[i : i + 3] for i in range(len(letters))]
    return _WORD.findall(_UNSPACED.sub(" ", text)) + windows


@cache
def _unseen() -> dict[int, None]:
    """Marks, and signs that nobody sees, for `str.translate`."""
    kinds = {"Mn", "Mc", "Me", "Cf"}
    signs = chain(range(0x20000), range(0xE0000, 0xE1000))
    return {sign: None for sign in signs if unicodedata.category(chr(sign)) in kinds}


def _hashes(texts: Iterable[str]) -> np.ndarray:
    """64 bits each, the same in every process."""
    digests = [
        blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        for text in texts
    ]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)


def _runs(words: np.ndarray, of: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Hashes of n words in a row of one text, and which text that is."""
    size = max(0, len(words) - n + 1)
    runs = np.full(size, n, dtype=np.uint64)
    for i in range(n):
        runs = (runs ^ words[i : i + size]) * np.uint64(0x9E3779B97F4A7C15)
        runs ^= runs >> np.uint64(29)
    whole = of[:size] == of[len(of) - size :]
    return runs[whole], of[:size][whole]


def _joined(
    parts: Iterable[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    runs, of = zip(*parts, strict=True)
    return np.concatenate(runs), np.concatenate(of)


def _mostly(there: np.ndarray, of: np.ndarray, n: int) -> np.ndarray:
    """Which of n texts have most of their runs elsewhere, and enough of them."""
    total = np.bincount(of, minlength=n)
    found = np.bincount(of, there, minlength=n)
    return (total >= _FEWEST) & (found >= _NEAR * total)


def _places(table: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where values are in a sorted table, or would be; and which ones are there."""
    if not len(table):
        return np.zeros(len(values), dtype=np.intp), np.zeros(len(values), dtype=bool)
    at = np.searchsorted(table, values).clip(max=len(table) - 1)
    return at, table[at] == values
