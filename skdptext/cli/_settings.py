"""Arguments that several commands share, and what they make."""

from __future__ import annotations

import argparse
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skdptext.datasets import load_docstring_embedding
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.files import read_columns
from skdptext.mechanisms import MECHANISMS, WordMechanism
from skdptext.perturbation import DPWordPerturber, resolve_mechanism
from skdptext.replacement import DPDocumentReplacer

BUILT_IN = "docstrings"

# Parameters that messages of the library name, where the flag has another name; what is
# shown is the first of these arguments that was given, or that the command has.
_FLAGS = {
    "allow_shared": ("allow_shared_key",),
    "allow_shared_texts": ("allow_shared_texts",),
    "authors": ("author",),
    "columns": ("text", "author"),
    "document_length": ("length",),
    "documents": ("source", "public"),
    "encoder": ("public",),  # whose groups are made of public documents
    "grouper": ("groups",),
    "ids": ("id",),
    "n_candidates": ("candidates",),
    "n_draws": ("draws",),
    "n_groups": ("groups",),
    "original": ("source",),
    "path": ("embedding",),
    "public_documents": ("public",),
    "public_labels": ("public_label",),
    "random_state": ("seed",),
    "source": ("source", "public"),
    "topics": ("label",),
    "X": ("public", "source"),  # of what is private nothing is learned but in reports
    "y": ("label",),
}
# Of words, which mean nothing where no word is perturbed.
OF_WORDS = "--length --lam --mechanism --option --stop-words --oov"
# What a source may be
FILES = ".csv, .jsonl or .parquet file, or a folder"
_OF_PUBLIC = "--public-text names the column of"
# Those without dashes
_PLACES = {"source", "released", "file"}

_HOW_TO_GET_ONE = f"""\
--embedding must name a file of public word vectors. They decide which words there are
and which are alike, and the guarantee is relative to them. Ways to get some:
  - GloVe: https://nlp.stanford.edu/projects/glove (glove.6B.zip, a .txt per dimension)
  - fastText: https://fasttext.cc/docs/en/english-vectors.html (.vec)
  - word2vec: "word2vec-google-news-300" of gensim.downloader, saved as .npz
  - for a trial: --embedding {BUILT_IN}, trained on documentation of Python libraries
    (7,000 words, about 15 seconds the first time).
They must not be trained on the documents to be protected."""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Descriptions as they are written; names of mechanisms on one line."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


