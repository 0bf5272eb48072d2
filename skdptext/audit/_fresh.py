"""A search for noise that is used twice."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import check_integer, check_rng, kind_of, progress_bar

__all__ = ["FreshNoiseAudit", "audit_fresh_noise"]

# Probability that two independent sequences of words are equal, per comparison.
_FALSE_ALARM = 1e-15
_PILOT_DRAWS = 1000
_MAX_DRAWS = 20_000
_ALL_DRAWS = 1_000_000  # of many calls together
_LONG = 20  # sequences in a long call
_LONGEST = 1000  # draws of a sequence sought at every position; bounds the memory
_SECONDS = 120  # for a forked process to answer; an inherited lock may stop it


class FreshNoiseAudit:
    """Result of `audit_fresh_noise`.

    Attributes
    ----------
    repeats : dict of str to int
        The number of pairs of equal sequences for each way of drawing; for
        ``"long call"`` the number of sequences seen before, and for ``"within calls"``
        1 if the draws of a call depend on each other.
    skipped : dict of str to str
        Ways that could not be tried, with the reason.
    n_draws : int
        Length of the sequences that were compared.
    n_calls : int
        Number of calls, or words, for ``"many"`` and ``"within calls"``.
    word : str
        The word that was perturbed.
    """

    def __init__(
        self,
        repeats: dict[str, int],
        skipped: dict[str, str],
        *,
        n_draws: int,
        n_calls: int,
        word: str,
    ) -> None:
        self.repeats = repeats
        self.skipped = skipped
        self.n_draws = n_draws
        self.n_calls = n_calls
        self.word = word

    @property
    def repeated(self) -> bool:
        """Whether any noise was used twice."""
        return any(self.repeats.values())

    def __repr__(self) -> str:
        return f"FreshNoiseAudit(repeated={self.repeated}, repeats={self.repeats})"

    def __str__(self) -> str:
        skipped = "".join(f" Not tried: {k} ({v})." for k, v in self.skipped.items())
        if not self.repeated:
            return f"No noise was used twice across {', '.join(self.repeats)}.{skipped}"
        ways = {way: n for way, n in self.repeats.items() if n}
        dependent = ""
        if ways.pop("within calls", 0):
            dependent = (
                f"The {self.n_draws} draws of a call depend on each other: over "
                f"{self.n_calls} calls their counts vary too much. "
            )
        if not ways:
            return f"{dependent.strip()}{skipped}"
        found = ", ".join(f"{way} ({n})" for way, n in ways.items())
        return (
            f"{dependent}The same {self.n_draws} noisy words came out again: {found}. "
            "If the perturber has an integer seed this is what a repeatable release "
            f"does; its noise does not add up over releases.{skipped}"
        )


def audit_fresh_noise(
    perturber: Any,
    word: str | None = None,
    *,
    n_repeats: int = 3,
    n_calls: int = 1000,
    verbose: int = 0,
) -> FreshNoiseAudit:
    """Look for noise that is used twice: across calls, processes, copies and ε.

    A guarantee assumes that every draw has noise of its own. Generators copied with
    their state, into forked workers or pickled estimators, break that assumption: two
    words or documents then share noise, and their difference is revealed.

    Parameters
    ----------
    perturber : object
        Any fitted object with ``perturb_words(words, n_draws)``.
    word : str, default=None
        The word to perturb. None: of 20 words, spread over
        ``guarantee().embedding``, the one that changes most.
    n_repeats : int >= 2, default=3
        Sequences per way of drawing. All of one way are compared with each other.
    n_calls : int >= 2, default=1000
        Calls, and words per call, to compare; fewer if they would take more than a
        million draws. Seeds of 16 bits repeat in 1000 calls with a
        probability of 0.9995, in 300 of one half.
    verbose : int, default=0
        Above 0, show a progress bar.

    Returns
    -------
    audit : FreshNoiseAudit
        ``repeated``, ``repeats`` by way of drawing, ``skipped``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or the word so rarely changes that equal
        sequences of 20,000 draws would be no evidence.

    Notes
    -----
    *Ways.* ``"draws"``: one half of a sequence against the other, and every second draw
    against the rest, as two workers with one stream would fill them. ``"words"``: one
    word given several times in a call. ``"calls"``, ``"threads"``, ``"copies"`` (deep
    copies), ``"pickles"`` (copies as sent to another machine), ``"processes"``
    (joblib's loky workers) and ``"forks"``, where the system has them. ``"epsilons"``:
    copies whose ``epsilon`` was set to values that differ by 10⁻⁹ of it, and that were
    fitted again to no documents: a stream that is replayed for every ε gives the same
    words, and the releases at two ε, taken together, give the true word away. ``"many
    calls"`` and ``"many words"`` (of one call): `n_calls` of them, to detect a small
    number of streams, or streams that restart after some words. ``"long call"``: any
    sequence against any other of a call of 20 sequences. ``"within calls"``: how often
    a set of words comes out varies more over `n_calls` calls than independent draws
    allow; noise that serves r draws of its call makes it vary r times as much.

    *False alarms.* Sequences are so long that two independent ones are equal with
    probability 10⁻¹⁵, by the share of the most frequent output in 1000 draws. Of a long
    call, many calls and many words some 2·10⁶ pairs are compared, 2·10⁸ at most, where
    sequences have 1000 draws (longer ones are skipped): 10⁻⁹, or 2·10⁻⁷, in all. For
    ``"within calls"`` the bound exp(−n_calls (v − 1 − ln v)/2), v the variance of the
    counts over n_draws/4, is 10⁻¹⁵; it follows from Hoeffding's lemma, for a set chosen
    by other draws.

    *Power.* v must be 1.42 at 1000 calls: noise that serves all draws twice is found
    where the set comes out in a third to two thirds of the draws, noise that serves a
    tenth of them twice is not.

    *Privacy.* Repetition that only occurs after other use of a generator is not found:
    an audit can show a fault, never its absence.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_fresh_noise
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [2.0]])
    >>> fresh = DPWordPerturber(embedding, epsilon=1.0, document_length=1).fit([])
    >>> audit_fresh_noise(fresh).repeated
    False
    >>> seeded = DPWordPerturber(
    ...     embedding, epsilon=1.0, document_length=1, random_state=0).fit([])
    >>> audit_fresh_noise(seeded).repeats["calls"]
    3
    """
    if not callable(getattr(perturber, "perturb_words", None)):
        raise InvalidParameterError(
            f"perturber must have a method perturb_words, got {kind_of(perturber)}."
        )
    n_repeats = check_integer("n_repeats", n_repeats, low=2)
    n_calls = check_integer("n_calls", n_calls, low=2)
    check_integer("verbose", verbose, low=0)
    if word is not None and not isinstance(word, str):
        raise InvalidParameterError(f"word must be a str or None, got {kind_of(word)}.")
    word, n_draws, often = _word_and_length(perturber, word)
    n_calls = min(n_calls, max(_ALL_DRAWS // n_draws, 2))

    def again(source: Any) -> np.ndarray:
        return _sequence(source, word, n_draws)

    def pickles() -> list[np.ndarray]:
        sent = pickle.dumps(perturber)
        return [again(pickle.loads(sent)) for _ in range(n_repeats)]

    def threads() -> list[np.ndarray]:
        with ThreadPoolExecutor(n_repeats) as pool:
            return list(pool.map(again, [perturber] * n_repeats))

    def epsilons() -> list[np.ndarray]:
        return [again(_at_another_epsilon(perturber, i)) for i in range(n_repeats)]

    def processes() -> list[np.ndarray]:
        # Tasks must not wait in one worker for the other: one for each.
        return list(
            Parallel(n_jobs=n_repeats, backend="loky", batch_size=1)(
                delayed(_sequence)(perturber, word, n_draws) for _ in range(n_repeats)
            )
        )

    ways: dict[str, Callable[[], list[np.ndarray]]] = {
        "words": lambda: list(perturber.perturb_words([word] * n_repeats, n_draws)),
        "many words": lambda: list(perturber.perturb_words([word] * n_calls, n_draws)),
        "forks": lambda: [_forked(perturber, word, n_draws) for _ in range(n_repeats)],
        "processes": processes,
        "pickles": pickles,
        "copies": lambda: [again(copy.deepcopy(perturber)) for _ in range(n_repeats)],
        "calls": lambda: [again(perturber) for _ in range(n_repeats)],
        "threads": threads,
        "epsilons": epsilons,
    }
    row = _sequence(perturber, word, 2 * n_draws)
    inside = [[row[:n_draws], row[n_draws:]], [row[::2], row[1::2]]]
    bar = progress_bar(verbose, "audit", total=n_calls + len(ways), unit="call")
    many = []
    for _ in range(n_calls):
        many.append(again(perturber))
        bar.update()
    repeats = {
        "draws": sum(map(_equal_pairs, inside)),
        "many calls": _equal_pairs(many),
        "within calls": int(_overdispersed(many, often)),
    }
    skipped = {}
    if n_draws <= _LONGEST:
        row = _sequence(perturber, word, _LONG * n_draws)
        repeats["long call"] = _repeated(row, n_draws)
    else:
        skipped["long call"] = f"sequences of more than {_LONGEST} draws"
    for name, draw in ways.items():
        try:
            repeats[name] = _equal_pairs(draw())
        except Exception as error:  # whatever the perturber, or its pickling, raises
            skipped[name] = f"{type(error).__name__}: {error}"[:200]
        bar.update()
    bar.close()
    return FreshNoiseAudit(
        repeats, skipped, n_draws=n_draws, n_calls=n_calls, word=word
    )


def _sequence(perturber: Any, word: str, n_draws: int) -> np.ndarray:
    """One sequence of noisy words, as a flat array."""
    return np.asarray(perturber.perturb_words([word], n_draws), dtype=object).ravel()


def _at_another_epsilon(perturber: Any, i: int) -> Any:
    """A fitted copy with ε changed so little that equal noise gives equal words.

    Made from a clone, as in a grid search.
    """
    other = clone(perturber)
    other.set_params(epsilon=perturber.epsilon * (1 + i * 1e-9))
    return other.fit([])


def _equal_pairs(rows: list[np.ndarray]) -> int:
    """Pairs of equal rows."""
    return sum(n * (n - 1) // 2 for n in Counter(map(tuple, rows)).values())


def _repeated(row: np.ndarray, length: int) -> int:
    """Number of sequences of a length, at any position, that occurred before."""
    codes = np.unique(row.astype(str), return_inverse=True)[1].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(codes, length)
    return len(windows) - len({window.tobytes() for window in windows})


def _overdispersed(rows: list[np.ndarray], words: list[str]) -> bool:
    """Whether counts of the words vary too much for independent draws.

    By Hoeffding's lemma a count of n draws is sub-Gaussian with variance n/4 at most,
    whatever the words' share is, so that a sum of squares has the bound of χ².
    """
    among = set(words)
    counts = np.array([sum(word in among for word in row) for row in rows], float)
    v = counts.var() / (len(rows[0]) / 4)
    return v > 1 and len(rows) / 2 * (v - 1 - math.log(v)) > -math.log(_FALSE_ALARM)


def _word_and_length(perturber: Any, word: str | None) -> tuple[str, int, list[str]]:
    """The word that changes most; draws that rule out chance equality; a set of words.

    The set comes out in about half of the draws.
    """
    candidates = [word] if word is not None else _candidates(perturber)
    shares, outputs = [], []
    for row in np.asarray(perturber.perturb_words(candidates, _PILOT_DRAWS)):
        names, counts = np.unique(row.astype(str), return_counts=True)
        shares.append(counts.max() / _PILOT_DRAWS)
        half: list[str] = []
        total = 0
        for i in np.argsort(-counts, kind="stable"):
            if not half or total + counts[i] <= _PILOT_DRAWS / 2:
                half.append(str(names[i]))
                total += counts[i]
        outputs.append(half)
    best = int(np.argmin(shares))
    # Two draws agree with a probability of at most the largest share, here with room
    # for five standard errors of its estimate.
    error = math.sqrt(shares[best] * (1 - shares[best]) / _PILOT_DRAWS)
    share = shares[best] + 5 * error + 5 / _PILOT_DRAWS
    n_draws = math.log(_FALSE_ALARM) / math.log(share) if share < 1 else math.inf
    if n_draws > _MAX_DRAWS:
        raise InvalidParameterError(
            "perturber must change the word in some draws for this audit, got "
            f"{candidates[best]!r} in {shares[best]:.1%} of {_PILOT_DRAWS} draws. Use "
            "a smaller epsilon for this audit."
        )
    return candidates[best], max(math.ceil(n_draws), 20), outputs[best]


def _candidates(perturber: Any) -> list[str]:
    embedding = None
    if callable(getattr(perturber, "guarantee", None)):
        embedding = getattr(perturber.guarantee(), "embedding", None)
    if not isinstance(embedding, WordEmbedding):
        raise InvalidParameterError(
            "word must be given where guarantee().embedding is no WordEmbedding, got "
            "None."
        )
    picks = check_rng(0).permutation(len(embedding))[:20]
    return embedding.word_array[picks].tolist()


def _forked(perturber: Any, word: str, n_draws: int) -> np.ndarray:
    """A sequence drawn by a fork of this process, which inherits all its state."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=_answer, args=(there, perturber, word, n_draws))
    child.start()
    there.close()
    try:
        if not here.poll(_SECONDS):
            raise TimeoutError(f"no answer in {_SECONDS} s")
        answer = here.recv()
    finally:
        child.kill()
        child.join()
    if isinstance(answer, Exception):
        raise answer
    return np.asarray(answer)


def _answer(
    connection: Any, perturber: Any, word: str, n_draws: int
) -> None:  # pragma: no cover - runs in the child
    try:
        connection.send(_sequence(perturber, word, n_draws))
    except Exception as error:  # for the parent to report
        connection.send(error)
