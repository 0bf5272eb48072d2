r"""Release texts with a stated privacy guarantee, and attack releases.

If a labeled public corpus is enough:
  skdptext learn reviews.csv --text review --label topic --author user \
    --public old-reviews.csv --epsilon 1 -o corpus.csv

If a recipient may hold or guess the originals, replace each text by a public one:
  skdptext key q4.key
  skdptext release reviews.csv --text review --public old-reviews.csv \
    --epsilon 4 --name 2026-q4 --key file:q4.key -o released/

If the wording is needed, and no recipient has the originals, make words noisy:
  skdptext calibrate --embedding glove.txt --public old-reviews.csv --public-text review
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
# function of the library. A flag has the name of the parameter that it sets. The rooms
# of the library are imported when they are first used, because that takes seconds.

import argparse
import inspect
import json
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn

import skdptext
from skdptext.exceptions import InvalidParameterError

# Parameters of the library whose flags have other names.
_FLAGS = {
    "authors": "author", "documents": "public", "labels": "label", "out": "html",
    "path": "embedding", "public_documents": "public", "public_labels": "public_label",
    "y": "label",
}  # fmt: skip
# Words in the names of columns that hold authors.
_LIKE_AUTHOR = "author|user|person|people|patient|customer|client|writer|speaker|"
_LIKE_AUTHOR += "sender|reviewer|owner|account|e-?mail|handle"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status; see ``skdptext --help``."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if "" in vars(given).values():  # as a path, it would be the current folder
        parser.error("an argument is empty: is a variable of the shell not set?")
    given.verbose = int(sys.stderr is not None and sys.stderr.isatty())
    if vars(given).get("public") and given.public_text is None:
        given.public_text = given.text

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        _tell(f"Warning: {_in_flags(str(message), given)}")

    try:
        with warnings.catch_warnings():
            warnings.showwarning = warn
            return given.run(given) or 0
    except (ImportError, OSError, ValueError) as error:
        message = str(error)
        if isinstance(error, OSError) and error.strerror is not None:
            message = f"cannot access {error.filename or 'a file'}: {error.strerror}."
        _tell(f"skdptext {given.command}: {_in_flags(message, given)}")
        return 2
    except KeyboardInterrupt:
        return 130
    except Exception:
        # The status 1 of Python would mean a fault in verify.
        sys.excepthook(*sys.exc_info())
        return 4


def _tell(message: object, stream: str = "stderr", end: str = "\n") -> None:
    """Print at once, unless the stream is closed or its reader has left."""
    try:
        if file := getattr(sys, stream):
            print(message, file=file, end=end, flush=True)
    except OSError as error:
        setattr(sys, stream, None)  # at exit, Python would try again, with a traceback
        if stream == "stdout" and not isinstance(error, BrokenPipeError):
            _tell(f"skdptext: cannot write the output: {error.strerror}.")
            sys.exit(2)


def _in_flags(message: str, given: argparse.Namespace) -> str:
    """Replace names of parameters in a message of the library by flags."""
    found = re.findall("--([a-z-]+)", _COMMANDS[given.run])
    own = {flag.replace("-", "_"): f"--{flag}" for flag in found}
    flags = {name: own[flag] for name, flag in _FLAGS.items() if flag in own} | own

    def flag(name: re.Match[str]) -> str:
        return flags.get(name[0], name[0])

    # Before "must", any word may be a parameter, and the first one before "of". After
    # it, only words with an underscore are.
    head = "".join(re.findall(r"\A[\w, ]+(?= must )|\A\w+(?= of )", message))
    tail = re.sub(r"\w+_\w+|classes(?=`)", flag, message[len(head) :])
    return re.sub(r"\w+", flag, head) + tail


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Print one line instead of a page of usage, and exit."""
        self.exit(2, f"{self.prog}: {message} (skdptext --help shows examples.)\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        _tell(message, "stderr" if file is sys.stderr else "stdout", end="")


def _limit(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition("=")
    # "columns" is a count, and all other scores are shares.
    if name and float(value) >= 0 and (name == "columns" or float(value) <= 1):
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
    "embedding": 'file of public word vectors, or "docstrings" for a trial',
    "epsilon": "privacy loss in nats per text or person; for words, per distance",
    "fail_above": "allow no score above its limit, such as linkage=0.1 author=0.2",
    "file": "new file for the key",
    "folder": "folder of a release, or .json file of a corpus",
    "format": "parquet, csv, jsonl, csv.gz, jsonl.gz; default: that of the source",
    "html": "also write the report to this new HTML file",
    "id": "column with ids: they are released, and a report matches rows by them",
    "json": "print the report as JSON",
    "keep": "columns to release UNCHANGED",
    "key": "file:PATH or env:NAME; made by skdptext key",
    "label": "column with the labels",
    "n_candidates": "number of originals that attackers choose from",
    "n_expected": "approximate number of people",
    "n_groups": "number of groups, if there are no labels",
    "n_jobs": "number of processes",
    "n_rarest": "approximate number of people in the rarest class",
    "n_words": "use only the first words of the embedding",
    "name": "name of the release; another name is another release, with its own ε",
    "original": "originals, file or folder; not needed with --background",
    "out": "new folder of a release, or new .csv file of a corpus",
    "output": "text, tokens, bow; with --public also group, index",
    "priors": "class frequencies in the corpus: equal, released",
    "public": "public texts: file or folder",
    "public_label": "column with public labels, which are then the groups",
    "public_text": "column with the public texts; default: as --text",
    "released": "release that any tool made: file or folder",
    "source": "texts, file or folder: .csv, .jsonl or .parquet",
    "stop_words": "english: leave out English stop words",
    "text": "column with the texts",
}
_KINDS: dict[str, dict[str, Any]] = {
    **{x: {"type": int} for x in _HELP if x.startswith("n_") or x == "document_length"},
    **{x: {"type": float} for x in ("changed", "delta", "epsilon")},
    **{x: {"action": "store_true"} for x in ("allow_shared_texts", "json")},
    "classes": {"nargs": "+"},
    "fail_above": {"nargs": "+", "type": _limit},
    "keep": {"nargs": "+", "default": ()},
    "original": {"nargs": "?"},
}


def _parser() -> argparse.ArgumentParser:
    form: Any = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = _Parser("skdptext", description=__doc__, **form)
    parser.add_argument("--version", action="version", version=skdptext.__version__)
    commands = parser.add_subparsers(required=True, dest="command", metavar="command")
    for run, flags in _COMMANDS.items():
        text = inspect.getdoc(run) or ""
        name, about = run.__name__[1:], text.partition(".")[0].lower()
        made = commands.add_parser(name, help=about, description=text, **form)
        made.set_defaults(run=run)
        for each in flags.split():
            flag, _, default = each.partition("=")
            name = flag.strip("-!").replace("-", "_")
            kind = {"help": _HELP[name], **_KINDS.get(name, {})}
            if default:
                kind |= {"default": default, "help": f"{_HELP[name]} ({default=!s})"}
            if flag.endswith("!"):
                kind["required"] = True
            made.add_argument(*["-o"] * (name == "out"), flag.rstrip("!"), **kind)
    return parser


def _read(given: Any, place: str, *flags: str, rest: bool = False) -> Any:
    """Read the columns that flags name, where given, or all, into a data frame.

    The first flag names the texts. Missing values are empty texts, or None in other
    columns. The index is --id, if it is among the flags.
    """
    import pandas as pd

    source, named = getattr(given, place), [x for x in flags if getattr(given, x)]
    names = [getattr(given, flag) for flag in named]
    there = skdptext.release.column_names(source) if rest else []
    # Without a header row, these would be private texts, which errors must not quote.
    if set(names) & set(there):
        names += [name for name in there if name not in names]
    texts, *others = skdptext.release.read_columns(source, names, " and ".join(named))
    others = [[None if x in (None, "") else str(x) for x in y] for y in others]
    columns = zip(names, [[x or "" for x in texts], *others], strict=True)
    table = pd.DataFrame(dict(columns), dtype=object)
    return table.set_index(given.id) if "id" in named else table


def _options(given: Any, names: str) -> dict[str, Any]:
    """Get the flags that have the names of parameters."""
    return {name: getattr(given, name) for name in names.split()}


def _embedding(given: Any) -> Any:
    if given.embedding == "docstrings":
        return skdptext.datasets.load_docstring_embedding(n_words=given.n_words)
    load = skdptext.WordEmbedding.load
    return given.embedding and load(given.embedding, given.n_words)


def _perturber(given: Any, options: str) -> Any:
    return skdptext.DPWordPerturber(
        _embedding(given), mechanism="exponential", lam=0.0, resize="sample",
        **_options(given, options),
    )  # fmt: skip


def _refuse(given: Any, flags: str, reason: str) -> None:
    """Refuse flags that would have no effect."""
    for flag in flags.split():
        if getattr(given, flag[2:].replace("-", "_")):
            raise InvalidParameterError(f"{flag} must not be given {reason}")


def _hint_at_author(given: Any, source: Any) -> None:
    names = skdptext.release.column_names(source) if given.author is None else []
    # Without a header row, the first text is not the name of a column.
    for name in names if given.text in names else []:
        if re.search(_LIKE_AUTHOR, name.lower()) and name not in vars(given).values():
            _tell(
                f"If column {name!r} names the authors, use --author {name!r}. "
                "Without it, texts of one person are taken for those of several people."
            )


def _key(given: Any) -> None:
    """Make a secret key.

    It is written to a new file that only you can read. Anyone who has it can undo the
    noise of a release: keep it apart from the release, and destroy it afterwards.
    """
    _tell(f"--key {skdptext.release.ReleaseKey.generate(given.file).source}", "stdout")


def _release(given: Any) -> None:
    """Release documents.

    Each becomes a public document (--public), which hides the original, or noisy words
    (--embedding), which do not. The key, the name, the id and the text determine the
    noise: an interrupted command can be repeated, and writes the same bytes.
    """
    key = skdptext.release.ReleaseKey(given.key)
    if given.public is None and given.embedding is None:
        raise InvalidParameterError("--public or --embedding must name a file.")
    # The folder is claimed before anything is read: public texts may take minutes.
    with skdptext.release.claimed(given.out) as (out,):
        if given.public is not None:
            _refuse(given, "--document-length --stop-words", "with --public.")
            _hint_at_author(given, given.source)
            if given.epsilon > 10:
                _tell("Warning: --epsilon above 10 hardly hides a document's group.")
            public = _read(given, "public", "public_text", "public_label")
            names = "epsilon output n_groups allow_shared_texts"
            releaser: Any = skdptext.DPDocumentReplacer(
                public[given.public_text], public_labels=public.get(given.public_label),
                embedding=_embedding(given), **_options(given, names),
            )  # fmt: skip
        else:
            unused = "--public-text --public-label --n-groups --author "
            _refuse(given, f"{unused}--allow-shared-texts", "without --public.")
            releaser = _perturber(given, "epsilon output stop_words document_length")
        columns = _options(given, "name text id author keep")
        release = skdptext.release.DocumentRelease(releaser, key, **columns)
        options = _options(given, "format n_jobs verbose")
        told = skdptext.release.release_files(given.source, out, release, **options)
    _tell(
        f"Released {told['documents']:,} documents to {given.out}:\n\n"
        f"{told['guarantee']['words']}\n\nVerify the release, and destroy the key "
        f"({key.source}): anyone who has it can undo the noise."
    )


def _verify(given: Any) -> int:
    """Check that a release is complete and unchanged."""
    faults = skdptext.release.verify(given.folder)
    _tell("\n".join(faults) or f"{given.folder} is complete and unchanged.", "stdout")
    return 1 if faults else 0


def _calibrate(given: Any) -> None:
    """Find the ε at which a share of the words changes.

    Use public text: ε must not be chosen by the documents that it protects.
    """
    public = _read(given, "public", "public_text")[given.public_text]
    perturber = _perturber(given, "stop_words")
    calibrate = skdptext.model_selection.calibrate_epsilon
    found = calibrate(perturber, given.changed, documents=public, tuned_on="public")
    _tell(f"--epsilon {found.epsilon:.4g}\n{found}", "stdout")


def _learn(given: Any) -> None:
    """Learn a labeled public corpus from texts that you hold.

    Noise is added once, to one sum over the people. Every run is another release, and
    their ε add up. Nothing is overwritten.
    """
    import pandas as pd

    out = Path(given.out)
    if out.suffix != ".csv":
        raise InvalidParameterError(f"--out must end in .csv, got {given.out!r}.")
    # Both names are claimed before the texts are read: learning takes minutes, and a
    # corpus without its statement must not appear.
    with skdptext.release.claimed(out.with_suffix(".json"), out) as (statement, corpus):
        public = _read(given, "public", "public_text")[given.public_text]
        held = _read(given, "source", "text", "label", "author")
        _hint_at_author(given, given.source)
        options = "epsilon delta classes n_expected n_rarest priors allow_shared_texts "
        model = skdptext.DPTextClassifier(
            public, embedding=_embedding(given), **_options(given, options + "verbose")
        )
        model.fit(held[given.text], held[given.label], held.get(given.author))
        guarantee = model.guarantee()
        some = held[:: len(held) // 10_000 + 1]  # a long file would take minutes
        predicted = model.predict(some[given.text])
        scores = skdptext.metrics.label_scores(some[given.label], predicted)
        rows = dict(zip((given.text, given.label), model.sample(), strict=True))
        pd.DataFrame(rows).to_csv(corpus, index=False)
        stated = {
            "format": "skdptext corpus, version 1",
            "files": {out.name: {"digest": sha256(corpus.read_bytes()).hexdigest()}},
            "classes": model.classes_.tolist(),
            "guarantee": skdptext.release.told_by(guarantee),
        }
        statement.write_text(json.dumps(stated, indent=1, ensure_ascii=False), "utf-8")
    _tell(f"{out} and {out.with_suffix('.json')}:\n\n{guarantee}\n")
    _tell("Scores on private texts, which no guarantee covers: do not publish them.")
    _tell(pd.Series(scores).to_string(float_format="{:.2f}".format))


def _report(given: Any) -> int:
    """Attack a release and report what it reveals.

    Any tool may have made it. Attackers try to identify the original of each text, its
    author and its words. With --background, they identify the person of each text, and
    no originals are needed; with --control, the texts that were used.
    """
    places = [x for x in ("original", "released", "control") if getattr(given, x)]
    # The page is claimed before the texts are read, because attacks take minutes.
    with skdptext.release.claimed(*filter(None, [given.html])) as pages:
        tables = {x: _read(given, x, "text", "id", rest=True) for x in places}
        texts = {place: table.pop(given.text) for place, table in tables.items()}
        if given.id is None:
            # Series are matched by their index. Lists are matched by position.
            texts = {place: list(series) for place, series in texts.items()}
        labels = _read(given, places[0], "text", "id", "author", "label")
        known = _read(given, "background", "text", "author") if given.background else {}
        report = skdptext.inspection.release_report(
            texts.pop("original", None), **texts, guarantee=_proved(given),
            background=known.get(given.text), background_ids=known.get(given.author),
            n_candidates=given.n_candidates, authors=labels.get(given.author),
            labels=given.label and {given.label: labels[given.label]},
        )  # fmt: skip
        if places == ["original", "released"]:
            _hint_at_author(given, given.original)
            report.columns = skdptext.inspection.column_sentences(*tables.values())
            if report.columns and given.id is None:
                _tell("If a column holds the ids that match the rows, name it by --id.")
        for page in pages:
            report.to_html(page)
        _tell(json.dumps(report.to_dict()) if given.json else report, "stdout")
        return _gate(report, given.fail_above) if given.fail_above else 0


def _proved(given: Any) -> Any:
    """Read the guarantee from a release's folder, or from a corpus's .json file."""
    path = Path(given.released)
    path = path / "_release.json" if path.is_dir() else path.with_suffix(".json")
    # Releases of other tools have none, and that of noisy words needs their vectors.
    with suppress(InvalidParameterError, OSError):
        return skdptext.privacy.PrivacyGuarantee.from_json(path.read_text("utf-8"))


def _gate(report: Any, limits: Sequence[tuple[str, float]]) -> int:
    """Compare a report with limits, print the scores above, and return the status."""
    # In both cases, low scores are not evidence of safety.
    if report.misplaced or report.unread:
        raise InvalidParameterError(f"--fail-above cannot be judged. {report.verdict}")
    found = {name: score.value for name, score in report.scores.items()}
    found["columns"] = len(report.columns)
    # A limit on a score that was not measured must not pass.
    if not dict(limits).keys() <= found.keys():
        raise InvalidParameterError(
            f"--fail-above must name scores of this report: {', '.join(found)}."
        )
    above = [(name, limit) for name, limit in limits if found[name] > limit]
    for name, limit in above:
        _tell(f"{name}: {found[name]:g} is above {limit:g}")
    return 3 if above else 0


# Flags of each command: "!" marks one that must be given, and "=" a default.
_COMMANDS: dict[Callable[[Any], int | None], str] = {
    _key: "file",
    _release: "source --out! --name! --key! --epsilon! --text=text --id=id --author "
    "--keep --output=text --format --n-jobs --public --public-text --public-label "
    "--n-groups --allow-shared-texts --embedding --n-words --document-length "
    "--stop-words",
    _verify: "folder",
    _calibrate: "--changed=0.25 --embedding! --n-words --stop-words --public! "
    "--public-text=text",
    _learn: "source --out! --text=text --label=label --author --classes --public! "
    "--public-text --embedding --n-words --epsilon=1 --delta=1e-6 --n-expected "
    "--n-rarest --priors=equal --allow-shared-texts",
    _report: "original released --text=text --id --author --label --background "
    "--control --n-candidates=100 --html --json --fail-above",
}
