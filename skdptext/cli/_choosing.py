"""skdptext calibrate and report: shortcuts to the library's own functions."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skdptext.cli._settings import (
    FILES,
    add_command,
    add_noise,
    add_option,
    make_perturber,
    read_flagged,
    read_public,
    refuse,
)
from skdptext.embeddings import WordEmbedding
from skdptext.exceptions import InvalidParameterError
from skdptext.files import column_names, read_columns
from skdptext.inspection import ReleaseReport, column_sentences, release_report
from skdptext.model_selection import calibrate_epsilon
from skdptext.privacy import PrivacyGuarantee

_CALIBRATE = """\
Find the ε at which a given share of the words of a text changes. By itself ε means
little; this shows what it does with an embedding, a mechanism and a text. Give
public text of the kind that you will release (--public). Without it, each word of the
embedding counts once, and text, which uses frequent words, will show a different share.
Never give the documents to be protected: ε would reveal something about them that the
guarantee does not count. See also skdptext.model_selection.calibrate_epsilon.

example:
  skdptext calibrate --embedding glove.6B.100d.txt --changed 0.25 \\
    --public old-reviews.csv --public-text review
"""

_REPORT = """\
Attack a release: what does it give away?

With two sources, of originals and of what was made of them by any tool: which columns
name the rows, how often is the original of a release found, its author named, its words
read, and what survives whole? Rows belong together by --id, which is not counted as a
column that names rows. Without it they do by their order: where that differs, every
score is far too low. What is proved of stand-ins or a corpus of skdptext stands beside
(--guarantee). The report is also written as a page (--html). See also
skdptext.inspection.release_report.

With --background, other texts of the authors and of other people, in the same columns:
whose text is each release? Originals may be left out then: the source is the release.

With --control, texts of the same source that were not used: the second source holds
synthetic texts, as many as there are, made from the first. What do they give away of
those that were used, and not of these?

A report is as sensitive as the documents, but quotes none.

examples:
  skdptext report posts.csv redacted.csv --text body --id number --author user
  skdptext report posts.csv redacted.csv --text body --fail-above linkage=0.1,columns=0
  skdptext report redacted.csv --background profiles.csv --text body --author user
  skdptext report used.csv synthetic.csv --control held_back.csv --text body

