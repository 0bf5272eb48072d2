"""What does a release give away? A report on anybody's."""

from __future__ import annotations

import html
import io
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skdptext.attacks import holds_words
from skdptext.embeddings import WordEmbedding, check_embedding
from skdptext.exceptions import InvalidParameterError
from skdptext.inspection._drawing import COLORS, make_axes, place_legend
from skdptext.inspection._release_scores import (
    MANY_CANDIDATES,
    ReleasedTexts,
    ReleaseScore,
    common_words,
    copies,
    in_another_order,
    label_score,
    linkage_scores,
    word_scores,
)
from skdptext.metrics import fitted_copy
from skdptext.perturbation import DPWordPerturber
from skdptext.utils import (
    Fragment,
    bullets,
    check_document,
    check_flag,
    check_integer,
    check_labels,
    check_n_jobs,
    check_rng,
    import_pandas,
    is_count_matrix,
    kind_of,
    page,
    paragraph,
    plain_documents,
    show_progress,
    table,
    wrapped,
)

_SEEDS = 2**31
# What a data frame has of the strongest adversary.
_COLUMNS = (
    *("value", "low", "high", "chance"),
    *("in_clear", "in_clear_cut", "n_documents"),
)
# Pairs that are quoted where examples are asked for, and characters of each.
_N_EXAMPLES, _QUOTED = 3, 300
IN_ORDER = (
    "Texts were matched by their order: the n-th release is taken for that of the n-th "
    "original. To match them by ids, give pandas Series whose index holds these."
)
_ANOTHER_ORDER = (
    "Texts may be in another order: most released texts are closest to an original of "
    "another row. If so, every score is far too low. Match them by ids."
)
_PROVES = (
    "Every number is a lower bound: an adversary who fails proves nothing about the "
    "next one."
)


