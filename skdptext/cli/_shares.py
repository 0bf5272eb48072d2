"""skdptext shares: how many documents each topic had, from what was released."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

from skdptext.cli._settings import (
    add_command,
    add_option,
    add_stand_ins,
    make_replacer,
    refuse,
)
from skdptext.exceptions import InvalidParameterError
from skdptext.mechanisms import ExactResponse
from skdptext.privacy import Guarantee
from skdptext.release import read_stand_ins
from skdptext.replacement import (
    DPDocumentReplacer,
    TopicShares,
    noise_fingerprint,
    shares_of_groups,
    topic_shares,
)
from skdptext.utils import replacing

_SHARES = """\
Estimate what share of the documents each topic had, from a sealed release of stand-ins
or of their groups, with intervals. It needs nothing private, no key, and costs no ε.

Groups (skdptext release --output group) need the release alone. Stand-ins need the
public documents that they were drawn from, which also give the typical words of each
group.

examples (the first after release --output group):
  skdptext shares released/
  skdptext shares released/ --public public.csv --public-label topic -o shares.csv
"""


def add_shares(commands: Any) -> None:
    """The command."""
    summary = "estimate the share of each topic from a release of stand-ins"
    parser = add_command(commands, "shares", summary, _SHARES, _shares)
    add_option(parser, "out", "folder of the sealed release")
    text = "file for the shares, too: .csv or .jsonl; one that is there is replaced"
    add_option(parser, "-o --table", text, metavar="FILE", type=Path)
    text = "probability with which each interval holds the share of its group, at least"
    add_option(parser, "--confidence", text, 0.95)
    text = (
        "column of the release with the authors, where each answered once (release "
        "--author, and --keep of the same column): then shares are those of authors"
    )
    add_option(parser, "--author", text, metavar="COLUMN")
    group = parser.add_argument_group(
        "public documents", "Those of the release, in the same order."
    )
    add_stand_ins(group, texts_of="the release")
    add_option(group, "--words", "typical words of each group to list", 6)


def _shares(arguments: argparse.Namespace) -> int:
    table = arguments.table
    if table is not None and table.suffix not in (".csv", ".jsonl"):
        raise InvalidParameterError(
            f"--table must be a file that ends in .csv or .jsonl, got {str(table)!r}."
        )
    if arguments.public is None:
        flags = "--public-text --public-label --words"
        refuse(arguments, flags, "without --public.")
    also = [] if arguments.author is None else [arguments.author]
    manifest, (released, *authors) = read_stand_ins(arguments.out, also)
    _check_manifest(manifest)
    _check_author(manifest, arguments)
    names = authors[0] if authors else None
    if arguments.public is not None:
        shares = _by_public_documents(manifest, released, names, arguments)
    else:
        shares = _by_groups(manifest, released, names, arguments)
    if table is not None:
        with replacing(table) as file:
            file.write(_as_table(shares, table.suffix))
    print(shares)
    return 0


def _check_manifest(manifest: dict[str, Any]) -> None:
    """Refuse a manifest that was edited: its numbers say what the answers mean.

    Each number stands there twice, and in the fingerprint of the noise.
    """
    try:
        (part,) = Guarantee.from_json(manifest).parts
        stated = manifest["epsilon"], manifest["mechanism"]["options"]["n_groups"]
        channel = ExactResponse(part.n_groups, part.epsilon)
        noise = noise_fingerprint(part.grouping, channel).hex()
        agrees = (
            stated == (part.epsilon, part.n_groups)
            and manifest["public"]["fingerprint"] == part.grouping.hex()
            and manifest["noise_fingerprint"] == noise
            and manifest["guarantee"].get("unit", "document") == part.unit
        )
    except (InvalidParameterError, AttributeError, KeyError, ValueError):
        agrees = False
    if not agrees:
        raise InvalidParameterError(
            "out must hold a manifest as it was written, got one whose ε, groups and "
            "guarantee differ: what its answers mean cannot be told."
        )


def _check_author(manifest: dict[str, Any], arguments: argparse.Namespace) -> None:
    """Refuse to count the rows of an author as if each had answered."""
    unit = manifest["guarantee"].get("unit", "document")
    if (unit == "person") == (arguments.author is not None):
        return
    if unit == "person":
        raise InvalidParameterError(
            "--author must name the column of authors, each of whom answered once for "
            "all their documents, got none. It is in the release if --keep named it."
        )
    raise InvalidParameterError(
        "--author must not be given for a release in which each document answered by "
        "itself."
    )


def _by_groups(
    manifest: dict[str, Any],
    released: list[Any],
    authors: list[Any] | None,
    arguments: argparse.Namespace,
) -> TopicShares:
    if manifest["output"] != "group":
        raise InvalidParameterError(
            "--public must name the public documents of the release, which say "
            f"what group each {manifest['output']} is of, got none."
        )
    k = manifest["mechanism"]["options"]["n_groups"]
    return shares_of_groups(
        released,
        ExactResponse(k, manifest["epsilon"]),
        groups=manifest["public"].get("groups"),
        authors=authors,
        confidence=arguments.confidence,
    )


def _by_public_documents(
    manifest: dict[str, Any],
    released: list[Any],
    authors: list[Any] | None,
    arguments: argparse.Namespace,
) -> TopicShares:
    replacer = _replacer_of(manifest, arguments)
    if manifest["output"] == "group":
        label = {str(name): name for name in replacer.groups_.tolist()}
        released = [label.get(str(name), name) for name in released]
    elif manifest["output"] == "index":
        released = [int(number) for number in released]
    return topic_shares(
        released,
        replacer,
        authors=authors,
        confidence=arguments.confidence,
        n_words=arguments.words,
    )


def _replacer_of(
    manifest: dict[str, Any], arguments: argparse.Namespace
) -> DPDocumentReplacer:
    """The replacer that made a release, but for its key."""
    labelled = manifest["public"].get("labelled", False)
    if labelled != (arguments.public_label is not None):
        rule = "be given for" if labelled else "not be given but for"
        raise InvalidParameterError(
            f"--public-label must {rule} a release whose groups are public labels."
        )
    k = manifest["mechanism"]["options"]["n_groups"]
    replacer = make_replacer(
        arguments,
        manifest["columns"]["text"],
        n_groups=None if labelled else k,
        epsilon=manifest["epsilon"],
        output=manifest["output"],
    ).fit()
    found = replacer.release_details()["public"]["fingerprint"]
    if found != manifest["public"].get("fingerprint"):
        raise InvalidParameterError(
            "--public must hold the public documents of the release, in the same "
            "order and with the same labels, and the release must have the default "
            "groups and be of the same versions: these documents, or their groups, "
            "have another fingerprint than the release states."
        )
    return replacer


def _as_table(shares: TopicShares, suffix: str) -> bytes:
    """A row for each group."""
    rows = []
    for i, group in enumerate(shares.groups.tolist()):
        row = {"group": group, f"share_of_{shares.unit}s": float(shares.shares[i])}
        row |= {"low": float(shares.low[i]), "high": float(shares.high[i])}
        if shares.words is not None:
            row["words"] = shares.words[i]
        rows.append(row)
    with io.StringIO(newline="") as text:
        if suffix == ".jsonl":
            for row in rows:
                text.write(json.dumps(row, ensure_ascii=False) + "\n")
        else:
            writer = csv.writer(text)
            writer.writerow(rows[0])
            for row in rows:
                words = {"words": " ".join(row["words"])} if "words" in row else {}
                writer.writerow((row | words).values())
        return text.getvalue().encode()
