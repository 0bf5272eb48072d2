"""Noise streams: cryptographic, independent, and repeatable on request."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from skdptext.exceptions import InvalidParameterError, PrivacyLeakWarning
from skdptext.utils._messages import warn_once
from skdptext.utils._validation import kind_of

# The largest number of 64 bits
_LAST = np.uint64(2**64 - 1)

RandomState = None | int | np.integer | np.random.Generator | np.random.RandomState
# What gives its own numbers, which move it on
_SOURCES = (np.random.Generator, np.random.RandomState)

# Seeds below it can be found by trial; those that people choose, in minutes.
_GUESSABLE = 2**64

REPEATABLE = (
    "The noise is repeatable (random_state is an integer): anyone who sees the release "
    "learns which documents are equal, and anyone who can run this perturber learns "
    "whether a document is a given one. What follows is for documents that are "
    "released under different ids (document_ids), which nobody can use again."
)


@Integral.register
class SecretSeed:
    """An integer that does not show; ``int(seed)`` reveals it.

    No subclass of int: what writes numbers, such as json, would not ask for the repr.
    It is an Integral to what checks seeds, and is equal to the integer, so that
    parameters compare as before. ``"%d" % seed`` calls ``int`` and reveals it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: Any) -> None:
        self._value = int(value)

    @classmethod
    def of(cls, random_state: Any) -> Any:
        """An integer as a secret; anything else, or a secret, unchanged."""
        given = isinstance(random_state, Integral)
        if not given or isinstance(random_state, bool | np.bool_ | cls):
            return random_state
        return cls(random_state)

    def __int__(self) -> int:
        return self._value

    __index__ = __int__

    def __repr__(self) -> str:
        return "<secret>"

    def __format__(self, spec: str) -> str:
        return "<secret>"  # also for ":d", ":x" and widths

    def __eq__(self, other: object) -> bool:
        return self._value == (int(other) if isinstance(other, SecretSeed) else other)

    def __hash__(self) -> int:
        return hash(self._value)

    def __deepcopy__(self, memo: dict[int, Any]) -> SecretSeed:
        return self  # which scikit-learn's clone asks for


class CheckedParameters:
    """An estimator that stores some parameters in a form of their own.

    An integer `random_state` is a secret, which does not show.
    """

    _stored_as: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "random_state": SecretSeed.of
    }

    def __setattr__(self, name: str, value: Any) -> None:
        # Not in properties, so that `set_params` and `vars` find them where they are.
        form = self._stored_as.get(name)
        super().__setattr__(name, value if form is None else form(value))


def check_noise_state(random_state: Any) -> RandomState:
    """Return `random_state` if noise may come from it, or raise."""
    rule = (
        "random_state must be None, an integer >= 0 or a numpy.random.Generator or "
        "RandomState"
    )
    # scikit-learn hands the global state out for None. We compare with it, since a user
    # may pass it on from elsewhere without knowing.
    if random_state is check_random_state(None):
        raise InvalidParameterError(
            f"{rule} of your own, got NumPy's global one, which others seed and read."
        )
    if random_state is None or isinstance(random_state, _SOURCES):
        return random_state
    wrong_kind = isinstance(random_state, bool | np.bool_)
    if wrong_kind or not isinstance(random_state, Integral):
        raise InvalidParameterError(f"{rule}, got {kind_of(random_state)}.")
    value = int(random_state)
    if value < 0:
        raise InvalidParameterError(f"{rule}, got a negative integer.")
    return value


def warn_of_repeats(random_state: object, has_ids: bool) -> None:
    """Warn of what repeatable noise shows.

    Equal documents with different ids are released differently.
    """
    if not isinstance(random_state, Integral):
        return
    if not has_ids:
        warn_once(
            "random_state is an integer: equal documents get equal releases, which "
            "shows that they are equal. Give each document its own id, "
            "transform(X, document_ids=...), or use random_state=None.",
            PrivacyLeakWarning,
        )
    if int(random_state) < _GUESSABLE:
        warn_once(
            "random_state is an integer below 2^64, which can be guessed by trying: "
            "small ones in minutes. Anyone who knows it can undo the noise. Draw it "
            "with secrets.randbits(128), and keep it secret.",
            PrivacyLeakWarning,
        )


def check_rng(random_state: Any) -> np.random.Generator:
    """A NumPy generator for non-secret draws: synthetic data, an adversary's draws."""
    random_state = check_noise_state(random_state)
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = int.from_bytes(random_state.bytes(32), "little")
    return np.random.default_rng(random_state)


