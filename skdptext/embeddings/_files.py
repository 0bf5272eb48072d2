"""Files of embeddings: NumPy's ``.npz``, word2vec binary, and text."""

import gzip
import os
import warnings
from array import array
from codecs import BOM_UTF8
from functools import partial
from itertools import takewhile
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_kind, import_gensim, replacing

# The contents of a file, by its suffix.
_FORMS = {
    ".npz": "arrays `words`, of dtype str, and `vectors`",
    ".bin": "word2vec binary (for a fastText model take gensim's load_facebook_model, "
    "and WordEmbedding.from_gensim)",
    ".txt": "lines of a word and its numbers",
    ".vec": "lines of a word and its numbers",
}
# The most bytes of a line. Without a bound, a small compressed file with one endless
# line would fill the memory.
_MAX_LINE = 1 << 24

# Words, vectors, and fastText's vectors of n-grams with the lengths of n-grams.
Parts = tuple[Any, Any, tuple[Any, tuple[int, int]] | None]


def read(path: Any, n_words: Any) -> Parts:
    """Read the first words and vectors of a file, and all its subword vectors."""
    path, suffix, _ = _place(path)
    if n_words is not None:
        n_words = check_integer("n_words", n_words, low=1)
    if not path.exists():
        raise FileNotFoundError(
            f'There is no embedding file {str(path)!r}. Where to get one: see "Load '
            'vectors and data" in the documentation.'
        )
    reader = {".npz": _read_npz, ".bin": _read_binary}.get(suffix, _read_text)
    try:
        return reader(path, n_words)
    except (InvalidParameterError, ImportError):
        raise
    except Exception as error:
        # zipfile, gzip, NumPy and gensim raise a dozen kinds of errors, which may quote
        # the file. It may contain private documents, given by mistake.
        raise InvalidParameterError(
            f"{path}: is broken, or does not hold {_FORMS[suffix]} "
            f"({type(error).__name__})."
        ) from None


def write(
    path: Any, words: tuple[str, ...], vectors: np.ndarray, subwords: Any
) -> None:
    """Write an embedding in the format of the suffix, completely or not at all."""
    path, suffix, packed = _place(path)
    for i, word in enumerate(words):
        if not _is_held(word, suffix):
            raise InvalidParameterError(
                f"words must be such that {suffix} files can store them, got "
                f"{word[:40]!r} at position {i}; .npz can store nearly all words."
            )
    if subwords is not None and suffix != ".npz":
        warnings.warn(
            f"{suffix} files hold no subword vectors: {str(path)!r} will only contain "
            "words and their vectors. Save as .npz to keep all.",
            UserWarning,
            stacklevel=3,  # the caller of WordEmbedding.save
        )
    # A symbolic link is followed, as open() would do.
    with replacing(Path(os.path.realpath(path))) as file:
        if suffix == ".npz":
            arrays: Any = {"vectors": vectors, "words": np.array(words)}
            if subwords is not None:
                arrays["subword_buckets"] = subwords.buckets
                arrays["subword_lengths"] = np.array(subwords[1:])
            np.savez(file, **arrays)
            return
        if suffix == ".bin":
            _write_binary(file.name, words, vectors)
            return
        # Name and time are left out, so equal embeddings give equal files.
        out: Any = gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else file
        out.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        # Nine digits distinguish all float32 numbers.
        numbers = " ".join(["%.9g"] * vectors.shape[1])
        for word, row in zip(words, vectors, strict=True):
            out.write(f"{word} {numbers % tuple(row.tolist())}\n".encode())
        if packed:
            out.close()


def _place(path: Any) -> tuple[Path, str, bool]:
    """Get the path, the suffix of its format, and whether it is compressed."""
    check_kind(path, str | os.PathLike, "path must be a path")
    path = Path(path)
    name = path.name.lower()
    packed = name.endswith(".gz")
    # gensim downloads text files with names that only end in .gz.
    suffix = Path(name.removesuffix(".gz")).suffix or (".txt" if packed else "")
    if suffix not in _FORMS or (packed and suffix == ".npz"):
        raise InvalidParameterError(
            "path must end in .npz, .bin, .txt, .vec, .bin.gz, .txt.gz or .vec.gz, got "
            f"{str(path)!r}."
        )
    return path, suffix, packed


# -- NumPy's arrays --------------------------------------------------------------------


def _read_npz(path: Path, n_words: int | None) -> Parts:
    with np.load(path, allow_pickle=False) as file:
        words, vectors, subwords = file["words"], file["vectors"], None
        if "subword_buckets" in file:
            min_n, max_n = map(int, file["subword_lengths"])
            subwords = file["subword_buckets"], (min_n, max_n)
    if len(words) != len(vectors):
        raise ValueError
    if n_words is not None:  # a copy releases the memory of the other vectors
        words, vectors = words[:n_words], vectors[:n_words].copy()
    return words.tolist(), vectors, subwords


