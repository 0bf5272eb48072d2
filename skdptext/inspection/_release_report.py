"""What does a release give away? A report on anybody's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skdptext.attacks import (
    ColumnFinding,
    Decoded,
    ReleasedTexts,
    Score,
    Translation,
    as_texts,
    column_findings,
    common_words,
    copies,
    decode,
    holds_words,
    in_another_order,
    label_scores,
    linkage_rows,
    same_person_rows,
    similar_documents,
    texts_by_person,
    word_scores,
    words_of,
)
from skdptext.base import fitted_releaser, perturbs_words
from skdptext.datasets import load_docstring_embedding
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._other_texts import Used, background_rows, control_report
from skdptext.inspection._release_display import Provenance, ReleaseReport
from skdptext.inspection._wording import ANOTHER_ORDER, IN_ORDER
from skdptext.utils import (
    check_flag,
    check_integer,
    check_labels,
    check_n_jobs,
    check_rng,
    kind_of,
    percent_up,
    show_progress,
)

_SEEDS = 2**31
# Pairs that are quoted where examples are asked for, and characters of each.
_N_EXAMPLES, _QUOTED = 3, 300
# Words that make up a twentieth of English text or more.
_ENGLISH, _OF_ENGLISH = frozenset(("the", "of", "and", "to", "a", "in", "is")), 0.05
# Share of the words of the originals that built-in vectors must have.
_COVERED = 0.5
_TAKEN = (
    "linkage", "when sure", "words", "rare words", "copies", "same person", "person"
)  # fmt: skip
# People, sorted, and the words of all that is held of each.
Held = tuple[np.ndarray, list[list[str]]]


def release_report(
    original: Any,
    released: Any,
    *,
    text: str | None = None,
    authors: Any = None,
    topics: Any = None,
    labels: Any = None,
    known: Any = None,
    background: Any = None,
    background_ids: Any = None,
    control: Any = None,
    public: Any = None,
    mechanism: Any = None,
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
        Texts in clear: a list, a column of a data frame (pandas, polars, Arrow), …
        At least two. Or a data frame, with the texts in the column `text`.
    released : iterable of str or of lists of str, of length n_documents
        Their releases, in the same order; with `control` synthetic texts, of any
        length. pandas Series and data frames, of labels too,
        are matched by index, whatever their order: let it hold ids. The other columns
        of a data frame are compared with those of the originals: one that names rows,
        or repeats them, is reported first.
    text : str, default=None
        The column of the texts in data frames of several columns.
    authors, topics : array-like of shape (n_documents,), default=None
        Labels. If None, the author, or topic, is not asked for. With authors, releases
        of the same person are looked for, too. With `background_ids`, the person of
        each release.
    labels : mapping of str to array-like of shape (n_documents,), default=None
        Other attributes to be guessed, by name: ``{"age": ..., "diagnosis": ...}``.
    known : mapping, default=None
        Other texts that adversaries hold in clear: ``"texts"``, with ``"authors"``,
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
    mechanism : DPWordPerturber, default=None
        What released the texts, if adversaries know it, fitted or not. Any object will
        do that has ``log_likelihood(documents, released)`` → (n_released, n_documents).
    embedding : WordEmbedding, default=None
        Public vectors for adversaries who compare words. If None, those of `mechanism`;
        for English, the built-in ones (`~skdptext.datasets.load_docstring_embedding`),
        if they have half of the words; or else vectors learned from the texts, in any
        language.
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
        Print it, or look at ``scores``, ``to_frame()``, ``to_dict()``, ``plot()`` and
        ``to_html()``.

    Raises
    ------
    InvalidParameterError
        If a parameter or an input breaks its rule.

    See Also
    --------
    obfuscation_report : The same questions, for a mechanism and documents to be
        released.
    skdptext.attacks.text_similarities : The adversaries who look for documents.

    Notes
    -----
    *Privacy.* All numbers are what was found: at least so much is given away. A report
    is computed from texts in clear. It quotes none of them unless `examples` is set.

    *Reading.* Codes that anybody undoes are undone first, and named in the notes: other
    forms of characters, look-alike letters, reversal, base64 and its kin, numbers of
    bytes, compression, hidden characters, moved alphabets, hashes without a key. If the
    releases then hold less than half as many words of the originals as originals hold
    of each other, the report says that these adversaries cannot read them.

    *Linkage.* The share of releases whose original is the most similar one, among
    itself and ``n_candidates - 1`` others, averaged over all draws of these.
    Adversaries compare words, parts and meanings of words; where words and characters
    are repeated, how often, and lengths; and words in a translation learned from other
    pairs.

    *Same person.* Of one release, another of its author is to be told from those of
    `n_candidates` − 1 others.

    *Words.* The share of a text's words, as often as they occur, that are in the
    release, or in what an adversary makes of it who has learned from other pairs.

    *People.* With `background` a release is found if its person, of all people of
    whom texts are held, is named. Adversaries compare words, also with how much the
    other releases are like a person's texts; one learns from releases of other people.

    *Control.* With `control` each number is the risk minus control, (r − c)/(1 − c),
    as of Anonymeter [1]_: what is also found of texts that were not used is not the
    synthetic texts' fault. Texts are recognised by the nearest synthetic text, and by
    words, and spans of words, that no other text has. From one set of synthetic texts
    follows a lower bound on ε, which holds however texts hang together [2]_.

    *Labels.* Classifiers are cross-validated: trained on other documents, whole and in
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
    if embedding is not None:
        embedding = check_embedding(embedding)
    _check_mechanism(mechanism)
    if control is not None:
        _refuse(
            "with control", topics=topics, labels=labels, known=known, public=public,
            mechanism=mechanism, background=background, examples=examples or None,
        )  # fmt: skip
        return _without_partners(
            original, released, control, text, authors, embedding, max_documents,
            check_rng(random_state), verbose,
        )  # fmt: skip
    if original is None and background is None:
        raise InvalidParameterError(
            "original must be given unless there is a background, got None."
        )
    given = _read(
        released if original is None else original, released, text,
        _named_labels(_repeating(authors, background), topics, labels),
        None if background is None else authors,
    )  # fmt: skip
    held = None
    if background is not None:
        held = _held(background, background_ids, given)
        if original is None:
            _refuse("without original", topics=topics, labels=labels, known=known,
                    public=public, mechanism=mechanism)  # fmt: skip
            return _people_only(
                given, held, embedding, n_candidates, max_documents,
                check_rng(random_state), verbose,
            )  # fmt: skip
    more = _known(known, given.labels)
    if mechanism is not None:
        mechanism = fitted_releaser(mechanism, given.original, ["log_likelihood"])
    common = None if public is None else _common(public)
    rng = check_rng(random_state)
    seed = int(rng.integers(_SEEDS))
    given = given.with_words()
    picked = given.sample(max_documents, rng)
    with show_progress(verbose):
        decoded = decode(*given.pick(picked))
        task = _Attack(given, picked, decoded, seed, mechanism, embedding)
        rows = task.documents(n_candidates, common)
        for target, values in given.labels.items():
            chosen = _repeated(target, values, max_documents, rng, given.notes)
            rows += _of_label(task, target, chosen, more, n_candidates, n_jobs)
        if held is not None:
            rows += task.people(held, picked)
    if next(iter(rows)).value < 0.5 and in_another_order(
        task.texts, picked, given.original
    ):
        given.notes.insert(0, ANOTHER_ORDER)
    return ReleaseReport(
        _in_order_of_report(rows, given.labels),
        columns=given.columns,
        readable=(decoded.readable, decoded.usual) if decoded.unread else None,
        notes=given.notes,
        provenance=Provenance(
            original="originals",
            released="releases",
            n_documents=len(task.texts),
            n_given=given.n_given,
            n_candidates=min(n_candidates, len(task.texts)),
            matched="matched by id" if given.by_id else "matched by order",
            vectors=task.vectors,
            codes=decoded.codes,
        ),
        examples=_surest(task.texts, task.similar) if examples else [],
        bound=_bound(mechanism, min(n_candidates, len(task.texts))),
    )


# -- what was given --------------------------------------------------------------------


@dataclass
class _Given:
    """Texts that belong together, their labels, and what their tables give away."""

    original: list[Any]
    released: list[Any]
    labels: dict[str, np.ndarray]
    by_id: bool
    columns: list[ColumnFinding]
    n_given: int
    notes: list[str] = field(default_factory=list)
    people: np.ndarray | None = None

    def with_words(self) -> _Given:
        """Without originals in which there is nothing to find."""
        held = [i for i, text in enumerate(self.original) if holds_words(text)]
        if len(held) < 2:
            raise InvalidParameterError(
                f"original must hold at least 2 texts with words, got {len(held)}."
            )
        left = self.n_given - len(held)
        if not left:
            return self
        fate = "holds no word, and is" if left == 1 else "hold no word, and are"
        self.notes.append(f"{left:,} of the originals {fate} left out.")
        self.original, self.released = self.pick(held)
        self.labels = {name: values[held] for name, values in self.labels.items()}
        if self.people is not None:
            self.people = self.people[held]
        return self

    def sample(self, most: int, rng: np.random.Generator) -> np.ndarray:
        """Rows that are attacked."""
        n = len(self.original)
        if n <= most:
            return np.arange(n)
        self.notes.append(
            f"Of {n:,} documents, a random sample of {most:,} was attacked."
        )
        return np.sort(rng.choice(n, most, replace=False))

    def pick(self, rows: Any) -> tuple[list[Any], list[Any]]:
        return [self.original[i] for i in rows], [self.released[i] for i in rows]


def _read(
    original: Any, released: Any, text: str | None, labels: Any, people: Any = None
) -> _Given:
    """Check all that is given, before any work."""
    released = _matched("released", released, original)
    by_id = _by_id(original, released)
    tables = original, released
    original, clear = _texts_and_columns("original", original, text)
    released, columns = _texts_and_columns("released", released, text)
    labels = {
        name: _matched(shown, values, tables[0])
        for name, (shown, values) in labels.items()
    }
    original, released = as_texts("original", original), as_texts("released", released)
    n = len(original)
    if len(released) != n:
        raise InvalidParameterError(
            "original and released must be of equal length, got "
            f"{n} and {len(released)} texts."
        )
    if n < 2:
        raise InvalidParameterError(f"original must hold at least 2 texts, got {n}.")
    checked = {
        name: _labels(_SHOWN.get(name, "labels"), values, n)
        for name, values in labels.items()
    }
    notes = [] if by_id else [IN_ORDER]
    found = column_findings(clear, columns, checked)
    if people is not None:
        people = check_labels("authors", _matched("authors", people, tables[0]), n)
    return _Given(original, released, checked, by_id, found, n, notes, people)


def _texts_and_columns(
    name: str, table: Any, text: str | None
) -> tuple[Any, dict[str, list[Any]]]:
    """The texts of a data frame, and its other columns."""
    found: Any = getattr(table, "column_names", None)  # of Arrow
    if found is None:
        found = getattr(table, "columns", ())
    names = list(found)
    if len(names) < 2 and text not in names:
        return table, {}
    if text not in names:
        raise InvalidParameterError(
            f"text must name the column of the texts in {name}, got {text!r} where "
            f"there are {len(names)} columns."
        )
    others = {str(each): _as_list(table[each]) for each in names if each != text}
    return table[text], others


def _as_list(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    return list(column)


_SHOWN = {"author": "authors", "topic": "topics"}


def _named_labels(authors: Any, topics: Any, labels: Any) -> dict[str, Any]:
    """All labels that are asked for, with the parameter that each comes from."""
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


def _repeating(authors: Any, background: Any) -> Any:
    """Authors to be guessed from other releases: not where each has one of them."""
    if authors is None or background is None:
        return authors
    counts = Counter(_as_list(authors))
    return authors if sum(n > 1 for n in counts.values()) > 1 else None


def _held(background: Any, ids: Any, given: _Given) -> Held:
    """What attackers hold of each person; the people of the releases go with it."""
    texts = as_texts("background", background)
    if ids is None:
        if len(texts) != given.n_given:
            raise InvalidParameterError(
                "background must hold a text for each release where background_ids is "
                f"None, got {len(texts)} texts and {given.n_given} releases."
            )
        given.people = ids = np.arange(given.n_given)
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


def _refuse(where: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidParameterError(
                f"{name} must be None {where}, got {kind_of(value)}."
            )


def _without_partners(
    original: Any,
    released: Any,
    control: Any,
    text: str | None,
    authors: Any,
    embedding: WordEmbedding | None,
    most: int,
    rng: np.random.Generator,
    verbose: int,
) -> ReleaseReport:
    """A report on synthetic texts, with control."""
    if original is None:
        raise InvalidParameterError("original must be given with control, got None.")
    training = _used("original", original, text)
    if authors is not None:
        training.authors = check_labels("authors", authors, len(training.texts))
    names = control if isinstance(control, Mapping) else getattr(control, "columns", ())
    if "texts" in names:
        mine = _used("control", control["texts"], None)
        if authors is not None and "authors" in names:
            mine.authors = check_labels(
                "control['authors']", control["authors"], len(mine.texts), of="text"
            )
    else:
        mine = _used("control", control, text)
    if authors is not None and mine.authors is None:
        raise InvalidParameterError(
            "control must map 'texts' to texts and 'authors' to their authors where "
            f"authors are given, got {kind_of(control)}."
        )
    synthetic = [t for t in _used("released", released, text).texts if holds_words(t)]
    if not synthetic:
        raise InvalidParameterError(
            "released must hold at least one text with words, got none."
        )
    words = [words_of(document) for document in training.texts]
    with show_progress(verbose):
        return control_report(
            training, mine, synthetic, vectors=_vectors(embedding, None, words),
            most=most, rng=rng, seed=int(rng.integers(_SEEDS)),
        )  # fmt: skip


def _used(name: str, texts: Any, column: str | None) -> Used:
    return Used(name, as_texts(name, _texts_and_columns(name, texts, column)[0]))


def _check_mechanism(mechanism: Any) -> None:
    if mechanism is not None and not hasattr(mechanism, "log_likelihood"):
        raise InvalidParameterError(
            "mechanism must be a word perturber or have log_likelihood(documents, "
            f"released), got {kind_of(mechanism)}."
        )


def _common(public: Any) -> set[str]:
    common = common_words(as_texts("public", public))
    if not common:
        raise InvalidParameterError("public must hold at least one word, got none.")
    return common


def _bound(mechanism: Any, n_candidates: int) -> str | None:
    """What no adversary exceeds, where the mechanism's guarantee says so."""
    if mechanism is None or perturbs_words(mechanism):
        return None
    guarantee = mechanism.guarantee()
    if not hasattr(guarantee, "found_at_most"):
        return None
    found = percent_up(guarantee.found_at_most(n_candidates))
    return (
        f"on average at most {found} of the documents are found among "
        f"{n_candidates:,} equally likely candidates, by anyone."
    )