class NoiseStreams:
    """ChaCha20 streams for one release, each fixed by a key and a label.

    Streams are derived by a keyed hash (BLAKE2b), so that those of two labels are
    independent, and no stream reveals anything about another one or about the key.

    By `random_state` the 256-bit key comes from the operating system, a hash of the
    integer, or the generator, which moves on by 32 bytes. What the release depends on
    besides the document, the `context` (mechanism, ε, λ, embedding), enters the key, so
    that no noise is repeated at another ε.
    """

    def __init__(self, random_state: RandomState, context: bytes) -> None:
        random_state = check_noise_state(random_state)
        #: Whether the same document must get the same noise in every call.
        self.repeatable = random_state is not None and not isinstance(
            random_state, _SOURCES
        )
        #: Whether the noise may depend on how the work is split: fresh noise hides it.
        self.fresh = random_state is None
        if random_state is None:
            secret = secrets.token_bytes(32)
        elif isinstance(random_state, _SOURCES):
            secret = random_state.bytes(32)
        else:
            secret = str(random_state).encode()
        # Two hashes: the first makes 256 bits of any secret, the second binds them to
        # the context. Who learns the key of one release then knows that of no other.
        seed = blake2b(secret, digest_size=32, person=b"skdptext-seed").digest()
        self._key = blake2b(context, key=seed, digest_size=32).digest()

    def labeller(
        self, ids: Sequence[Any] | None = None
    ) -> Callable[[int, bytes], bytes] | None:
        """A function from a document's position and content to its label, or None.

        Equal content under another of the `ids` gets another label. Without ids, it
        gets the same, except with a Generator, whose copies (clones share its state)
        must give different documents different noise.
        """
        if self.fresh:
            return None

        def label(position: int, content: bytes) -> bytes:
            who = b""
            if ids is not None:
                # a missing id is reported when all documents are read
                who = _id_bytes(ids[position]) if position < len(ids) else b""
            elif not self.repeatable:
                who = b"%d" % position
            # The length comes first, so that no id and content can be mistaken for
            # another id and another content that read the same end to end.
            framed = b"%d:" % len(who) + who + content
            return blake2b(framed, key=self._key, digest_size=32).digest()

        return label

    def open(self, label: bytes) -> np.random.Generator:
        """The stream of a label, from its beginning."""
        key = blake2b(label, key=self._key, digest_size=32, person=b"stream").digest()
        return _generator(key)

    def numbers(self, labels: Sequence[bytes]) -> Numbers:
        """Whole numbers, one for each of many labels.

        For a single number, the keyed hash of a label takes a twentieth of the time
        that its stream does.
        """
        return Numbers(self._key, labels)


class Numbers:
    """Whole numbers by keyed hashes of labels: equal labels have equal numbers."""

    def __init__(self, key: bytes, labels: Sequence[bytes]) -> None:
        self._key, self._labels = key, labels

    def integers(self, high: Any, size: Any = None) -> np.ndarray:
        """A number in [0, high) for each label, all of them equally likely.

        `high`, of one number or one for each label, is at most 2^63. `size` is as
        NumPy's generators have it; it must be the number of labels.
        """
        n = len(self._labels)
        if size not in (None, n):
            raise ValueError(f"size must be the number of labels ({n}), got {size}.")
        below = np.broadcast_to(np.asarray(high).astype(np.uint64), n)
        # all from the largest multiple of `high` on is drawn again, or the remainder
        # of 2^64 would make small numbers likelier
        last = _LAST - (_LAST % below + np.uint64(1)) % below
        numbers = np.empty(n, dtype=np.int64)
        left = np.arange(n)
        # A label that gets no allowed number asks again under the next salt, so that
        # its number does not depend on which others asked with it.
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
            # of the four numbers in a digest the first that is allowed
            fits = drawn <= last[left, None]
            done = fits.any(axis=1)
            rows, first = left[done], fits[done].argmax(axis=1)
            numbers[rows] = drawn[done, first] % below[rows]
            left, turn = left[~done], turn + 1
        return numbers


def _id_bytes(identity: Any) -> bytes:
    """An id with its type: 1, "1" and b"1" differ."""
    if isinstance(identity, str):
        return b"s" + identity.encode("utf-8", "surrogatepass")
    return b"b" + identity if isinstance(identity, bytes) else b"i%d" % identity


def check_document_ids(document_ids: Any) -> list[Any]:
    """Return ids as a list if each is a str, int or bytes, and all differ."""
    if isinstance(document_ids, str | bytes) or not isinstance(document_ids, Iterable):
        raise InvalidParameterError(
            "document_ids must be an iterable of str, int or bytes, got "
            f"{type(document_ids).__name__}."
        )
    ids, seen = list(document_ids), dict[Any, int]()
    for position, identity in enumerate(ids):
        wrong = isinstance(identity, bool | np.bool_)
        if wrong or not isinstance(identity, str | bytes | Integral):
            raise InvalidParameterError(
                "document_ids must be str, int or bytes, got "
                f"{type(identity).__name__} at position {position}."
            )
        # no two of them are equal unless their bytes are
        first = seen.setdefault(identity, position)
        if first != position:
            raise InvalidParameterError(
                "document_ids must differ, or equal documents get equal noise: "
                f"positions {first} and {position} hold the same. If ids stand for "
                "people, k documents of one cost k times ε: with stand-ins, say "
                "who wrote each document by authors instead."
            )
    return ids


def check_number_of_ids(ids: list[Any] | None, n: int) -> None:
    """Refuse ids, if there are any, of another number than that of the documents."""
    if ids is not None and len(ids) != n:
        raise InvalidParameterError(
            f"document_ids must hold one id per document ({n}), got {len(ids)}."
        )


def _generator(key: bytes) -> np.random.Generator:
    from randomgen import ChaCha  # late, as it loads 30 generators

    bits = ChaCha(key=int.from_bytes(key, "little"), rounds=20)
    return np.random.Generator(bits)
