"""What a report is given: texts, labels and tables, checked and matched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skdptext.attacks import (
    ColumnFinding,
    as_texts,
    column_findings,
    holds_words,
    texts_by_person,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._wording import IN_ORDER, ids_kept
from skdptext.privacy import PrivacyGuarantee
from skdptext.utils import check_labels, kind_of

# Questions whose names no label may have.
_TAKEN = (
    "linkage", "when sure", "words", "rare words", "copies", "same person", "person"
)  # fmt: skip
_SHOWN = {"author": "authors", "topic": "topics"}
# People, sorted, and the words of all that is held of each.
Held = tuple[np.ndarray, list[list[str]]]


@dataclass
class Given:
    """Texts that belong together, their labels, and what their tables give away."""

    original: list[Any] | None
    released: list[Any]
    labels: dict[str, np.ndarray]
    people: np.ndarray | None
    by_id: bool
    columns: list[ColumnFinding]
    notes: list[str]
    n_given: int = field(init=False)
    kept: np.ndarray = field(init=False)  # rows whose original holds words

    def __post_init__(self) -> None:
        self.n_given = len(self.released)
        self.kept = np.arange(self.n_given)
        if self.original is None:
            return
        held = np.flatnonzero([holds_words(text) for text in self.original])
        if len(held) < 2:
            raise InvalidParameterError(
                f"original must hold at least 2 texts with words, got {len(held)}."
            )
        left = self.n_given - len(held)
        if not left:
            return
        # there is nothing to find in the others
        fate = "holds no word, and is" if left == 1 else "hold no word, and are"
        self.notes.append(f"{left:,} of the originals {fate} left out.")
        self.kept, (self.original, self.released) = held, self.pick(held)
        self.labels = {name: values[held] for name, values in self.labels.items()}
        self.people = None if self.people is None else self.people[held]

    def sample(self, most: int, rng: np.random.Generator) -> np.ndarray:
        """Rows that are attacked."""
        n = len(self.released)
        if n > most:
            self.notes.append(
                f"Of {n:,} documents, a random sample of {most:,} was attacked."
            )
        return some_of(n, most, rng)

    def pick(self, rows: Any) -> tuple[list[Any], list[Any]]:
        """Some originals, or releases where there are none, and their releases."""
        released = [self.released[i] for i in rows]
        if self.original is None:
            return released, released
        return [self.original[i] for i in rows], released


def some_of(n: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Rows of a random sample; all of them, where there are no more."""
    return np.arange(n) if n <= most else np.sort(rng.choice(n, most, replace=False))


def read(
    original: Any,
    released: Any,
    *,
    text: str | None,
    ids: Any,
    labels: Mapping[str, tuple[str, Any]],
    people: Any,
) -> Given:
    """Check all that is given, before any work; `labels` by name, with parameters."""
    first = released if original is None else original
    released = _by_index("released", released, first)
    by_id = _indexed(first, released) and any(
        x.index.tolist() != list(range(len(x))) for x in (first, released)
    )
    clear, beside_clear = texts_and_columns("original", first, text)
    noisy, beside = texts_and_columns("released", released, text)
    if ids is not None:
        order, by_id = _order_of(ids, beside_clear, beside), True
        noisy = as_texts("released", noisy)
        noisy = [noisy[i] for i in order if i < len(noisy)]
        beside = {name: [values[i] for i in order] for name, values in beside.items()}
    clear, noisy = as_texts("original", clear), as_texts("released", noisy)
    n = len(clear)
    if len(noisy) != n:
        raise InvalidParameterError(
            "original and released must be of equal length, got "
            f"{n} and {len(noisy)} texts."
        )
    if n < 2:
        raise InvalidParameterError(f"original must hold at least 2 texts, got {n}.")
    checked = {
        name: _repeating(shown, _by_index(shown, values, first), n)
        for name, (shown, values) in labels.items()
    }
    if people is not None:
        people = check_labels("authors", _by_index("authors", people, first), n)
    if original is None:
        return Given(None, noisy, checked, people, by_id, [], [])
    notes = [] if by_id else [IN_ORDER + _in_both(beside_clear, beside)]
    if isinstance(ids, str):
        # what matches rows is no find: a release that keeps ids says so
        notes.append(ids_kept(ids))
        beside.pop(ids)
    found = column_findings(beside_clear, beside, checked)
    return Given(clear, noisy, checked, people, by_id, found, notes)