# -- the attack ------------------------------------------------------------------------


class _Attack:
    """The sample that is attacked, as it can be read, and what adversaries hold."""

    def __init__(
        self,
        given: _Given,
        picked: np.ndarray,
        decoded: Decoded,
        seed: int,
        mechanism: Any,
        embedding: WordEmbedding | None,
    ) -> None:
        self.given, self.seed, self.mechanism = given, seed, mechanism
        original, self.written = given.pick(picked)
        self.texts = ReleasedTexts(original, [decoded.texts], seed)
        self.embedding, self.vectors = _vectors(embedding, mechanism, self.texts.clear)
        blank = sum(len(text) == 0 for text in self.written)
        if blank:
            verb = "is" if blank == 1 else "are"
            given.notes.append(f"{blank:,} of the releases {verb} empty.")
        self.codes = decoded.codes
        if self.codes:
            given.notes.insert(
                0, f"The releases were decoded first: {'; then '.join(self.codes)}."
            )

    def documents(self, n_candidates: int, common: set[str] | None) -> list[Score]:
        """Linkage, words and copies."""
        texts = self.texts
        if n_candidates > len(texts):
            n_candidates = len(texts)
            self.given.notes.append(f"There are only {n_candidates:,} candidates.")
        translation = None
        if Translation.applies(texts.clear, texts.noisy):
            translation = Translation(texts.clear, texts.noisy, self.seed)
        adversaries = similar_documents(
            texts,
            embedding=self.embedding,
            mechanism=self.mechanism,
            written=self.written if self.codes else None,
            translation=translation,
        )
        rows = linkage_rows(texts, adversaries, n_candidates)
        best = next(row for row in rows if row.strongest)
        self.similar = adversaries.scores[best.adversary]
        translated = None if translation is None else translation.texts()
        return [*sorted(rows, key=lambda r: not r.strongest),
                *word_scores(texts, common, translated), *copies(texts)]  # fmt: skip

    def people(self, held: Held, picked: np.ndarray) -> list[Score]:
        """Whose text each release is, by other texts of many."""
        people = self.given.people
        assert people is not None
        return background_rows(
            self.texts.released, people[picked], held,
            embedding=self.embedding, seed=self.seed, notes=self.given.notes,
        )  # fmt: skip

    def part(self, rows: np.ndarray) -> ReleasedTexts:
        """Other rows than those of the sample, read in the same way."""
        original, released = self.given.pick(rows)
        if self.codes:
            released = decode(original, released).texts
        return ReleasedTexts(original, [released], self.seed)


