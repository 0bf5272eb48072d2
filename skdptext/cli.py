r"""Release texts with a stated privacy guarantee, and attack releases.

If a labeled public corpus is enough:
  skdptext learn reviews.csv --text review --label topic --author user \
    --public old-reviews.csv --epsilon 1 -o corpus.csv

If a recipient may hold or guess the originals, replace each text by a public one:
  skdptext key q4.key
  skdptext release reviews.csv --text review --public old-reviews.csv \
    --epsilon 4 --name 2026-q4 --key file:q4.key -o released/

If the wording is needed, and no recipient has the originals, make words noisy:
  skdptext calibrate --embedding glove.txt --changed 0.25 --public old-reviews.csv
  skdptext release reviews.csv --text review --embedding glove.txt --epsilon E \
    --document-length 20 --name 2026-q4 --key file:q4.key -o released/

Afterwards:
  skdptext verify released/       # then destroy the key
  skdptext report reviews.csv released/ --text review --id id

exit status:
  0    done
  1    a release is incomplete or has changed (verify)
  2    refused; the message names the rule that was broken
  3    a score is above its limit in --fail-above (report)
  4    a bug in skdptext, shown with its traceback: please report it
  130  interrupted
"""

# skdptext --help prints this docstring. Each command reads tables and calls one
# function of the library. A flag has the name of the parameter that it sets. The
# library is imported locally, because its imports take seconds.

import argparse
import inspect
import math
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from skdptext._version import __version__
from skdptext.exceptions import InvalidParameterError

