"""Keyed streams of noise, and noisy words in blocks of bounded memory."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn import config_context

from skdptext.documents import EncodedDocuments, resample
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import Draws, WordMechanism
from skdptext.utils import (
    blas_threads,
    blocks,
    check_noise_state,
    limit_blas_threads,
    progress_bar,
    runs,
    working_memory_bytes,
)

# Number of words perturbed at a time: enough for an efficient product, and few compared
# with the embedding. More are taken if a word needs little memory.
_MAX_BLOCK = 2048
_BLOCK_BYTES = 2**24
# Number of words per draw from a document's stream. No block is smaller. The noise of a
# seed therefore does not depend on working_memory.
_PIECE = 64
# Number of words per draw outside a release. It does not depend on the memory either,
# because the seed must fix the result.
_SINGLE = 256
# Bytes that `apply` may always take, in addition to those per word.
_APPLY_BYTES = 16 * 2**20

# The largest number of 64 bits
_LAST = np.uint64(2**64 - 1)

Streams = list[np.random.Generator]


@dataclass(frozen=True)
class NoiseRun:
    """One noisy release of documents."""

    mechanism: WordMechanism
    streams: "NoiseStreams"
    sample_length: int | None = None  # words drawn from each document to replace it

    def run(
        self,
        documents: EncodedDocuments,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> EncodedDocuments:
        """Perturb documents; negative codes are words that stay unchanged."""
        offsets = documents.offsets
        if self.sample_length is not None:
            offsets = np.arange(len(offsets), dtype=np.int64) * self.sample_length
        # Our threads and those of the matrix product share the cores. If both used all
        # of them, there would be as many threads as the product of the two numbers.
        of_product = blas_threads()
        n_threads = effective_n_jobs(n_jobs)
        if n_jobs is None and n_threads == 1:
            n_threads = of_product
        block, memory = self._block_size(n_threads)
        share = -(-int(offsets[-1]) // n_threads)
        # A task holds whole documents, because a document's stream is drawn in order.
        tasks = runs(offsets, max(1, min(block, share)))
        n_threads = max(1, min(n_threads, len(tasks)))
        codes = np.empty(offsets[-1], dtype=np.int32)
        with (
            limit_blas_threads(max(1, of_product // n_threads)),
            progress_bar(
                verbose, "perturbing", total=len(offsets) - 1, unit="doc"
            ) as progress,
        ):
            perturb = partial(self._perturb, documents, block=block, memory=memory)
            # Threads share the embedding. Processes would receive it with each task.
            parallel = Parallel(n_threads, require="sharedmem", return_as="generator")
            results = parallel(delayed(perturb)(task) for task in tasks)
            for task, noisy in zip(tasks, results, strict=True):
                codes[offsets[task.start] : offsets[task.stop]] = noisy
                progress.update(task.stop - task.start)
        return EncodedDocuments(codes, offsets, in_clear=documents.in_clear)

    def _block_size(self, n_threads: int) -> tuple[int, int]:
        """Compute the words per block, and the further bytes that `apply` may take.

        All threads together stay within working_memory.
        """
        budget = working_memory_bytes() // n_threads
        memory = max(_APPLY_BYTES, budget // 4)
        each = self.mechanism.row_bytes
        most = max(_MAX_BLOCK, _BLOCK_BYTES // each)
        return int(np.clip((budget - memory) // each, _PIECE, most)), memory

    def _perturb(
        self, documents: EncodedDocuments, rows: slice, *, block: int, memory: int
    ) -> np.ndarray:
        """Perturb some of the documents and return their codes."""
        start, stop = rows.start, rows.stop
        ends = documents.offsets[start : stop + 1]
        codes = documents.codes[ends[0] : ends[-1]]
        lengths = np.diff(ends)
        # Fresh noise needs no stream for each document.
        fresh = self.streams.fresh
        labels = [b"%d" % start] if fresh else documents.stream_labels[start:stop]
        streams = [self.streams.open(label) for label in labels]
        if self.sample_length is not None:
            codes = resample(
                codes,
                lengths,
                self.sample_length,
                len(self.mechanism.embedding),
                streams,
            )
            lengths = np.full(stop - start, self.sample_length)
        # Words that stay unchanged are negative. All others start as a number that no
        # word has: a word that got no noise can then not be released by accident.
        noisy = np.where(codes < 0, codes, np.iinfo(codes.dtype).max)
        known = np.flatnonzero(codes >= 0)
        of_stream = np.repeat(np.arange(len(lengths)) * (not fresh), lengths)[known]
        counts = np.bincount(of_stream, minlength=len(streams)).tolist()
        done = 0
        # The number of draws decides how many words get noise, not the other way round.
        # A word without its own draw is an error below.
        for draws in self._draws(streams, counts, block):
            where = known[done : done + len(draws[0])]
            # The limit of this thread; all threads together keep the caller's setting.
            with config_context(working_memory=memory / 2**20):
                noisy[where] = apply_draws(self.mechanism, codes[where], draws)
            done += len(where)
        if done != len(known):
            raise RuntimeError(
                f"{len(known) - done} of {len(known)} words got no noise. Nothing was "
                "released; please report this."
            )
        return noisy

    def _draws(
        self, streams: Streams, counts: list[int], block: int
    ) -> Iterator[Draws]:
        """Yield draws for so many words of each stream, at most `block` at a time."""
        # Seeded noise is drawn in pieces of fixed size, which fixes the result. Fresh
        # noise cannot be repeated, so it may be divided in any way.
        size = block if self.streams.fresh else _PIECE
        pieces: list[Draws] = []
        filled = 0
        for stream, count in zip(streams, counts, strict=True):
            for piece in blocks(count, size):
                n = piece.stop - piece.start
                if filled + n > block:
                    yield _joined(pieces)
                    pieces, filled = [], 0
                pieces.append(check_draws(self.mechanism, stream, n))
                filled += n
        if filled:
            yield _joined(pieces)


def _joined(pieces: list[Draws]) -> Draws:
    return tuple(map(np.concatenate, zip(*pieces, strict=True)))


def draw_words(
    mechanism: WordMechanism, ids: np.ndarray, n_draws: int, rng: np.random.Generator
) -> Iterator[tuple[slice, np.ndarray]]:
    """Draw independent noisy versions of words, a few hundred at a time.

    Yields slices of `ids` and their noisy words, of shape (n_rows, n_draws).
    """
    for rows in blocks(len(ids), max(1, _SINGLE // n_draws)):
        words = np.repeat(ids[rows], n_draws)
        noisy = np.empty(len(words), dtype=np.int64)
        for block in blocks(len(words), _SINGLE):
            draws = check_draws(mechanism, rng, block.stop - block.start)
            noisy[block] = apply_draws(mechanism, words[block], draws)
        yield rows, noisy.reshape(-1, n_draws)


def check_draws(mechanism: WordMechanism, rng: np.random.Generator, n: int) -> Draws:
    """Draw for `n` words, and check that every array has a row for each word."""
    # A user's mechanism may return anything. Too few rows would broadcast, and several
    # words would share their noise.
    draws = mechanism.draw(rng, n)
    got = type(draws).__name__
    if isinstance(draws, tuple):
        shapes = list(map(np.shape, draws))
        if {shape[:1] for shape in shapes} == {(n,)}:
            return draws
        got = f"arrays of shapes {shapes}"
    raise InvalidParameterError(
        f"draw of {type(mechanism).__name__} must return a tuple of arrays with {n} "
        f"rows each, got {got}."
    )


def apply_draws(
    mechanism: WordMechanism, words: np.ndarray, draws: Draws
) -> np.ndarray:
    """Apply draws to words, and check that the results are words of the embedding."""
    n, n_words = len(words), len(mechanism.embedding)
    noisy = np.asarray(mechanism.apply(words, draws))
    whole = noisy.shape == (n,) and noisy.dtype.kind in "iu"
    if not whole or (n and not 0 <= noisy.min() <= noisy.max() < n_words):
        raise InvalidParameterError(
            f"apply of {type(mechanism).__name__} must return {n} word ids, integers "
            f"in [0, {n_words}), got an array of shape {noisy.shape} and type "
            f"{noisy.dtype}."
        )
    return noisy


class NoiseStreams:
    """ChaCha20 streams for one release, each fixed by a key and a label.

    Streams are derived by a keyed hash (BLAKE2b), so that those of two labels are
    independent, and no stream reveals anything about another one or about the key.

    Depending on `random_state`, the 256-bit key comes from the operating system, from a
    hash of the integer, or from the generator, which then moves on by 32 bytes. The
    `context` (mechanism, ε, λ, embedding) enters the key. A seed therefore never
    repeats its noise at another ε.
    """

    def __init__(self, random_state: Any, context: bytes) -> None:
        state = check_noise_state(random_state)
        #: Whether the same document must get the same noise in every call.
        self.repeatable = isinstance(state, int)
        #: Whether the noise may depend on how the work is split, which is the case for
        #: fresh noise only.
        self.fresh = state is None
        if state is None:
            secret = secrets.token_bytes(32)
        elif isinstance(state, int):
            secret = str(state).encode()
        else:
            secret = state.bytes(32)
        # The first hash makes 256 bits of any secret, and the second binds them to the
        # context. Learning the key of one release then reveals no other key.
        seed = blake2b(secret, digest_size=32, person=b"skdptext-seed").digest()
        self._key = blake2b(context, key=seed, digest_size=32).digest()

    def labeller(
        self, ids: Sequence[Any] | None = None
    ) -> Callable[[int, bytes], bytes] | None:
        """Make a function from a document's position and content to its label, or None.

        With `ids`, equal content under different ids gets different labels. Without
        them it gets the same label, except with a Generator: clones share its state,
        and different documents must get different noise.
        """
        if self.fresh:
            return None

        def label(position: int, content: bytes) -> bytes:
            who = b""
            if ids is not None:
                # A missing id is reported later, when all documents are read.
                who = _id_bytes(ids[position]) if position < len(ids) else b""
            elif not self.repeatable:
                who = b"%d" % position
            # The length comes first. Otherwise another id and content could read the
            # same end to end and get the same label.
            framed = b"%d:" % len(who) + who + content
            return blake2b(framed, key=self._key, digest_size=32).digest()

        return label

    def open(self, label: bytes) -> np.random.Generator:
        """Open the stream of a label at its beginning."""
        key = blake2b(label, key=self._key, digest_size=32, person=b"stream").digest()
        from randomgen import ChaCha  # late, as it loads 30 generators

        bits = ChaCha(key=int.from_bytes(key, "little"), rounds=20)
        return np.random.Generator(bits)

    def numbers(self, labels: Sequence[bytes]) -> "Numbers":
        """Prepare whole numbers, one for each of many labels.

        For a single number, the keyed hash of a label takes a twentieth of the time of
        its stream.
        """
        return Numbers(self._key, labels)


class Numbers:
    """Whole numbers from keyed hashes of labels; equal labels get equal numbers."""

    def __init__(self, key: bytes, labels: Sequence[bytes]) -> None:
        self._key, self._labels = key, labels

    def integers(self, high: Any, size: Any = None) -> np.ndarray:
        """Draw a number in [0, high) for each label, all of them equally likely.

        `high`, one number or one per label, is at most 2^63. `size` exists for the
        interface of NumPy's generators; there is a number for each label.
        """
        n = len(self._labels)
        below = np.broadcast_to(np.asarray(high).astype(np.uint64), n)
        # Numbers from the largest multiple of `high` on are drawn again. Otherwise the
        # remainder of 2^64 would make small numbers more likely.
        last = _LAST - (_LAST % below + np.uint64(1)) % below
        numbers = np.empty(n, dtype=np.int64)
        left = np.arange(n)
        # A label without an allowed number tries again with the next salt. Its number
        # does not depend on the other labels of the call.
        turn = 0
        while len(left):
            salt = turn.to_bytes(8, "little")
            digests = b"".join(
                blake2b(
                    self._labels[i],
                    key=self._key,
                    digest_size=32,
                    person=b"numbers",
                    salt=salt,
                ).digest()
                for i in left.tolist()
            )
            drawn = np.frombuffer(digests, dtype="<u8").reshape(len(left), 4)
            # The first allowed one of the four numbers in a digest is taken.
            fits = drawn <= last[left, None]
            done = fits.any(axis=1)
            rows, first = left[done], fits[done].argmax(axis=1)
            numbers[rows] = drawn[done, first] % below[rows]
            left, turn = left[~done], turn + 1
        return numbers


def _id_bytes(identity: Any) -> bytes:
    """Encode an id with its type: 1, "1" and b"1" differ."""
    if isinstance(identity, str):
        return b"s" + identity.encode("utf-8", "surrogatepass")
    return b"b" + identity if isinstance(identity, bytes) else b"i%d" % identity
