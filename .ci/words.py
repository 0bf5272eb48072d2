"""Fail on words and lines that make one stumble: python .ci/words.py FILES_OR_FOLDERS

Reads comments and strings of Python files, cells of notebooks, and other files whole.
"""

import json
import re
import sys
import tokenize
from pathlib import Path

INSTEAD = {
    r"\b(beside|anew|whatever|of (your|one's) own)\b": "next to; again; any; custom",
    r"\b(nobody|somebody|whoever)\b": "no attacker; someone; anyone who",
    r"\w, too\b(?! \w+ (for|to)\b)": "also",
    r"(?<!there) (is|are) no (?!longer|more|less|fewer|\w+er\b)": "is not a",
    r"\bin clear\b": "in plain text; unchanged",
    r"\b(neighbour|behaviour|colour|favour|honour|centre|labell|modelling|cancelled)"
    r"|recogni[sz]|\banalysed?\b|\bgrey\b|(anonym|random|optim|normal|regular|summar|organ)is"
    r"[ei]": "American spelling; identify",
    r"(^|[\s(])\.\d|\d\s%(?![(\w])": "0.93; 99%",
    r"^(?=.{89})\s*(>>>|\.\.\.) .*": "code lines of at most 88 characters",
}
# Code, addresses, a parameter, words to search for, and columns of stored results.
KEPT = re.compile(
    r"``.*?``|`[^`]+`|https?:\S+|neighbours(?==| :)|:keywords:.*|50 %|99 % interval",
    re.IGNORECASE,
)


def lines(path):
    """Numbered lines that people read."""
    if path.suffix != ".py":
        text = path.read_text("utf-8")
        if path.suffix == ".ipynb":
            text = "\n".join("".join(c["source"]) for c in json.loads(text)["cells"])
        yield from enumerate(text.splitlines(), 1)
        return
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if tokenize.tok_name[token.type] in {"COMMENT", "STRING", "FSTRING_MIDDLE"}:
                yield from enumerate(token.string.splitlines(), token.start[0])


found = 0
for name in sys.argv[1:]:
    paths = [Path(name), *sorted(Path(name).rglob("*"))]
    for path in [p for p in paths if p.suffix in {".py", ".rst", ".md", ".ipynb"}]:
        for number, line in lines(path):
            for word, instead in INSTEAD.items():
                if match := re.search(word, KEPT.sub("", line), re.IGNORECASE):
                    print(f"{path}:{number}: {match[0].strip()!r}; write: {instead}")
                    found += 1
sys.exit(bool(found))
