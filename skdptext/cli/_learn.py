"""skdptext learn: a labelled public corpus from texts that are held."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from skdptext._version import __version__
from skdptext.cli._settings import (
    FILES,
    add_command,
    add_embedding,
    add_option,
    add_public,
    load_embedding,
    read_flagged,
    read_public,
)
from skdptext.documents import KnownTexts, shared_texts_counted
from skdptext.exceptions import EmptyDocumentWarning, InvalidParameterError
from skdptext.learning import DPTextClassifier
from skdptext.privacy import PrivacyGuarantee
from skdptext.release import told_by
from skdptext.utils import replacing

_LEARN = """\
Learn from private texts that you hold: noise is added once, to one sum over the people
who wrote them. What is written may be published: public documents, labelled by that
sum, and what they promise, as a file .json beside them. Protected are all texts of a
person, their labels, and who wrote what; you are trusted.

Without --author each document counts as a person of its own, and what several documents
of one person tell adds up. Every run is another release: their ε add up, too. So files
that are there are never written over.

example:
  skdptext learn reviews.csv --text review --label topic --author user \\
    --public old-reviews.csv --classes food service price --epsilon 1 -o corpus.csv

Anybody trains anything on the corpus. Labels of CSV files are read as text: "1", not 1.
"""

_SHARED = (
    "Public texts may be among the private ones: who learned has accepted that "
    "(--allow-shared-texts), and that all of these are public is taken on trust. "
    "Whatever of them was not public is published, and nothing below holds for it."
)


def add_learn(commands: Any) -> None:
    """The command."""
    summary = "label public texts by what you learn from texts that you hold"
    parser = add_command(commands, "learn", summary, _LEARN, _learn)
    add_option(parser, "source", f"private texts: {FILES}")
    text = "new file for the labelled public documents: .csv or .jsonl"
    add_option(parser, "-o --out", text, required=True)
    add_option(parser, "--text", "column with the texts", "text", metavar="COLUMN")
    text = "column with the labels, private, too"
    add_option(parser, "--label", text, "label", metavar="COLUMN")
    text = "column that says who wrote each text (default: each is a person)"
    add_option(parser, "--author", text, metavar="COLUMN")
    text = (
        "all labels that there may be, separated by spaces (default: those in the "
        "file, with a warning)"
    )
    add_option(parser, "--classes", text, nargs="+", metavar="LABEL")
    group = parser.add_argument_group("what is public")
    what = "public texts of the same kind, whose labels are not used"
    add_public(group, what, required=True)
    add_embedding(group, " (default: none, groups alone)")
    text = "about how many people there are: a guess (default: as many as public texts)"
    add_option(group, "--n-expected", text, type=int, metavar="N")
    text = (
        "learn although public texts are among the private ones, which are refused "
        "otherwise: all of them are public, and the file .json says so"
    )
    add_option(group, "--allow-shared-texts", text, action="store_true")
    group = parser.add_argument_group("privacy")
    text = "privacy loss of a person, in nats: smaller is more private"
    add_option(group, "--epsilon", text, 1.0)
    text = "probability that the promise may fail; with --embedding only"
    add_option(group, "--delta", text, 1e-6)
    text = "show neither progress nor what is promised"
    add_option(parser, "--quiet", text, action="store_true")


def _learn(arguments: argparse.Namespace) -> int:
    # All that can be refused without the private texts is refused before they are read.
    out, manifest = _places(arguments)
    model = _model(arguments)
    columns = {"--text": arguments.text, "--author": arguments.author}
    read = read_flagged(arguments.source, "source", columns)
    _check_named("--author", read.get("--author", []))
    of_labels = {"--label": arguments.label}
    labels = read_flagged(arguments.source, "source", of_labels)["--label"]
    _check_named("--label", labels)
    _check_classes(model.classes, labels)
    if model.classes is not None:
        model.set_params(classes=_alike(model.classes, labels))
    texts = [text or "" for text in read["--text"]]
    _tell_of_blank(texts)
    with _checked_for_public(texts, model, arguments.allow_shared_texts):
        model.fit(texts, labels, read.get("--author"))
    with _all_or_none(out, manifest):
        promised = _write(model, arguments, out, manifest)
    if not arguments.quiet:
        print(
            f"The release is in {out} and {manifest}, which states:\n\n"
            f"{promised['words']}\n\n"
            "Learning again from the same people costs another ε.",
            file=sys.stderr,
        )
    return 0


def _check_named(flag: str, names: list[Any]) -> None:
    """Refuse texts of nobody, who would be one person together, or of no label."""
    blank = [i for i, n in enumerate(names) if isinstance(n, str) and not n.strip()]
    if blank:
        raise InvalidParameterError(
            f"{flag} must not be missing, got {len(blank)} empty ones of {len(names)}, "
            f"the first for document {blank[0]}."
        )


def _tell_of_blank(texts: list[str]) -> None:
    blank = sum(not text.strip() for text in texts)
    if blank:
        warnings.warn(
            f"{blank:,} of {len(texts):,} texts are empty: leave them out of the "
            "source, as they teach only what label texts without words have.",
            EmptyDocumentWarning,
            stacklevel=2,
        )


def _check_classes(classes: list[str] | None, labels: list[Any]) -> None:
    """Refuse what was meant as several labels: film,food."""
    for name in classes or []:
        if "," in name and name not in set(map(str, labels)):
            apart = " ".join(part.strip() for part in name.split(","))
            raise InvalidParameterError(
                f"--classes must be separated by spaces, as in --classes {apart}, got "
                f"{name!r}."
            )


def _alike(classes: list[str], labels: list[Any]) -> list[Any]:
    """The classes as numbers, where a file holds its labels as numbers."""
    if not all(isinstance(label, int | float) for label in labels):
        return classes
    # The command line gives text. A file of JSON may hold numbers, and 1 and "1" are
    # different classes.
    whole = all(isinstance(label, int) for label in labels)
    try:
        return [int(name) if whole else float(name) for name in classes]
    except ValueError:
        return classes  # refused as text where labels are numbers


def _places(arguments: argparse.Namespace) -> tuple[Path, Path]:
    """The corpus and its manifest, neither of which may be there."""
    out = Path(arguments.out)
    if out.suffix not in (".csv", ".jsonl"):
        raise InvalidParameterError(
            f"--out must be a file that ends in .csv or .jsonl, got {arguments.out!r}."
        )
    if not out.parent.is_dir() or not os.access(out.parent, os.W_OK):
        raise InvalidParameterError(
            f"--out must be in a folder that can be written to, got {arguments.out!r}."
        )
    places = out, out.with_suffix(".json")
    for path in places:
        # We refuse a dangling link, too: writing would follow it to another place.
        if path.exists() or path.is_symlink():
            raise InvalidParameterError(
                f"--out must name new files, but {str(path)!r} is there: each run is "
                "another release, and none is written over."
            )
    return places


def _model(arguments: argparse.Namespace) -> DPTextClassifier:
    public, _ = read_public(arguments, arguments.text)
    return DPTextClassifier(
        public,
        embedding=None if arguments.embedding is None else load_embedding(arguments),
        n_expected=arguments.n_expected,
        epsilon=arguments.epsilon,
        delta=arguments.delta,
        classes=arguments.classes,
        verbose=int(not arguments.quiet),
    )


def _checked_for_public(
    texts: list[str], model: DPTextClassifier, accepted: bool
) -> AbstractContextManager[None]:
    """Refuse private texts that were given as public ones; of a few `fit` warns."""
    # We count before the fit, which spends ε: a mistake in the call must not cost any.
    found = KnownTexts(model.public_documents).count()
    found.see(texts)
    found.warn_of_strangers()
    if found.too_many and not accepted:
        raise InvalidParameterError(
            f"--public must not hold texts to learn from, got {found.why}: what is "
            "handed over would show them. If all of these are public, accept it with "
            "--allow-shared-texts."
        )
    told = found.any and not accepted
    return nullcontext() if told else shared_texts_counted()


@contextmanager
def _all_or_none(*places: Path) -> Iterator[None]:
    """No file is left where one of them could not be written."""
    try:
        yield
    # Also if the user interrupts: half a release would look like a whole one.
    except BaseException:
        for path in places:
            path.unlink(missing_ok=True)
        raise


def _write(
    model: DPTextClassifier, arguments: argparse.Namespace, out: Path, manifest: Path
) -> dict[str, Any]:
    """Write the corpus and its manifest; what they promise."""
    corpus = _table(model, (arguments.text, arguments.label), out.suffix)
    with replacing(out) as file:
        file.write(corpus)
    guarantee = _promised(model, arguments)
    promised = told_by(guarantee)
    stated = {
        "format": "skdptext corpus, version 1",
        "files": {out.name: sha256(corpus).hexdigest()},
        "unit": guarantee.unit,
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
        "classes": model.classes_.tolist(),
        "sums": list(model.noisy_sums_.shape),
        "public": {
            "documents": len(model.public_),
            "fingerprint": sha256(json.dumps(model.public_).encode()).hexdigest(),
        },
        "embedding": _embedding(model),
        **({"allow_shared_texts": True} if arguments.allow_shared_texts else {}),
        "guarantee": promised,
        "versions": {
            "skdptext": __version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }
    with replacing(manifest) as file:
        text = json.dumps(stated, indent=1, ensure_ascii=False, allow_nan=False)
        file.write(text.encode() + b"\n")
    return promised


def _promised(
    model: DPTextClassifier, arguments: argparse.Namespace
) -> PrivacyGuarantee:
    """The guarantee, with what the caller has taken on trust."""
    guarantee = model.guarantee()
    if arguments.allow_shared_texts:
        return guarantee.with_caveat(_SHARED)
    return guarantee


def _embedding(model: DPTextClassifier) -> dict[str, Any] | None:
    embedding = model.embedding
    if embedding is None:
        return None
    return {
        "words": len(embedding),
        "dimensions": embedding.dim,
        "fingerprint": embedding.fingerprint.hex(),
    }


def _table(model: DPTextClassifier, names: tuple[str, str], suffix: str) -> bytes:
    """The labelled public documents."""
    documents, labels = model.sample()
    rows = zip(documents, labels.tolist(), strict=True)
    with io.StringIO(newline="") as text:
        if suffix == ".csv":
            writer = csv.writer(text)
            writer.writerow(names)
            writer.writerows(rows)
        else:
            for row in rows:
                line = dict(zip(names, row, strict=True))
                text.write(json.dumps(line, ensure_ascii=False) + "\n")
        return text.getvalue().encode()
