"""skdptext key, release and verify."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skdptext.cli._settings import (
    FILES,
    OF_WORDS,
    add_command,
    add_noise,
    add_option,
    add_several,
    add_stand_ins,
    load_embedding,
    make_perturber,
    make_replacer,
    refuse,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.release import (
    DocumentRelease,
    ReleaseKey,
    release_files,
    verify,
)
from skdptext.replacement import DPDocumentReplacer

_RELEASE = """\
Release documents: each is redrawn to --length of its words, and every word is replaced
by a noisy one; or, with --public, whole documents are replaced by public ones, which
hides which document it was. With --author each author answers once, and is hidden
only among those who write about the same group. If it is interrupted, run the same
command again, with the same key: the files are the same, byte for byte.

Noise is drawn from a secret key. Anyone who has the key can undo the noise. It is
needed until the release is complete; then destroy it, and nobody can.

Input and output are Parquet, CSV or JSON lines. Each document needs an id,
which is released in the clear. _release.json in the output states what is promised.

example:
  skdptext release reviews.csv --text review --id id --embedding glove.6B.100d.txt \\
    --epsilon 3 --length 20 --name 2026-q4 --key file:q4.key -o released/
  skdptext release reviews.csv --text review --id id --public public.csv \\
    --public-text text --epsilon 4 --name 2026-q4 --key file:q4.key -o released/
  skdptext verify released/ && rm q4.key
"""

_ADVERSARY = (
    "Exponents above about 20 promise little: anyone who holds the documents that may "
    "have been released will probably find the right ones. skdptext report tries it."
)

# Faults of a damaged release that are printed
_MOST_FAULTS = 20

_VERIFY = """\
Check that a release is complete and unchanged. What is missing, changed or unexpected
is printed.

exit status:
  0  complete and unchanged
  1  incomplete or changed
  2  the folder holds no release that can be checked
