"""Find public texts among others, word for word, and texts without public words."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import blake2b
from typing import Any

from skdptext.documents._reader import warn_without_words, words_of
from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils import warn_once

# A text of fewer letters may be the same as another by chance.
_LONG = 25
# Shares above which two sets of texts are taken to overlap: of different long public
# texts, of long texts to be released, and of different public texts of any length. A
# few are accepted, as people repeat what they say. If most texts to be released are
# public, a warning is given: short ones may all be commonplaces.
_COPIES, _RELEASED, _MOSTLY = 0.01, 0.1, 0.5

_NO_LETTERS = re.compile(r"[\W_]+")

_counted: ContextVar[bool] = ContextVar("skdptext_counted", default=False)


@contextmanager
def shared_texts_counted() -> Iterator[None]:
    """Tell releasers inside the block that the caller has counted the texts."""
    token = _counted.set(True)
    try:
        yield
    finally:
        _counted.reset(token)


def are_shared_texts_counted() -> bool:
    """Check whether a caller has counted the texts to be released."""
    return _counted.get()


class KnownTexts:
    """Public texts that are looked for among others, word for word.

    Only letters and digits are compared: neither case, blanks and punctuation nor
    accents and the forms of Unicode matter.

    Parameters
    ----------
    texts : iterable of str, or of lists of str
        Texts. They are read once, and not kept.
    """

    def __init__(self, texts: Iterable[Any]) -> None:
        self.words: set[str] = set()
        self.is_long: dict[bytes, bool] = {}  # of each different text, by its digest
        for text in texts:
            self.words.update(words_of(text))
            digest, length = _letters(text)
            if length:
                self.is_long[digest] = length >= _LONG
        self.n_long = sum(self.is_long.values())

    def count(self) -> "SharedTexts":
        """Start a count of these texts among others."""
        return SharedTexts(self)


class SharedTexts:
    """A count of public texts among others, which are seen in blocks."""

    def __init__(self, known: KnownTexts) -> None:
        self._known = known
        self._seen: set[bytes] = set()
        self._n_there = self._n_long = self._n_public = self._n_strange = self._n = 0

    def see(self, texts: Iterable[Any]) -> None:
        """Count a block of texts."""
        for text in texts:
            digest, length = _letters(text)
            there = digest in self._known.is_long
            if there:
                self._seen.add(digest)
            self._n += 1
            self._n_there += there
            self._n_strange += self._known.words.isdisjoint(words_of(text))
            self._n_long += length >= _LONG
            self._n_public += there and length >= _LONG

    @property
    def _copies(self) -> int:
        return sum(map(self._known.is_long.__getitem__, self._seen))

    @property
    def any(self) -> bool:
        """Whether texts occur that do not coincide by chance."""
        most = self._n_there > _MOSTLY * self._n
        return bool(self._copies or most or self.why)

    @property
    def why(self) -> str:
        """Which texts are in both sets too often for chance; empty if none."""
        long = f"texts of {_LONG} letters or more that are"
        counts = (
            (self._copies, self._known.n_long, _COPIES, f"public {long} there"),
            (self._n_public, self._n_long, _RELEASED, f"{long} public"),
            (len(self._seen), len(self._known.is_long), _MOSTLY, "public texts there"),
        )
        for n, of, most, what in counts:
            if n > most * of:
                return f"{n:,} of {of:,} {what}, where {most:.0%} are accepted"
        return ""

    def check(self, accepted: bool) -> None:
        """Refuse public texts among the private ones, or warn of a few.

        Also warns of documents without any public word.
        """
        self.warn_of_strangers()
        if accepted:
            return
        if self.why:
            raise InvalidParameterError(
                f"public_documents must not be among the private ones, got {self.why}: "
                "the release would publish them. If all of them are public, accept "
                "this with allow_shared_texts."
            )
        if self.any:
            n, of = len(self._seen), len(self._known.is_long)
            warn_once(
                f"{n:,} of {of:,} public texts {'is' if n == 1 else 'are'} among the "
                "private ones, word for word. Public texts cannot be protected; if "
                "they are not public, this release publishes them.",
                PrivacyLeakWarning,
            )

    def warn_of_strangers(self) -> None:
        """Warn of documents without any public word, by their number alone."""
        warn_without_words(self._n_strange, self._n, "public documents")


def _letters(text: Any) -> tuple[bytes, int]:
    """Compute a digest of the letters and digits of a text, and their number."""
    text = text if isinstance(text, str) else " ".join(text)
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    letters = _NO_LETTERS.sub("", text.casefold())
    data = letters.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=16).digest(), len(letters)
