"""Codes that anybody undoes: a release is read before it is attacked.

A code is tried on all texts at once, and kept where they then hold more of the words
of the originals. No code is recognised by its looks, so none has thresholds.
"""

from __future__ import annotations

import base64
import bz2
import hashlib
import html
import lzma
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from skdptext.attacks._similarity import words_of

# Texts on which codes are tried; the share of them that a code must undo.
_TRIED, _UNDONE = 24, 0.8
# Of the first of them a code must undo half.
_FIRST = 4
# How much larger the share of known words has to be, for a code to be kept.
_BETTER = 0.1
# Codes upon codes.
_LAYERS = 3
# Texts of which no more than this is left are compared in vain; those of which more
# than that is left need no code undone.
_READABLE, _READ = 0.5, 0.8
# Frequent in releases and in no original: placeholders, which no one has to read.
_PLACEHOLDER = 0.2

_LOOK_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u04cf"
    "\u051b\u051d\u043a\u043c\u0442\u0432\u043d\u0433\u03bf\u03b1\u03bd\u03b9\u03ba"
    "\u03c1\u03c4\u03c5\u03c7\u03b5\u03b7\u0261\u0131\u0251\u0410\u0412\u0415\u041a"
    "\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0391\u0392\u0395\u0396\u0397\u0399"
    "\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijsdhlqwkmtbhroavikptuxengiaABEKMHOPCTXABEZHIKMNOPTYX",
)
_TURNED = str.maketrans("ɐqɔpǝɟƃɥᴉɾʞןɯuodbɹsʇnʌʍxʎz", "abcdefghijklmnopqrstuvwxyz")
_SMALL = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz")
_DIGITS = str.maketrans("013457@$", "oieastas")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b")
# From here on, scripts are written without blanks.
_NO_BLANKS = 0x0E00
_OTHER_SPACE = 1 << 11  # above it, letters of the scripts of most texts end
Undo = Callable[[str], str]


class Decoded(NamedTuple):
    """Releases as they can be read; the codes that were undone; what is still unread.

    `readable` and `usual` are the shares of known words of releases and of originals.
    """

    texts: list[Any]
    codes: list[str]
    readable: float
    usual: float

    @property
    def unread(self) -> bool:
        """Whether releases share less with originals than texts of one language do."""
        return self.readable < _READABLE * self.usual


def decode(original: Sequence[Any], released: Sequence[Any]) -> Decoded:
    """Undo the codes of releases, layer by layer."""
    reader = _Reader(original)
    texts = list(released)
    readable = reader.readable(texts, placeholders=False)
    if not all(isinstance(text, str) for text in texts):
        return Decoded(texts, [], readable, reader.usual)
    some = [text for text in texts if text][:_TRIED]
    codes: list[tuple[str, Undo]] = []
    if readable < _READ * reader.usual:
        codes = _search(reader, some, _codes(original, some), _LAYERS)[1]
    elif any(map(_is_hidden, set("".join(some)))):  # hidden in a text that is read
        codes = _search(reader, some, _hiding(some), 1, hidden=True)[1]
    for _, undo in codes:
        texts = [_or_same(undo, text) for text in texts]
    names = [name for name, _ in codes]
    readable = reader.readable(texts, placeholders=False)
    return Decoded(texts, names, readable, reader.usual)


def _telling(document: Any) -> list[str]:
    """Words that are no accident: of several letters, or written without blanks."""
    return [
        word
        for word in words_of(document)
        if word.strip(word[0]) or ord(word[0]) >= _NO_BLANKS
    ]


class _Reader:
    """The words of the originals, and how many of those of a text are among them."""

    def __init__(self, original: Sequence[Any]) -> None:
        each = list(map(_telling, original))
        texts_with = Counter(word for words in each for word in set(words))
        self.words = set(texts_with)
        # words that another of the originals has, too
        known = [np.mean([texts_with[w] > 1 for w in words]) for words in each if words]
        self.usual = float(np.mean(known)) if known else 0.0

    def readable(self, texts: Sequence[Any], placeholders: bool = True) -> float:
        """Share of known words, of texts that are not alike; placeholders may count."""
        each = list(map(_telling, texts))
        if len({tuple(words) for words in each}) == 1:
            return 1.0 if each[0] else 0.0
        often = Counter(word for words in each for word in set(words))
        most = len(each) if placeholders else max(1, _PLACEHOLDER * len(each))
        aside = {w for w, n in often.items() if n > most and w not in self.words}
        shares = [
            sum(w in self.words for w in words)
            / max(1, sum(w not in aside for w in words))
            for words in each
        ]
        return float(np.mean(shares)) if shares else 0.0