"""

_KEY = """\
Write a key of 256 random bits to a new file, to be given to skdptext release as
--key file:FILE. Keep it apart from the releases, and destroy it once they are complete:
anyone who has it can undo their noise.
"""


def add_commands(commands: Any) -> None:
    """The three commands."""
    making = add_command(commands, "key", "make a secret key", _KEY, _key)
    add_option(making, "file", "new file for the key")
    _add_release(commands)
    summary = "check that a release is complete and unchanged"
    checking = add_command(commands, "verify", summary, _VERIFY, _verify)
    add_option(checking, "out", "folder of the release")


def _add_release(commands: Any) -> None:
    summary = "release a file, or a folder, of documents"
    parser = add_command(commands, "release", summary, _RELEASE, _release)
    add_option(parser, "source", FILES)
    add_option(parser, "-o --out", "folder for the release", required=True)
    text = (
        "name of the release; the same documents under another name are another "
        "release, which costs its own ε"
    )
    add_option(parser, "--name", text, required=True)
    text = (
        "secret key: file:PATH or env:NAME; without it, one is made beside the output. "
        "Take a new one for each release"
    )
    add_option(parser, "--key", text, metavar="SOURCE")
    text = "accept a key file that others can read, or that belongs to another user"
    add_option(parser, "--allow-shared-key", text, action="store_true")
    group = parser.add_argument_group("columns and files")
    add_option(group, "--text", "column with the texts", "text", metavar="COLUMN")
    add_option(group, "--id", "column with the ids", "id", metavar="COLUMN")
    text = "another column, released IN THE CLEAR; may be repeated"
    add_several(group, "--keep", text, metavar="COLUMN")
    text = (
        "what to release: texts, lists of words, or bags of words, which show no "
        "order; with --public also the group, or the number of the public "
        "document. Lists and bags do not fit into CSV"
    )
    choices = ["text", "tokens", "bow", "group", "index"]
    add_option(group, "--output", text, "text", choices=choices)
    text = "format of the output (default: as the input)"
    add_option(group, "--format", text, choices=["parquet", "csv", "jsonl"])
    add_option(group, "--n-jobs", "processes (default 1)", type=int)
    text = (
        "show neither progress, nor the privacy statement, nor advice; a key that is "
        "made is still named"
    )
    add_option(group, "--quiet", text, action="store_true")
    group = parser.add_argument_group("noise")
    text = (
        "privacy loss in nats per unit of distance: smaller is more private. What it "
        "does depends on the embedding and the mechanism: see skdptext calibrate. With "
        "--public: in nats, between any two documents"
    )
    add_option(group, "--epsilon", text, type=float, required=True)
    text = (
        "words that each document is released with, drawn from its own: more words "
        "keep more of its content, and reveal more"
    )
    add_option(group, "--length", text, type=int, metavar="N")
    add_noise(group)
    text = "words unknown to the embedding: left out, released IN THE CLEAR or refused"
    choices = ["drop", "keep", "error"]
    add_option(group, "--oov", text, "drop", choices=choices)
    _add_replacing(parser)


def _add_replacing(parser: argparse.ArgumentParser) -> None:
    """--public and what belongs to it."""
    group = parser.add_argument_group(
        "replacing documents",
        "Each document is answered with a public one, of its group or, by randomized\n"
        "response, of another. --epsilon holds between any two documents whatever; 4\n"
        "is a usual value.",
    )
    add_stand_ins(group)
    text = (
        "groups to make where there are no labels: more keep more, and reveal more "
        "(default 8)"
    )
    add_option(group, "--groups", text, type=int, metavar="K")
    text = (
        "column that says who wrote each document; each author then answers once for "
        "all their documents, and --epsilon holds between the documents of any two "
        "(default: each document answers, and k of one author cost k times --epsilon)"
    )
    add_option(group, "--author", text, metavar="COLUMN")
    text = (
        "release although public texts are among the documents, which are refused "
        "otherwise: all of them are public, and the release says so"
    )
    add_option(group, "--allow-shared-texts", text, action="store_true")


def _releaser(arguments: argparse.Namespace) -> Any:
    """The perturber or replacer that the arguments describe."""
    if arguments.public is not None:
        return _replacer(arguments)
    flags = "--public-text --public-label --groups --author --allow-shared-texts"
    refuse(arguments, flags, "without --public.")
    if arguments.length is None:
        raise InvalidParameterError(
            "--length must be given: the number of words that each document is "
            "released with (or --public, to replace whole documents by public ones)."
        )
    if arguments.output in ("group", "index"):
        raise InvalidParameterError(
            f"--output must be text, tokens or bow without --public, got "
            f"{arguments.output}."
        )
    return make_perturber(
        arguments,
        epsilon=arguments.epsilon,
        document_length=arguments.length,
        oov=arguments.oov,
        output=arguments.output,
    )


def _replacer(arguments: argparse.Namespace) -> DPDocumentReplacer:
    refuse(arguments, OF_WORDS, "with --public: a stand-in is released whole.")
    if arguments.public_label is not None:
        refuse(arguments, "--groups", "with --public-label: the labels are the groups.")
    if arguments.output == "tokens":
        raise InvalidParameterError(
            "--output must be text, bow, group or index with --public, got tokens."
        )
    replacer = make_replacer(
        arguments,
        arguments.text,
        n_groups=arguments.groups,
        epsilon=arguments.epsilon,
        output=arguments.output,
        embedding=load_embedding(arguments) if arguments.output == "bow" else None,
    )
    return replacer.fit()


def _release(arguments: argparse.Namespace) -> int:
    perturber = _releaser(arguments)
    with _key_of(arguments) as (key, advice):
        release = DocumentRelease(
            perturber,
            key,
            arguments.name,
            text=arguments.text,
            id=arguments.id,
            author=arguments.author,
            keep=arguments.keep,
            allow_shared_texts=arguments.allow_shared_texts,
        )
        with _writing(arguments.out, "--out must be a folder that can be written to"):
            manifest = release_files(
                arguments.source,
                arguments.out,
                release,
                format=arguments.format,
                n_jobs=arguments.n_jobs,
                verbose=int(not arguments.quiet),
            )
    _tell(advice)
    if arguments.quiet:
        return 0
    attack = "" if arguments.public else f"{_ADVERSARY}\n\n"
    _tell(
        f"{manifest['documents']:,} documents are released in "
        f"{arguments.out}, whose _release.json states:\n\n"
        f"{manifest['guarantee']['words']}\n\n{attack}"
        f"Now destroy the key ({key.source}): anyone who has it can undo the noise; "
        "once it is gone, nobody can. Releasing the same documents under another name "
        "or key costs another ε."
    )
    return 0


@contextmanager
def _writing(path: str, rule: str) -> Iterator[None]:
    """Errors of the file system at a path, with the rule that is broken."""
    try:
        yield
    except OSError as error:
        wanted, met = Path(path).absolute(), Path(error.filename or path).absolute()
        # An error elsewhere, as in the input, is not about this path and must not be
        # told as if it were.
        if not (met.is_relative_to(wanted) or wanted.is_relative_to(met)):
            raise
        raise InvalidParameterError(
            f"{rule}, got {path!r}: {error.strerror or error}."
        ) from None


@contextmanager
def _key_of(arguments: argparse.Namespace) -> Iterator[tuple[ReleaseKey, str]]:
    """The key, and what to tell of it where none was given.

    One that is made here is deleted if nothing was released with it.
    """
    allow_shared = arguments.allow_shared_key
    if arguments.key is not None:
        try:
            key = ReleaseKey(arguments.key, allow_shared=allow_shared)
        except InvalidParameterError as error:
            raise InvalidParameterError(
                str(error).replace("source", "--key", 1)
            ) from None
        yield key, ""
        return
    path = Path(arguments.out).absolute()
    # The key lies beside the folder and not in it: who is given the folder must not be
    # given the key.
    path = path.with_name(f"{path.name}.key")
    existing = path.exists()
    drawn = "an existing key" if existing else "a new key"
    advice = (
        f"No --key was given: the noise was drawn from {drawn}, {path}. Anyone who has "
        "it can undo the noise: keep it apart from the release, and destroy it."
    )
    if existing:
        yield ReleaseKey(f"file:{path}", allow_shared=allow_shared), advice
        return
    rule = "--out must be in a folder that can be written to, for the key beside it"
    with _writing(str(path), rule):
        path.parent.mkdir(parents=True, exist_ok=True)
        key = ReleaseKey.generate(path)
    try:
        yield key, advice
    # A refusal leaves no key behind, which nobody would know the use of.
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _tell(text: str) -> None:
    if text:
        print(text, file=sys.stderr)


def _verify(arguments: argparse.Namespace) -> int:
    if Path(arguments.out).is_file():
        raise InvalidParameterError(
            f"out must be the folder of a release, got the file {arguments.out!r}."
        )
    faults = verify(arguments.out)
    sound = f"{arguments.out} is complete and unchanged."
    shown = faults[:_MOST_FAULTS]
    if len(faults) > len(shown):
        shown.append(f"And {len(faults) - len(shown):,} more.")
    print("\n".join(shown or [sound]))
    return 1 if faults else 0


def _key(arguments: argparse.Namespace) -> int:
    with _writing(arguments.file, "file must be in a folder that can be written to"):
        try:
            key = ReleaseKey.generate(arguments.file)
        except FileExistsError:
            raise InvalidParameterError(
                f"file must not exist, got {arguments.file!r}: a release cannot be "
                "repeated without its key."
            ) from None
    print(f"--key {key.source}")
    return 0
