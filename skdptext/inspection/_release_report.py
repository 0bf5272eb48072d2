"""Attack any release, and report what it reveals."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from skdptext import attacks, utils
from skdptext.attacks import Documents, Score, Scores, percent, read
from skdptext.base import fitted_releaser
from skdptext.exceptions import InvalidParameterError

# Releases cannot be read if they share less than this part of the usual words.
_READABLE = 0.5
# Whole authors are drawn if a random sample would have fewer documents per author.
_PER_AUTHOR = 5
_IDENTIFIED = {"linkage": "ORIGINAL", "person": "PERSON", "author": "AUTHOR"}
_LOWER_BOUND = (
    "Each number is what these attackers achieved, which is a lower bound. Only a "
    "guarantee limits what can leak. This report is as sensitive as the texts."
)
_TITLE = "What a release reveals"
# The beginning of a page for light and dark screens, and for phones.
_HEAD = (
    '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="color-scheme" content="light dark">'
    f'<meta name="viewport" content="width=device-width"><title>{_TITLE}</title>'
    "<style>body{font:1rem/1.4 sans-serif;max-width:60rem;margin:1rem auto}"
    "td,th{text-align:left;vertical-align:top;padding:0.2rem 0.4rem 0.2rem 0}"
    "@media(max-width:40rem){body{font-size:0.8rem}}</style></head>"
)


@dataclass(eq=False, repr=False)
class ReleaseReport:
    """What a release reveals, from `release_report`.

    Attributes
    ----------
    scores : Scores
        The strongest attacker for each question: ``scores["linkage"]``, ``"person"``,
        ``"author"`` or another label, ``"words"``, ``"rare words"``, ``"spans of 5
        words"``, ``"copies"``; with control texts ``"membership"``.
    notes : list of str
        Notes that are needed to read the numbers.
    misplaced : float
        Share of the releases that clearly belong to the original of another row; 0 if
        chance explains it. Above 0, nothing else but copies was measured.
    unread : str
        Why low scores say nothing; empty if the attackers can read the releases.
    columns : list of str
        What columns next to the texts reveal; the command line fills this in.
    epsilon : float or None
        With control texts, a lower bound on the ε of the generator.
    """

    scores: Scores
    notes: list[str]
    misplaced: float = 0.0
    unread: str = ""
    columns: list[str] = field(default_factory=list)
    epsilon: float | None = None

    @property
    def verdict(self) -> str:
        """The most severe statement that applies, and what else is inferred."""
        found = [row for row in self.scores.values() if row.is_above]
        identified = [row for row in found if row.question in _IDENTIFIED]
        labels = [row for row in found if row.question not in attacks.QUESTIONS]
        if self.misplaced:
            said = (
                f"ROWS DO NOT BELONG TOGETHER. {percent(self.misplaced)} of the "
                "releases copy, or are clearly made from, the original of another row. "
                "Match the rows by ids."
            )
        elif identified:
            worst = max(identified, key=lambda row: row.low - row.chance)
            others = [row for row in [*identified, *labels] if row is not worst]
            said = (
                f"THE {_IDENTIFIED[worst.question]} IS IDENTIFIED FOR "
                f"{worst.amount.upper()} RELEASES: {worst}."
            )
            said += f" Also above guessing: {_listed(others)}." if others else ""
        elif found and "membership" in self.scores:
            said = f"THE SYNTHETIC TEXTS REVEAL TRAINING TEXTS: {_listed(found)}."
        elif self.unread:
            said = "THESE ATTACKERS CANNOT READ THE RELEASES. Low scores say nothing."
        elif "membership" in self.scores:
            said = "NOTHING WAS FOUND BEYOND CONTROL, texts that were not used."
        elif len(found) > len(labels):
            said = f"NO RELEASE IS IDENTIFIED, BUT SOMETHING IS LEFT: {_listed(found)}."
        elif labels:
            names = " AND ".join(row.question.upper() for row in labels)
            said = f"NOTHING WAS IDENTIFIED BEYOND THE {names}: {_listed(labels)}."
        else:
            said = "NOTHING WAS IDENTIFIED ABOVE GUESSING."
        before = ["COLUMNS REVEAL ROWS.", *self.columns] if self.columns else []
        return " ".join([*before, said])

    def __repr__(self) -> str:
        notes = utils.wrapped("\n".join(f"- {note}" for note in self.notes))
        return f"{utils.wrapped(self.verdict)}\n\n{self.scores}\n\n{notes}"

    def _repr_html_(self) -> utils.Fragment:
        notes = utils.bullets(self.notes)
        return utils.page(_TITLE, self.verdict, self.scores._repr_html_(), notes)

    def to_html(self, path: Any = None) -> str | None:
        """Write or return the report as one HTML file.

        Parameters
        ----------
        path : path-like, default=None
            The new file to write. None returns the text.

        Returns
        -------
        html : str or None
            A page that needs no other file; None if it was written to `path`.

        Raises
        ------
        FileExistsError
            If the file exists: no report is overwritten.
        """
        text = f"{_HEAD}<body>{self._repr_html_()}</body></html>\n"
        if path is None:
            return text
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
        return None

    def to_frame(self) -> Any:
        """Convert all rows, of all attackers, to a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each question and attacker.
        """
        return self.scores.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Convert the report to plain data, for JSON.

        Returns
        -------
        data : dict
            ``"verdict"``, ``"scores"`` (the strongest of each question), ``"rows"``
            (all of them), ``"misplaced"``, ``"unread"``, ``"columns"``, ``"epsilon"``
            and ``"notes"``.
        """
        return vars(self) | {
            "verdict": self.verdict,
            "scores": {name: asdict(row) for name, row in self.scores.items()},
            "rows": [asdict(row) for row in self.scores.rows],
        }


