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
import json
import math
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

from skdptext._version import __version__
from skdptext.exceptions import InvalidParameterError

_TABLE = "file or folder: .csv, .jsonl or .parquet"
_POSITIONAL = {"source", "original", "released", "file", "folder"}
# Parameters of the library whose flags have other names.
_FLAGS = {
    "authors": "author", "documents": "public", "labels": "label", "out": "html",
    "path": "embedding", "public_documents": "public", "public_labels": "public_label",
    "y": "label",
}  # fmt: skip
_LIKE_AUTHOR = re.compile(
    r"(?i)author|user|person|people|patient|customer|client|writer|speaker|sender|"
    r"reviewer|owner|account|e-?mail|handle"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status; see ``skdptext --help``."""
    given = _parser().parse_args(arguments)
    given.verbose = int(sys.stderr.isatty())

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        _tell(f"Warning: {_in_flags(str(message), given)}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            return given.run(given) or 0
    except (ImportError, OSError, ValueError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            message = f"cannot read or write {error.filename}: {error.strerror}."
        _tell(f"skdptext {given.command}: {_in_flags(message, given)}")
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception:
        traceback.print_exc()  # the status 1 of Python would mean a fault in verify
        return 4


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _in_flags(message: str, given: argparse.Namespace) -> str:
    """Replace names of parameters in a message of the library by flags."""
    flags = {name: flag for name, flag in _FLAGS.items() if hasattr(given, flag)}
    flags |= {name: name for name in vars(given) if name in _HELP.keys() - _POSITIONAL}

    def flag(found: re.Match[str]) -> str:
        name = found[0]
        return f"--{flags[name].replace('_', '-')}" if name in flags else name

    # Before "must", any word may be a parameter. After it, only words with an
    # underscore are.
    head = "".join(re.findall(r"\A[\w, ]+(?= must )", message))
    tail = re.sub(r"\w+_\w+|classes(?=`)", flag, message[len(head) :])
    return re.sub(r"\w+", flag, head) + tail


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print one line instead of a page of usage, and exit."""
        self.exit(2, f"{self.prog}: {message} (skdptext --help shows examples.)\n")


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    # "columns" is a count, and all other scores are shares.
    if name and 0 <= float(value) <= (math.inf if name == "columns" else 1):
        return name, float(value)
    raise argparse.ArgumentTypeError(
        f"must be scores and limits from 0 to 1, such as linkage=0.1, got {text!r}."
    )


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
    "folder": "folder of a release",
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
_REAL, _WHOLE, _SWITCH = {"type": float}, {"type": int}, {"action": "store_true"}
_KINDS: dict[str, dict[str, Any]] = {
    **{name: _WHOLE for name in _HELP if name.startswith("n_")},
    **dict.fromkeys(("document_length", "random_state"), _WHOLE),
    **dict.fromkeys(("changed", "delta", "epsilon"), _REAL),
    **dict.fromkeys(("allow_shared_texts", "json"), _SWITCH),
    "classes": {"nargs": "+"},
    "fail_above": {"nargs": "+", "type": _limit},
    "keep": {"nargs": "+", "default": ()},
    "released": {"nargs": "?"},
}


def _parser() -> argparse.ArgumentParser:
    form = argparse.RawDescriptionHelpFormatter
    about, _, examples = (__doc__ or "").partition("\n")
    parser = _Parser(
        "skdptext", formatter_class=form, description=about, epilog=examples
    )
    version = f"skdptext {__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for run, flags in _COMMANDS.items():
        text = inspect.getdoc(run) or ""
        made = commands.add_parser(
            run.__name__[1:], help=text.partition(".")[0].lower(), description=text,
            formatter_class=form,
        )  # fmt: skip
        made.set_defaults(run=run)
        for each in flags.split():
            flag, _, default = each.partition("=")
            name = flag.strip("-!").replace("-", "_")
            options = {"help": _HELP[name], **_KINDS.get(name, {})}
            if default:
                options["default"] = default
                options["help"] += f" (default: {default})"
            if flag.endswith("!"):
                options["required"] = True
            made.add_argument(*["-o"] * (name == "out"), flag.rstrip("!"), **options)
    return parser


def _read(given: Any, place: str, *flags: str) -> list[list[Any]]:
    """Read the columns of a source that flags name.

    The default of --public-text and of others is --text. Missing values are empty
    texts, or None for labels and authors.
    """
    from skdptext.release import read_columns

    asked = " and ".join(f"--{flag.replace('_', '-')}" for flag in flags)
    named = [getattr(given, flag) for flag in flags]
    names = [given.text if name is None else name for name in named]
    read = read_columns(getattr(given, place), names, asked)
    return [
        [value or "" for value in values]
        if flag.endswith("text")
        else [None if value in (None, "") else str(value) for value in values]
        for flag, values in zip(flags, read, strict=True)
    ]


def _options(given: Any, names: str) -> dict[str, Any]:
    """Get the flags that have the names of parameters."""
    return {name: getattr(given, name) for name in names.split()}


def _embedding(given: Any) -> Any:
    from skdptext.datasets import load_docstring_embedding
    from skdptext.embeddings import WordEmbedding

    if given.embedding == "docstrings":
        return load_docstring_embedding(n_words=given.n_words)
    return given.embedding and WordEmbedding.load(given.embedding, given.n_words)


def _perturber(given: Any, **options: Any) -> Any:
    from skdptext.perturbation import DPWordPerturber

    if given.embedding is None:
        raise InvalidParameterError(
            "--embedding must name a file of public word vectors, such as GloVe's, or "
            "be docstrings, for a trial. (For public documents instead of noisy words, "
            "use --public.)"
        )
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
            _tell(
                f"If column {name!r} is the author of each text, use --author {name}. "
                "Without it, k texts of one person lose k times --epsilon."
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
    if given.public is None:
        unused = "--public-text --public-label --n-groups --author --allow-shared-texts"
        _refuse(given, unused, "without --public.")
        options = _options(given, "epsilon output document_length")
        releaser = _perturber(given, **options)
    else:
        _refuse(given, "--document-length --stop-words", "with --public.")
        _hint_at_author(given)
        if given.epsilon > 10:
            _tell(
                "Warning: with --epsilon above 10, nearly every stand-in is from the "
                "document's own group, which is then hardly protected."
            )
        flags = ["public_text"] + ["public_label"] * (given.public_label is not None)
        texts, labels, *_ = [*_read(given, "public", *flags), None]
        options = _options(given, "epsilon output n_groups allow_shared_texts")
        releaser = DPDocumentReplacer(
            texts, public_labels=labels, embedding=_embedding(given), **options
        )
    columns = _options(given, "text id author keep")
    release = DocumentRelease(releaser, key, given.name, **columns)
    options = _options(given, "format n_jobs verbose")
    manifest = release_files(given.source, given.out, release, **options)
    _tell(
        f"Released {manifest['documents']:,} documents to {given.out}. Its "
        f"_release.json states:\n\n{manifest['guarantee']['words']}\n\nVerify the "
        f"release, and destroy the key ({key.source}): anyone who has it can undo the "
        "noise."
    )


def _verify(given: Any) -> int:
    """Check that a release is complete and unchanged."""
    from skdptext.release import verify

    faults = verify(given.folder)
    print("\n".join(faults or [f"{given.folder} is complete and unchanged."]))
    return 1 if faults else 0


def _calibrate(given: Any) -> None:
    """Find the ε at which a share of the words changes.

    Use public text: ε must not be chosen by the documents that it protects.
    """
    from skdptext.model_selection import calibrate_epsilon

    perturber = _perturber(given, document_length=1)
    (public,) = _read(given, "public", "public_text")
    options: dict[str, Any] = {"documents": public, "tuned_on": "public"}
    found = calibrate_epsilon(perturber, given.changed, **options)
    print(f"--epsilon {found.epsilon:.4g}  changes {found.changed:.1%} of the words")


def _learn(given: Any) -> None:
    """Learn a labeled public corpus from texts that you hold.

    Noise is added once, to one sum over the people. Every run is another release, and
    their ε add up. Nothing is overwritten.
    """
    import pandas as pd

    from skdptext.learning import DPTextClassifier
    from skdptext.release import claimed, told_by

    out = Path(given.out)
    if out.suffix != ".csv":
        raise InvalidParameterError(f"--out must end in .csv, got {given.out!r}.")
    # Both names are claimed before the texts are read: learning takes minutes, and a
    # corpus without its statement must not appear.
    with claimed(out.with_suffix(".json"), out) as (statement, corpus):
        (public,) = _read(given, "public", "public_text")
        flags = ["text", "label"] + ["author"] * (given.author is not None)
        columns = _read(given, "source", *flags)
        _hint_at_author(given)
        options = "epsilon delta classes n_expected n_rarest priors allow_shared_texts "
        model = DPTextClassifier(
            public, embedding=_embedding(given), **_options(given, options + "verbose")
        )
        guarantee = model.fit(*columns).guarantee()
        rows = dict(zip((given.text, given.label), model.sample(), strict=True))
        pd.DataFrame(rows).to_csv(corpus, index=False)
        stated = {
            "format": "skdptext corpus, version 1",
            "files": {out.name: sha256(corpus.read_bytes()).hexdigest()},
            "classes": model.classes_.tolist(),
            "guarantee": told_by(guarantee),
        }
        statement.write_text(json.dumps(stated, indent=1, ensure_ascii=False), "utf-8")
    _tell(f"{out} and {out.with_suffix('.json')}:\n\n{guarantee}")


def _report(given: Any) -> int:
    """Attack a release and report what it reveals.

    Any tool may have made it. Attackers try to identify the original of each text, its
    author and its words. With --background, they identify the person of each text, and
    no originals are needed; with --control, the texts that were used.
    """
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
    places = "original", "released", "control"
    tables = {x: _table(given, x) for x in places if getattr(given, x) is not None}
    texts = {place: table.pop(given.text) for place, table in tables.items()}
    if given.id is None:
        # Series are matched by their index. Lists are matched by position.
        texts = {place: list(series) for place, series in texts.items()}
    first, released = next(iter(tables.values())), tables["released"]
    options = _options(given, "n_candidates random_state background")
    if given.background is not None:
        read = _read(given, "background", "text", "author")
        options["background"], options["background_ids"] = read
    report = release_report(
        texts.pop("original", None), **texts, guarantee=_proved(given), **options,
        authors=given.author and first[given.author],
        labels=given.label and {given.label: first[given.label]},
    )  # fmt: skip
    if first is not released and given.control is None:
        report.columns = column_sentences(first, released.reindex(first.index))
    return report


def _table(given: Any, place: str) -> Any:
    """Read all columns of a source, with --id as the index."""
    import pandas as pd

    from skdptext.release import column_names, read_columns

    first = place == "original" or given.original is None
    flags = ["text", "id"] + ["author", "label"] * first
    flags = [flag for flag in flags if getattr(given, flag) is not None]
    names, read = [getattr(given, x) for x in flags], _read(given, place, *flags)
    source = getattr(given, place)
    names += [name for name in column_names(source) if name not in names]
    read += read_columns(source, names[len(read) :])
    table = pd.DataFrame(dict(zip(names, read, strict=True)))
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


def _gate(report: Any, limits: Sequence[tuple[str, float]]) -> int:
    """Compare a report with limits, print the scores above, and return the status."""
    # In both cases, low scores are not evidence of safety.
    if report.misplaced or report.unread:
        raise InvalidParameterError(f"--fail-above cannot be judged. {report.verdict}")
    found = {name: score.value for name, score in report.scores.items()}
    found["columns"] = len(report.columns)
    # A limit on a score that was not measured must fail: it would otherwise pass
    # silently.
    if missing := dict(limits).keys() - found.keys():
        raise InvalidParameterError(
            f"--fail-above must name scores of this report ({', '.join(found)}), got "
            f"{', '.join(missing)}."
        )
    above = [(name, limit) for name, limit in limits if found[name] > limit]
    for name, limit in above:
        _tell(f"{name}: {found[name]:g} is above {limit:g}")
    return 3 if above else 0


_NOISE = "--embedding --n-words --stop-words"
# Flags of each command: "!" marks one that must be given, and "=" a default.
_COMMANDS: dict[Callable[[Any], int | None], str] = {
    _key: "file",
    _release: "source --out! --name! --key! --epsilon! --text=text --id=id --author "
    "--keep --output=text --format --n-jobs --public --public-text --public-label "
    f"--n-groups --allow-shared-texts {_NOISE} --document-length",
    _verify: "folder",
    _calibrate: f"{_NOISE} --public! --public-text=text --changed=0.25",
    _learn: "source --out! --text=text --label=label --author --classes --public! "
    "--public-text --embedding --n-words --epsilon=1 --delta=1e-6 --n-expected "
    "--n-rarest --priors=equal --allow-shared-texts",
    _report: "original released --text=text --id --author --label --background "
    "--control --n-candidates=100 --random-state=0 --html --json --fail-above",
}
