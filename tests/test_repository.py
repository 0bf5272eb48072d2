"""The promises that the repository makes about itself."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter

import api_pages

import skdptext
from tests.conftest import ROOT

SOURCES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8")
    for path in sorted((ROOT / "skdptext").rglob("*.py"))
}
ROOMS = {name.split(".")[1] for name in SOURCES} - {"__init__"}
# For developers of skdptext: no page in the API reference.
INTERNAL = {"_version", "utils", "documents", "demo", "cli", "__main__"}

# What is imported where it is used: extras, and what takes long. POT takes a fifth of a
# second, and seconds where it finds a backend such as PyTorch.
LATE = (
    "gensim",
    "ot",
    "pooch",
    "randomgen",
    "sklearn.cluster",
    "sklearn.feature_selection",
    "tqdm",
    *("matplotlib", "pandas", "polars", "pyarrow"),
)

# What a distribution installs, where its name is another one; what is loaded where it
# is there.
IMPORTED_AS = {"scikit-learn": "sklearn", "pot": "ot"}
UNDECLARED = {"polars", "skdptext"}


def imported(source: str) -> list[str]:
    """Dotted names that a file imports, anywhere and for types too."""
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


IMPORTS = {name: imported(source) for name, source in SOURCES.items()}


def test_rooms_are_entered_by_their_doors_one_way():
    """No private name of another room, and no circle of rooms or of files."""
    rooms = {room: set() for room in ROOMS}
    files = {name.removesuffix(".__init__"): set() for name in SOURCES}
    for path, names in IMPORTS.items():
        room, file = path.split(".")[1], path.removesuffix(".__init__")
        for name in names:
            top, other, *inner = [*name.split("."), ""]
            if top != "skdptext":
                continue
            if room not in ("__init__", other):
                assert not re.search(r"(^|\.)_(?!_)", ".".join(inner)), (path, name)
                rooms[room].add(other)
            longest = [name.rsplit(".", i)[0] for i in range(name.count("."))]
            files[file] |= {next((f for f in (name, *longest) if f in files), file)}
    for graph in rooms, {file: others - {file} for file, others in files.items()}:
        TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
    assert rooms["datasets"] <= {"exceptions", "_version", "utils", "embeddings"}


def test_randomness_is_never_global():
    """No state that a whole process shares, which None stands for in scikit-learn."""
    shared = re.compile(
        r"^\s*(import|from) random\b|check_random_state\b|\.rvs\((?!.*random_state)"
        r"|random\.(?!BitGenerator|Generator|PCG64|SeedSequence|default_rng"
        r"|RandomState\b(?!\()|mtrand\._rand)\w+\(",
        re.M,
    )
    for code in ("import random", "from random import choice", "np.random.normal(3)",
                 "check_random_state(rng)", "stats.gamma.rvs(3.0)",
                 "numpy.random.RandomState(0)"):  # fmt: skip
        assert shared.search(code), code
    recognises = "skdptext.utils._validation"  # to refuse it
    found = {name: shared.findall(source) for name, source in SOURCES.items()}
    assert {name for name, uses in found.items() if uses} <= {recognises}


def test_every_package_that_is_imported_is_declared():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = declared["optional-dependencies"]
    listed = declared["dependencies"] + [
        line for extra in ("frames", "plot", "arrow") for line in optional[extra]
    ]
    names = {re.match(r"[\w-]+", line).group() for line in listed}
    known = {IMPORTED_AS.get(name, name) for name in names} | UNDECLARED
    packages = {name.partition(".")[0] for names in IMPORTS.values() for name in names}
    assert packages - known - set(sys.stdlib_module_names) == set()


def test_filters_of_warnings_are_changed_in_one_place():
    """All threads share them; the command line and the demo own their process."""
    changes = r"warnings\.(catch_warnings|\w*filter|resetwarnings)|from warnings import"
    found = {name for name, source in SOURCES.items() if re.search(changes, source)}
    assert found == {f"skdptext.{name}" for name in ("utils._system", "cli", "demo")}


def test_imports_work_without_extras_and_load_nothing_late():
    # First in a fork, with all that refused: does everything still import? Then as
    # installed: what does importing everything load that scikit-learn does not? Are
    # subpackages imported at first use?
    rooms = [f"skdptext.{room}" for room in sorted(ROOMS) if room != "demo"]
    code = f"""
import importlib, os, sys, warnings
import sklearn.feature_extraction.text  # may look for extras, and do without
before = set(sys.modules)
warnings.filterwarnings("ignore", "This process .* is multi-threaded")
child = os.fork()
if child:
    failed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert not failed, "without extras, see above"
else:
    sys.modules.update(dict.fromkeys({LATE!r}))
import skdptext
assert not {{"skdptext.attacks", "skdptext.inspection"}} & set(sys.modules)
assert "attacks" in dir(skdptext)
assert skdptext.attacks.linkage_attack.__module__.startswith("skdptext.attacks.")
assert "skdptext.inspection" not in sys.modules
for room in {rooms!r}:
    importlib.import_module(room)
late = [name for name in {LATE!r} if name not in before and sys.modules.get(name)]
assert not late, f"loaded by importing skdptext: {{late}}"
"""
    # a fork has no threads; a library that starts one all the same may do nothing
    # with it here
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_a_user_faces_at_most_60_names_each_shown_once():
    page = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8")
    listed = set(re.findall(r"^   skdptext\.(\w+)$", page, flags=re.MULTILINE))
    assert listed == ROOMS - INTERNAL <= set(skdptext.__all__) <= set(dir(skdptext))
    names, others = api_pages.paths(), api_pages.others()
    assert len(names) <= 60
    assert len(set(names + others)) == len(names) + len(others), "shown twice"
    shown = set(map(api_pages.public, names + others))
    # What users get and do not construct is on the page of what returns it.
    assert shown >= api_pages.made()


def test_links_of_the_readme_work_on_a_package_index():
    # There they lead nowhere unless they are absolute.
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    repository = project["urls"]["Repository"]
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    own = re.compile(rf"{repository}/(?:blob|tree)/main/(.+)|{raw}/main/(.+)")
    title, _badges, text = (ROOT / "README.md").read_text("utf-8").split("\n\n", 2)
    links = re.findall(r"\]\(([^)]+)\)", title + text)
    assert len(links) > 15
    for link in links:
        match = own.fullmatch(link)
        assert match, f"{link} is not below {repository}"
        assert (ROOT / (match[1] or match[2])).exists(), link


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    versions = re.findall(r"^ *version: (\S+)$", citation, flags=re.MULTILINE)
    assert versions == [skdptext.__version__] * 2  # of the file and how to cite it
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {skdptext.__version__}" in changelog