_TABLE = "file or folder: .csv, .jsonl or .parquet"
# Parameters of the library whose flags have other names.
_FLAGS = {
    "authors": "author", "documents": "public", "labels": "label", "out": "html",
    "path": "embedding", "public_documents": "public", "public_labels": "public_label",
    "y": "label",
}  # fmt: skip
_POSITIONAL = {"source", "original", "released", "file"}
_LIKE_AUTHOR = re.compile(
    r"author|user|person|people|patient|customer|client|writer|speaker|sender|"
    r"reviewer|owner|account|e-?mail|handle",
    re.IGNORECASE,
)
_HOW_TO_GET_VECTORS = (
    "--embedding must name a file of public word vectors, such as those of GloVe "
    "(https://nlp.stanford.edu/projects/glove), or be docstrings, for a trial. "
    "(For public documents instead of noisy words, use --public.)"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status; see ``skdptext --help``."""
    given = _parser().parse_args(arguments)

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        print(f"Warning: {_in_flags(str(message), given)}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            status: int = given.run(given) or 0
            sys.stdout.flush()
            return status
    except BrokenPipeError:
        # The output pipe was closed, for example by head. Python would fail again at
        # exit, when it flushes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ImportError, OSError, ValueError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            message = f"cannot read or write {error.filename}: {error.strerror}."
        print(f"skdptext {given.command}: {_in_flags(message, given)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()  # the status 1 of Python would mean a fault in verify
        return 4


def _in_flags(message: str, given: argparse.Namespace) -> str:
    """Replace names of parameters in a message of the library by flags."""

    def flag(found: re.Match[str]) -> str:
        name = found[0] if hasattr(given, found[0]) else _FLAGS.get(found[0], found[0])
        if name in _POSITIONAL or not hasattr(given, name) or given.command == "verify":
            return found[0]
        return f"--{name.replace('_', '-')}"

    rule = re.match(r"[\w, ]+(?= must )", message)
    head = rule[0] if rule else ""
    # Before "must", any word may be a parameter. After it, only words with an
    # underscore are.
    tail = re.sub(r"\b\w+_\w+\b|\bclasses(?=`)", flag, message[len(head) :])
    return re.sub(r"\w+", flag, head) + tail


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print one line instead of a page of usage, and exit."""
        message = message.removeprefix("argument ").replace(": must", " must")
        self.exit(2, f"{self.prog}: {message} (skdptext --help shows examples.)\n")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        rule = "must be a number, with a point for decimals"
        raise argparse.ArgumentTypeError(f"{rule}, got {text!r}.") from None


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    limit = _number(value) if name else math.nan
    # "columns" is a count, and all other scores are shares.
    if not 0 <= limit <= (math.inf if name == "columns" else 1):
        rule = "must be scores and limits from 0 to 1, such as linkage=0.1 author=0.2"
        raise argparse.ArgumentTypeError(f"{rule}, got {text!r}.")
    return name, limit


# A flag has the same meaning in all commands.
_HELP = {
    "allow_shared_texts": "accept that public texts among the documents are published",
    "author": "column with the author of each text",
    "background": "other texts of the same people, with the same --author",
    "changed": "share of the words that should change",
    "classes": "all possible labels",
    "control": "texts that were not used to make the synthetic texts",
    "delta": "probability that the promise may fail, if classes have many people; or 0",
    "document_length": "number of noisy words for each text",
    "embedding": "public word vectors, or docstrings, for a trial; optional for learn",
    "epsilon": "privacy loss in nats per text or person; for words, per distance",
    "fail_above": "allow no score above its limit, such as linkage=0.1 author=0.2",
    "file": "new file for the key",
    "format": "parquet, csv, jsonl, csv.gz, jsonl.gz; default: that of the source",
    "html": "also write the report to this new HTML file",
    "id": "column with ids, which are released, and match rows of a report",
    "json": "print the report as JSON",
    "keep": "columns to release IN THE CLEAR",
    "key": "file:PATH or env:NAME; made by skdptext key",
    "label": "column with the labels",
    "n_candidates": "number of originals that attackers choose from",
    "n_expected": "approximate number of people",
    "n_groups": "number of groups, if there are no labels",
    "n_jobs": "number of processes",
    "n_rarest": "approximate number of people in the rarest class",
    "n_words": "use only the first words of the embedding",
    "name": "name of the release; another name is another release, with its own ε",
    "original": f"originals; with --background alone, the release: {_TABLE}",
    "out": "new folder of a release, or new .csv file of a corpus",
    "output": "text, tokens, bow; with --public also group, index",
    "priors": "class frequencies in the corpus: equal, released",
    "public": f"public texts, from which stand-ins are drawn: {_TABLE}",
    "public_label": "column with public labels, which are then the groups",
    "public_text": "column with the public texts; default: as --text",
    "random_state": "seed of samples and halves",
    "released": "release that any tool made from the originals",
    "source": f"texts: {_TABLE}",
    "stop_words": "english: leave out English stop words",
    "text": "column with the texts",
}
_SWITCH, _REAL, _WHOLE = {"action": "store_true"}, {"type": _number}, {"type": int}
_KINDS: dict[str, dict[str, Any]] = {
    **{name: _WHOLE for name in _HELP if name.startswith("n_")},
    **dict.fromkeys(("document_length", "random_state"), _WHOLE),
    **dict.fromkeys(("changed", "delta", "epsilon"), _REAL),
    **dict.fromkeys(("allow_shared_texts", "json"), _SWITCH),
    "classes": {"nargs": "+"},
    "fail_above": {"nargs": "+", "type": _limit},
    "keep": {"nargs": "+"},
    "released": {"nargs": "?"},
}
_NOISE = "--embedding --n-words --stop-words"


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    description, _, epilog = (__doc__ or "").partition("\n")
    parser = _Parser(
        "skdptext", formatter_class=raw, description=description, epilog=epilog
    )
    parser.add_argument(
        "--version", action="version", version=f"skdptext {__version__}"
    )
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")

    def command(run: Callable[[Any], int | None], flags: str, **defaults: Any) -> None:
        text = inspect.getdoc(run) or ""
        made = commands.add_parser(
            run.__name__[1:], help=text.partition(".")[0].lower(), description=text,
            formatter_class=raw,
        )  # fmt: skip
        made.set_defaults(run=run)
        for flag in flags.split():
            name = flag.strip("-!").replace("-", "_")
            options = {"help": _HELP[name], **_KINDS.get(name, {})}
            if flag.endswith("!"):
                options["required"] = True
            if name in defaults:
                options["default"] = defaults[name]
                options["help"] += f" (default: {defaults[name]})"
            short = ["-o"] if flag == "--out!" else []
            made.add_argument(*short, flag.rstrip("!"), **options)

    command(_key, "file")
    command(
        _release,
        "source --out! --name! --key! --epsilon! --text --id --author "
        "--keep --output --format --n-jobs --public --public-text --public-label "
        f"--n-groups --allow-shared-texts {_NOISE} --document-length",
        text="text", id="id", output="text",
    )  # fmt: skip
    command(_verify, "out")
    calibrated = f"{_NOISE} --public! --public-text --changed"
    command(_calibrate, calibrated, public_text="text", changed=0.25)
    command(
        _learn,
        "source --out! --text --label --author --classes --public! --public-text "
        "--embedding --n-words --epsilon --delta --n-expected --n-rarest --priors "
        "--allow-shared-texts",
        text="text", label="label", epsilon=1.0, delta=1e-6, priors="equal",
    )  # fmt: skip
    command(
        _report,
        "original released --text --id --author --label --background --control "
        "--n-candidates --random-state --html --json --fail-above",
        text="text", n_candidates=100, random_state=0,
    )  # fmt: skip
    return parser


def _read(given: Any, place: str, *flags: str) -> list[list[Any]]:
    """Read the columns of a source that flags name.

    Missing values are empty texts, or None for labels and authors.
    """
    from skdptext.release import read_columns

    source, names = getattr(given, place), [getattr(given, flag) for flag in flags]
    asked = " and ".join(f"--{flag.replace('_', '-')}" for flag in flags)
    there = place if place in _POSITIONAL else f"--{place}"
    try:
        read = read_columns(source, names)
    except InvalidParameterError as error:
        # The message names parameters of the library. Users know the flags only.
        message = re.sub("^columns(?= must)", asked, str(error))
        message = re.sub("^source(?= must)", there, message)
        raise InvalidParameterError(message) from None
    return [
        [value or "" for value in values]
        if flag.endswith("text")
        else [None if value is None or value == "" else str(value) for value in values]
        for flag, values in zip(flags, read, strict=True)
    ]


def _read_public(given: Any, *flags: str) -> list[list[Any]]:
    if given.public_text is None:
        given.public_text = given.text
    return _read(given, "public", "public_text", *flags)


def _embedding(given: Any) -> Any:
    from skdptext.datasets import load_docstring_embedding
    from skdptext.embeddings import WordEmbedding

    if given.embedding == "docstrings":
        return load_docstring_embedding(n_words=given.n_words)
    return given.embedding and WordEmbedding.load(given.embedding, given.n_words)


def _perturber(given: Any, **options: Any) -> Any:
    from skdptext.perturbation import DPWordPerturber

    if given.embedding is None:
        raise InvalidParameterError(_HOW_TO_GET_VECTORS)
    return DPWordPerturber(
        _embedding(given), mechanism="exponential", lam=0.0, resize="sample",
        stop_words=given.stop_words, **options,
    )  # fmt: skip


def _refuse(given: Any, flags: str, reason: str) -> None:
    """Refuse flags that would have no effect."""
    for flag in flags.split():
        if getattr(given, flag[2:].replace("-", "_")):
            raise InvalidParameterError(f"{flag} must not be given {reason}")


def _hint_at_author(given: Any) -> None:
    from skdptext.release import column_names

    used = (given.text, getattr(given, "id", None), getattr(given, "label", None))
    for name in column_names(given.source) if given.author is None else ():
        if name not in used and _LIKE_AUTHOR.search(name):
            print(
                f"If column {name!r} is the author of each text, use --author {name}. "
                "Without it, k texts of one person lose k times --epsilon.",
                file=sys.stderr,
            )


def _key(given: Any) -> None:
    """Make a secret key.

    It is written to a new file that only you can read. Anyone who has it can undo the
    noise of a release: keep it apart from the release, and destroy it afterwards.
    """
    from skdptext.release import ReleaseKey

    print(f"--key {ReleaseKey.generate(given.file).source}")


def _release(given: Any) -> None:
    """Release documents.

    Each becomes a public document (--public), which hides the original, or noisy words
    (--embedding), which do not. The key, the name, the id and the text determine the
    noise: an interrupted command can be repeated, and writes the same bytes.
    """
    from skdptext.release import DocumentRelease, ReleaseKey, release_files
    from skdptext.replacement import DPDocumentReplacer

    key = ReleaseKey(given.key)
    options = {"epsilon": given.epsilon, "output": given.output}
    if given.public is None:
        flags = "--public-text --public-label --n-groups --author --allow-shared-texts"
        _refuse(given, flags, "without --public.")
        options["document_length"] = given.document_length
        releaser = _perturber(given, **options)
    else:
        _refuse(given, "--document-length --stop-words", "with --public.")
        _hint_at_author(given)
        if given.epsilon > 10:
            print(
                "Warning: with --epsilon above 10, nearly every stand-in is from the "
                "document's own group, which is then hardly protected.",
                file=sys.stderr,
            )
        columns = [] if given.public_label is None else ["public_label"]
        texts, *labels = _read_public(given, *columns)
        releaser = DPDocumentReplacer(
            texts, public_labels=labels[0] if labels else None, n_groups=given.n_groups,
            embedding=_embedding(given), allow_shared_texts=given.allow_shared_texts,
            **options,
        )  # fmt: skip
    release = DocumentRelease(
        releaser, key, given.name, text=given.text, id=given.id, author=given.author,
        keep=given.keep or (),
    )  # fmt: skip
    manifest = release_files(
        given.source, given.out, release, format=given.format, n_jobs=given.n_jobs,
        verbose=1,
    )  # fmt: skip
    print(
        f"Released {manifest['documents']:,} documents to {given.out}. Its "
        f"_release.json states:\n\n{manifest['guarantee']['words']}\n\nVerify the "
        f"release, and destroy the key ({key.source}): anyone who has it can undo the "
        "noise.",
        file=sys.stderr,
    )


def _verify(given: Any) -> int:
    """Check that a release is complete and unchanged."""
    from skdptext.release import verify

    faults = verify(given.out)
    print("\n".join(faults or [f"{given.out} is complete and unchanged."]))
    return 1 if faults else 0


def _calibrate(given: Any) -> None:
    """Find the ε at which a share of the words changes.

    Use public text: ε must not be chosen by the documents that it protects.
    """
    from skdptext.model_selection import calibrate_epsilon

    found = calibrate_epsilon(
        _perturber(given, document_length=1), given.changed, tuned_on="public",
        documents=_read_public(given)[0],
    )  # fmt: skip
    print(f"--epsilon {found.epsilon:.4g}  changes {found.changed:.1%} of the words")


def _learn(given: Any) -> None:
    """Learn a labeled public corpus from texts that you hold.

    Noise is added once, to one sum over the people. Every run is another release, and
    their ε add up. Nothing is overwritten.
    """
    import json
    from hashlib import sha256

    import pandas as pd

    from skdptext.learning import DPTextClassifier
    from skdptext.release import claimed, told_by

    out = Path(given.out)
    if out.suffix != ".csv":
        raise InvalidParameterError(f"--out must end in .csv, got {given.out!r}.")
    # Both names are claimed before the texts are read: learning takes minutes, and a
    # corpus without its statement must not appear.
    with claimed(out.with_suffix(".json"), out) as (statement, corpus):
        (public,) = _read_public(given)
        flags = ["text", "label"] + ["author"] * (given.author is not None)
        texts, labels, *authors = _read(given, "source", *flags)
        _hint_at_author(given)
        model = DPTextClassifier(
            public, embedding=_embedding(given), epsilon=given.epsilon,
            delta=given.delta, classes=given.classes, n_expected=given.n_expected,
            n_rarest=given.n_rarest, priors=given.priors,
            allow_shared_texts=given.allow_shared_texts, verbose=1,
        )  # fmt: skip
        guarantee = model.fit(texts, labels, *authors).guarantee()
        rows = dict(zip((given.text, given.label), model.sample(), strict=True))
        pd.DataFrame(rows).to_csv(corpus, index=False)
        stated = {
            "format": "skdptext corpus, version 1",
            "files": {out.name: sha256(corpus.read_bytes()).hexdigest()},
            "classes": model.classes_.tolist(),
            "guarantee": told_by(guarantee),
        }
        statement.write_text(json.dumps(stated, indent=1, ensure_ascii=False), "utf-8")
    print(f"{out} and {out.with_suffix('.json')}:\n\n{guarantee}", file=sys.stderr)


def _report(given: Any) -> int:
    """Attack a release and report what it reveals.

    Any tool may have made it. Attackers try to identify the original of each text, its
    author and its words. With --background, they identify the person of each text, and
    no originals are needed; with --control, the texts that were used.
    """
    import json

    from skdptext.release import claimed

    # The page is claimed before the texts are read, because attacks take minutes.
    with claimed(*filter(None, [given.html])) as pages:
        report = _attacked(given)
        for page in pages:
            report.to_html(page)
        print(json.dumps(report.to_dict()) if given.json else report)
        return _gate(report, given.fail_above) if given.fail_above else 0


def _attacked(given: Any) -> Any:
    """Read the tables and make the report."""
    from skdptext.inspection import column_sentences, release_report

    if given.released is None:
        given.original, given.released = None, given.original
        if given.background is None:
            raise InvalidParameterError("released must be given, or --background.")
    if given.background is not None and given.author is None:
        raise InvalidParameterError("--author must be given with --background.")
    options: dict[str, Any] = {"guarantee": _proved(given)}
    places = ["original", "released"][given.original is None :]
    columns: list[str] = []
    if given.control is not None:
        _refuse(given, "--id --author --label --background", "with --control.")
        lists = [_read(given, place, "text")[0] for place in (*places, "control")]
        options["control"] = lists.pop()
    else:
        first, *others = tables = [_table(given, place) for place in places]
        if given.author is not None:
            options["authors"] = first[given.author]
        if given.label is not None:
            options["labels"] = {given.label: first[given.label]}
        texts = [table[given.text] for table in tables]
        # Series are matched by their index, which holds the ids. Without ids, rows are
        # matched by position, and lists have no index.
        lists = texts if given.id is not None else [x.tolist() for x in texts]
        for other in others:
            if first.index.is_unique and set(first.index) == set(other.index):
                pair = first, other.reindex(first.index)
                columns = column_sentences(*(x.drop(columns=given.text) for x in pair))
    original, released = [None, *lists][-2:]
    if given.background is not None:
        held = _read(given, "background", "text", "author")
        options["background"], options["background_ids"] = held
    report = release_report(
        original, released, n_candidates=given.n_candidates,
        random_state=given.random_state, **options,
    )  # fmt: skip
    report.columns = columns
    return report


def _table(given: Any, place: str) -> Any:
    """Read all columns of a source, with --id as the index."""
    import pandas as pd

    from skdptext.release import column_names, read_columns

    first = place == "original" or given.original is None
    flags = ["text", "id"] + ["author", "label"] * first
    flags = [flag for flag in flags if getattr(given, flag) is not None]
    read = _read(given, place, *flags)
    named = [getattr(given, flag) for flag in flags]
    table = pd.DataFrame(dict(zip(named, read, strict=True)))
    source = getattr(given, place)
    rest = [name for name in column_names(source) if name not in named]
    if rest:
        table[rest] = list(zip(*read_columns(source, rest), strict=True))
    return table if given.id is None else table.set_index(given.id)


def _proved(given: Any) -> Any:
    """Read the guarantee from a release's folder, or from a corpus's .json file."""
    from skdptext.privacy import PrivacyGuarantee

    path = Path(given.released)
    path = path / "_release.json" if path.is_dir() else path.with_suffix(".json")
    # Releases of other tools have none, and that of noisy words needs their vectors.
    with suppress(InvalidParameterError, OSError):
        return PrivacyGuarantee.from_json(path.read_text("utf-8"))
    return None


def _gate(report: Any, given: Sequence[tuple[str, float]]) -> int:
    """Compare a report with limits, print the scores above, and return the status."""
    # In both cases, low scores are not evidence of safety.
    if report.misplaced or report.unread:
        raise InvalidParameterError(f"--fail-above cannot be judged. {report.verdict}")
    found = {name: score.value for name, score in report.scores.items()}
    found["columns"] = len(report.columns)
    # A limit on a score that was not measured must fail: it would otherwise pass
    # silently.
    limits = dict(sorted(given, reverse=True))  # the lowest limit of a score counts
    if not limits.keys() <= found.keys():
        raise InvalidParameterError(
            f"--fail-above must name scores of this report ({', '.join(found)}), got "
            f"{', '.join(limits.keys() - found.keys())}."
        )
    above = [name for name, limit in limits.items() if found[name] > limit]
    for name in above:
        print(f"{name}: {found[name]:g} is above {limits[name]:g}", file=sys.stderr)
    return 3 if above else 0
