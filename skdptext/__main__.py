"""Run ``python -m skdptext``, which is the command ``skdptext``."""

import sys

from skdptext.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
