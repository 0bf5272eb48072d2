"""Tests of the distribution of the noise that a mechanism draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.base import NoiseRun
from skdptext.documents import EncodedDocuments
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import NoiseMechanism
from skdptext.search import nearest_words
from skdptext.utils import (
    NoiseStreams,
    check_integer,
    check_real,
    check_rng,
    progress_bar,
    wrapped,
)

_DOCUMENT = 16  # words per document in the releases of an audit
# All code paths of a release: fresh noise, one stream per document, words sampled from
# the document first, and several threads.
_WAYS = ("fresh", "repeatable", "sampled", "threads")


@dataclass(eq=False, repr=False)
class NoiseLawAudit:
    """Result of `audit_noise_law`.

    Attributes
    ----------
    pvalues : dict of str to float
        The p-value of each test, by its name. 0 for ``"repeats"`` means that a noise
        vector occurred twice.
    alpha : float
        As given: the false-alarm rate over all tests together.
    rejected : bool
        Whether any p-value is below ``alpha / len(pvalues)``.
    """

    pvalues: dict[str, float]
    alpha: float

    @property
    def failed(self) -> list[str]:
        """Names of the tests that reject, the smallest p-value first."""
        threshold = self.alpha / len(self.pvalues)
        # "not >": a NaN p-value is not evidence for the claimed law.
        names = [name for name, p in self.pvalues.items() if not p > threshold]
        return sorted(names, key=lambda name: self.pvalues[name])

    @property
    def rejected(self) -> bool:
        """Whether the noise does not follow the stated distribution."""
        return bool(self.failed)

    def __repr__(self) -> str:
        return (
            f"NoiseLawAudit(rejected={self.rejected}, failed={self.failed}, "
            f"alpha={self.alpha:g})"
        )

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        if not self.rejected:
            return (
                f"{len(self.pvalues)} tests of the noise found nothing wrong "
                f"(alpha = {self.alpha:g}, smallest p = "
                f"{min(self.pvalues.values()):.2g})."
            )
        failures = ", ".join(
            f"{name} (p = {self.pvalues[name]:.1e})" for name in self.failed
        )
        return f"The noise does not follow the claimed distribution: {failures}."


def audit_noise_law(
    source: Any,
    *,
    n_draws: int = 20_000,
    alpha: float = 0.01,
    random_state: Any = None,
    verbose: int = 0,
) -> NoiseLawAudit:
    """Test that noise on vectors has the claimed distribution, anew in each draw.

    Parameters
    ----------
    source : DPWordPerturber, NoiseMechanism, or an object with `sample`
        A fitted perturber, or its ``mechanism_``: documents are then released as usual,
        and the noise is recorded. For another implementation, any object with
        ``sample(rng, n)`` (noise of shape (n, dim)), ``epsilon``, and
        ``whiten(vectors)``, which turns lengths in the claimed metric into Euclidean
        lengths.
    n_draws : int >= 100, default=20000
        Noise vectors to test.
    alpha : float in (0, 0.5], default=0.01
        Probability of rejecting correct noise, over all tests together (Bonferroni).
    random_state : None, int or numpy.random.Generator, default=None
        For the noise drawn here, and the random directions of the tests.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    audit : NoiseLawAudit
        ``rejected``, ``failed`` and ``pvalues``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, the mechanism does not add noise to vectors, or
        the noise has the wrong shape.
    sklearn.exceptions.NotFittedError
        If the perturber is not fitted.

    See Also
    --------
    audit_word_privacy : Needs only the released words, of any mechanism.

    Notes
    -----
    *Privacy.* Noise with another distribution may still be private, with a larger ε or
    another metric: a rejection means that *this* guarantee is unfounded. Finding
    nothing does not prove the distribution.

    *Release.* For a perturber or its mechanism, random words of the embedding are
    released in documents of 16 words, by the code that runs in every release, and the
    draws are recorded where they are applied. Each quarter of the words takes another
    code path: with fresh noise, with one stream per document, after sampling words from
    the documents, and on two threads. ``"words"`` is 0 if a released word is not the
    nearest to its noisy vector.

    *Tests*, with m the dimension. Whitened lengths follow Gamma(m, 1/ε). Directions u
    are uniform on the sphere, so that (1 + u·a)/2 follows Beta((m−1)/2, (m−1)/2) for
    unit vectors a: the first and last whitened axis (for the library's mechanism those
    of the extreme eigenvalues) and random ones. Both are tested by Kolmogorov–Smirnov.
    Directions times the lengths of normal vectors, drawn here, are standard normal
    vectors. Along *every* whitened axis, the sum of their entries is tested as N(0,
    n_draws) and the sum of their squares as χ² with n_draws degrees of freedom, both
    exactly, with a correction for the m axes. The extreme singular values show whether
    any other direction has too little or too much noise; they are tested against the
    bound √n ± √m of Davidson and Szarek, which needs n_draws > m. Rank correlations
    test that length and direction, and consecutive draws, are independent. No vector
    may occur twice: in continuous noise, the probability of that is negligible.

    References
    ----------
    Xu, Aggarwal, Feyisetan, Teissier (2020), algorithm 2: the distribution. Davidson,
    Szarek (2001), Local operator theory, random matrices and Banach spaces, theorem
    II.13.

    Examples
    --------
    The noise of the papers, since the audit is of noise on vectors.

    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_noise_law
    >>> embedding = WordEmbedding(list("abc"), [[0.0, 1.0], [2.0, 0.0], [3.0, 5.0]])
    >>> perturber = DPWordPerturber(embedding, document_length=1).fit([])
    >>> audit_noise_law(perturber, random_state=0).rejected
    False
    """
    n_draws = check_integer("n_draws", n_draws, low=100)
    alpha = check_real("alpha", alpha, low=0, high=0.5, open_low=True)
    rng = check_rng(random_state)
    check_integer("verbose", verbose, low=0)
    if hasattr(source, "mechanism_at"):
        source.mechanism_at()  # raises if it is not fitted
    mechanism = getattr(source, "mechanism_", source)
    if hasattr(mechanism, "draw"):
        with progress_bar(verbose, "audit", total=n_draws, unit="draw") as bar:
            noise, pvalues = _released_noise(mechanism, n_draws, rng, bar)
        whiten = mechanism.metric.whiten
    else:
        for name in ("sample", "whiten", "epsilon"):
            if not hasattr(source, name):
                raise InvalidParameterError(
                    "source must be a fitted perturber, its mechanism_, or have "
                    f"sample, whiten and epsilon; got {type(source).__name__} without "
                    f"{name}."
                )
        noise = np.asarray(source.sample(rng, n_draws), dtype=np.float64)
        whiten, pvalues = source.whiten, {}
    if noise.ndim != 2 or len(noise) != n_draws:
        raise InvalidParameterError(
            f"sample must return {n_draws} rows of noise, got an array of shape "
            f"{noise.shape}."
        )
    epsilon = check_real("epsilon", mechanism.epsilon, low=0, open_low=True)
    if not np.isfinite(noise).all():
        return NoiseLawAudit(pvalues | {"finite": 0.0}, alpha)
    n_distinct = len(np.unique(noise, axis=0))
    pvalues["repeats"] = 1.0 if n_distinct == n_draws else 0.0
    pvalues |= _pvalues(np.asarray(whiten(noise)), epsilon, rng)
    return NoiseLawAudit(pvalues, alpha)


def _released_noise(
    mechanism: Any, n_draws: int, rng: np.random.Generator, bar: Any
) -> tuple[np.ndarray, dict[str, float]]:
    """Noise of releases, and whether released words are nearest to noisy vectors."""
    if getattr(type(mechanism), "apply", None) is not NoiseMechanism.apply:
        raise InvalidParameterError(
            "audit_noise_law is for mechanisms that add noise to vectors, and bound "
            "their privacy loss by a metric, such as MahalanobisNoise; "
            f"{mechanism!r} does not. See audit_word_privacy."
        )
    embedding = mechanism.embedding
    noises, unaltered = [], True
    for way, part in zip(
        _WAYS, np.array_split(range(n_draws), len(_WAYS)), strict=True
    ):
        n = len(part)
        recorder: Any = _Recorder(mechanism)
        words, released = _release(recorder, n, way, rng)
        taken = recorder.in_order()
        noise = np.concatenate([mechanism.noise(draws) for _, draws, _ in taken])
        # checked for the words that each block was given, and for the released words
        given, made = (np.concatenate([block[i] for block in taken]) for i in (0, 2))
        nearest = nearest_words(embedding.vectors[given] + noise, embedding.vectors)
        unaltered &= len(noise) == n and np.array_equal(made, nearest)
        unaltered &= np.array_equal(np.sort(given), np.sort(words))
        unaltered &= np.array_equal(np.sort(made), np.sort(released))
        noises.append(noise)
        bar.update(n)
    return np.concatenate(noises), {"words": 1.0 if unaltered else 0.0}


def _release(
    mechanism: Any, n: int, way: str, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Release `n` random words; return them and the released words."""
    n_words = len(mechanism.embedding)
    streams = NoiseStreams(rng, b"audit_noise_law" + way.encode())
    streams.fresh = way == "fresh"
    label = streams.labeller()
    if way == "sampled":
        # documents of one word each, so that the sampled words are known
        written = rng.integers(0, n_words, -(-n // _DOCUMENT)).astype(np.int32)
        ends = np.arange(len(written) + 1, dtype=np.int64)
    else:
        written = rng.integers(0, n_words, n).astype(np.int32)
        ends = np.append(np.arange(0, n, _DOCUMENT), n).astype(np.int64)
    documents = EncodedDocuments(
        codes=written,
        offsets=ends,
        stream_labels=[label(i, b"") for i in range(len(ends) - 1)] if label else [],
    )
    sample = _DOCUMENT if way == "sampled" else None
    codes, _ = NoiseRun(mechanism, n_words, streams, sample).run(
        documents, n_jobs=2 if way == "threads" else 1
    )
    if way == "sampled":
        mechanism.keep(n)
        return np.repeat(written, _DOCUMENT)[:n], codes[:n]
    return written, codes


class _Recorder:
    """A mechanism that records the words, draws and results of every `apply`."""

    def __init__(self, mechanism: NoiseMechanism) -> None:
        self.mechanism = mechanism
        self.taken: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.mechanism, name)

    def apply(self, words: np.ndarray, draws: Any) -> np.ndarray:
        noisy = self.mechanism.apply(words, draws)
        self.taken.append((words, draws, noisy))
        return noisy

    def in_order(self) -> list[Any]:
        """The blocks, in an order that does not depend on threads."""
        return sorted(self.taken, key=lambda block: repr(block[1][0][:1]))

    def keep(self, n: int) -> None:
        """Keep only the first `n` words, of a release on one thread."""
        words, draws, noisy = zip(*self.taken, strict=True)
        joined = [np.concatenate(part)[:n] for part in zip(*draws, strict=True)]
        self.taken = [
            (np.concatenate(words)[:n], tuple(joined), np.concatenate(noisy)[:n])
        ]


def _pvalues(
    white: np.ndarray, epsilon: float, rng: np.random.Generator
) -> dict[str, float]:
    """p-values of the tests of length, direction and independence."""
    from scipy import special, stats

    n, m = white.shape
    radii = np.linalg.norm(white, axis=1)
    units = white / np.where(radii > 0, radii, 1)[:, None]
    pvalues = {
        "radius": stats.kstest(special.gammainc(m, epsilon * radii), "uniform").pvalue,
        "radius, next radius": _dependence(radii[1:], radii[:-1]),
    }
    if m == 1:  # there are two directions, and no axis to choose
        up = units[:, 0] > 0
        pvalues["direction"] = stats.binomtest(int(up.sum()), n).pvalue
        pvalues["radius, direction"] = _dependence(radii, up)
        pvalues["direction, next"] = _dependence(up[1:], up[:-1])
        return {name: float(p) for name, p in pvalues.items()}
    turn = np.linalg.qr(rng.standard_normal((m, 2)))[0]
    axes = {
        "first axis": units[:, 0],
        "last axis": units[:, -1],
        "random axis 1": units @ turn[:, 0],
        "random axis 2": units @ turn[:, 1],
    }
    for name, t in axes.items():
        # Clipped, as rounding may leave the support by one unit in the last place.
        share = np.clip((1 + t) / 2, 0, 1)
        uniform = special.betainc((m - 1) / 2, (m - 1) / 2, share)
        pvalues[f"direction along {name}"] = stats.kstest(uniform, "uniform").pvalue
        pvalues[f"radius, {name}"] = _dependence(radii, np.abs(t))
        pvalues[f"{name}, next"] = _dependence(t[1:], t[:-1])
    pvalues |= _spread(units, rng)
    return {name: float(p) for name, p in pvalues.items()}


def _spread(units: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
    """p-values of means and spread of uniform directions, in all directions."""
    from scipy import special

    n, m = units.shape
    # Multiplied by chi-distributed lengths, uniform directions are exactly standard
    # normal vectors. The law of sums of u and u² themselves is only known
    # approximately, and the approximation is poor in the tails.
    normals = units * np.sqrt(rng.chisquare(m, n))[:, None]
    drift = np.abs(normals.sum(axis=0)) / np.sqrt(n)
    squares = np.einsum("ij,ij->j", normals, normals)
    spread = 2 * np.minimum(special.chdtr(n, squares), special.chdtrc(n, squares))
    # along the axes, corrected for their number
    pvalues = {
        "mean along every axis": min(1.0, m * 2 * special.ndtr(-drift.max())),
        "spread along every axis": min(1.0, m * spread.min()),
    }
    if n > m:
        # a bound: the extreme singular values of normal vectors lie within √n ± √m
        extremes = np.linalg.eigvalsh(normals.T @ normals)[[0, -1]]
        least, most = np.sqrt(np.maximum(extremes, 0))
        excess = max(np.sqrt(n) - np.sqrt(m) - least, most - np.sqrt(n) - np.sqrt(m))
        tail = 2 * float(np.exp(-(max(excess, 0.0) ** 2) / 2))
        pvalues["spread in all directions"] = min(1.0, tail)
    return pvalues


def _dependence(x: np.ndarray, y: np.ndarray) -> float:
    """p-value of the rank correlation; 0 where a sample is constant."""
    from scipy import stats

    if (x == x[0]).all() or (y == y[0]).all():
        return 0.0
    return float(stats.spearmanr(x, y).pvalue)