exit status: 3 if more is found than --fail-above allows.
"""
# Where the page is written.
_PAGE = Path("release-report.html")
# What scores of reports begin with, as in "linkage among 1,000".
_SCORES = (
    "linkage", "person", "author", "topic", "words", "rare words", "spans of 5 words",
    "copies", "columns",
)  # fmt: skip


def add_calibrate(commands: Any) -> None:
    """The command that comes before a release."""
    summary = "find the ε for a given amount of noise"
    parser = add_command(commands, "calibrate", summary, _CALIBRATE, _calibrate)
    add_noise(parser.add_argument_group("noise"))
    text = "share of words that change, between 0 and 1"
    add_option(parser, "--changed", text, 0.25)
    add_option(parser, "--public", f"public texts: {FILES}", metavar="SOURCE")
    text = "its column with the texts"
    add_option(parser, "--public-text", text, "text", metavar="COLUMN")


def add_report(commands: Any) -> None:
    """The command that attacks one."""
    summary = "attack a release: which document was it, and whose?"
    parser = add_command(commands, "report", summary, _REPORT, _report)
    add_option(parser, "source", FILES)
    text = "the same documents as released by any tool; left out with --background"
    add_option(parser, "released", text, nargs="?")
    text = "column with the texts, in every source"
    add_option(parser, "--text", text, "text", metavar="COLUMN")
    add_option(parser, "--author", "column with the authors", metavar="COLUMN")
    add_option(parser, "--label", "column with the topics", metavar="COLUMN")
    text = "write the report to this file, as a page; one that is there is replaced"
    add_option(parser, "--html", f"{text} (default {_PAGE})", type=Path)
    text = "column of both that says which rows belong together (default: their order)"
    add_option(parser, "--id", text, metavar="COLUMN")
    text = (
        "originals that an adversary has to choose from, at most as many as are "
        "attacked, which are 1000 or fewer"
    )
    add_option(parser, "--candidates", text, 100)
    text = "other texts of the people, with --author in both: whose is each release?"
    add_option(parser, "--background", text, metavar="SOURCE")
    text = "texts of the same source that were not used to make the second one"
    add_option(parser, "--control", text, metavar="SOURCE")
    text = (
        "what is proved of the release: its folder, or a corpus's file .json (default: "
        "what a folder of stand-ins states itself)"
    )
    add_option(parser, "--guarantee", text, metavar="FILE")
    text = "integer >= 0 that draws samples and halves (default 0)"
    add_option(parser, "--seed", text, type=int)
    text = "print the report as JSON"
    add_option(parser, "--json", text, action="store_const", const=True)
    text = (
        "end with status 3 if what was found is above a limit, such as "
        "linkage=0.1,author=0.2: the share found here, not at least; a limit must be "
        "above guessing. columns=0 allows no column that names rows, but --id"
    )
    add_option(parser, "--fail-above", text, metavar="LIMITS")


def _calibrate(arguments: argparse.Namespace) -> int:
    perturber = make_perturber(arguments, document_length=1)
    if arguments.public is None:
        assert isinstance(perturber.embedding, WordEmbedding)
        documents: Any = [[word] for word in perturber.embedding.words]
    else:
        documents, _ = read_public(arguments, "text")
    found = calibrate_epsilon(
        perturber, arguments.changed, documents=documents, tuned_on="public"
    )
    print(f"--epsilon {found.epsilon:.4g}  changes {found.changed:.1%} of the words")
    if arguments.public is None:
        print(
            "Each word of the embedding counted once. Text uses frequent words more, "
            "so noise changes a different share of it: give --public text of the kind "
            "to be released.",
            file=sys.stderr,
        )
    return 0


def _report(arguments: argparse.Namespace) -> int:
    released, held = arguments.released, arguments.background
    reason = ""
    if arguments.control is not None:
        if released is None:
            raise InvalidParameterError(
                "--control needs two sources: the texts that were used, and what was "
                "made from them."
            )
        reason = "with --control: no row belongs to another."
        refuse(arguments, "--candidates --background", reason)
    if released is None and held is None:
        raise InvalidParameterError(
            "released must be given, the same documents as released by any tool; or "
            "--background, other texts of their authors."
        )
    if held is not None and arguments.author is None:
        raise InvalidParameterError(
            "--background needs --author: the column that says whose each text is, in "
            "the background and beside the releases."
        )
    if released is None:
        reason = "without originals."
        refuse(arguments, "--guarantee", reason)
    if arguments.control is not None or released is None:
        refuse(arguments, "--id --label", reason)
    limits = _limits(arguments.fail_above)
    given, columns = _sources(arguments)
    report = release_report(
        guarantee=_proved(arguments),
        n_candidates=arguments.candidates,
        random_state=0 if arguments.seed is None else arguments.seed,
        **given,
    )
    report.columns = columns
    return _tell(report, arguments, limits)


def _proved(arguments: argparse.Namespace) -> PrivacyGuarantee | None:
    """What is stated of the release: by --guarantee, or by the folder that holds it."""
    given, released = arguments.guarantee, arguments.released
    if given is None and (
        arguments.control is not None or released is None or not Path(released).is_dir()
    ):
        return None
    path = Path(released if given is None else given)
    if path.is_dir():
        path /= "_release.json"
    try:
        return PrivacyGuarantee.from_json(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        if given is None:  # a folder of another tool, or damaged
            return None
        raise InvalidParameterError(
            "--guarantee must be a folder of a release, or the .json file of a corpus, "
            f"got {given!r} ({error})."
        ) from None


def _sources(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """What `release_report` takes, and what columns next to the texts give away."""
    import pandas as pd

    def table(source: str, place: str) -> Any:
        texts = read_flagged(source, place, {"--text": arguments.text})["--text"]
        others = [name for name in column_names(source) if name != arguments.text]
        beside = read_columns(source, others) if others else []
        frame = pd.DataFrame(dict(zip(others, beside, strict=True)))
        frame[arguments.text] = [text or "" for text in texts]
        if arguments.id is None:
            return frame
        return frame.set_index(frame.pop(arguments.id).map(str))

    first, columns = table(arguments.source, "source"), []
    given: dict[str, Any] = {"original": None, "released": first[arguments.text]}
    if arguments.released is not None:
        second = table(arguments.released, "released")
        given["original"], given["released"] = (
            first[arguments.text],
            second[arguments.text],
        )
        if arguments.control is None:
            beside = second.drop(columns=arguments.text)
            if set(beside.index) == set(first.index) and beside.index.is_unique:
                beside = beside.reindex(first.index)
                columns = column_sentences(first.drop(columns=arguments.text), beside)
    flags = {"--author": arguments.author, "--label": arguments.label}
    labels = read_flagged(arguments.source, "source", flags)
    if "--author" in labels and arguments.control is None:
        given["authors"] = labels["--author"]
    if "--label" in labels:
        given["labels"] = {"topic": labels["--label"]}
    for flag in ("background", "control"):
        source = getattr(arguments, flag)
        if source is not None:
            named = {"--text": arguments.text, "--author": arguments.author}
            read = read_flagged(source, f"--{flag}", named)
            given[flag] = [text or "" for text in read["--text"]]
            if flag == "background":
                given["background_ids"] = read["--author"]
    if arguments.id is None:
        given |= {
            name: texts.tolist()
            for name, texts in given.items()
            if name in ("original", "released") and texts is not None
        }
    return given, columns


def _tell(
    report: ReleaseReport, arguments: argparse.Namespace, limits: Mapping[str, float]
) -> int:
    """Print a report, write its page, and hold it against the limits."""
    path = _PAGE if arguments.html is None else arguments.html
    try:  # before a reader who has seen enough, as head has, ends this process
        report.to_html(path)
    finally:
        print(json.dumps(report.to_dict()) if arguments.json else report)
    print(f"The report as a page: {path}", file=sys.stderr)
    return 3 if _is_above(report, limits) else 0


def _limits(given: str | None) -> dict[str, float]:
    """The limits of --fail-above, by score."""
    limits = {}
    for part in given.split(",") if given else ():
        name, _, value = part.rpartition("=")
        try:
            limits[name.strip()] = float(value)
        except ValueError:
            limits[name.strip()] = math.nan
        if not name.strip().startswith(_SCORES) or not limits[name.strip()] >= 0:
            raise InvalidParameterError(
                f"--fail-above must hold scores ({', '.join(_SCORES)}) and numbers >= "
                f"0, such as linkage=0.1,author=0.2, got {part!r}."
            )
    return limits


def _is_above(report: ReleaseReport, limits: Mapping[str, float]) -> bool:
    """Whether something was found more often than is allowed; said on stderr."""
    found = {name: score.value for name, score in report.scores.items()}
    found["columns"] = len(report.columns)
    missing = sorted(set(limits) - set(found))
    if missing:
        raise InvalidParameterError(
            f"--fail-above must name scores of this report ({', '.join(found)}), got "
            f"{', '.join(missing)}."
        )
    for name in sorted(limits.keys() & report.scores.keys()):
        chance = report.scores[name].chance
        if chance is not None and limits[name] <= chance:
            print(
                f"The limit {name}={limits[name]:g} is not above guessing, "
                f"{chance:.2g}: a safe release passes it by chance only.",
                file=sys.stderr,
            )
    above = {name: x for name, x in limits.items() if found[name] > x}
    for name, limit in above.items():
        print(f"{name}: {found[name]:g} is above {limit:g}", file=sys.stderr)
    return bool(above)
