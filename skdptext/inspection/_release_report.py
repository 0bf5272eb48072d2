"""What does a release give away? A report on anybody's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from skdptext.attacks import (
    ReleasedTexts,
    Score,
    as_texts,
    common_words,
    copies,
    found_at_most,
    in_another_order,
    known_words,
    label_scores,
    linkage_rows,
    person_rows,
    same_person_rows,
    similar_documents,
    word_scores,
)
from skdptext.base import fitted_releaser
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._given import (
    Given,
    Held,
    check_proof,
    held_texts,
    known_texts,
    named_labels,
    read,
    refuse,
)
from skdptext.inspection._other_texts import control_report, read_used
from skdptext.inspection._release_display import Provenance, ReleaseReport
from skdptext.inspection._wording import (
    ANOTHER_ORDER,
    Bound,
    of_persons,
    proof_notes,
    unread_sentence,
)
from skdptext.utils import (
    check_flag,
    check_integer,
    check_n_jobs,
    check_rng,
    show_progress,
)

_SEEDS = 2**31
# Pairs that are quoted where examples are asked for, and characters of each.
_N_EXAMPLES, _QUOTED = 3, 300


def release_report(
    original: Any,
    released: Any,
    *,
    text: str | None = None,
    ids: Any = None,
    authors: Any = None,
    topics: Any = None,
    labels: Any = None,
    known: Any = None,
    background: Any = None,
    background_ids: Any = None,
    control: Any = None,
    public: Any = None,
    mechanism: Any = None,
    guarantee: Any = None,
    embedding: WordEmbedding | None = None,
    n_candidates: int = 100,
    max_documents: int = 1000,
    examples: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> ReleaseReport:
    """Attack any release, and report what it gives away.

    A release is two lists of texts: it may come from a redaction tool, a language
    model, a translation there and back, a person, or skdptext. Adversaries look for the
    original of each release, its author and its words. The strongest counts; it is
    chosen on one half of the documents and scored on the other.

    Parameters
    ----------
    original : iterable of str or of lists of str, of length n_documents
        The texts themselves: a list, a column of a data frame (pandas, polars, Arrow).
        At least two. Or a data frame, with the texts in the column `text`.
    released : iterable of str or of lists of str, of length n_documents
        Their releases, in the same order; with `control` synthetic texts, of any
        length. pandas Series and data frames, of labels too,
        are matched by index, whatever their order: let it hold ids. The other columns
        of a data frame are compared with those of the originals: one that names rows,
        or repeats them, is reported first.
    text : str, default=None
        The column of the texts in data frames of several columns.
    ids : str, or pair of array-like of shape (n_documents,), default=None
        Which rows belong together, where no index says it: a column of both data
        frames, or the ids of the originals and those of the releases.
    authors, topics : array-like of shape (n_documents,), default=None
        Labels. If None, the author, or topic, is not asked for. With authors, releases
        of the same person are looked for, too. With `background_ids`, the person of
        each release.
    labels : mapping of str to array-like of shape (n_documents,), default=None
        Other attributes to be guessed, by name: ``{"age": ..., "diagnosis": ...}``.
    known : mapping, default=None
        Other texts that adversaries hold in the clear: ``"texts"``, with ``"authors"``,
        ``"topics"`` or both. If None, they know the other originals and their labels.
    background : iterable of str or of lists of str, default=None
        Other texts of people, which attackers hold: the candidates are these people.
        One text of the person of each release, in the same order, or with
        `background_ids` any number of texts of any people. `original` may be None then:
        only people are looked for.
    background_ids : array-like of shape (n_background,), default=None
        Whose text each one is. The people of the releases are the `authors`.
    control : iterable of str or of lists of str, or mapping, default=None
        Texts of the same source as `original` that were *not* used. Then `released`
        are synthetic texts, as many as there are, without partners, and the report says
        what they give away of the originals and not of these. With `authors`, a mapping
        of ``"texts"`` and ``"authors"``.
    public : iterable of str or of lists of str, default=None
        Public texts of the same kind. Words in fewer than 1 in 1,000 of them are called
        rare. If None, those in one of the originals, or fewer than 1 in 1,000. Lists
        of words are read as texts are for this, in lower case.
    mechanism : DPWordPerturber, DPDocumentReplacer or other releaser, default=None
        What released the texts, if adversaries know it, fitted or not.
    guarantee : PrivacyGuarantee, default=None
        What is proved of the release, to stand beside what is found: of
        `DPDocumentReplacer`, or with `control` of `DPTextClassifier`. Stored ones are
        read by ``PrivacyGuarantee.from_json``. If None, that of `mechanism`.
    embedding : WordEmbedding, default=None
        Public vectors, for an adversary who compares words place by place. If None,
        those of `mechanism`, if it has any.
    n_candidates : int >= 2, default=100
        How many originals an adversary has to choose from; with fewer documents, all.
    max_documents : int >= 2, default=1000
        The most documents to attack; of more, a random sample.
    examples : bool, default=False
        Quote the three releases that were found most surely, and their originals.
    random_state : None, int or numpy.random.Generator, default=None
        Draws samples, halves and folds.
    n_jobs : int, default=None
        Processes that train classifiers of labels; as in scikit-learn. The result does
        not depend on it.
    verbose : int, default=0
        Above 0, show progress bars on a terminal or in a notebook; above 1, anywhere.

    Returns
    -------
    report : ReleaseReport
        Print it, or look at ``scores``, ``to_frame()``, ``to_dict()`` and
        ``to_html()``.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule.

    Notes
    -----
    *Privacy.* All numbers are what was found: at least so much is given away. A report
    is computed from the original texts. It quotes none unless `examples` is set.

    *Reading.* If the releases hold less than half as many words of the originals as
    originals hold of each other, the report says that these adversaries cannot read
    them: low scores then say nothing. Undo a code, such as base64, before.

    *Linkage.* The share of releases whose original is the most similar one, among
    itself and ``n_candidates - 1`` others, averaged over all draws of these.
    Adversaries compare words, parts of words and numbers of words; and words in a
    translation that ridge regression has learned from other pairs, both ways.

    *Same person.* Of one release, another of its author is to be told from those of
    `n_candidates` − 1 others.

    *Words.* The share of a text's words, as often as they occur, that are in the
    release.

    *People.* With `background` a release is found if its person, of all people of
    whom texts are held, is named. Adversaries compare words, also with how much the
    other releases are like a person's texts; one learns from releases of other people.

    *Control.* With `control` each number is the risk minus control, (r − c)/(1 − c),
    as of Anonymeter [1]_: what is also found of texts that were not used is not the
    synthetic texts' fault. Texts are recognised by the nearest synthetic text, and by
    words, and spans of words, that no other text has. From one set of synthetic texts
    follows a lower bound on ε, which holds however texts hang together [2]_.

    *Labels.* Classifiers are cross-validated, which halves the documents that an
    interval counts, as pairs teach each other: trained on other documents, whole and in
    clear, or on their releases.

    References
    ----------
    .. [1] M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi (2023). A unified framework
       for quantifying privacy risk in synthetic data. PoPETs.
    .. [2] T. Steinke, M. Nasr, M. Jagielski (2023). Privacy auditing with one (1)
       training run. NeurIPS.

    Examples
    --------
    >>> from skdptext.datasets import make_documents, make_embedding
    >>> from skdptext.inspection import release_report
    >>> texts, topics = make_documents(
    ...     make_embedding(200, 8, random_state=0), 60, length=12, random_state=0)
    >>> redacted = [text[:-1] for text in texts]
    >>> report = release_report(texts, redacted, random_state=0)
    >>> report.scores["linkage"].value, round(report.scores["linkage"].chance, 3)
    (1.0, 0.017)
    >>> round(report.scores["words"].value, 2)
    0.92
    """
    n_candidates = check_integer("n_candidates", n_candidates, low=2)
    max_documents = check_integer("max_documents", max_documents, low=2)
    check_flag("examples", examples)
    check_integer("verbose", verbose, low=0)
    check_n_jobs(n_jobs)
    rng = check_rng(random_state)
    if embedding is not None:
        embedding = check_embedding(embedding)
    of_pairs = {"ids": ids, "topics": topics, "labels": labels, "known": known,
                "public": public, "mechanism": mechanism,
                "embedding": embedding}  # fmt: skip
    check_proof(guarantee, of_learning=control is not None)
    if background is None:
        refuse("without background", background_ids=background_ids)
    if control is not None:
        refuse("with control", **of_pairs, background=background,
               examples=examples or None)  # fmt: skip
        sources = read_used(original, control, released, text, authors)
        with show_progress(verbose):
            report = control_report(*sources, guarantee, max_documents, rng)
    else:
        if original is None and background is not None:
            refuse("without original", **of_pairs, guarantee=guarantee)
        given = read(
            original, released, text=text, ids=ids,
            labels=named_labels(authors, topics, labels, background),
            people=None if background is None else authors,
        )  # fmt: skip
        held = held_texts(background, background_ids, given)
        more, common = known_texts(known, given.labels), _common(public)
        if mechanism is not None:
            mechanism = fitted_releaser(mechanism, given.original, "mechanism")
        with show_progress(verbose):
            task = _Attack(given, held, mechanism, embedding, max_documents, rng)
            rows = task.documents(n_candidates, common) + task.people()
            for target in given.labels:
                rows += task.labels(target, more.get(target), n_candidates, n_jobs)
        if guarantee is None and mechanism is not None:
            guarantee = mechanism.guarantee()
        report = task.report(rows, n_candidates, guarantee, examples)
    if isinstance(random_state, Integral):
        report.provenance.seed = int(random_state)
    return report


class _Attack:
    """The sample that is attacked, as it can be read, and what adversaries hold."""

    def __init__(
        self,
        given: Given,
        held: Held | None,
        mechanism: Any,
        embedding: WordEmbedding | None,
        most: int,
        rng: np.random.Generator,
    ) -> None:
        self.given, self.held, self.mechanism = given, held, mechanism
        self.most, self.rng, self.seed = most, rng, int(rng.integers(_SEEDS))
        self.picked = given.sample(most, rng)
        original, released = given.pick(self.picked)
        # who holds no original knows the words of other texts
        clear = held[1] if held is not None and given.original is None else original
        self.shares = known_words(clear, released)
        self.texts = ReleasedTexts(original, released, self.seed)
        own = getattr(mechanism, "embedding", None)
        if embedding is None and isinstance(own, WordEmbedding):
            embedding = own
        self.embedding = embedding
        self.similar: np.ndarray | None = None
        blank = sum(len(text) == 0 for text in released)
        if blank:
            verb = "is" if blank == 1 else "are"
            given.notes.append(f"{blank:,} of the releases {verb} empty.")

    def documents(self, n_candidates: int, common: set[str] | None) -> list[Score]:
        """Linkage, words and copies."""
        texts, given = self.texts, self.given
        if given.original is None:
            return []
        if n_candidates > len(texts):
            n_candidates = len(texts)
            given.notes.append(f"There are only {n_candidates:,} candidates.")
        adversaries = similar_documents(
            texts, embedding=self.embedding, mechanism=self.mechanism
        )
        rows = linkage_rows(texts, adversaries, n_candidates)
        best = next(row for row in rows if row.strongest)
        self.similar = adversaries.scores[best.adversary]
        if best.value < 0.5 and in_another_order(texts, self.picked, given.original):
            given.notes.insert(0, ANOTHER_ORDER)
        return [*rows, *word_scores(texts, common), *copies(texts)]

    def people(self) -> list[Score]:
        """Whose text each release is, by other texts of many."""
        if self.held is None:
            return []
        names, texts = self.held
        assert self.given.people is not None
        people = self.given.people[self.picked]
        (rows,) = np.nonzero(np.isin(people, names))
        left = len(people) - len(rows)
        if left:
            self.given.notes.append(
                f"Of the people of {left:,} releases nothing is held: these releases "
                "do not count where people are named."
            )
        if len(rows) < 2:
            raise InvalidParameterError(
                "background must hold texts of the people of at least 2 releases, got "
                f"{len(rows)}."
            )
        return person_rows(
            texts,
            [self.texts.released[i] for i in rows.tolist()],
            np.searchsorted(names, people[rows]),
            seed=self.seed,
        )

    def labels(
        self, target: str, known: Any, n_candidates: int, n_jobs: int | None
    ) -> list[Score]:
        """How often a label is guessed; of authors, how often releases of one are."""
        given = self.given
        rows = _repeated(target, given.labels[target], self.most, self.rng, given.notes)
        values = given.labels[target][rows]
        if len(np.unique(values)) < 2:
            given.notes.append(
                f"{target.capitalize()}s are not attacked: too few of the documents "
                "share one."
            )
            return []
        original, released = given.pick(rows)
        texts, found = ReleasedTexts(original, released, self.seed), []
        if given.original is not None:
            found = label_scores(
                texts, values, target, self.mechanism, known=known, n_jobs=n_jobs
            )
        if target == "author":
            found += same_person_rows(texts, values, n_candidates)
        return found

    def report(
        self, rows: list[Score], n_candidates: int, guarantee: Any, examples: bool
    ) -> ReleaseReport:
        """The report on what was found."""
        given, alone = self.given, self.given.original is None
        n, n_people = len(self.texts), 0 if self.held is None else len(self.held[0])
        matched = "matched by id" if given.by_id else "matched by order"
        n_candidates = min(n_candidates, n)
        return ReleaseReport(
            _in_order_of_report(rows, given.labels),
            columns=given.columns,
            unread_because=unread_sentence(*self.shares),
            notes=[*proof_notes(guarantee), *given.notes],
            provenance=Provenance(
                original="texts of people" if alone else "originals",
                released="releases",
                n_documents=n,
                n_given=given.n_given,
                n_candidates=n_people if alone else n_candidates,
                matched=f"{n_people:,} people" if alone else matched,
            ),
            examples=self.surest() if examples else [],
            bounds=_bounds(guarantee, rows, given.labels.get("author")),
        )

    def surest(self) -> list[tuple[str, str]]:
        """Pairs that stand out most: the next best candidate is far behind."""
        texts, scores = self.texts, self.similar
        if scores is None:
            return []
        own = np.diagonal(scores)
        others = np.where(np.eye(len(own), dtype=bool), -np.inf, scores)
        lead = own - others.max(axis=1)
        first = np.argsort(-lead, kind="stable")[:_N_EXAMPLES]
        return [
            (_quoted(texts.original[i]), _quoted(texts.released[i]))
            for i in first
            if lead[i] > 0
        ]


def _quoted(document: Any) -> str:
    text = document if isinstance(document, str) else " ".join(document)
    text = text.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def _common(public: Any) -> set[str] | None:
    if public is None:
        return None
    common = common_words(as_texts("public", public))
    if not common:
        raise InvalidParameterError("public must hold at least one word, got none.")
    return common


def _bounds(
    guarantee: Any, rows: Sequence[Score], authors: np.ndarray | None
) -> dict[str, Bound]:
    """What no adversary exceeds, by question, where the guarantee says so."""
    if of_persons(guarantee):  # of all documents of a person, and of no single one
        return {}
    among = {row.question: round(1 / row.chance) for row in rows if row.chance}
    # of a person all documents, of the one of whom there are most
    asked = {"linkage": 0, "linkage among 1,000": 0}
    if authors is not None:
        asked["same person"] = max(Counter(authors.tolist()).values())
    bounds = {}
    for question, times in asked.items():
        n = among.get(question)
        if n is not None:
            share = found_at_most(guarantee, n, max(1, times))
            if share is not None:
                bounds[question] = Bound(share, n, times)
    return bounds


def _in_order_of_report(rows: list[Score], labels: Mapping[str, Any]) -> list[Score]:
    """Documents, people, labels, words and copies."""
    order = [
        *("linkage", "linkage among 1,000", "when sure", "person", "person, if sure"),
        *("same person", "author", "topic"),
        *labels, "words", "rare words",
    ]  # fmt: skip
    place = {question: i for i, question in reversed(list(enumerate(order)))}
    return sorted(
        rows, key=lambda r: (place.get(r.question, len(order)), not r.strongest)
    )


def _repeated(
    target: str, labels: np.ndarray, most: int, rng: Any, notes: list[str]
) -> np.ndarray:
    """Documents whose label occurs again; of too many, those of random labels."""
    _, numbers, counts = np.unique(labels, return_inverse=True, return_counts=True)
    alone = counts == 1
    if alone.any():
        n = int(alone.sum())
        names = f"{target} has" if n == 1 else f"{target}s have"
        notes.append(
            f"{n:,} {names} one document only, which is left out of the attack on "
            f"{target}s."
        )
    rows = np.flatnonzero(~alone[numbers])
    if len(rows) <= most:
        return rows
    if target == "author":  # whole authors, so that each is known as well as before
        order = rng.permutation(np.flatnonzero(~alone))
        upto = max(2, int(np.searchsorted(np.cumsum(counts[order]), most, "right")))
        rows = rows[np.isin(numbers[rows], order[:upto])]
        notes.append(f"Authors: a random sample of {upto:,} of them.")
    if len(rows) > most:
        rows = rows[np.sort(rng.permutation(len(rows))[:most])]
        repeats = np.unique(numbers[rows], return_counts=True)
        rows = rows[np.isin(numbers[rows], repeats[0][repeats[1] > 1])]
    if target != "author":
        notes.append(
            f"{target.capitalize()}s: a random sample of {len(rows):,} documents."
        )
    return rows
