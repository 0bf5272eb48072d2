"""Attack any release, and report what it reveals."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skdptext import attacks
from skdptext.attacks import Score, Scores, documents_of, texts_of
from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._release_display import ReleaseReport
from skdptext.utils import (
    as_labels,
    check_integer,
    check_kind,
    check_rng,
    percent_up,
    rounded_up,
)

# Releases cannot be read if they share less than this part of the usual words.
_READABLE = 0.5
# Whole authors are drawn if a random sample would have fewer documents per author.
_PER_AUTHOR = 5
_SAME_SOURCE = (
    "Training texts and control texts must come from one source and be divided at "
    "random: any other difference counts as a leak."
)


def release_report(
    original: Any,
    released: Any,
    *,
    authors: Any = None,
    labels: Mapping[str, Any] | None = None,
    background: Any = None,
    background_ids: Any = None,
    control: Any = None,
    releaser: Any = None,
    guarantee: Any = None,
    n_candidates: int = 100,
    max_documents: int = 1000,
    random_state: int = 0,
) -> ReleaseReport:
    """Attack any release, and report what it reveals.

    A release is two lists of texts: it may come from a redaction tool, a language
    model, a translation there and back, a person, or skdptext. Attackers try to
    identify the original of each release, its author and its words. The strongest one
    counts; it is chosen on one half of the documents and scored on the other.

    Parameters
    ----------
    original : iterable of str or of lists of str, of length n_documents, or None
        The original texts, at least two. None is only possible with `background`.
    released : iterable of str or of lists of str, or array, of length n_documents
        Their releases in the same order, texts or numbers; with `control`, synthetic
        texts of any number. Two pandas Series are matched by index in any order: use
        ids as the index.
    authors : array-like of shape (n_documents,), default=None
        The author of each document. Attackers who know other documents of the authors
        infer the author of a release; or, with `background`, its person.
    labels : dict of str to array-like of shape (n_documents,), default=None
        Other labels that may be inferred, such as ``{"topic": topics}``.
    background : iterable of str or of lists of str, default=None
        Other texts of the authors and of other people, to identify the person of each
        release.
    background_ids : array-like, one for each text of `background`, default=None
        The person of each such text, one of `authors` or another one.
    control : iterable of str or of lists of str, default=None
        Texts of the same source as `original` that were not used to make synthetic
        texts. Attackers infer which texts were used. It only combines with `guarantee`.
    releaser : releaser, default=None
        The releaser that made `released`, in the form that its `output` selects.
        Attackers who know it are added, and its guarantee is reported.
    guarantee : PrivacyGuarantee, default=None
        The guarantee of the release.
    n_candidates : int >= 2, default=100
        Number of originals to choose from.
    max_documents : int >= 2, default=1000
        The most documents to attack; more are sampled at random.
    random_state : int >= 0, default=0
        Draws samples, halves and folds.

    Returns
    -------
    report : ReleaseReport
        Print it, or use ``scores``, ``verdict``, ``to_frame()``, ``to_dict()`` and
        ``to_html()``. It quotes no text.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule.

    See Also
    --------
    skdptext.attacks.linkage_attack : Accepts custom attackers, like other attacks.

    Notes
    -----
    *Rows.* If more than a tenth of the releases are clearly made from originals of
    other rows, the report states their share, and measures nothing else: every score
    would be far too low.

    *Reading.* If words of the releases occur in the originals less than half as often
    as words of an original occur in others, the attackers cannot read them, and low
    scores say nothing. Decode encoded texts, such as base64, before.

    *Privacy.* All numbers are lower bounds on what the release reveals. A report is
    computed from the original texts, and is as sensitive as they are.

    Examples
    --------
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> from skdptext.inspection import release_report
    >>> texts, topics = make_documents(
    ...     make_embedding(200, 8, random_state=0), 60, length=12, random_state=0)
    >>> redacted = [text[:-1] for text in texts]
    >>> report = release_report(texts, redacted)
    >>> report.scores["linkage"].value, round(report.scores["linkage"].chance, 3)
    (1.0, 0.017)
    >>> release_report(texts, texts[::-1]).verdict.partition(".")[0]
    'ROWS DO NOT BELONG TOGETHER'
    """
    n_candidates = check_integer("n_candidates", n_candidates, low=2)
    most = check_integer("max_documents", max_documents, low=2)
    seed = check_integer("random_state", random_state, low=0)
    if guarantee is not None:
        rule = "guarantee must be a PrivacyGuarantee"
        check_kind(guarantee, ["found_at_most"], rule)
    asked, held = _asked(authors, labels), (background, background_ids, authors)
    if control is not None:
        if original is None or asked or any(x is not None for x in (*held, releaser)):
            raise InvalidParameterError(
                "control must come with original and released, and only guarantee may "
                "be added, because no row belongs to another."
            )
        return _on_synthetic(original, control, released, guarantee, most, seed)
    given = [x is not None for x in held]
    if (original is None or any(given[:2])) and not all(given):
        raise InvalidParameterError(
            "background must come with background_ids and authors, the people of these "
            "texts and of the releases, and must be given if original is None."
        )
    first = released if original is None else original
    released = _by_index("released", released, first)
    original, released = attacks.paired(original, released)
    n, notes, rows = _num_samples(released), list[str](), list[Score]()
    for name, values in asked.items():
        what = "authors" if name == "author" else "labels"
        values = _by_index(what, values, first)
        asked[name] = as_labels(what, values, n, n_different=2)
    people = None if background is None else asked.pop("author")
    picked = _sample(n, most, "documents", check_rng(seed), notes, asked.get("author"))
    some, clear = _safe_indexing(released, picked), None
    if original is not None:
        clear = _safe_indexing(original, picked)
        texts, noisy = texts_of(original), texts_of(some)
        copies = attacks.copied(texts, noisy)["copies"]  # of any row, sampled or not
        other = attacks.of_other_rows(texts, noisy, picked)
        if other.any():
            row = attacks.read_off("linkage", other, 1 / n)
            return ReleaseReport(Scores([row, copies]), notes, misplaced=row.value)
        if releaser is not None:
            releaser = fitted_releaser(releaser, original, "releaser")
            guarantee = releaser.guarantee() if guarantee is None else guarantee
        rows += attacks.linkage_attack(
            clear, some, releaser=releaser, n_candidates=n_candidates, random_state=seed
        ).rows
        rows += (attacks.copied(clear, noisy) | {"copies": copies}).values()
        n_candidates = min(n_candidates, len(picked))
    if people is not None:
        texts, truth = _people(background, background_ids, people[picked])
        # People without background texts cannot be identified, and would only lower the
        # score.
        known = np.flatnonzero(truth >= 0)
        notes.append(
            f"The attackers hold texts of {len(texts):,} people, among them the people "
            f"of {len(known):,} releases."
        )
        found = attacks.linkage_attack(
            texts, _safe_indexing(some, known), truth=truth[known],
            n_candidates=len(texts), random_state=seed,
        )  # fmt: skip
        rows += [replace(row, question="person") for row in found.rows]
        clear = clear or texts
    for name, values in asked.items():
        # Labels that occur once cannot be learned from other documents.
        if 1 < len(set(values[picked])) < len(picked):
            rows += attacks.label_attack(
                clear, some, values[picked], name=name, releaser=releaser,
                random_state=seed,
            ).rows  # fmt: skip
    scores = Scores(rows)
    low = scores["linkage"].low if "linkage" in scores else 0.0
    notes += _proved(guarantee, low, n_candidates)
    return _read(scores, notes, clear, some)


def _on_synthetic(
    training: Any, control: Any, synthetic: Any, guarantee: Any, most: int, seed: int
) -> ReleaseReport:
    """Report what synthetic texts reveal about training texts, but not about others."""
    rng, notes = check_rng(seed), [_SAME_SOURCE]
    used, others = (
        _safe_indexing(texts, _sample(len(texts), most, name, rng, notes))
        for name, texts in (
            ("training texts", documents_of("original", training)),
            ("control texts", documents_of("control", control)),
        )
    )
    synthetic = documents_of("released", synthetic)
    scores, epsilon = attacks.membership_attack(
        used, others, synthetic, random_state=rng
    )
    if epsilon > 0:
        notes.append(
            f"The texts show that ε is at least {math.floor(100 * epsilon) / 100:.2f} "
            "(95% confidence), if independent draws decided which texts were used."
        )
    notes += _proved(guarantee, epsilon)
    return _read(scores, notes, [*used, *others], synthetic, epsilon)


def _asked(authors: Any, labels: Any) -> dict[str, Any]:
    """Collect all labels by name."""
    rule = "labels must map names that no other score has to one label per document"
    labels = {} if labels is None else labels
    check_kind(labels, Mapping, rule)
    if any(not isinstance(name, str) or name in attacks.QUESTIONS for name in labels):
        raise InvalidParameterError(f"{rule}, got another name.")
    return ({} if authors is None else {"author": authors}) | dict(labels)


def _by_index(name: str, values: Any, original: Any) -> Any:
    """Reorder values like the originals, if both have an index."""
    if not all(hasattr(x, "reindex") for x in (values, original)):
        return values
    unique = original.index.is_unique and values.index.is_unique
    if not unique or set(original.index) != set(values.index):
        raise InvalidParameterError(
            f"original and {name} must have the same index, with each id once, got "
            f"{'ids that differ' if unique else 'repeated ids'}. If their order "
            "agrees, use .reset_index(drop=True) on both."
        )
    return values.reindex(original.index)


def _sample(
    n: int, most: int, what: str, rng: Any, notes: list[str], authors: Any = None
) -> np.ndarray:
    """Select all rows, or a random sample of too many, by whole authors if needed."""
    if n <= most:
        return np.arange(n)
    notes.append(f"Of {n:,} {what}, a random sample of {most:,} was attacked.")
    order = rng.permutation(n)
    # Authors are inferred from their other documents. A sample with one document of
    # each author would leave nothing to learn from.
    if authors is not None:
        names, number = np.unique(authors, return_inverse=True)
        if len(names) * _PER_AUTHOR > most:
            order = np.argsort(rng.permutation(len(names))[number], kind="stable")
    return np.sort(order[:most])


def _people(
    background: Any, ids: Any, people: np.ndarray
) -> tuple[list[str], np.ndarray]:
    """Join the texts of each person, and find the person of each release, or −1."""
    texts = texts_of(documents_of("background", background))
    ids = as_labels("background_ids", ids, len(texts), of="text").tolist()
    held: dict[Any, list[str]] = {person: [] for person in ids}
    for person, text in zip(ids, texts, strict=True):
        held[person].append(text)
    row = {person: i for i, person in enumerate(held)}
    truth = np.array([row.get(person, -1) for person in people.tolist()])
    if len(held) < 2 or (truth >= 0).sum() < 2:
        raise InvalidParameterError(
            "background must hold texts of at least 2 people, and of the people of at "
            f"least 2 releases, got {len(held)} and {(truth >= 0).sum()}."
        )
    return list(map("\n".join, held.values())), truth


def _proved(guarantee: Any, found: float, n: int | None = None) -> list[str]:
    """State a guarantee as a note: of the share found among n, or of ε."""
    unit = getattr(guarantee, "unit", "document")
    if unit in (None, "word"):
        return ["The guarantee is about words, and does not limit identification."]
    if not hasattr(guarantee, "found_at_most"):
        return []
    if n is None:
        bound = guarantee.epsilon
        proved = f"ε is at most {rounded_up(bound)}."
    else:
        bound = guarantee.found_at_most(n)
        many = "people" if unit == "person" else "documents"
        proved = f"on average at most {percent_up(bound)} of the {many} are "
        proved += f"identified among {n:,} that are equally likely."
        # What is found are documents, even if the guarantee is about people.
        found *= unit == "document"
    more = " The attacks show more: is this really their guarantee?" * (found > bound)
    return [f"Proved: {proved}{more}"]


def _read(
    scores: Scores, notes: list[str], clear: Any, noisy: Any, epsilon: Any = None
) -> ReleaseReport:
    """Make a report that explains why low scores say nothing, if nothing was read."""
    # The usual share is the yardstick, because even plain texts on different topics
    # share only some of their words.
    readable, usual = attacks.known_words(texts_of(clear), texts_of(noisy))
    if readable >= _READABLE * usual:
        return ReleaseReport(scores, notes, epsilon=epsilon)
    unread = (
        f"{attacks.percent(readable)} of the released words occur in the originals, "
        f"while {attacks.percent(usual)} of the words of an original occur in others."
    )
    return ReleaseReport(scores, [*notes, unread], unread=unread, epsilon=epsilon)
