"""Codes that a release may be written in, and adversaries made for some of them."""

from __future__ import annotations

import base64
import bz2
import hashlib
import hmac
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

ALPHABET = "abcdefghijklmnopqrstuvwxyz"
Code = Callable[[str], str]


def keyed(word: str) -> str:
    """A word's HMAC, as pseudonyms are made."""
    return hmac.new(b"a secret", word.encode(), "sha256").hexdigest()[:12]


def by_word(change: Code, text: str) -> str:
    return " ".join(map(change, text.split()))


def bits(text: str, zero: str, one: str, width: int = 8) -> str:
    digits = "".join(f"{b:0{width}b}" for b in text.encode())
    return digits.translate({48: zero, 49: one})


def moved(text: str, start: int) -> str:
    return "".join(chr(start + b) for b in text.encode())


def selected(text: str) -> str:
    """Bytes as variation selectors of one visible character."""
    places = (0xFE00 + b if b < 16 else 0xE0100 + b - 16 for b in text.encode())
    return "A" + "".join(map(chr, places))


def shuffled(text: str) -> str:
    words = text.split()
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    return " ".join(rng.permutation(words))


def letters(to: str) -> Code:
    table = str.maketrans(ALPHABET + ALPHABET.upper(), to + to.upper())
    return lambda text: text.translate(table)


def characters(first: int) -> Code:
    """Each character by one at random, always the same."""
    rng = np.random.default_rng(first)
    order = rng.permutation(5000)
    return lambda text: "".join(chr(first + int(order[ord(c) % 5000])) for c in text)


def encrypted(text: str) -> str:
    """With a fresh key: nobody can read it, and only its length is left."""
    data = text.encode()
    noise = np.random.default_rng(zlib.crc32(data)).bytes(len(data))
    return base64.b64encode(
        bytes(a ^ b for a, b in zip(data, noise, strict=True))
    ).decode()


def _b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


ROT13 = letters(ALPHABET[13:] + ALPHABET[:13])
RANDOM = letters("".join(np.random.default_rng(0).permutation(list(ALPHABET))))
_MORSE = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... -"
    " ..- ...- .-- -..- -.-- --.."
)
MORSE = dict(zip(ALPHABET, _MORSE.split(" "), strict=True))
CODES: dict[str, Code] = {
    "HMAC of words": partial(by_word, keyed),
    "HMAC of words, in lower case": lambda t: by_word(
        keyed, " ".join(re.findall(r"\w+", t.lower()))
    ),
    "hashed bag, sorted": lambda t: " ".join(
        sorted(map(keyed, re.findall(r"\w+", t.lower())))
    ),
    "emoji for words": lambda t: "".join(
        chr(0x1F300 + int(keyed(w), 16) % 1000) for w in t.split()
    ),
    "MD5 of words": lambda t: " ".join(
        hashlib.md5(w.encode()).hexdigest() for w in t.split()
    ),
    "SHA-1 of the text": lambda t: hashlib.sha1(t.encode()).hexdigest(),
    "base64": lambda t: _b64(t.encode()),
    "base64, a word at a time": partial(by_word, lambda w: _b64(w.encode())),
    "base64 for addresses": lambda t: (
        base64.urlsafe_b64encode(t.encode()).decode().rstrip("=")
    ),
    "base64 of UTF-16": lambda t: _b64(t.encode("utf-16")),
    "base64 of zlib": lambda t: _b64(zlib.compress(t.encode())),
    "base64 of bz2": lambda t: _b64(bz2.compress(t.encode())),
    "hexadecimal": lambda t: t.encode().hex(),
    "hexadecimal, a word at a time": partial(by_word, lambda w: w.encode().hex()),
    "hexadecimal of zlib": lambda t: zlib.compress(t.encode()).hex(),
    "hexadecimal of base64": lambda t: _b64(t.encode()).encode().hex(),
    "base32": lambda t: base64.b32encode(t.encode()).decode(),
    "base85": lambda t: base64.b85encode(t.encode()).decode(),
    "ASCII85": lambda t: base64.a85encode(t.encode()).decode(),
    "zlib as latin-1": lambda t: zlib.compress(t.encode()).decode("latin-1"),
    "decimal bytes": lambda t: " ".join(map(str, t.encode())),
    "binary bytes": lambda t: " ".join(f"{b:08b}" for b in t.encode()),
    "octal bytes": lambda t: " ".join(f"{b:o}" for b in t.encode()),
    "percent encoding": lambda t: "".join(f"%{b:02X}" for b in t.encode()),
    "character entities": lambda t: "".join(f"&#{ord(c)};" for c in t),
    "emoji for characters": characters(0x1F300),
    "Chinese for characters": characters(0x4E00),
    "private use at random": characters(0xE000),
    "private use": partial(moved, start=0xE000),
    "braille": partial(moved, start=0x2800),
    "tags": partial(moved, start=0xE0000),
    "tags behind a sentence": lambda t: "Nothing is here. " + moved(t, 0xE0000),
    "variation selectors": selected,
    "zero width": partial(bits, zero="\u200b", one="\u200c"),
    "zero width in a sentence": lambda t: f"Hello {bits(t, chr(0x200B), chr(0x200C))}.",
    "blanks and tabs": partial(bits, zero=" ", one="\t"),
    "zero width between letters": lambda t: "\u200b".join(t),
    "letters moved by 13": ROT13,
    "letters moved by 13, words shuffled": lambda t: shuffled(ROT13(t)),
    "letters at random": RANDOM,
    "letters at random, words shuffled": lambda t: shuffled(RANDOM(t)),
    "reversed": lambda t: t[::-1],
    "words reversed and shuffled": lambda t: shuffled(by_word(lambda w: w[::-1], t)),
    "look-alike letters": lambda t: t.translate(
        str.maketrans("aeopcyxi", "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456")
    ),
    "full width": lambda t: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in t
    ),
    "bold letters of mathematics": lambda t: "".join(
        chr(ord(c) + 0x1D41A - 97) if "a" <= c <= "z" else c for c in t
    ),
    "spaced letters": lambda t: " ".join(t.replace(" ", "/")),
    "Morse code": lambda t: " / ".join(
        " ".join(MORSE.get(c, "?") for c in w) for w in t.lower().split()
    ),
    "digits for letters": lambda t: t.lower().translate(
        str.maketrans("aeiost", "431057")
    ),
    "no vowels": lambda t: re.sub("[aeiouAEIOU]", "", t),
    "an x for each letter": lambda t: re.sub(r"\w", "x", t),
    "encrypted": encrypted,
}


def first_places(text: str) -> tuple[int, ...]:
    """Where each word stands for the first time."""
    words = text.split()
    return tuple(map(words.index, words))


def sorted_counts(text: str) -> tuple[int, ...]:
    return tuple(sorted(Counter(text.split()).values()))


def made_for(
    original: Sequence[str], released: Sequence[str], of: Callable
) -> np.ndarray:
    """Similarity of an adversary who looks for equal patterns."""
    a, b = ([of(text) for text in texts] for texts in (released, original))
    return np.array([[float(x == y) for y in b] for x in a])