# -- tables and ids --------------------------------------------------------------------


def texts_and_columns(
    name: str, table: Any, text: str | None
) -> tuple[Any, dict[str, list[Any]]]:
    """The texts of a table, and its other columns."""
    found: Any = getattr(table, "column_names", None)  # of Arrow
    if found is None:
        found = table if isinstance(table, Mapping) else getattr(table, "columns", ())
    names = list(found)
    if len(names) < 2 and text not in names:
        return table, {}
    if text not in names:
        raise InvalidParameterError(
            f"text must name the column of the texts in {name}, got {text!r} where "
            f"there are {len(names)} columns."
        )
    others = {str(each): as_list(table[each]) for each in names if each != text}
    return table[text], others


def as_list(column: Any) -> list[Any]:
    """Values of a column of any kind."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


def _order_of(
    ids: Any, clear: Mapping[str, list[Any]], beside: Mapping[str, list[Any]]
) -> list[int]:
    """The row of the release of each original."""
    if isinstance(ids, str):
        if ids not in clear or ids not in beside:
            raise InvalidParameterError(
                "ids must name a column of original and of released, got another "
                f"name: beside texts, original has {_named(clear)}, and released has "
                f"{_named(beside)}."
            )
        ids = clear[ids], beside[ids]
    if not isinstance(ids, tuple | list) or len(ids) != 2:
        raise InvalidParameterError(
            "ids must name a column, or hold the ids of original and those of "
            f"released, got {kind_of(ids)}."
        )
    # numbers in one kind of file are text in another
    wanted, there = (
        [each if each is None else str(each) for each in as_list(column)]
        for column in ids
    )
    for name, each in (("original", wanted), ("released", there)):
        missing, repeated = each.count(None), len(each) - len(set(each))
        if missing or repeated:
            raise InvalidParameterError(
                f"ids must be different values, got {missing} missing and {repeated} "
                f"repeated among the {len(each)} of {name}."
            )
    absent = len(set(wanted) - set(there)), len(set(there) - set(wanted))
    if any(absent):
        raise InvalidParameterError(
            f"ids must be the same in original and released, got {absent[0]} that only "
            f"the originals have and {absent[1]} that only the releases have."
        )
    places = {each: place for place, each in enumerate(there)}
    return [places[each] for each in wanted]


def _in_both(clear: Mapping[str, list[Any]], beside: Mapping[str, list[Any]]) -> str:
    """Which column would match the rows."""
    for name in beside:
        with suppress(InvalidParameterError):  # it holds no ids
            _order_of(name, clear, beside)
            return f" Both have the column {name!r}."
    return ""


def _indexed(*columns: Any) -> bool:
    return all(hasattr(x, "index") and hasattr(x, "reindex") for x in columns)


def _by_index(name: str, values: Any, original: Any) -> Any:
    """Values in the order of the originals, where both have an index."""
    if not _indexed(original, values) or original.index.equals(values.index):
        return values
    unique = original.index.is_unique and values.index.is_unique
    if not unique or set(original.index) != set(values.index):
        raise InvalidParameterError(
            f"original and {name} must have the same index, got two Series of "
            f"{len(original)} and {len(values)} values whose indices differ. Where "
            "their order agrees, use .reset_index(drop=True) on both."
        )
    return values.reindex(original.index)


# -- labels and people -----------------------------------------------------------------


def named_labels(
    authors: Any, topics: Any, labels: Any, background: Any
) -> dict[str, tuple[str, Any]]:
    """All labels that are asked for, with the parameter that each comes from."""
    if authors is not None and background is not None:
        # of people with one release each, there is none to learn from
        counts = Counter(as_list(authors))
        if sum(n > 1 for n in counts.values()) < 2:
            authors = None
    named = {
        name: (_SHOWN[name], values)
        for name, values in (("author", authors), ("topic", topics))
        if values is not None
    }
    if labels is None:
        return named
    rule = "labels must map names to one label per document"
    if not isinstance(labels, Mapping):
        raise InvalidParameterError(f"{rule}, got {kind_of(labels)}.")
    for name, values in labels.items():
        if not isinstance(name, str) or name in (*named, *_TAKEN):
            raise InvalidParameterError(
                "labels must have names that are text and not those of other scores, "
                f"got {kind_of(name)}."
            )
        named[name] = ("labels", values)
    return named


def _repeating(name: str, values: Any, n: int) -> np.ndarray:
    """Labels, of which some occur twice."""
    labels = check_labels(name, values, n)
    if labels.dtype.kind == "f" and (labels % 1 != 0).any():
        raise InvalidParameterError(f"{name} must hold classes, got fractions.")
    kinds, counts = np.unique(labels, return_counts=True)
    if len(kinds) < 2 or (counts > 1).sum() < 2:
        raise InvalidParameterError(
            f"{name} must hold at least 2 labels that occur twice, got "
            f"{int((counts > 1).sum())} of {len(kinds)}."
        )
    return labels


def known_texts(known: Any, labels: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Texts that adversaries hold, with labels like those of the documents."""
    if known is None:
        return {}
    rule = "known must map 'texts' to texts, and 'authors' or 'topics' to their labels"
    if not isinstance(known, Mapping) and not hasattr(known, "columns"):
        raise InvalidParameterError(f"{rule}, got {kind_of(known)}.")
    columns = known if isinstance(known, Mapping) else known.columns
    names = {"texts", "authors", "topics"} & set(columns)
    if "texts" not in names or len(names) < 2:
        raise InvalidParameterError(f"{rule}, got {len(names)} of these three.")
    texts = as_texts("known['texts']", known["texts"])
    held = {
        name[:-1]: (
            texts,
            check_labels(f"known[{name!r}]", known[name], len(texts), of="text"),
        )
        for name in sorted(names - {"texts"})
    }
    targets = set(labels) & set(held)
    if not targets:
        raise InvalidParameterError(
            "known must come with authors or topics of the documents, got none."
        )
    for target in sorted(targets):
        if not set(held[target][1].tolist()) & set(labels[target].tolist()):
            raise InvalidParameterError(
                f"known[{target + 's'!r}] must hold some of the {target}s of the "
                "documents, got none of them."
            )
    return held