def _people_only(
    given: _Given,
    held: Held,
    embedding: WordEmbedding | None,
    n_candidates: int,
    most: int,
    rng: np.random.Generator,
    verbose: int,
) -> ReleaseReport:
    """A report by attackers who hold no original."""
    seed = int(rng.integers(_SEEDS))
    given.notes.clear()
    picked = given.sample(most, rng)
    people = given.people
    assert people is not None
    decoded = decode(held[1], given.pick(picked)[1])
    if decoded.codes:
        given.notes.append(
            f"The releases were decoded first: {'; then '.join(decoded.codes)}."
        )
    vectors = _vectors(embedding, None, held[1])
    texts = ReleasedTexts(decoded.texts, [decoded.texts], seed)
    with show_progress(verbose):
        rows = background_rows(
            decoded.texts, people[picked], held,
            embedding=vectors[0], seed=seed, notes=given.notes,
        )  # fmt: skip
        if "author" in given.labels:
            rows += same_person_rows(texts, people[picked], n_candidates)
    return ReleaseReport(
        rows,
        columns=[],
        readable=(decoded.readable, decoded.usual) if decoded.unread else None,
        notes=given.notes,
        provenance=Provenance(
            original="texts of people",
            released="releases",
            n_documents=len(texts),
            n_given=given.n_given,
            n_candidates=len(held[0]),
            matched=f"{len(held[0]):,} people",
            vectors=vectors[1],
            codes=decoded.codes,
        ),
        examples=[],
    )