def _search(
    reader: _Reader,
    texts: list[str],
    codes: list[tuple[str, Undo]],
    layers: int,
    hidden: bool = False,
) -> tuple[float, list[tuple[str, Undo]]]:
    """The codes that make most of the texts readable; of hidden texts, any that do."""
    now = 0.0 if hidden else reader.readable(texts)
    best: tuple[float, list[tuple[str, Undo]]] = now, []
    if not layers or not texts or now >= _READ * reader.usual > 0:
        return best
    for name, undo in codes:
        undone = [_undone(undo, text) for text in texts[:_FIRST]]
        if undone.count(None) > _FIRST / 2:
            continue
        undone += [_undone(undo, text) for text in texts[_FIRST:]]
        held = [text for text in undone if text is not None]
        if len(held) < _UNDONE * len(texts) or held == texts:
            continue
        share = reader.readable(held)
        deeper: list[tuple[str, Undo]] = []
        # bytes that are text are no accident: another code may be below
        if share < now + _BETTER and name.startswith(_BYTES):
            share, deeper = _search(reader, held, codes, layers - 1)
        if share >= best[0] + _BETTER:
            best = share, [(name, undo), *deeper]
    if best[1] and len(best[1]) < layers:
        held = texts
        for _, undo in best[1]:
            held = [_or_same(undo, text) for text in held]
        share, more = _search(reader, held, codes, layers - len(best[1]))
        best = share, [*best[1], *more]
    return best


_ERRORS = ValueError, OverflowError, OSError, EOFError, zlib.error, lzma.LZMAError


def _undone(undo: Undo, text: str) -> str | None:
    try:
        return undo(text) or None
    except _ERRORS:
        return None


def _or_same(undo: Undo, text: str) -> str:
    done = _undone(undo, text)
    return text if done is None else done


def _codes(original: Sequence[Any], texts: Sequence[str]) -> list[tuple[str, Undo]]:
    """Names of codes, and what undoes each of them."""
    codes: list[tuple[str, Undo]] = [
        ("characters of other forms", _plain),
        ("look-alike letters", lambda t: _plain(t).translate(_LOOK_ALIKE)),
        ("small capitals", lambda t: t.translate(_SMALL)),
        ("digits for letters", lambda t: t.lower().translate(_DIGITS)),
        ("turned letters", lambda t: t.translate(_TURNED)[::-1]),
        ("reversed text", lambda t: t[::-1]),
        ("spaced letters", _joined),
        ("character entities", html.unescape),
        ("percent encoding", unquote),
        ("escaped characters", _unescaped),
        ("mirrored alphabet", lambda t: _shifted_letters(t, _ALPHABET[::-1])),
    ]
    for k in range(1, 26):
        moved = _ALPHABET[k:] + _ALPHABET[:k]
        codes.append((f"alphabet moved by {k}", partial(_shifted_letters, to=moved)))
    for name, decode_bytes in _BYTE_CODES.items():
        codes += [
            (f"{name}, {kind}", partial(_by_parts, decode_bytes, parts))
            for kind, parts in _PARTS.items()
            if kind == "texts" or name != "latin-1"
        ]
    codes += [
        (f"{name}, texts", partial(_from_bits, order=order, width=width, size=size))
        for order in (1, -1)
        for width, size in ((8, 1), (7, 1), (16, 2))
        for name in (f"bits of {width}",)
    ]
    codes += [("moved characters", undo) for undo in _moved(texts, hidden=False)]
    return codes + _hiding(texts) + _guessed_hashes(original, texts)


def _hiding(texts: Sequence[str]) -> list[tuple[str, Undo]]:
    """Codes that hide a text in characters that are not seen."""
    codes: list[tuple[str, Undo]] = [
        ("hidden characters", undo) for undo in _moved(texts, hidden=True)
    ]
    return codes + [
        ("hidden bits", partial(_hidden_bits, order=order)) for order in (1, -1)
    ]


def _plain(text: str) -> str:
    """Compatible characters, without those that are not seen."""
    text = unicodedata.normalize("NFKC", text)
    return _only(text, lambda c: not _is_strange(c))