def _listed(rows: list[Score]) -> str:
    return "; ".join(f"{row.what} ({row.amount}), {row}" for row in rows)


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
    other rows, the report states their share, and measures nothing else but copies:
    every other score would be far too low.

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
    n_candidates = utils.check_integer("n_candidates", n_candidates, low=2)
    most = utils.check_integer("max_documents", max_documents, low=2)
    seed = utils.check_integer("random_state", random_state, low=0)
    rng, notes, rows = utils.check_rng(seed), [_LOWER_BOUND], list[Score]()
    if guarantee is not None:
        rule = "guarantee must be a PrivacyGuarantee"
        utils.check_kind(guarantee, ["found_at_most"], rule)
    given = [x is not None for x in (background, background_ids, authors)]
    if control is not None:
        if original is None or any([*given, labels is not None, releaser is not None]):
            raise InvalidParameterError(
                "control must come with original and released, and only guarantee may "
                "be added, because no row belongs to another."
            )
        return _on_synthetic(original, control, released, guarantee, most, rng, notes)
    if (original is None or any(given[:2])) and not all(given):
        raise InvalidParameterError(
            "background must come with background_ids and authors, the people of these "
            "texts and of the releases, and must be given if original is None."
        )
    first = released if original is None else original
    released = read("released", _by_index("released", released, first))
    if original is not None:
        original, released = attacks.paired(original, released)
    asked = _asked(authors, labels, first, len(released))
    people = None if background is None else asked.pop("author")
    picked = _sample(len(released), most, rng, notes, asked.get("author"))
    some, clear, known = released.take(picked), None, None
    if original is not None:
        known = clear = original.take(picked)
        # Copies are sought among the originals of all rows, sampled or not.
        left: dict[str, Score] = attacks.copied(original, some)
        other = attacks.of_other_rows(original, some, picked)
        if other.any():
            row = attacks.read_off("linkage", other, 1 / len(released))
            both = Scores([row, left["copies"]])
            return ReleaseReport(both, notes, misplaced=row.value)
        if releaser is not None:
            releaser = fitted_releaser(releaser, original.given, "releaser")
            guarantee = releaser.guarantee() if guarantee is None else guarantee
        rows += attacks.linkage_attack(
            clear, some, releaser=releaser, n_candidates=n_candidates, random_state=seed
        ).rows
        if len(clear) < len(original):
            left = attacks.copied(clear, some) | {"copies": left["copies"]}
        rows += left.values()
    if people is not None:
        held, truth = _people(background, background_ids, people[picked])
        # People without background texts cannot be identified, and would only lower the
        # score.
        with_texts = np.flatnonzero(truth >= 0)
        several = f"{len(held):,} people, among them the people of {len(with_texts):,}"
        notes.append(f"The attackers hold texts of {several} releases.")
        found = attacks.linkage_attack(
            held, some.take(with_texts), truth=truth[with_texts],
            n_candidates=len(held), random_state=seed,
        )  # fmt: skip
        rows += [replace(row, question="person") for row in found.rows]
        known = known or held
    for name, values in asked.items():
        # Labels that occur once cannot be learned from other documents.
        if 1 < len(set(values[picked])) < len(picked):
            rows += attacks.label_attack(
                clear, some, values[picked], name=name, releaser=releaser,
                random_state=seed,
            ).rows  # fmt: skip
    scores = Scores(rows)
    low = scores["linkage"].low if "linkage" in scores else 0.0
    notes += _proved(guarantee, low, min(n_candidates, len(picked)))
    return _read(scores, notes, known, some)