def add_command(
    commands: Any, name: str, summary: str, description: str, run: Callable[..., int]
) -> argparse.ArgumentParser:
    """A command that `run` runs, whose description is printed as it is written."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=description,
        formatter_class=HelpFormatter,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_option(
    parser: Any, flags: str, text: str, default: Any = None, **settings: Any
) -> None:
    """An option whose help ends with its default, of which it takes the type."""
    if default is not None:
        shown = default if isinstance(default, str) else f"{default:g}"
        text += f" (default {shown})"
        settings |= {"default": default, "type": type(default)}
    parser.add_argument(*flags.split(), help=text, **settings)


def add_embedding(group: Any, where: str = "") -> None:
    """--embedding and --n-words."""
    text = (
        "public word vectors: .npz, .txt, .vec or .bin, also .gz; or "
        f'"{BUILT_IN}", the built-in ones, for a trial{where}'
    )
    add_option(group, "--embedding", text, metavar="FILE")
    add_option(group, "--n-words", "use only its first N words", type=int, metavar="N")


def add_noise(group: Any) -> None:
    """--embedding, --lam, --mechanism and its options, and --stop-words."""
    add_embedding(group)
    text = "shape of the noise, from 0 (spherical) to 1 (as the embedding is spread)"
    add_option(group, "--lam", text, 0.0)
    text = f"how a word is perturbed: {', '.join(MECHANISMS)}"
    add_option(group, "--mechanism", text, "exponential", metavar="NAME")
    text = "an option of the mechanism, such as calibration=half; may be repeated"
    add_several(group, "--option", text, metavar="NAME=VALUE")
    text = "words to leave out (default: none)"
    add_option(group, "--stop-words", text, choices=["english"])


def add_several(parser: Any, flag: str, text: str, metavar: str) -> None:
    """An option that may be repeated."""
    parser.add_argument(flag, help=text, metavar=metavar, action="append", default=[])


def refuse(arguments: argparse.Namespace, flags: str, reason: str) -> None:
    """Refuse flags that would be ignored, where they are given."""
    for flag in flags.split():
        name = flag[2:].replace("-", "_")
        if getattr(arguments, name) != arguments.parser.get_default(name):
            raise InvalidParameterError(f"{flag} must not be given {reason}")


def read_flagged(
    source: str, place: str, columns: Mapping[str, str | None]
) -> dict[str, list[Any]]:
    """Columns of a source by the flags that name them; errors name the flags.

    `place` is the flag of the source. A column without a name is left out.
    """
    named = {flag: name for flag, name in columns.items() if name is not None}
    if not named:
        return {}
    try:
        return dict(zip(named, read_columns(source, list(named.values())), strict=True))
    except InvalidParameterError as error:
        *first, last = named
        flags = f"{', '.join(first)} and {last}" if first else last
        message = re.sub(r"^columns(?= must )", flags, str(error))
        message = re.sub(r"^source(?= must )", place, message)
        raise InvalidParameterError(message) from None


def add_public(group: Any, what: str, **settings: Any) -> None:
    """--public and its column with the texts, by default that of --text."""
    add_option(group, "--public", f"{what}: {FILES}", metavar="SOURCE", **settings)
    text = "its column with the texts (default: that of --text)"
    add_option(group, "--public-text", text, metavar="COLUMN")


def add_stand_ins(group: Any, **settings: Any) -> None:
    """--public and its columns, where documents are replaced."""
    add_public(group, "public documents", **settings)
    text = (
        "its column with public labels, which then are the groups; an empty cell: no "
        "label, and the classifier assigns one"
    )
    add_option(group, "--public-label", text, metavar="COLUMN")


def read_public(
    arguments: argparse.Namespace, column: str
) -> tuple[list[str], list[Any] | None]:
    """The texts of --public, in a column or in that of --public-text; their labels."""
    own = arguments.public_text is not None or not hasattr(arguments, "text")
    flag = "--public-text" if own else "--text"
    columns = {flag: arguments.public_text or column}
    columns["--public-label"] = getattr(arguments, "public_label", None)
    try:
        read = read_flagged(arguments.public, "--public", columns)
    except InvalidParameterError as error:
        message = str(error)
        if columns[flag] in _missing(message) and arguments.public_text in (
            None,
            "text",
        ):
            file = Path(arguments.public).name
            message += f" {_OF_PUBLIC} {file}."
        raise InvalidParameterError(message) from None
    return [text or "" for text in read[flag]], read.get("--public-label")


def make_replacer(
    arguments: argparse.Namespace, column: str, **options: Any
) -> DPDocumentReplacer:
    """A replacer by the public documents that the arguments name."""
    texts, labels = read_public(arguments, column)
    if labels is not None:
        labels = [None if label == "" else label for label in labels]
        if "-1" in labels:  # a CSV file has no numbers, which the replacer refuses
            raise InvalidParameterError(
                "public_labels must not be -1, which is scikit-learn's sign for a "
                f"document without a label, got it in row {labels.index('-1')}. Leave "
                "the cell empty."
            )
    return DPDocumentReplacer(texts, public_labels=labels, **options)


def load_embedding(arguments: argparse.Namespace) -> WordEmbedding:
    """What --embedding names."""
    if arguments.embedding is None:
        raise InvalidParameterError(_HOW_TO_GET_ONE)
    if arguments.embedding == BUILT_IN:
        return load_docstring_embedding(n_words=arguments.n_words)
    return WordEmbedding.load(arguments.embedding, arguments.n_words)


def make_perturber(arguments: argparse.Namespace, **options: Any) -> DPWordPerturber:
    """A perturber with the noise that the arguments describe."""
    options |= {"lam": arguments.lam, "mechanism": mechanism(arguments)}
    options |= {"resize": "sample", "stop_words": arguments.stop_words}
    return DPWordPerturber(load_embedding(arguments), **options)


def mechanism(arguments: argparse.Namespace) -> WordMechanism:
    """What --mechanism and --option name."""
    chosen = resolve_mechanism(arguments.mechanism)
    options: dict[str, Any] = {}
    for option in arguments.option:
        name, equals, value = option.partition("=")
        if not equals:
            raise InvalidParameterError(
                f"--option must be of the form NAME=VALUE, got {option!r}."
            )
        options[name] = _value(value)
    try:
        return type(chosen)(**options)
    except TypeError as error:
        raise InvalidParameterError(
            f"--option must give options of {type(chosen).__name__}: {error}."
        ) from None


def _value(text: str) -> Any:
    """A number, true or null, as JSON writes it; else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _missing(message: str) -> list[str]:
    """The columns that a source has not."""
    absent = re.search(r" has no column ((?:'[^']*'(?:, )?)+)", message)
    return re.findall("'([^']*)'", absent[1]) if absent else []


def hints(message: str, arguments: argparse.Namespace) -> str:
    """What helps beside a message: flags that were not thought of, how rows count."""
    said = []
    missing = [] if _OF_PUBLIC in message else _missing(message)
    if arguments.command == "release" and "id" in missing:
        said.append("--id names the column with the ids; without it, that is id.")
    said += [
        f"--{name} names the column with the {name}s; without it, that is {name}."
        for name in ("text", "label")
        if getattr(arguments, name, None) == name and name in missing
    ]
    if re.search(r"\b(?:document|positions?) \d", message) and "from 0" not in message:
        said.append("Documents are counted from 0, without the header.")
    return " ".join(["", *said])


def in_flags(message: str, arguments: argparse.Namespace) -> str:
    """A message of the library, with flags for the parameters that it names."""
    options = [option.partition("=")[0] for option in getattr(arguments, "option", [])]

    def flag(name: str) -> str:
        if name in options:
            return f"--option {name}"
        there = [x for x in _FLAGS.get(name, (name,)) if hasattr(arguments, x)]
        given = [x for x in there if getattr(arguments, x) is not None]
        for place in given or there:
            is_place = place in _PLACES or (
                place == "out" and arguments.command == "verify"
            )
            return place if is_place else f"--{place.replace('_', '-')}"
        return name

    # parameters, after the name of a file where the fault is there
    rule = re.match(r"(?:[^ :]+: )?((?:\w+(?:, | and | or )?)+)(?= must )", message)
    if rule:
        names = re.sub(r"\b(?!and\b|or\b)\w+", lambda name: flag(name[0]), rule[1])
        message = message[: rule.start(1)] + names + message[rule.end(1) :]
    message = re.sub(r"^(\w+) is None: ", lambda x: f"Without {flag(x[1])}, ", message)
    message = re.sub(r"\b(\w+)=\[\.\.\.\]", lambda name: flag(name[1]), message)
    # settings that a message quotes, as Python writes them
    return re.sub(
        r'(?<=with )(allow_shared(?:_texts)?|output)(=)?(?:"(\w+)")?',
        lambda rule: f"{flag(rule[1])}{' ' if rule[2] else ''}{rule[3] or ''}",
        message,
    )