def _only(text: str, keep: Callable[[str], bool]) -> str:
    """Some of the characters; each one that differs is asked about once."""
    return text.translate({ord(c): None for c in set(text) if not keep(c)})


def _is_strange(c: str) -> bool:
    return unicodedata.category(c)[0] == "C" and not c.isspace()


def _joined(text: str) -> str:
    """Letters that stand apart; words are then two blanks apart, or have none."""
    words = re.split(r"\s{2,}|\s*[/|]\s*", text.strip())
    if sum(map(len, text.split())) > 1.2 * len(text.split()):
        raise ValueError
    return " ".join("".join(word.split()) for word in words)


def _unescaped(text: str) -> str:
    if "\\" not in text and "=" not in text:
        raise ValueError
    text = re.sub(r"=([0-9A-F]{2})", r"\\x\1", text.replace("=\n", ""))
    return text.encode("latin-1", "backslashreplace").decode("unicode_escape")


def _shifted_letters(text: str, to: str) -> str:
    both = str.maketrans(_ALPHABET + _ALPHABET.upper(), to + to.upper())
    return text.translate(both)


_PACKED: dict[bytes, Callable[[bytes], bytes]] = {
    b"\x78": zlib.decompress,
    b"\x1f\x8b": partial(zlib.decompress, wbits=31),
    b"BZh": bz2.decompress,
    b"\xfd7zXZ": lzma.decompress,
}


# -- bytes -----------------------------------------------------------------------------


def _text_of(data: bytes) -> str:
    """Bytes as text, unpacked if they are compressed."""
    for start, unpack in _PACKED.items():
        if data.startswith(start):
            data = unpack(data)
            break
    text = data.decode("utf-16" if b"\0" in data[:4] else "utf-8")
    if sum(map(text.count, filter(_is_strange, set(text)))) > len(text) / 20:
        raise ValueError
    return text


def _base64(text: str) -> bytes:
    text = text.translate(str.maketrans("-_", "+/", " \n\r\t")).rstrip("=")
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _base32(text: str) -> bytes:
    text = "".join(text.split()).rstrip("=").upper()
    return base64.b32decode(text + "=" * (-len(text) % 8))


def _hexadecimal(text: str) -> bytes:
    return bytes.fromhex(re.sub(r"0x|\\x|[\s:,;-]", "", text))


def _numbers(text: str, base: int) -> bytes:
    """Numbers of bytes or characters, with anything between them."""
    found = re.findall(r"[0-9]+", text)
    if not found or re.sub(r"[0-9\s,;.:/|#&\[\]()-]", "", text):
        raise ValueError
    numbers = [int(each, base) for each in found]
    if max(numbers) < 256:
        with_bytes = bytes(numbers)
        try:
            with_bytes.decode("utf-8")
            return with_bytes
        except UnicodeError:
            pass
    return "".join(map(chr, numbers)).encode("utf-8")


_BYTE_CODES: dict[str, Callable[[str], bytes]] = {
    "hexadecimal": _hexadecimal,
    "base64": _base64,
    "base32": _base32,
    "base85": base64.b85decode,
    "ASCII85": lambda text: base64.a85decode(text, adobe=text.startswith("<~")),
    "decimal numbers": partial(_numbers, base=10),
    "binary numbers": partial(_numbers, base=2),
    "octal numbers": partial(_numbers, base=8),
    "latin-1": lambda text: text.encode("latin-1"),
}
_BYTES = tuple(_BYTE_CODES)
_PARTS: dict[str, tuple[str, str]] = {
    "texts": ("", ""),
    "lines": ("\n", "\n"),
    "words": (r"\s+", " "),
}


def _by_parts(
    decode_bytes: Callable[[str], bytes], parts: tuple[str, str], text: str
) -> str:
    """The text of all bytes; of words that are none, themselves."""
    at, glue = parts
    if not at:
        return _text_of(decode_bytes(text.strip()))
    pieces = [piece for piece in re.split(at, text) if piece]
    done = {p: _undone(lambda p: _text_of(decode_bytes(p)), p) for p in set(pieces)}
    if sum(done[piece] is not None for piece in pieces) < len(pieces) / 2:
        raise ValueError
    return glue.join(done[piece] or piece for piece in pieces)


