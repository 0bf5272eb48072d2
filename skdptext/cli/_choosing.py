"""skdptext calibrate, audit and report: short doors to the functions of these names."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

from skdptext.audit import audit_word_privacy
from skdptext.cli._settings import (
    add_noise,
    add_reading,
    add_stop_words,
    load_embedding,
    make_perturber,
)
from skdptext.exceptions import CalibrationWarning
from skdptext.inspection import obfuscation_report
from skdptext.model_selection import calibrate_epsilon
from skdptext.release import read_columns

__all__ = ["add_commands"]

_CALIBRATE = """\
Find the ε at which a wanted share of the words of a text stays unchanged. ε means
little by itself: this tells what it does with an embedding, a mechanism and a text.
Give public text of the kind that you will release (--public). Without it, every word of
the embedding counts once, of which noise changes another share than of a text. Never
give the documents to be protected: ε would tell something about them that the guarantee
does not count. More: skdptext.model_selection.calibrate_epsilon.

example:
  skdptext calibrate --embedding glove.6B.100d.txt --target 0.5 \\
    --public old-reviews.csv --column review
"""

_AUDIT = """\
Test by its output alone whether a mechanism keeps the privacy that it claims between
words. An audit can show a violation; it never proves privacy. More:
skdptext.audit.audit_word_privacy.

exit status: 1 if a claim is refuted.
"""

_REPORT = """\
Attack a release of documents whose authors are known: how often are the authors still
found out, and what is left of the topics? The report is as private as the documents.
More: skdptext.inspection.obfuscation_report.

example:
  skdptext report posts.csv --author user --topic forum --embedding glove.6B.100d.txt \\
    --epsilon 20 --length 40
"""


def add_commands(commands: Any) -> None:
    """The three commands."""

    def add(name: str, summary: str, description: str, run: Any) -> Any:
        parser = commands.add_parser(
            name,
            help=summary,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        parser.set_defaults(run=run)
        return parser

    parser = add("calibrate", "find the ε for a wanted noise", _CALIBRATE, _calibrate)
    add_noise(parser, epsilon=False)
    parser.add_argument(
        "--target",
        type=float,
        default=0.5,
        help="share of words that stay unchanged, between 0 and 1 (default 0.5)",
    )
    parser.add_argument(
        "--public",
        metavar="SOURCE",
        help="public text: .csv, .jsonl or .parquet file, or a folder",
    )
    parser.add_argument("--column", default="text", help="of documents (default text)")
    parser.add_argument(
        "--draws", type=int, default=100, help="draws per word (default 100)"
    )
    add_stop_words(parser)

    parser = add("audit", "test the privacy that is claimed", _AUDIT, _audit)
    add_noise(parser)
    parser.add_argument(
        "--draws", type=int, default=20_000, help="draws per word (default 20000)"
    )
    parser.add_argument(
        "--pairs", type=int, default=10, help="pairs of words (default 10)"
    )

    parser = add("report", "attack a release, by author", _REPORT, _report)
    parser.add_argument("source", help=".csv, .jsonl or .parquet file, or a folder")
    parser.add_argument("--author", required=True, help="column of authors")
    parser.add_argument("--topic", help="column of topics")
    parser.add_argument("--column", default="text", help="of documents (default text)")
    add_noise(parser)
    add_reading(parser)
    parser.add_argument("--html", type=Path, help="write the report there, as a page")
    parser.add_argument("--n-jobs", type=int, help="processes (default 1)")


def _calibrate(arguments: argparse.Namespace) -> int:
    texts = None
    if arguments.public is not None:
        (texts,) = read_columns(arguments.public, [arguments.column])
        texts = [text or "" for text in texts]
    perturber = make_perturber(
        arguments,
        load_embedding(arguments),
        document_length=1,
        resize="sample",  # as released: each document counts alike
        stop_words=arguments.stop_words,
    )
    with warnings.catch_warnings():
        # no ε was given to warn of, and what is counted is said below
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate_epsilon(
            perturber.fit([]),
            arguments.target,
            documents=texts,
            n_draws=arguments.draws,
            tuned_on="public",
        )
    low, high = found.interval
    print(
        f"--epsilon {found.epsilon:.4g}  leaves {found.share:.1%} of the words "
        f"unchanged (95 % interval: {low:.4g} to {high:.4g})\n"
        f"counted: {found.counted}"
    )
    if texts is None:
        print(
            "Text uses the frequent words, of which noise changes another share: give "
            "--public text of the kind to be released.",
            file=sys.stderr,
        )
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    perturber = make_perturber(
        arguments,
        load_embedding(arguments),
        epsilon=arguments.epsilon,
        document_length=1,
    ).fit([])
    audit = audit_word_privacy(
        perturber, n_draws=arguments.draws, n_pairs=arguments.pairs
    )
    print(audit)
    return 1 if audit.violated.any() else 0


def _report(arguments: argparse.Namespace) -> int:
    names = [arguments.column, arguments.author, arguments.topic]
    found = read_columns(arguments.source, [name for name in names if name])
    texts, authors, *topics = found
    perturber = make_perturber(
        arguments,
        load_embedding(arguments),
        epsilon=arguments.epsilon,
        document_length=arguments.length,
        resize="sample",
        oov=arguments.oov,
        stop_words=arguments.stop_words,
    )
    report = obfuscation_report(
        [text or "" for text in texts],
        authors,
        topics[0] if topics else None,
        perturber,
        n_jobs=arguments.n_jobs,
    )
    print(report)
    if arguments.html is not None:
        arguments.html.write_text(report._repr_html_(), encoding="utf-8")
    return 0