def _named(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, columns)) or "none"


def held_texts(background: Any, ids: Any, given: Given) -> Held | None:
    """What attackers hold of each person; the people of the releases go with it."""
    if background is None and given.original is None:
        raise InvalidParameterError(
            "original must be given unless there is a background, got None."
        )
    if background is None:
        return None
    texts = as_texts("background", background)
    if ids is None:
        if len(texts) != given.n_given:
            raise InvalidParameterError(
                "background must hold a text for each release where background_ids is "
                f"None, got {len(texts)} texts and {given.n_given} releases."
            )
        ids = np.arange(given.n_given)
        given.people = given.kept
    elif given.people is None:
        raise InvalidParameterError(
            "authors must say whose text each release is where background_ids are "
            "given, got None."
        )
    else:
        ids = check_labels("background_ids", ids, len(texts), of="text")
    rows = [i for i, text in enumerate(texts) if holds_words(text)]
    names, held = texts_by_person([texts[i] for i in rows], ids[rows])
    if len(names) < 2:
        raise InvalidParameterError(
            f"background must hold texts with words of at least 2 people, got "
            f"{len(names)}."
        )
    return names, held


def check_proof(guarantee: Any, of_learning: bool) -> None:
    """Refuse what states nothing about such a release."""
    if guarantee is None:
        return
    learned = getattr(guarantee, "kind", None) == "sums"
    if of_learning and not learned:
        rule = "be of a learned model with control"
    elif learned and not of_learning:
        rule = "be of rows without control: those of a corpus belong to no original"
    elif not isinstance(guarantee, PrivacyGuarantee) and not hasattr(
        guarantee, "found_at_most"
    ):
        rule = "be a PrivacyGuarantee"
    else:
        return
    raise InvalidParameterError(f"guarantee must {rule}, got {kind_of(guarantee)}.")


def refuse(where: str, **options: Any) -> None:
    """Refuse options that would be ignored."""
    for name, value in options.items():
        if value is not None:
            raise InvalidParameterError(
                f"{name} must be None {where}, got {kind_of(value)}."
            )