@dataclass(eq=False, repr=False)
class ReleaseReport:
    """What a release gives away, by attack; from `release_report`.

    Attributes
    ----------
    scores : dict of str to ReleaseScore
        ``"linkage"`` and ``"words"``; ``"author"`` and ``"topic"`` where their labels
        were given.
    details : dict of str to ReleaseScore
        ``"linkage among 1,000"``, where there are as many documents; ``"rare words"``,
        those of them that are left.
    copies : dict of str to ReleaseScore
        What survives whole: ``"whole texts"``; ``"sentences"`` of five words or more;
        ``"spans of 5 words"``. Each is a share, `chance` that in the release of another
        document.
    notes : list of str
        What the reader must know: samples, documents left out.
    n_documents, n_given : int
        Documents that were attacked, and those that were given.
    n_candidates : int
        Candidates of ``scores["linkage"]``.
    examples : list of tuple of str
        Originals and releases that were found most surely; empty unless asked for.

    See Also
    --------
    release_report : Makes one.
    """

    scores: dict[str, ReleaseScore]
    details: dict[str, ReleaseScore]
    copies: dict[str, ReleaseScore]
    notes: list[str]
    n_documents: int
    n_given: int
    n_candidates: int
    examples: list[tuple[str, str]]

    def sentences(self) -> list[str]:
        """The report in sentences, which quote no text.

        Returns
        -------
        sentences : list of str
            One for each finding.
        """
        sentences = []
        link = self.scores["linkage"]
        sentences.append(
            f"Documents: an adversary who holds {self.n_candidates:,} candidates finds "
            f"the original of at least {_share(link)} of the releases "
            f"({link.adversary}; a guess finds {100 * link.chance:.2g}%)."
        )
        many = self.details.get("linkage among 1,000")
        if many:
            sentences.append(f"Among 1,000 candidates: at least {_share(many)}.")
        words = self.scores["words"]
        sentences.append(
            f"Words: at least {_share(words)} of the words of a text can be read from "
            f"its release ({words.adversary}); {words.chance:.1%} can be read from the "
            "release of another text."
        )
        rare = self.details.get("rare words")
        if rare:
            sentences.append(
                f"Rare words, judged on {rare.adversary}, often name people and "
                f"things: {_share(rare)} of them are left as they were."
            )
        whole = self.copies["whole texts"]
        parts = [f"{_share(whole)} of the texts are released as they were"]
        for name, score in self.copies.items():
            if name != "whole texts":
                parts.append(f"{_share(score)} of the {name} survive whole")
        sentences.append(f"Copies: {'; '.join(parts)}.")
        author = self.scores.get("author")
        if author:
            sentences.append(
                f"Author: named for at least {_share(author)} of the releases "
                f"({author.adversary}). Always guessing the most frequent author is "
                f"right for {author.chance:.1%}; on the whole originals a classifier "
                f"names {author.in_clear:.1%}, and on originals cut to the length of "
                f"their releases {author.in_clear_cut:.1%}."
            )
        topic = self.scores.get("topic")
        if topic:
            sentences.append(
                "Topic, which may be what the release is for: at least "
                f"{_share(topic)} ({topic.adversary}). Always guessing the most "
                f"frequent topic is right for {topic.chance:.1%}; on the whole "
                f"originals a classifier names {topic.in_clear:.1%}."
            )
        return sentences

    def __repr__(self) -> str:
        return (
            f"ReleaseReport({self.n_documents} documents, "
            f"{', '.join(f'{k} {v.value:.2f}' for k, v in self.scores.items())})"
        )

    def __str__(self) -> str:
        lines = [f"- {text}" for text in self.sentences()]
        notes = [f"- {text}" for text in self._before()]
        parts = [self._title(), "", *lines, "", "Before you rely on it:", *notes]
        for original, released in self.examples:
            parts += ["", f"original: {original}", f"released: {released}"]
        return wrapped("\n".join(parts))

    def _before(self) -> list[str]:
        """What to know before relying on the report."""
        scored = self.scores["linkage"].n_documents
        chose = self.n_documents - scored
        halves = (
            f"Of the {self.n_documents:,} releases, {chose:,} chose the strongest "
            f"adversary; its score is on the other {scored:,}."
        )
        return [*self.notes, halves, _PROVES]

    def frame(self) -> Any:
        """All numbers, a row for each adversary.

        Returns
        -------
        frame : pandas.DataFrame
            Columns ``question``, ``adversary``, ``value``; for the strongest of each
            question also ``low``, ``high``, ``chance``, ``in_clear``,
            ``in_clear_cut`` and ``n_documents``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        rows: list[dict[str, Any]] = []
        for question, score in self._all():
            row = {"question": question, "adversary": score.adversary}
            numbers = {name: getattr(score, name) for name in _COLUMNS}
            rows.append(row | {"strongest": True} | numbers)
            shared = {"chance": score.chance, "n_documents": score.n_documents}
            for name, value in score.by_adversary.items():
                if name != score.adversary:
                    other = {"adversary": name, "strongest": False, "value": value}
                    rows.append(row | other | shared)
        return import_pandas("frame").DataFrame(rows)

    def _all(self) -> list[tuple[str, ReleaseScore]]:
        copied = [(f"copies: {name}", score) for name, score in self.copies.items()]
        return [*self.scores.items(), *self.details.items(), *copied]

    def plot(self, *, ax: Any = None) -> ReleaseReport:
        """Draw the scores with their intervals, chance, and what is found in clear.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. If None, a new figure.

        Returns
        -------
        report : ReleaseReport
            Itself, with the axes and the figure as attributes `ax_` and `figure_`.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        (self.ax_,) = make_axes(ax, 1, (8.0, 1.4 + 0.42 * len(self._all())))
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    def _draw(self, ax: Any) -> None:
        rows = self._all()[::-1]
        places = np.arange(len(rows))
        values = np.array([[s.value, s.low, s.high, s.chance] for _, s in rows])
        value, low, high, chance = values.T
        ax.hlines(places, chance, value, color="0.8", zorder=1)
        ax.errorbar(
            value,
            places,
            xerr=np.maximum([value - low, high - value], 0),
            fmt="s",
            color=COLORS[1],
            capsize=3,
            label="released: at least",
        )
        ax.plot(chance, places, "|", color="black", markersize=14, label="chance")
        clear = [(s.in_clear, i) for i, (_, s) in enumerate(rows) if s.in_clear]
        if clear:
            ax.plot(*zip(*clear, strict=True), "o", color=COLORS[0], label="in clear")
        ax.set(
            yticks=places,
            yticklabels=[name for name, _ in rows],
            xlim=(-0.02, 1.02),
            ylim=(-0.6, len(rows) - 0.4),
            xlabel="share (95 % intervals)",
            title=self._title(),
        )
        place_legend(ax)

    def _parts(self) -> list[str]:
        rows = [
            [
                name,
                f"at least {score.value:.3f}" if score.by_adversary else score.value,
                f"[{score.low:.3f}, {score.high:.3f}]",
                score.chance,
                score.in_clear,
                score.adversary,
            ]
            for name, score in self._all()
        ]
        header = ("", "share", "95 % interval", "chance", "in clear", "adversary")
        quoted = [
            paragraph(f"{name}: {text}")
            for pair in self.examples
            for name, text in zip(("original", "released"), pair, strict=True)
        ]
        return [
            bullets(self.sentences()),
            table(header, rows),
            paragraph("Before you rely on it:"),
            bullets(self._before()),
            *quoted,
        ]

    def _title(self) -> str:
        return f"What {self.n_documents:,} releases give away"

    def _repr_html_(self) -> Fragment:
        return page(self._title(), *self._parts())

    def to_html(self, path: Any = None) -> str | None:
        """The report as one HTML file, with its figure inside.

        Parameters
        ----------
        path : path-like, default=None
            Where to write it. If None, it is returned.

        Returns
        -------
        html : str or None
            A whole page, which needs no other file and no network. Without matplotlib
            it has no figure. None where it was written to `path`.
        """
        parts = self._parts()
        parts.insert(1, self._figure())
        title = html.escape(self._title())
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="color-scheme" content="light dark">'
            f"<title>{title}</title></head><body>{page(self._title(), *parts)}"
            "</body></html>\n"
        )
        if path is None:
            return text
        Path(os.fspath(path)).write_text(text, encoding="utf-8")
        return None

    def _figure(self) -> Fragment:
        try:
            from matplotlib.backends.backend_svg import FigureCanvasSVG
            from matplotlib.figure import Figure
        except ImportError:
            return Fragment("")
        rows = len(self._all())
        figure = Figure(figsize=(9.0, 1.4 + 0.42 * rows), layout="constrained")
        self._draw(figure.subplots())
        file = io.BytesIO()
        FigureCanvasSVG(figure).print_svg(file, metadata={"Date": None})
        data = b64encode(file.getvalue()).decode("ascii")
        return Fragment(
            f'<img src="data:image/svg+xml;base64,{data}" style="max-width: 100%; '
            'background: white" alt="The scores of the table with their intervals, '
            'chance, and what is found in clear.">'
        )


