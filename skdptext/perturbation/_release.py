"""From encoded documents to noisy ones: noise, nearest word, in bounded blocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm

from skdptext.embeddings import WordEmbedding
from skdptext.mechanisms import MahalanobisMechanism
from skdptext.perturbation._documents import EncodedDocuments, resample
from skdptext.search import Search
from skdptext.utils import NoiseStreams, blocks, working_memory_bytes

__all__ = ["Release", "as_bags", "as_tokens"]

# Words perturbed in one go: enough to fill the product, small beside the table.
_MAX_BLOCK = 4096
_MIN_BLOCK = 64
# Bytes that the search takes at least beside its points (scores, candidate pairs).
_SEARCH_BYTES = 16 * 2**20

Streams = Sequence[np.random.Generator]
# Number of a stream, and how many noise vectors it has to give
Segments = list[tuple[int, int]]


@dataclass(frozen=True)
class Release:
    """One noisy release of some documents.

    Parameters
    ----------
    embedding : WordEmbedding
    search : Search
        Of the nearest word.
    mechanism : MahalanobisMechanism
    streams : NoiseStreams
    sample_length : int or None
        Redraw each document as so many of its own words first.
    """

    embedding: WordEmbedding
    search: Search
    mechanism: MahalanobisMechanism
    streams: NoiseStreams
    sample_length: int | None = None

    def run(
        self,
        documents: EncodedDocuments,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Perturb all documents.

        Returns
        -------
        codes : ndarray of shape (n_words_out,), int32
            Numbers of the noisy words; negative ones are words kept in clear.
        offsets : ndarray of shape (n_documents + 1,), int64
        """
        offsets = documents.offsets
        n_documents = len(offsets) - 1
        if self.sample_length is not None:
            offsets = np.arange(n_documents + 1, dtype=np.int64) * self.sample_length
        controller = ThreadpoolController()
        blas_threads = _blas_threads(controller)
        n_threads = _n_threads(n_jobs, blas_threads)
        block, memory = self._block_size(n_threads)
        share = -(-int(offsets[-1]) // n_threads)
        tasks = _split(offsets, max(1, min(block, share)))
        n_threads = max(1, min(n_threads, len(tasks)))
        codes = np.empty(offsets[-1], dtype=np.int32)
        # One thread here leaves the product its own; several share them out. The limit
        # is the process's, so it is touched only where it must be.
        share_out = n_threads > 1 and blas_threads > 1
        each = max(1, blas_threads // n_threads)
        with (
            controller.limit(limits=each if share_out else None, user_api="blas"),
            self.search.session(each),
            tqdm(total=n_documents, disable=not verbose, unit="doc") as progress,
        ):
            results = Parallel(
                n_jobs=n_threads, prefer="threads", return_as="generator"
            )(
                delayed(self._perturb)(documents, start, stop, block, memory)
                for start, stop in tasks
            )
            for (start, stop), noisy in zip(tasks, results, strict=True):
                codes[offsets[start] : offsets[stop]] = noisy
                progress.update(stop - start)
        return codes, offsets

    def _block_size(self, n_threads: int) -> tuple[int, int]:
        """Words at a time, and bytes for their search.

        All threads together keep to working_memory.
        """
        budget = working_memory_bytes() // n_threads
        search = max(_SEARCH_BYTES, budget // 4)
        budget -= search
        # float32 normals and points, and float64 normals, noise and points
        per_word = self.embedding.dim * (2 * 4 + 3 * 8)
        return int(np.clip(budget // per_word, _MIN_BLOCK, _MAX_BLOCK)), search

    def _perturb(
        self,
        documents: EncodedDocuments,
        start: int,
        stop: int,
        block: int,
        memory: int,
    ) -> np.ndarray:
        """Noisy codes of the documents from `start` to `stop`."""
        ends = documents.offsets[start : stop + 1]
        codes = documents.codes[ends[0] : ends[-1]]
        lengths = np.diff(ends)
        generators = self._open(documents, start, stop)
        if self.sample_length is not None:
            codes = resample(
                codes, lengths, self.sample_length, len(self.embedding), generators
            )
            lengths = np.full(stop - start, self.sample_length)
        noisy = codes.copy()
        where = np.flatnonzero(codes >= 0)
        draws = _draws(
            self.mechanism, generators, _segments(generators, codes, lengths), block
        )
        for rows, draw in zip(blocks(len(where), block), draws, strict=True):
            points = self.mechanism.shape_noise(*draw)
            points += self._vectors(codes[where[rows]], documents.inferred)
            noisy[where[rows]] = self.search(points, memory)
        return noisy

    def _open(self, documents: EncodedDocuments, start: int, stop: int) -> Streams:
        """A stream per document, or one for all where the noise is fresh anyway."""
        if self.streams.fresh:
            return [self.streams.open(b"%d" % start)]
        labels = documents.labels[start:stop]
        if not self.streams.repeatable:
            # A Generator gives equal documents different noise, by their position;
            # and by its copies (clones share its state) other documents other noise.
            labels = [b"%d " % (start + i) + label for i, label in enumerate(labels)]
        return self.streams.open_all(labels)

    def _vectors(self, codes: np.ndarray, inferred: np.ndarray) -> np.ndarray:
        n_words = len(self.embedding)
        if not len(inferred):
            return self.embedding.vectors[codes]
        vectors = self.embedding.vectors[np.minimum(codes, n_words - 1)]
        extra = codes >= n_words
        vectors[extra] = inferred[codes[extra] - n_words]
        return vectors


def _blas_threads(controller: ThreadpoolController) -> int:
    counts = [p["num_threads"] for p in controller.info() if p["user_api"] == "blas"]
    return max(counts, default=1)


def _n_threads(n_jobs: int | None, blas_threads: int) -> int:
    """Threads to work with; None: as many as the matrix product would take itself."""
    if n_jobs is None and effective_n_jobs(None) == 1:
        return blas_threads
    return effective_n_jobs(n_jobs)


def _split(offsets: np.ndarray, size: int) -> list[tuple[int, int]]:
    """Runs of whole documents with about `size` words each."""
    tasks = []
    start, n_documents = 0, len(offsets) - 1
    while start < n_documents:
        stop = int(np.searchsorted(offsets, offsets[start] + size, side="right")) - 1
        stop = min(max(stop, start + 1), n_documents)
        tasks.append((start, stop))
        start = stop
    return tasks


def _segments(generators: Streams, codes: np.ndarray, lengths: np.ndarray) -> Segments:
    """How many noise vectors each stream has to give."""
    known = codes >= 0
    if len(generators) != len(lengths):
        return [(0, int(known.sum()))]
    upto = np.concatenate([[0], np.cumsum(known)])
    ends = np.cumsum(lengths)
    return list(enumerate((upto[ends] - upto[ends - lengths]).tolist()))


def _draws(
    mechanism: MahalanobisMechanism,
    generators: Streams,
    segments: Segments,
    block: int,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Standard normal vectors and radii in the order of the words, so many at a time.

    A stream gives all its radii and then its normals, one after the other however they
    are cut, so the size of the blocks does not show; and each stream is read in one go,
    for it costs more to change streams than to draw the noise of a word. The array of
    normals is used again for the next block.
    """
    total = sum(n for _, n in segments)
    dtype = mechanism.normals_dtype
    normals = np.empty((min(block, total), mechanism.dim), dtype=dtype)
    radii = np.empty(total)
    done = filled = 0
    for i, n in segments:
        if not n:
            continue
        generator = generators[i]
        at = done + filled
        radii[at : at + n] = mechanism.radii(generator, n)
        while n:
            take = min(n, len(normals) - filled)
            generator.standard_normal(out=normals[filled : filled + take], dtype=dtype)
            filled, n = filled + take, n - take
            if filled == len(normals):
                yield normals, radii[done : done + filled]
                done, filled = done + filled, 0
    if filled:
        yield normals[:filled], radii[done:]


def as_bags(codes: np.ndarray, offsets: np.ndarray, n_words: int) -> sp.csr_matrix:
    """Count matrix of the documents, int64, canonical CSR."""
    bags = sp.csr_matrix(
        (np.ones(len(codes), dtype=np.int64), codes, offsets),
        shape=(len(offsets) - 1, n_words),
    )
    bags.sum_duplicates()
    return bags


def as_tokens(
    codes: np.ndarray, offsets: np.ndarray, words: np.ndarray, kept: list[str]
) -> list[list[str]]:
    """Words of each document, in order."""
    tokens = words[np.maximum(codes, 0)]
    for i in np.flatnonzero(codes < 0):
        tokens[i] = kept[-1 - codes[i]]
    flat = tokens.tolist()
    ends = offsets.tolist()
    return [flat[a:b] for a, b in itertools.pairwise(ends)]