# -- word2vec binary -------------------------------------------------------------------


def _read_binary(path: Path, n_words: int | None) -> Parts:
    import_gensim("an embedding in word2vec binary")
    from gensim.models import KeyedVectors

    with _opened(path) as file:
        n_promised, dim = map(int, file.readline(64).split())
    wanted = min(n_promised, n_words or n_promised)
    # gzip makes nothing smaller than a 1,032nd
    most = path.stat().st_size * (1032 if path.suffix.lower() == ".gz" else 1)
    if most < wanted * (4 * dim + 2):
        raise InvalidParameterError(
            f"{path}: the header promises {n_promised} words of {dim} dimensions, but "
            "the file is too short for them."
        )
    keyed = KeyedVectors.load_word2vec_format(path, binary=True, limit=n_words)
    # gensim leaves out repeated words, and a gap at the end for each.
    if keyed.index_to_key[-1:] == [None]:
        raise InvalidParameterError(
            f"{path}: a word occurs twice; words must be unique."
        )
    return keyed.index_to_key, keyed.vectors, None


def _write_binary(path: str, words: tuple[str, ...], vectors: np.ndarray) -> None:
    import_gensim("an embedding in word2vec binary")
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.shape[1])
    # Its method to add vectors would copy all of them three times.
    keyed.index_to_key, keyed.vectors = list(words), vectors
    keyed.key_to_index = {word: row for row, word in enumerate(words)}
    # Without counts, gensim prints a warning. Equal counts keep the order.
    keyed.expandos["count"] = np.ones(len(words))
    keyed.save_word2vec_format(path, binary=True)


# -- text: word2vec, GloVe, fastText ---------------------------------------------------


def _read_text(path: Path, n_words: int | None) -> Parts:
    words: dict[str, int] = {}  # and the lines that they stand in
    numbers = array("f")
    promised: int | None = None
    dim, number = 0, 1

    def broken(problem: str) -> InvalidParameterError:
        return InvalidParameterError(f"{path}, line {number}: {problem}")

    with _opened(path) as file:
        for number, line in enumerate(iter(partial(file.readline, _MAX_LINE), b""), 1):
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
                promised, dim = _sizes(line)
                if dim < 1:
                    raise broken("no vector: expected a word, then its numbers.")
                if promised is not None:
                    continue
            if not line.strip():
                continue
            try:
                # From the right: a GloVe word may hold blanks (". . .").
                word, *fields = line.rsplit(None, dim)
                row = array("f", map(float, fields))
                # A sum of floats, unlike one of numbers as written, is finite if all
                # of them are. Python takes 1_0 for ten.
                whole = len(row) == dim and isfinite(sum(row)) and _is_word(word)
                if not whole or len(line) == _MAX_LINE or b"_" in line[len(word) :]:
                    raise ValueError
                first = words.setdefault(word.decode(), number)
            except (ValueError, OverflowError):
                # The line is not quoted, because the file may contain documents.
                origin = "as in line 1" if promised is None else "by the header"
                raise broken(
                    f"expected a word in UTF-8 and {dim} numbers that are finite in "
                    f"float32 ({origin}), got something else."
                ) from None
            if first != number:
                raise broken(f"repeats a word of line {first}; words must be unique.")
            numbers.extend(row)
            if len(words) == n_words:
                break
    due = len(words) if promised is None else min(promised, n_words or promised)
    if not words or len(words) != due:
        raise broken(f"{due or 'some'} words expected, but {len(words)} are there.")
    return words, np.frombuffer(numbers, np.float32).reshape(-1, dim), None


def _opened(path: Path) -> Any:
    return gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb")


def _sizes(line: bytes) -> tuple[int | None, int]:
    """Get the number of words, if the first line is a header, and of dimensions."""
    fields = line.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        return int(fields[0]), int(fields[1])
    return None, sum(1 for _ in takewhile(_is_number, reversed(fields[1:])))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _is_word(word: bytes) -> bool:
    """Check whether a word can be read back from a line of text.

    It may contain single blanks. But if its last part reads as a number, it would be
    mistaken for an entry of the vector.
    """
    parts = word.split()
    whole = bool(parts) and word == b" ".join(parts)
    return whole and (len(parts) == 1 or not _is_number(parts[-1]))


def _is_held(word: str, suffix: str) -> bool:
    """Check whether a word can be read back from a file of a format."""
    try:
        raw = word.encode()
    except UnicodeEncodeError:
        return False
    if suffix == ".npz":
        return not word.endswith("\0")  # NumPy drops null characters at the end
    if suffix == ".bin":  # a blank ends a word, and line breaks may begin one
        return b" " not in raw and not raw.startswith(b"\n")
    return _is_word(raw)
