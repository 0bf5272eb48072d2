"""What a page or a notebook prints is near what it printed when it was written."""

from __future__ import annotations

import re

NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?")


def numbers(want: str, got: str) -> str:
    """What was printed, with the numbers that were expected where they are close.

    Close is within 5% or two units of the last digit.
    """
    wants, gots = list(NUMBER.finditer(want)), list(NUMBER.finditer(got))
    if len(wants) != len(gots):
        return got
    out, end = [], 0
    for w, g in zip(wants, gots, strict=True):
        value, other = (float(m[0].replace(",", "")) for m in (w, g))
        unit = 10.0 ** -len(w[0].partition(".")[2])
        close = abs(value - other) <= max(0.05 * abs(value), 2.001 * unit)
        out += [got[end : g.start()], w[0] if close else g[0]]
        end = g.end()
    return "".join([*out, got[end:]])