def _of_label(
    task: _Attack,
    target: str,
    rows: np.ndarray,
    more: dict[str, Any] | None,
    n_candidates: int,
    n_jobs: int | None,
) -> list[Score]:
    """How often a label is guessed; of authors, how often releases of one are."""
    values = task.given.labels[target][rows]
    if len(np.unique(values)) < 2:
        task.given.notes.append(
            f"{target.capitalize()}s are not attacked: too few of the documents share "
            "one."
        )
        return []
    texts = task.part(rows)
    known = None
    if more is not None and target in more:
        known = (more["texts"], more[target])
    found = label_scores(
        texts, values, target, known=known, mechanism=task.mechanism, n_jobs=n_jobs
    )
    if target == "author":
        found += same_person_rows(texts, values, n_candidates)
    return found


def _in_order_of_report(rows: list[Score], labels: Mapping[str, Any]) -> list[Score]:
    """Documents, people, labels, words and copies."""
    order = [
        *("linkage", "linkage among 1,000", "when sure", "person", "person, if sure"),
        *("same person", "author", "topic"),
        *labels, "words", "rare words",
    ]  # fmt: skip
    place = {question: i for i, question in reversed(list(enumerate(order)))}
    return sorted(rows, key=lambda row: place.get(row.question, len(order)))


