"""Noise streams: cryptographic, independent, and repeatable where that is asked for."""

from __future__ import annotations

import secrets
from hashlib import blake2b
from numbers import Integral
from typing import Any

import numpy as np
from randomgen import ChaCha

from skdptext.exceptions import InvalidParameterError

__all__ = ["NoiseStreams", "check_noise_state", "check_rng"]

RandomState = None | int | np.integer | np.random.Generator


def check_noise_state(random_state: Any) -> RandomState:
    """Return `random_state` if noise may come from it, or say what may be given."""
    rule = "random_state must be None, an integer >= 0 or a numpy.random.Generator"
    if random_state is None or isinstance(random_state, np.random.Generator):
        return random_state
    wrong_kind = isinstance(random_state, bool | np.bool_)
    if wrong_kind or not isinstance(random_state, Integral) or random_state < 0:
        raise InvalidParameterError(f"{rule}, got {random_state!r}.")
    return int(random_state)


def check_rng(random_state: Any) -> np.random.Generator:
    """A NumPy generator for what is no secret: synthetic data, an adversary's draws."""
    random_state = check_noise_state(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(random_state)


class NoiseStreams:
    """ChaCha20 streams for one release, each fixed by a key and a label.

    Streams are derived by a keyed hash (BLAKE2b), so that those of two labels are
    independent, and no stream tells anything of another one or of the key.

    Parameters
    ----------
    random_state : None, int or numpy.random.Generator
        Where the 256-bit key comes from: the operating system, a hash of the
        integer, or the generator, which moves on by 32 bytes.
    context : bytes
        What the release depends on besides the document: mechanism, ε, λ, table. It
        enters the key, so that no noise is replayed at another ε.
    """

    def __init__(self, random_state: RandomState, context: bytes) -> None:
        random_state = check_noise_state(random_state)
        #: Whether the same document must get the same noise in every call.
        self.repeatable = random_state is not None and not isinstance(
            random_state, np.random.Generator
        )
        #: Whether the noise may depend on how the work is split: nobody can tell.
        self.fresh = random_state is None
        if random_state is None:
            secret = secrets.token_bytes(32)
        elif isinstance(random_state, np.random.Generator):
            secret = random_state.bytes(32)
        else:
            secret = str(random_state).encode()
        seed = blake2b(secret, digest_size=32, person=b"skdptext-seed").digest()
        self._key = blake2b(context, key=seed, digest_size=32).digest()

    def label(self, content: bytes) -> bytes:
        """Digest of a document, from which its stream can be opened later."""
        return blake2b(content, key=self._key, digest_size=32).digest()

    def open(self, label: bytes) -> np.random.Generator:
        """The stream of a label, from its beginning."""
        digest = blake2b(label, key=self._key, digest_size=32, person=b"stream")
        key = int.from_bytes(digest.digest(), "little")
        return np.random.Generator(ChaCha(key=key, rounds=20))
