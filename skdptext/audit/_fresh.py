"""A search for noise that was used twice."""

from __future__ import annotations

import copy
import math
import multiprocessing
import pickle
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.base import clone

from skdptext.documents import row_keys
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.utils import (
    check_integer,
    check_kind,
    check_methods,
    check_rng,
    progress_bar,
    wrapped,
)

# We call noise repeated where two independent sequences of words would be equal with at
# most this probability, in each comparison. The audit makes very many of them.
_FALSE_ALARM = 1e-15
# Draws that tell how often a word keeps its most frequent output. A word that needs
# longer sequences than the second number to rule out chance hardly changes at all.
_PILOT_DRAWS = 1000
_MAX_DRAWS = 20_000
_ALL_DRAWS = 1_000_000  # of many calls together
_LONG = 20  # sequences in a long call
_LONGEST = 1000  # longest sequence sought at every position; bounds the memory
_DOCUMENT = "a document"  # what is released where documents are
_SECONDS = 120  # time for a forked process to answer; an inherited lock may block it


@dataclass(eq=False, repr=False)
class FreshNoiseAudit:
    """Result of `audit_fresh_noise`.

    Attributes
    ----------
    repeats : dict of str to int
        The number of pairs of equal sequences for each way of drawing. For
        ``"long call"``, the number of sequences that occurred before; for
        ``"within calls"``, 1 if the draws of a call depend on each other.
    skipped : dict of str to str
        Ways of drawing that could not be tried, with the reason.
    n_draws : int
        Length of the sequences that were compared.
    n_calls : int
        Number of calls or words for ``"many calls"``, ``"many words"`` and
        ``"within calls"``.
    word : str
        The word that was perturbed.
    """

    repeats: dict[str, int]
    skipped: dict[str, str]
    _: KW_ONLY
    n_draws: int
    n_calls: int
    word: str

    @property
    def repeated(self) -> bool:
        """Whether any noise was used twice."""
        return any(self.repeats.values())

    def __repr__(self) -> str:
        return f"FreshNoiseAudit(repeated={self.repeated}, repeats={self.repeats})"

    def __str__(self) -> str:
        return wrapped(self._in_words())

    def _in_words(self) -> str:
        skipped = "".join(f" Not tried: {k} ({v})." for k, v in self.skipped.items())
        if not self.repeated:
            return f"No noise was reused across {', '.join(self.repeats)}.{skipped}"
        ways = {way: n for way, n in self.repeats.items() if n}
        dependent = ""
        if ways.pop("within calls", 0):
            dependent = (
                f"The {self.n_draws} draws of a call depend on each other: over "
                f"{self.n_calls} calls their counts vary too much. "
            )
        if not ways:
            return f"{dependent.strip()}{skipped}"
        counts = ", ".join(f"{way} ({n})" for way, n in ways.items())
        return (
            f"{dependent}The same {self.n_draws} outputs came out again: {counts}. "
            "If the perturber has an integer seed, this is expected of a repeatable "
            f"release; its noise does not add up over releases.{skipped}"
        )


