"""The command ``skdptext``: its commands, its errors, its exit statuses."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import cache, partial
from typing import TextIO

from skdptext._version import __version__
from skdptext.cli import _choosing, _learn, _release
from skdptext.cli._settings import HelpFormatter, hints, in_flags

_DESCRIPTION = """\
Release texts, or a corpus learned from them, with a stated privacy guarantee, and
attack releases.
"""

_EPILOG = """\
you hold the texts, and a labelled public corpus is enough:
  skdptext learn reviews.csv --text review --label topic --author user \\
    --public old-reviews.csv --epsilon 1 -o corpus.csv
a recipient may hold or guess the originals; each text becomes a public one:
  skdptext release reviews.csv --text review --id id --public old-reviews.csv \\
    --epsilon 4 --name 2026-q4 --key file:q4.key -o released/
wording is needed, and no recipient has originals; words are noisy:
  skdptext calibrate --embedding glove.6B.50d.txt --n-words 6000 --changed 0.25 \\
    --public old-reviews.csv --public-text review # ε: a quarter of the words change
  skdptext release reviews.csv --text review --id id --epsilon E --length 20 \\
    --embedding glove.6B.50d.txt --n-words 6000 \\
    --name 2026-q4 --key file:q4.key -o released/
before a release of files, and after it:
  skdptext key q4.key              # --key file:q4.key
  skdptext verify released/        # then destroy the key; _release.json in released/
                                   # states the guarantee
  skdptext report reviews.csv released/ --text review --id id      # attack it
Each command says more with --help. Noise on words is of the exponential mechanism with
lam 0, unless you name another.

exit status:
  0    done
  1    a release is incomplete or has changed (verify)
  2    refused: an argument or an input breaks a rule, as the message says
  3    a release gives away more than you allow (report --fail-above)
  4    a fault of skdptext itself, shown with its traceback: please report it
  130  interrupted
  141  what reads the output has closed it, as head does
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, with the arguments of this process by default.

    It returns the exit status: 0: done; 1: the answer is no; 2: refused; 3: more is
    given away than allowed; 4: a fault of skdptext itself; 130: interrupted; 141:
    nobody reads the output any more. See ``skdptext --help``.
    """
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()  # here, where a closed pipe can be caught
    except BrokenPipeError:
        # what is left in the buffer would fail again as Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as the shell says of tools that such a pipe ends


@cache
def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="skdptext",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=HelpFormatter,
    )
    parser.add_argument(
        "--version", action="version", version=f"skdptext {__version__}"
    )
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    _choosing.add_calibrate(commands)
    _release.add_commands(commands)
    _choosing.add_report(commands)
    _learn.add_learn(commands)
    return parser


def _run(arguments: Sequence[str] | None) -> int:
    parsed, unknown = _parser().parse_known_args(arguments)
    if unknown:  # with the usage of the command, where argparse shows that of all
        parsed.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(_show_warning, parsed)
            return parsed.run(parsed)
    except BrokenPipeError:
        raise
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        message = _told(_message(error), parsed)
        print(f"skdptext {parsed.command}: {message}", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()  # Python's own status would be 1, which means no
        return 4
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130


def _message(error: Exception) -> str:
    """The message; for the file system's errors, without their number."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot read or write {error.filename}: {error.strerror}."
    return str(error)


def _told(message: str, arguments: argparse.Namespace) -> str:
    """A message of the library, in the words of the command line."""
    message = in_flags(message, arguments)
    return message + hints(message, arguments)


def _show_warning(
    arguments: argparse.Namespace,
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Without the line of code, which means nothing on the command line."""
    print(f"Warning: {_told(str(message), arguments)}", file=sys.stderr)
