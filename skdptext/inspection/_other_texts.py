"""Attackers who hold texts of the same source that were not used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from skdptext.attacks import (
    MOST_COMPARED,
    as_texts,
    holds_words,
    membership_rows,
    words_of,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._given import some_of, texts_and_columns
from skdptext.inspection._release_display import Provenance, ReleaseReport
from skdptext.utils import (
    FEWEST_CASES,
    Excess,
    Membership,
    check_labels,
    kind_of,
    rounded_up,
)

_SAME_SOURCE = (
    "Training texts and control must be of the same source, by chance the ones or the "
    "others: whatever else tells them apart counts as a leak."
)


@dataclass
class Used:
    """Texts that were used, or held back, and who wrote them."""

    name: str
    texts: list[Any]
    authors: np.ndarray | None = None

    def only(self, rows: np.ndarray) -> Used:
        """Some of them."""
        authors = None if self.authors is None else self.authors[rows]
        return Used(self.name, [self.texts[i] for i in rows.tolist()], authors)


def _used(name: str, texts: Any, column: str | None) -> Used:
    return Used(name, as_texts(name, texts_and_columns(name, texts, column)[0]))


def read_used(
    original: Any, control: Any, released: Any, text: str | None, authors: Any
) -> tuple[Used, Used, list[Any]]:
    """Training texts and control, with their authors if asked for; synthetic texts."""
    if original is None:
        raise InvalidParameterError("original must be given with control, got None.")
    training, theirs = _used("original", original, text), None
    names = control if isinstance(control, Mapping) else getattr(control, "columns", ())
    if "texts" in names:
        held_back = _used("control", control["texts"], None)
        theirs = control["authors"] if "authors" in names else None
    else:
        held_back = _used("control", control, text)
    if authors is not None:
        if theirs is None:
            raise InvalidParameterError(
                "control must map 'texts' to texts and 'authors' to their authors "
                f"where authors are given, got {kind_of(control)}."
            )
        training.authors = check_labels("authors", authors, len(training.texts))
        held_back.authors = check_labels(
            "control['authors']", theirs, len(held_back.texts), of="text"
        )
    synthetic = [t for t in _used("released", released, text).texts if holds_words(t)]
    if not synthetic:
        raise InvalidParameterError(
            "released must hold at least one text with words, got none."
        )
    return training, held_back, synthetic


def control_report(
    training: Used,
    held_back: Used,
    synthetic: list[Any],
    guarantee: Any,
    most: int,
    rng: np.random.Generator,
) -> ReleaseReport:
    """What synthetic texts give away of training texts, less what they do of others."""
    seed = int(rng.integers(2**31))
    n_given, notes = len(training.texts), [_SAME_SOURCE]
    training, held_back = (
        _sampled(part, most, rng, notes)
        for part in _distinct(training, held_back, notes)
    )
    if len(synthetic) > MOST_COMPARED:
        notes.append(
            f"Whole texts were compared with {MOST_COMPARED:,} of the "
            f"{len(synthetic):,} synthetic ones; spans and sentences were looked for "
            "in all of them."
        )
        synthetic = [synthetic[i] for i in rng.permutation(len(synthetic))]
    rows, found, copies = membership_rows(
        training.texts, held_back.texts, synthetic,
        authors=_authors(training, held_back, notes), seed=seed,
    )  # fmt: skip
    return ReleaseReport(
        rows,
        notes=[_in_numbers(found), *_proved(guarantee, found), *_raw(copies), *notes],
        provenance=Provenance(
            original="training texts",
            released="synthetic texts",
            n_documents=len(training.texts),
            n_given=n_given,
            n_candidates=0,
            matched=f"{len(held_back.texts):,} control, {len(synthetic):,} synthetic",
        ),
        epsilon=found.epsilon,
        epsilon_shown=found.largest,
        epsilon_proved=None if guarantee is None else guarantee.epsilon,
    )


def _distinct(training: Used, control: Used, notes: list[str]) -> tuple[Used, Used]:
    """Texts with words, each once; what was used is no control."""
    seen: set[tuple[str, ...]] = set()
    parts = []
    for part in (training, control):
        keys = [tuple(words_of(text)) for text in part.texts]
        first = {key: i for i, key in reversed(list(enumerate(keys))) if key}
        rows = np.array(sorted(i for key, i in first.items() if key not in seen))
        seen |= set(first)
        left = len(part.texts) - len(rows)
        if left:
            what = "hold no word or repeat others" + (
                "" if part is training else ", or training texts"
            )
            notes.append(f"{left:,} of the {part.name} {what}, and are left out.")
        if len(rows) < FEWEST_CASES:
            raise InvalidParameterError(
                f"{part.name} must hold at least {FEWEST_CASES} different texts with "
                f"words{', none of them of original,' * (part is control)} where "
                f"control is given, got {len(rows)}."
            )
        parts.append(part.only(rows))
    return parts[0], parts[1]


def _sampled(part: Used, most: int, rng: np.random.Generator, notes: list[str]) -> Used:
    n = len(part.texts)
    if n > most:
        notes.append(
            f"Of {n:,} texts of {part.name}, a random sample of {most:,} was taken."
        )
    return part.only(some_of(n, most, rng))


def _authors(
    training: Used, control: Used, notes: list[str]
) -> tuple[np.ndarray, np.ndarray] | None:
    """Numbers of the authors of both; −1 for control texts by training authors."""
    if training.authors is None or control.authors is None:
        return None
    n = len(training.texts)
    every = np.concatenate([training.authors, control.authors])
    _, numbers = np.unique(every, return_inverse=True)
    mine, theirs = numbers[:n], numbers[n:]
    both = np.isin(theirs, mine)
    if both.any():
        notes.append(
            f"{int(both.sum()):,} of the control texts are by training authors, and do "
            "not count where authors are told apart."
        )
    few = min(len(set(mine.tolist())), len(set(theirs[~both].tolist())))
    if few < FEWEST_CASES:
        notes.append(
            f"Authors are not told apart: there are {few:,} on one side, and "
            f"{FEWEST_CASES} are needed."
        )
        return None
    return mine, np.where(both, -1, theirs)


def _in_numbers(found: Membership) -> str:
    """The bound on ε, rounded down, and the largest one, rounded up."""
    if found.epsilon <= 0:
        said = "No bound on ε follows"
    else:
        said = f"ε is at least {np.floor(100 * found.epsilon) / 100:.2f} (with 95 %)"
    return (
        f"{said}, for a text that was used or not by an independent draw. So many "
        f"texts can show an ε of {np.ceil(100 * found.largest) / 100:.2f} at most."
    )


def _proved(guarantee: Any, found: Membership) -> list[str]:
    """The ε that is proved, and whether the texts show more."""
    if guarantee is None:
        return []
    said = f"Proved of a {guarantee.unit}: ε is at most {rounded_up(guarantee.epsilon)}"
    if guarantee.delta:
        said += f", but for a probability of δ = {rounded_up(guarantee.delta, 3)}"
    said += "."
    if found.epsilon > guarantee.epsilon:
        said += " Chance seldom shows more: is this the guarantee of these texts?"
    return [said]


def _raw(copies: dict[str, Excess]) -> list[str]:
    """What is behind the numbers beyond control."""
    return [
        f"Copied {what}: {100 * it.risk:.1f} % of those of training texts are in "
        f"synthetic texts, and {100 * it.control:.1f} % of those of the control."
        for what, it in copies.items()
    ]
