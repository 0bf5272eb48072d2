"""Print what pyproject.toml requires with an extra, one package a line.

python .ci/requirements.py test            numpy>=1.26, and so on
python .ci/requirements.py test --oldest   numpy==1.26: the lowest that it allows
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["project"]


def flat(requirements):
    """With the packages of its own extras in place of their names."""
    for requirement in requirements:
        if own := re.fullmatch(rf"{PROJECT['name']}\[(.+)\]", requirement):
            for extra in own[1].split(","):
                yield from flat(PROJECT["optional-dependencies"][extra])
        else:
            yield requirement


extra, *options = sys.argv[1:]
packages = [*PROJECT["dependencies"], *flat([f"{PROJECT['name']}[{extra}]"])]
for package in dict.fromkeys(packages):
    print(package.replace(">=", "==", 1) if "--oldest" in options else package)