def _on_synthetic(
    training: Any, control: Any, synthetic: Any, guarantee: Any, most: int, rng: Any,
    notes: list[str],
) -> ReleaseReport:  # fmt: skip
    """Report what synthetic texts reveal about training texts, but not about others."""
    used, others = (
        texts.take(_sample(len(texts), most, rng, notes))
        for texts in (read("original", training), read("control", control))
    )
    made = read("released", synthetic)
    scores, epsilon = attacks.membership_attack(used, others, made, random_state=rng)
    notes.append(
        f"ε is at least {math.floor(100 * epsilon) / 100:.2f} (95% confidence), if "
        "independent draws decided which texts of one source were used. Any other "
        "difference between training texts and control texts counts as a leak."
    )
    notes += _proved(guarantee, epsilon)
    known = read("original", used.texts + others.texts)
    return _read(scores, notes, known, made, epsilon)


def _asked(authors: Any, labels: Any, first: Any, n: int) -> dict[str, np.ndarray]:
    """Read all labels by name, in the order of the documents."""
    rule = "labels must map names that no other score has to one label per document"
    asked = attacks.by_name(labels, rule)
    if asked.keys() & attacks.QUESTIONS.keys():
        raise InvalidParameterError(f"{rule}, got another name.")
    if authors is not None:
        asked = {"author": authors} | asked
    for name, values in asked.items():
        what = "authors" if name == "author" else "labels"
        values = _by_index(what, values, first)
        asked[name] = utils.as_labels(what, values, n, n_different=2)
    return asked


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
    n: int, most: int, rng: Any, notes: list[str], authors: Any = None
) -> np.ndarray:
    """Select all rows, or a random sample of too many, by whole authors if needed."""
    if n <= most:
        return np.arange(n)
    notes.append(f"Of {n:,} documents, a random sample of {most:,} was attacked.")
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
) -> tuple[Documents, np.ndarray]:
    """Join the texts of each person, and find the person of each release, or −1."""
    texts = read("background", background).texts
    ids = utils.as_labels("background_ids", ids, len(texts), of="text").tolist()
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
    return read("background", map("\n".join, held.values())), truth


def _proved(guarantee: Any, found: float, n: int | None = None) -> list[str]:
    """State a guarantee as a note: of the share found among n, or of ε."""
    if not hasattr(guarantee, "found_at_most"):
        return []
    if guarantee.unit in (None, "word"):
        return ["The guarantee is about words, and does not limit identification."]
    if n is None:
        bound = guarantee.epsilon
        proved = f"ε is at most {utils.rounded_up(bound)}."
    else:
        bound, share = guarantee.found_at_most(n), utils.percent_up
        many = "people" if guarantee.unit == "person" else "documents"
        proved = f"on average at most {share(bound)} of the {many} are identified "
        proved += f"among {n:,} that are equally likely."
        # What is found are documents, even if the guarantee is about people.
        found *= guarantee.unit == "document"
    more = " The attacks show more: is this really their guarantee?" * (found > bound)
    return [f"Proved: {proved}{more}"]


def _read(
    scores: Scores, notes: list[str], clear: Any, noisy: Any, epsilon: Any = None
) -> ReleaseReport:
    """Make a report that says how much was read: if little, low scores say nothing."""
    # The usual share is the yardstick, because even plain texts on different topics
    # share only some of their words.
    readable, usual = attacks.known_words(clear, noisy)
    note = (
        f"{percent(readable)} of the released words occur in the originals, and "
        f"{percent(usual)} of the words of an original occur in others."
    )
    unread = note * (readable < _READABLE * usual)
    return ReleaseReport(scores, [*notes, note], unread=unread, epsilon=epsilon)