def _vectors(
    embedding: WordEmbedding | None, mechanism: Any, texts: Sequence[Sequence[str]]
) -> tuple[WordEmbedding | None, str]:
    """Vectors for adversaries who compare words, and what they are called."""
    if embedding is not None:
        return embedding, "the word vectors given"
    own = getattr(mechanism, "embedding", None)
    if isinstance(own, WordEmbedding):
        return own, "the mechanism's word vectors"
    words = [word for text in texts for word in text]
    if sum(word in _ENGLISH for word in words) >= _OF_ENGLISH * len(words):
        built_in = load_docstring_embedding()
        if (built_in.find(words) >= 0).mean() >= _COVERED:
            return built_in, "built-in word vectors (documentation in English)"
    return None, "word vectors learned from these texts"


# -- reading ---------------------------------------------------------------------------


def _by_id(original: Any, released: Any) -> bool:
    """Whether both have an index that says more than their order does."""
    return _indexed(original, released) and any(
        x.index.tolist() != list(range(len(x))) for x in (original, released)
    )


def _indexed(*columns: Any) -> bool:
    return all(hasattr(x, "index") and hasattr(x, "reindex") for x in columns)


def _matched(name: str, values: Any, original: Any) -> Any:
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


def _labels(name: str, values: Any, n: int) -> np.ndarray:
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