def audit_fresh_noise(
    perturber: Any,
    word: str | None = None,
    *,
    n_repeats: int = 3,
    n_calls: int = 1000,
    verbose: int = 0,
) -> FreshNoiseAudit:
    """Look for noise that was used twice: across calls, processes, copies and ε.

    A guarantee assumes that every draw has its own noise. A generator that is copied
    with its state, into forked workers or pickled estimators, breaks this assumption:
    two words or documents then share noise, and their difference is revealed.

    Parameters
    ----------
    perturber : object
        Any fitted object with ``perturb_words(words, n_draws)``; or, without it, any
        that releases documents by ``transform``, such as
        `~skdptext.DPDocumentReplacer`.
    word : str, default=None
        The word to perturb. If None, the one that changes most often, out of 20 random
        words of ``guarantee().embedding``. The document, where documents are released:
        each draw is of one that differs in its blanks only, so that answers that are
        remembered for a text come out again in the next call, and not in the same.
    n_repeats : int >= 2, default=3
        Sequences per way of drawing. All sequences of one way are compared with each
        other.
    n_calls : int >= 2, default=1000
        Calls, and words per call, to compare; fewer if they would take more than a
        million draws. 16-bit seeds repeat within 1000 calls with probability 0.9995,
        and within 300 calls with probability one half.
    verbose : int, default=0
        Above 0, show a progress bar on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    audit : FreshNoiseAudit
        ``repeated``, ``repeats`` by way of drawing, ``skipped``.

    Raises
    ------
    InvalidParameterError
        If a parameter breaks a rule, or the word changes so rarely that equal sequences
        of 20,000 draws would be no evidence.

    Notes
    -----
    *Ways of drawing.* ``"draws"``: one half of a sequence against the other, and every
    second draw against the rest, as if filled by two workers with one stream.
    ``"words"``: one word given several times in a call. ``"calls"``, ``"threads"``,
    ``"copies"`` (deep copies), ``"pickles"`` (copies as sent to another machine),
    ``"processes"`` (joblib's loky workers) and ``"forks"``, where the system has them.
    ``"epsilons"``: copies whose ``epsilon`` was changed by a relative 10⁻⁹, and that
    were refitted to no documents. A stream that is replayed for every ε then gives the
    same words, and releases at two ε together reveal the true word. ``"many calls"``
    and ``"many words"`` (of one call): `n_calls` of them, to detect a small number of
    streams, or streams that restart after some words. ``"long call"``: any sequence
    against any other in a call of 20 sequences. ``"within calls"``: whether the count
    of a set of words varies more over `n_calls` calls than independent draws allow.
    Noise that serves r draws of its call multiplies the variance by r.

    *False alarms.* Sequences are so long that two independent ones are equal with
    probability 10⁻¹⁵, judging by the share of the most frequent output in 1000 draws.
    For a long call, many calls and many words, about 2·10⁶ pairs are compared, and at
    most 2·10⁸, where sequences have 1000 draws (longer ones are skipped). So the total
    false-alarm probability is about 10⁻⁹, and at most 2·10⁻⁷. For ``"within calls"``,
    the bound exp(−n_calls (v − 1 − ln v)/2) is 10⁻¹⁵, with v the variance of the counts
    over n_draws/4. It follows from Hoeffding's lemma, for a set chosen by other draws.

    *Power.* With 1000 calls, v must reach 1.42. Noise that serves every draw twice is
    found if the set comes out in a third to two thirds of the draws; noise that serves
    only a tenth of them twice is not.

    *Privacy.* Repetition that only occurs after the generator was used elsewhere is not
    found: an audit can show a fault, never its absence.

    Examples
    --------
    >>> from skdptext import DPWordPerturber, WordEmbedding
    >>> from skdptext.audit import audit_fresh_noise
    >>> embedding = WordEmbedding(list("abc"), [[0.0], [1.0], [2.0]])
    >>> fresh = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1.0,
    ...     document_length=1).fit([])
    >>> audit_fresh_noise(fresh).repeated
    False
    >>> seeded = DPWordPerturber(
    ...     embedding, mechanism="exponential", lam=0, epsilon=1.0, document_length=1,
    ...     random_state=0).fit([])
    >>> audit_fresh_noise(seeded).repeats["calls"]
    3
    """
    if not callable(getattr(perturber, "perturb_words", None)):
        rule = "perturber must have perturb_words, or transform for documents"
        check_methods(perturber, ["transform"], rule)
    n_repeats = check_integer("n_repeats", n_repeats, low=2)
    n_calls = check_integer("n_calls", n_calls, low=2)
    check_integer("verbose", verbose, low=0)
    check_kind(word, str | None, "word must be a str or None")
    if not callable(getattr(perturber, "perturb_words", None)):
        perturber, word = _Answers(perturber), _DOCUMENT if word is None else word
    word, n_draws, often = _word_and_length(perturber, word)
    n_calls = min(n_calls, max(_ALL_DRAWS // n_draws, 2))

    def again(source: Any) -> np.ndarray:
        return _sequence(source, word, n_draws)

    def each_of(sources: Iterable[Any]) -> list[np.ndarray]:
        return [again(source) for source in sources]

    def threads() -> list[np.ndarray]:
        with ThreadPoolExecutor(n_repeats) as pool:
            return list(pool.map(again, [perturber] * n_repeats))

    # One task per worker, so that no worker runs two of them.
    workers = Parallel(n_jobs=n_repeats, backend="loky", batch_size=1)
    task = delayed(_sequence)(perturber, word, n_draws)
    several = range(n_repeats)
    ways: dict[str, Callable[[], list[np.ndarray]]] = {
        "words": lambda: list(perturber.perturb_words([word] * n_repeats, n_draws)),
        "many words": lambda: list(perturber.perturb_words([word] * n_calls, n_draws)),
        "forks": lambda: [_forked(perturber, word, n_draws) for _ in several],
        "processes": lambda: list(workers(task for _ in several)),
        "pickles": lambda: each_of(
            map(pickle.loads, [pickle.dumps(perturber)] * n_repeats)
        ),
        "copies": lambda: each_of(copy.deepcopy(perturber) for _ in several),
        "calls": lambda: each_of([perturber] * n_repeats),
        "threads": threads,
        "epsilons": lambda: each_of(_at_another_epsilon(perturber, i) for i in several),
    }
    # A generator that repeats itself within one call shows in the halves of a row, and
    # one that serves two streams in turn shows in every second draw.
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


class _Answers:
    """What releases documents, as if it perturbed words."""

    def __init__(self, releaser: Any) -> None:
        self.releaser = releaser

    def perturb_words(self, documents: list[str], n_draws: int) -> np.ndarray:
        """Answers, (n_documents, n_draws), to texts that differ in their blanks."""
        # A releaser with a seed answers equal documents alike, by design. We write each
        # text with other blanks, which no word sees, so that equal answers are equal
        # noise.
        given = [document for document in documents for _ in range(n_draws)]
        bits = f"0{max(1, len(given).bit_length())}b"
        blanks = str.maketrans("01", " \t")
        given = [
            document + f"{i:{bits}}".translate(blanks)
            for i, document in enumerate(given)
        ]
        released = self.releaser.transform(given)
        if sp.issparse(released) or getattr(released, "ndim", 1) > 1:
            released = row_keys(released)
        answers = np.array([str(answer) for answer in released], dtype=object)
        return answers.reshape(len(documents), n_draws)


def _sequence(perturber: Any, word: str, n_draws: int) -> np.ndarray:
    """One sequence of noisy words, as a flat array."""
    return np.asarray(perturber.perturb_words([word], n_draws), dtype=object).ravel()


def _at_another_epsilon(perturber: Any, i: int) -> Any:
    """A fitted copy with ε changed so little that equal noise gives equal words.

    Made from a clone, as in a grid search.
    """
    if isinstance(perturber, _Answers):
        return _Answers(_at_another_epsilon(perturber.releaser, i))
    # A generator that forgets ε would draw the same noise at both, and their difference
    # would tell the word. ε differs so little that the words would then be equal.
    other = clone(perturber)
    other.set_params(epsilon=perturber.epsilon * (1 + i * 1e-9))
    return other.fit([])


def _equal_pairs(rows: list[np.ndarray]) -> int:
    """Pairs of equal rows."""
    return sum(n * (n - 1) // 2 for n in Counter(map(tuple, rows)).values())


def _repeated(row: np.ndarray, length: int) -> int:
    """Number of sequences of a given length, at any position, that occurred before."""
    codes = np.unique(row.astype(str), return_inverse=True)[1].astype(np.int32)
    windows = np.lib.stride_tricks.sliding_window_view(codes, length)
    return len(windows) - len({window.tobytes() for window in windows})


def _overdispersed(rows: list[np.ndarray], words: list[str]) -> bool:
    """Whether counts of the words vary too much for independent draws.

    By Hoeffding's lemma a count over n draws is sub-Gaussian with variance proxy at
    most n/4, whatever the share of the words, so that a sum of squares has the tail
    bound of χ².
    """
    among = set(words)
    # Noise that is constant within a call, and new in every call, never repeats a row.
    # It shows here: whole rows fall on one side, so that their counts vary too much.
    counts = np.array([sum(word in among for word in row) for row in rows], float)
    v = counts.var() / (len(rows[0]) / 4)
    return v > 1 and len(rows) / 2 * (v - 1 - math.log(v)) > -math.log(_FALSE_ALARM)


def _word_and_length(perturber: Any, word: str | None) -> tuple[str, int, list[str]]:
    """The word that changes most; draws that rule out equality by chance; a set.

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
    # The word whose most frequent output is the rarest needs the shortest sequences to
    # rule out chance.
    best = int(np.argmin(shares))
    # Two draws agree with a probability of at most the largest share; here with a
    # margin of five standard errors of its estimate.
    error = math.sqrt(shares[best] * (1 - shares[best]) / _PILOT_DRAWS)
    share = shares[best] + 5 * error + 5 / _PILOT_DRAWS
    n_draws = math.log(_FALSE_ALARM) / math.log(share) if share < 1 else math.inf
    if n_draws > _MAX_DRAWS:
        raise InvalidParameterError(
            "perturber must change the word often enough for this audit, got the same "
            f"output for {candidates[best]!r} in {shares[best]:.1%} of {_PILOT_DRAWS} "
            "draws. Use a smaller epsilon for this audit."
        )
    return candidates[best], max(math.ceil(n_draws), 20), outputs[best]


def _candidates(perturber: Any) -> list[str]:
    embedding = None
    if callable(getattr(perturber, "guarantee", None)):
        embedding = getattr(perturber.guarantee(), "embedding", None)
    if not isinstance(embedding, WordEmbedding):
        raise InvalidParameterError(
            "word must be given where guarantee().embedding is not a WordEmbedding, "
            "got None."
        )
    picks = check_rng(0).permutation(len(embedding))[:20]
    return embedding.word_array[picks].tolist()


def _forked(perturber: Any, word: str, n_draws: int) -> np.ndarray:
    """A sequence drawn in a fork of this process, which inherits all its state."""
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
        # A lock that the fork inherited may never open. We do not wait for the child.
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
