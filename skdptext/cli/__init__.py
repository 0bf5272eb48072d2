"""The command line: releases of files, and shortcuts to what helps to choose ε."""

from skdptext.cli._main import main

__all__ = ["main"]