def _known(known: Any, labels: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    """Texts that adversaries hold, with labels like those of the documents."""
    if known is None:
        return None
    rule = "known must map 'texts' to texts, and 'authors' or 'topics' to their labels"
    if not isinstance(known, Mapping) and not hasattr(known, "columns"):
        raise InvalidParameterError(f"{rule}, got {kind_of(known)}.")
    columns = known if isinstance(known, Mapping) else known.columns
    names = {"texts", "authors", "topics"} & set(columns)
    if "texts" not in names or len(names) < 2:
        raise InvalidParameterError(f"{rule}, got {len(names)} of these three.")
    held: dict[str, Any] = {"texts": as_texts("known['texts']", known["texts"])}
    for name in sorted(names - {"texts"}):
        held[name[:-1]] = check_labels(
            f"known[{name!r}]", known[name], len(held["texts"]), of="text"
        )
    targets = set(labels) & set(held)
    if not targets:
        raise InvalidParameterError(
            "known must come with authors or topics of the documents, got none."
        )
    for target in sorted(targets):
        if not set(held[target].tolist()) & set(labels[target].tolist()):
            raise InvalidParameterError(
                f"known[{target + 's'!r}] must hold some of the {target}s of the "
                "documents, got none of them."
            )
    return held


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


def _surest(texts: ReleasedTexts, scores: np.ndarray) -> list[tuple[str, str]]:
    """Pairs that stand out most: the next best candidate is far behind."""
    own = np.diagonal(scores)
    others = np.where(np.eye(len(own), dtype=bool), -np.inf, scores)
    lead = own - others.max(axis=1)
    first = [i for i in np.argsort(-lead, kind="stable")[:_N_EXAMPLES] if lead[i] > 0]
    return [(_quoted(texts.original[i]), _quoted(texts.released[i])) for i in first]


def _quoted(document: Any) -> str:
    text = document if isinstance(document, str) else " ".join(document)
    text = text.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