def release_report(
    original: Any,
    released: Any,
    *,
    authors: Any = None,
    topics: Any = None,
    known: Any = None,
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
        At least two.
    released : iterable of str or of lists of str, of length n_documents
        Their releases, in the same order. pandas Series, of labels too,
        are matched by index, whatever their order: let it hold ids.
    authors, topics : array-like of shape (n_documents,), default=None
        Labels. If None, the author, or topic, is not asked for.
    known : mapping, default=None
        Other texts that adversaries hold in clear: ``"texts"``, with ``"authors"``,
        ``"topics"`` or both. If None, they know the other originals and their labels.
    public : iterable of str or of lists of str, default=None
        Public texts of the same kind. Words in fewer than 1 in 1,000 of them are called
        rare. If None, those in one of the originals, or fewer than 1 in 1,000. Lists
        of words are read as texts are for this, in lower case.
    mechanism : DPWordPerturber, default=None
        What released the texts, if adversaries know it, fitted or not. Any object will
        do that has ``log_likelihood(documents, released)`` → (n_released, n_documents).
    embedding : WordEmbedding, default=None
        Public vectors for adversaries who compare words. If None, those of `mechanism`
        or else vectors learned from the texts, in any language.
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
        Print it, or look at ``scores``, ``frame()``, ``plot()`` and ``to_html()``.

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

    *Linkage.* The share of releases whose original is the most similar one, among
    itself and ``n_candidates - 1`` others, averaged over all draws of these.

    *Words.* The share of a text's words, as often as they occur, that are in the
    release, or in what an adversary makes of it who has learned from other pairs.

    *Labels.* Classifiers are cross-validated: trained on other documents, whole and in
    clear, or on their releases.

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
    if mechanism is not None and not (
        isinstance(mechanism, DPWordPerturber) or hasattr(mechanism, "log_likelihood")
    ):
        raise InvalidParameterError(
            "mechanism must be a word perturber or have log_likelihood(documents, "
            f"released), got {kind_of(mechanism)}."
        )
    by_id = _by_id(original, released)
    released = _matched("released", released, original)
    labels = {
        name: _matched(f"{name}s", values, original)
        for name, values in (("author", authors), ("topic", topics))
        if values is not None
    }
    original = _texts("original", original)
    released = _texts("released", released)
    n_given = len(original)
    if len(released) != n_given:
        raise InvalidParameterError(
            "original and released must be of equal length, got "
            f"{n_given} and {len(released)} texts."
        )
    if n_given < 2:
        raise InvalidParameterError(
            f"original must hold at least 2 texts, got {n_given}."
        )
    labels = {
        name: _labels(f"{name}s", values, n_given) for name, values in labels.items()
    }
    more = _known(known, labels)
    if mechanism is not None and not isinstance(mechanism, DPWordPerturber):
        mechanism = fitted_copy(mechanism, original)
    common = None
    if public is not None:
        common = common_words(_texts("public", public))
        if not common:
            raise InvalidParameterError("public must hold at least one word, got none.")
    rng = check_rng(random_state)
    seed = int(rng.integers(_SEEDS))
    notes: list[str] = [] if by_id else [IN_ORDER]

    held = np.flatnonzero([holds_words(document) for document in original])
    if len(held) < 2:
        raise InvalidParameterError(
            f"original must hold at least 2 texts with words, got {len(held)}."
        )
    if len(held) < n_given:
        left = n_given - len(held)
        fate = "holds no word, and is" if left == 1 else "hold no word, and are"
        notes.append(f"{left:,} of the originals {fate} left out.")
        original, released = ([d[i] for i in held] for d in (original, released))
        labels = {name: values[held] for name, values in labels.items()}
    picked = np.arange(len(held))
    if len(held) > max_documents:
        picked = np.sort(rng.choice(len(held), max_documents, replace=False))
        notes.append(
            f"Of {len(held):,} documents, a random sample of {max_documents:,} was "
            "attacked."
        )
    sample = _picked(original, released, picked, seed)
    blank = sum(not words for words in sample.noisy)
    if blank:
        verb = "is" if blank == 1 else "are"
        notes.append(f"{blank:,} of the releases {verb} empty.")
    if n_candidates > len(sample):
        n_candidates = len(sample)
        notes.append(f"There are only {n_candidates:,} candidates.")
    if embedding is None and isinstance(mechanism, DPWordPerturber):
        vectors = mechanism.embedding
        embedding = vectors if isinstance(vectors, WordEmbedding) else None
    with show_progress(verbose):
        linked, similar = linkage_scores(
            sample, n_candidates=n_candidates, embedding=embedding, mechanism=mechanism
        )
        if linked[n_candidates].value < 0.5 and in_another_order(
            sample, picked, original
        ):
            notes.insert(0, _ANOTHER_ORDER)
        words = word_scores(sample, common)
        scores = {"linkage": linked[n_candidates], "words": words.pop("words")}
        details = {}
        if n_candidates != MANY_CANDIDATES and MANY_CANDIDATES in linked:
            details["linkage among 1,000"] = linked[MANY_CANDIDATES]
        details |= words
        for target, values in labels.items():
            rows = _repeated(target, values, max_documents, rng, notes)
            if len(np.unique(values[rows])) < 2:
                notes.append(
                    f"{target.capitalize()}s are not attacked: too few of the "
                    "documents share one."
                )
                continue
            mine = None
            if more is not None and target in more:
                mine = (more["texts"], more[target])
            scores[target] = label_score(
                _picked(original, released, rows, seed),
                values[rows],
                target,
                known=mine,
                mechanism=mechanism,
                n_jobs=n_jobs,
            )
    return ReleaseReport(
        {k: scores[k] for k in ("linkage", "author", "topic", "words") if k in scores},
        details,
        copies(sample),
        notes=notes,
        n_documents=len(sample),
        n_given=n_given,
        n_candidates=n_candidates,
        examples=_surest(sample, similar) if examples else [],
    )


def _picked(
    original: Sequence[Any], released: Sequence[Any], rows: np.ndarray, seed: int
) -> ReleasedTexts:
    return ReleasedTexts([original[i] for i in rows], [released[i] for i in rows], seed)


def _texts(name: str, documents: Any) -> list[Any]:
    """A list of texts or token lists."""
    rule = f"{name} must hold texts or lists of words"
    if is_count_matrix(documents, rule):
        raise InvalidParameterError(f"{rule}, got a matrix of numbers.")
    texts = list(plain_documents(documents))
    for i, document in enumerate(texts):
        check_document(document, i)
        if not isinstance(document, str) and not all(
            isinstance(word, str) for word in document
        ):
            raise InvalidParameterError(
                f"{rule}, got {kind_of(document)} of something else as document {i}."
            )
    return texts


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
    held: dict[str, Any] = {"texts": _texts("known['texts']", known["texts"])}
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


def _surest(sample: ReleasedTexts, scores: np.ndarray) -> list[tuple[str, str]]:
    """Pairs that stand out most: the next best candidate is far behind."""
    own = np.diagonal(scores)
    others = np.where(np.eye(len(own), dtype=bool), -np.inf, scores)
    lead = own - others.max(axis=1)
    first = [i for i in np.argsort(-lead, kind="stable")[:_N_EXAMPLES] if lead[i] > 0]
    return [(_quoted(sample.original[i]), _quoted(sample.released[i])) for i in first]


def _quoted(document: Any) -> str:
    text = document if isinstance(document, str) else " ".join(document)
    text = text.encode("utf-8", "replace").decode("utf-8")  # halves of characters
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"


def _share(score: ReleaseScore) -> str:
    return f"{score.value:.1%} [{score.low:.1%}, {score.high:.1%}]"
