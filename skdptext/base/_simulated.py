"""Words drawn from a prior, their releases, and what the releases say about them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from skdptext.base._noise_run import check_draws, check_words
from skdptext.mechanisms import (
    NoiseMechanism,
    WordMechanism,
)
from skdptext.utils import blocks, working_memory_bytes

# Most draws in a block: enough to keep a matrix product busy.
_ROWS = 512


class SimulatedReleases:
    """Draws of a word, its release and the posterior of the words given the noise.

    Where the noise on vectors has a known density, the posterior of a word w given its
    noisy vector v is exact: Pr[w | v] ∝ π(w) exp(−ε d(v, φ(w))). A release of the
    nearest word says less; its posterior is the mean of these. For other mechanisms,
    the word that was drawn takes the place of the posterior. `prior` holds the
    probabilities of the words `ids`; it sums to 1.
    """

    def __init__(
        self, mechanism: WordMechanism, ids: np.ndarray, prior: np.ndarray
    ) -> None:
        self.mechanism = mechanism
        self.ids = ids
        self.prior = prior
        self.has_density = isinstance(mechanism, NoiseMechanism)
        if isinstance(mechanism, NoiseMechanism):
            vectors = mechanism.embedding.vectors[ids].astype(np.float64)
            vectors -= vectors.mean(axis=0)  # for float32 products
            self._points = mechanism.metric.whiten(vectors).astype(np.float32)
            self._squares = np.einsum("ij,ij->i", self._points, self._points)
            with np.errstate(divide="ignore"):
                self._log_prior = np.log(prior).astype(np.float32)

    def draw(
        self, rng: np.random.Generator, n: int, *, even: bool = False
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Draws in blocks: what was written, as rows of `ids`, and what was released.

        With each, the posterior of the words given the noisy vectors, of shape
        (n_rows, n_words), float32; None where their density is not known. `even`: each
        word is drawn as often as the prior says, to within one draw; the draws are then
        not independent, and their sums vary less.
        """
        # Words by their quantiles; `even` ones are n equal steps from one random start.
        upto = np.cumsum(self.prior)
        upto /= upto[-1]
        at = (rng.random() + np.arange(n)) / n if even else rng.random(n)
        drawn = np.minimum(upto.searchsorted(at, side="right"), len(upto) - 1)
        memory = working_memory_bytes() // 4
        row_bytes = 16 * len(self.ids) + self.mechanism.row_bytes
        size = int(np.clip(memory // row_bytes, 1, _ROWS))
        mechanism = self.mechanism
        for block in blocks(n, size):
            written = drawn[block]
            draws = check_draws(mechanism, rng, len(written))
            noisy = mechanism.apply(self.ids[written], draws)
            released = check_words(mechanism, noisy, len(written))
            posterior = None
            if isinstance(mechanism, NoiseMechanism):
                noise = mechanism.metric.whiten(mechanism.noise(draws))
                posterior = self._posterior(written, noise)
            yield written, released, posterior

    def _posterior(self, written: np.ndarray, noise: np.ndarray) -> np.ndarray:
        noisy = (self._points[written] + noise).astype(np.float32)
        # ‖v − φ‖² = ‖v‖² − 2⟨v, φ⟩ + ‖φ‖², in the one array of (n_rows, n_words)
        posterior = noisy @ self._points.T
        posterior *= -2
        posterior += self._squares
        posterior += np.einsum("ij,ij->i", noisy, noisy)[:, None]
        np.sqrt(np.maximum(posterior, 0, out=posterior), out=posterior)
        posterior *= np.float32(-self.mechanism.epsilon)
        posterior += self._log_prior
        posterior -= posterior.max(axis=1, keepdims=True)  # exp cannot overflow
        np.exp(posterior, out=posterior)
        posterior /= posterior.sum(axis=1, keepdims=True)
        return posterior