def _from_bits(text: str, order: int, width: int, size: int) -> str:
    """Two characters that stand for 0 and 1; anything else parts them."""
    two = [c for c, _ in Counter(text).most_common(3)]
    if len(two) == 3 and not text.replace(two[2], "").strip("".join(two[:2])) == "":
        raise ValueError
    if len(two) < 2:
        raise ValueError
    ends = sorted(two[:2])[::order]
    bits = _only(text, ends.__contains__).translate(str.maketrans("".join(ends), "01"))
    if len(bits) % width:
        raise ValueError
    data = b"".join(
        int(bits[i : i + width], 2).to_bytes(size, "big")
        for i in range(0, len(bits), width)
    )
    return data.decode("utf-8" if size == 1 else "utf-16-be")


# -- characters that are moved, or not seen --------------------------------------------


def _is_hidden(c: str) -> bool:
    return unicodedata.category(c) in ("Cf", "Co", "Cn", "Mn") and ord(c) > 0x300


def _hidden(text: str) -> str:
    return _only(text, _is_hidden)


def _hidden_bits(text: str, order: int) -> str:
    """Two invisible characters that stand for 0 and 1, in a text that is seen."""
    kept = _hidden(text)
    if kept == text:
        raise ValueError
    for width, size in ((8, 1), (7, 1), (16, 2)):
        done = _undone(partial(_from_bits, order=order, width=width, size=size), kept)
        if done is not None:
            return done
    raise ValueError


def _moved(texts: Sequence[str], hidden: bool) -> Iterator[Undo]:
    """All characters, or the hidden ones, moved by one distance in Unicode."""
    is_moved = _is_hidden if hidden else _is_of_other_space
    counts = Counter(_only("".join(texts), is_moved))
    if not counts:
        return
    # the most frequent character of a text is a blank or a frequent letter; bytes are
    # written from the start of a block
    often = ord(counts.most_common(1)[0][0])
    blocks = {often - ord(c) for c in " etaoE"} | {0x2800, 0xE000, 0xE0000, 0x1F3F7}
    for distance in sorted(blocks | {often & ~0xFF, 0xFE00}):
        yield partial(_moved_back, distance=distance, hidden=hidden)


def _is_of_other_space(c: str) -> bool:
    return ord(c) >= _OTHER_SPACE


def _moved_back(text: str, distance: int, hidden: bool) -> str:
    def back(c: str) -> str:
        code = ord(c) - distance
        if 0xE0100 <= ord(c) <= 0xE01EF:  # the other variation selectors
            code = ord(c) - 0xE0100 + 16
        return chr(code) if 9 <= code < 0x250 else ""

    kept = _hidden(text) if hidden else text
    moved = kept.translate(
        {ord(c): back(c) for c in set(kept) if hidden or _is_of_other_space(c)}
    )
    with_bytes = _undone(lambda t: t.encode("latin-1").decode("utf-8"), moved)
    return moved if with_bytes is None else with_bytes


# -- hashes without a key --------------------------------------------------------------


def _guessed_hashes(
    original: Sequence[Any], texts: Sequence[str]
) -> list[tuple[str, Undo]]:
    """Digests of texts and of words, looked up: who holds candidates can hash them."""
    tokens = Counter(len(word) for text in texts for word in text.split())
    if not tokens or tokens.most_common(1)[0][0] < 8:
        return []
    size = tokens.most_common(1)[0][0]
    whole = [d if isinstance(d, str) else " ".join(d) for d in original]
    words = {w for text in whole for w in (*text.split(), *words_of(text))}
    forms = {form for each in (*whole, *words) for form in (each, each.lower())}
    codes: list[tuple[str, Undo]] = []
    for name in _HASHES:
        names: dict[str, str] = {}
        for form in sorted(forms):
            digest = hashlib.new(name, form.encode("utf-8", "replace")).digest()
            for written in _written(digest):
                names.setdefault(written[:size], form)
        codes.append(
            (f"{name.upper()} without a key", partial(_looked_up, names=names))
        )
    return codes


def _written(digest: bytes) -> Iterable[str]:
    hexadecimal = digest.hex()
    return hexadecimal, hexadecimal.upper(), base64.b64encode(digest).decode()


def _looked_up(text: str, names: dict[str, str]) -> str:
    if not any(word in names for word in text.split()):
        raise ValueError
    return " ".join(names.get(word, word) for word in text.split())
