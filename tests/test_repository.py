"""The promises that the repository makes about itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
import os
import re
import sys
import tomllib
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

import skdptext
from tests.processes import run_python
from tests.public_calls import RESULTS, api_pages

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "skdptext"

# Bottom to top. A room imports rooms of its own layer or of lower ones, without
# cycles; `privacy` shares a layer with `perturbation`, which hands out guarantees.
LAYERS = (
    {"exceptions", "_version"},
    {"utils"},
    {"embeddings"},
    {"neighbors", "files"},
    {"documents"},
    {"mechanisms"},
    {"privacy", "base"},
    {"perturbation", "replacement", "learning"},
    {"audit", "metrics", "release", "naive_bayes"},
    {"attacks", "model_selection", "datasets", "preprocessing"},
    {"inspection"},
    {"cli"},
    {"demo", "__main__"},
)
LAYER = {room: height for height, rooms in enumerate(LAYERS) for room in rooms}
# Closer bounds than the layer gives.
ONLY = {"datasets": {"exceptions", "_version", "utils", "embeddings", "datasets"}}
# For developers of skdptext: no page in the API reference.
INTERNAL = {
    "_version",
    "utils",
    "files",
    "documents",
    "demo",
    "cli",
    "__main__",
}

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

# What a distribution installs, where its name is another one.
IMPORTED_AS = {"scikit-learn": "sklearn", "pot": "ot"}
# Loaded where it is there; the package itself.
UNDECLARED = {"polars", "skdptext"}

# The parts of numpy.random that hold no global state.
STATELESS_RANDOM = {"BitGenerator", "Generator", "PCG64", "SeedSequence", "default_rng"}

SOURCES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(
    {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in SOURCES}
    - {"__init__"}
)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(node: ast.AST) -> list[str]:
    """Dotted names that an import statement binds or reads from."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert not node.level, "imports are absolute"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


class _Source(NamedTuple):
    """What the tests ask of a file."""

    imported: list[str]  # dotted names, anywhere and for types too
    random: list[str]


@cache  # each test of the imports asks for all files of the package
def _read(source: str) -> _Source:
    tree = ast.parse(source)
    nodes = list(ast.walk(tree))
    return _Source(
        [name for node in nodes for name in _imported(node)],
        _forbidden_randomness(nodes),
    )


def _forbidden_randomness(nodes: list[ast.AST]) -> list[str]:
    """Uses of a random state that is shared by the whole process."""
    uses = []
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        names = _imported(node)
        if isinstance(node, ast.Attribute):
            # a RandomState that a user gives is known by its class
            if node.attr == "RandomState" and id(node) not in called:
                continue
            names = [re.sub(r"^np\.", "numpy.", _dotted(node))]
        for name in names:
            if "random" not in name:
                continue
            match = re.match(r"numpy\.random\.(\w+)", name)
            if (
                (match and match[1] not in STATELESS_RANDOM)
                or name.split(".")[0] == "random"
                # With None it hands out NumPy's global state.
                or name.endswith(".check_random_state")
            ):
                uses.append(f"line {node.lineno}: {name}")
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "rvs"
            and not any(keyword.arg == "random_state" for keyword in node.keywords)
        ):
            uses.append(f"line {node.lineno}: rvs without random_state")
    return uses


def _dotted(node: ast.AST) -> str:
    """The dotted name of an attribute; what is no name stands as nothing in it."""
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


@cache
def _room_imports() -> dict[str, set[str]]:
    """For each room the rooms that it imports, anywhere in its code."""
    graph: dict[str, set[str]] = {room: set() for room in ROOMS}
    for path in SOURCES:
        if path == PACKAGE / "__init__.py":
            continue
        for name in _read(path.read_text("utf-8")).imported:
            parts = name.split(".")
            if parts[0] == "skdptext":
                graph[_room(path)].add(parts[1] if len(parts) > 1 else "")
    return graph


def _sources(folder: str) -> dict[str, str]:
    """Path from the root of the repository to source, for all files below a folder."""
    return {
        _name(p): p.read_text("utf-8") for p in sorted((ROOT / folder).rglob("*.py"))
    }


def _file_imports(sources: dict[str, str]) -> dict[str, set[str]]:
    """For each file those of the files that it imports, anywhere and for types too.

    A name is looked for from the root, from ``benchmarks`` and beside the importing
    file, as when it is run as a script.
    """
    graph: dict[str, set[str]] = {path: set() for path in sources}
    for path, source in sources.items():
        folders = ("", "benchmarks/", path.rpartition("/")[0] + "/")
        for name in _read(source).imported:
            for folder in folders:
                graph[path] |= _file_of(name, folder, sources)
    return graph


def _file_of(name: str, folder: str, sources: dict[str, str]) -> set[str]:
    """The file that holds a dotted name, if there is one: that of its longest part."""
    parts = name.split(".")
    while parts:
        place = folder + "/".join(parts)
        if paths := {f"{place}.py", f"{place}/__init__.py"} & sources.keys():
            return paths
        parts.pop()
    return set()


def _circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of files that import each other, directly or by way of others."""
    reached = {path: set(imported) for path, imported in graph.items()}
    for middle in graph:
        for others in reached.values():
            if middle in others:
                others |= reached[middle]
    groups = {
        tuple(sorted(other for other in others if path in reached[other]))
        for path, others in reached.items()
        if path in others
    }
    return [list(group) for group in sorted(groups)]


def _trespasses(sources: dict[str, str]) -> list[str]:
    """Imports of a private file, or name, of another room than the importing one."""
    imports = []
    for path, source in sources.items():
        own = path.split("/")[1].removesuffix(".py")
        for name in _read(source).imported:
            top, room, *inner = [*name.split("."), ""]
            private = any(re.match(r"_(?!_)", part) for part in inner)
            if top == "skdptext" and room != own and private:
                imports.append(f"{path} imports {name}")
    return imports


def test_every_room_has_a_layer():
    assert set(ROOMS) <= set(LAYER), "give the new room its place in LAYERS"


@pytest.mark.parametrize("room", ROOMS)
def test_imports_run_one_way(room):
    # demo stands outside, as a user does.
    above = {
        other
        for other in _room_imports()[room]
        if room != "demo" and LAYER.get(other, len(LAYERS)) > LAYER[room]
    }
    assert not above, f"{room} imports what stands above it (or skdptext itself)"
    if room in ONLY:
        assert _room_imports()[room] <= ONLY[room]


def test_rooms_do_not_import_each_other_in_circles():
    graph = {room: imported - {room} for room, imported in _room_imports().items()}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the cycle


@pytest.mark.parametrize("folder", ["skdptext", "benchmarks"])
def test_files_do_not_import_each_other_in_circles(folder):
    assert _circles(_file_imports(_sources(folder))) == []


@pytest.mark.parametrize(
    "code",
    [
        "import skdptext.documents._b",
        "from skdptext.documents._b import name",
        "from skdptext.documents import _b",
        "def late():\n    from skdptext.documents._b import name",
        "if TYPE_CHECKING:\n    from skdptext.documents._b import Name",
        "from skdptext.documents import name",  # by way of the door
    ],
)
def test_the_search_for_circles_finds(code):
    sources = {
        "skdptext/documents/__init__.py": "from skdptext.documents._b import name",
        "skdptext/documents/_a.py": code,
        "skdptext/documents/_b.py": "from skdptext.documents._c import name",
        "skdptext/documents/_c.py": "from skdptext.documents import _a",
        "skdptext/documents/_d.py": "from skdptext.documents._a import name",
    }
    (circle,) = _circles(_file_imports(sources))
    assert {f"skdptext/documents/_{letter}.py" for letter in "abc"} <= set(circle)
    assert "skdptext/documents/_d.py" not in circle  # it is imported by none of them
    sources["skdptext/documents/_c.py"] = "from skdptext import embeddings"
    assert _circles(_file_imports(sources)) == []


def test_rooms_are_entered_by_their_doors():
    assert _trespasses(_sources("skdptext")) == []


@pytest.mark.parametrize(
    "code",
    [
        "from skdptext.utils._html import page",
        "from skdptext.utils import _html",
        "import skdptext.utils._html",
        "def late():\n    from skdptext.utils._html import page",
        "if TYPE_CHECKING:\n    from skdptext.utils._html import Fragment",
        "from skdptext.utils import _page",
    ],
)
def test_the_search_for_trespasses_finds(code):
    assert len(_trespasses({"skdptext/documents/_a.py": code})) == 1
    assert len(_trespasses({"skdptext/documents/__init__.py": code})) == 1
    assert len(_trespasses({"skdptext/demo.py": code})) == 1
    assert _trespasses({"skdptext/utils/_labels.py": code}) == []
    door = code.replace("_html", "html").replace("_page", "page")
    assert _trespasses({"skdptext/documents/_a.py": door}) == []


@pytest.mark.parametrize("room", sorted(set(ROOMS) - {"_version", "demo"}))
def test_public_door(room):
    module = importlib.import_module(f"skdptext.{room}")
    assert len(module.__doc__.split()) > 2, "say what the room is for"
    # a room for developers lists nothing: all its names are for the rooms beside
    names = getattr(module, "__all__", [])
    assert names or room in INTERNAL
    assert len(set(names)) == len(names)
    for name in names:
        value = getattr(module, name)
        if callable(value):
            assert inspect.getdoc(value), f"{room}.{name} has no docstring"


def test_private_files_behind_public_doors():
    files = [path for path in SOURCES if path.parent != PACKAGE]
    inner = {_name(path) for path in files if path.name != "__init__.py"}
    assert all(Path(name).name.startswith("_") for name in inner), inner


def test_root_offers_all_it_lists():
    assert all(hasattr(skdptext, name) for name in skdptext.__all__)
    assert set(ROOMS) - INTERNAL <= set(skdptext.__all__) <= set(dir(skdptext))


def test_randomness_is_never_global():
    uses_of = {_name(path): _read(path.read_text("utf-8")).random for path in SOURCES}
    recognises = "skdptext/utils/_validation.py"  # to refuse it
    uses_of[recognises] = [
        use for use in uses_of[recognises] if not use.endswith(".check_random_state")
    ]
    assert {path: uses for path, uses in uses_of.items() if uses} == {}


@pytest.mark.parametrize(
    "code",
    [
        "import numpy as np\nnp.random.seed(0)",
        "import numpy as np\nnoise = np.random.normal(size=3)",
        "import numpy\nrng = numpy.random.RandomState(0)",
        "from numpy.random import standard_normal",
        "import random",
        "from random import choice",
        "from sklearn.utils import check_random_state",
        "from scipy import stats\nstats.gamma.rvs(3.0)",
    ],
)
def test_the_search_for_global_randomness_finds(code):
    assert _read(code).random


def test_every_package_that_is_imported_is_declared():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    optional = declared["optional-dependencies"]
    listed = declared["dependencies"] + [
        line for extra in ("frames", "plot", "arrow") for line in optional[extra]
    ]
    names = {re.match(r"[\w-]+", line).group() for line in listed}
    known = {IMPORTED_AS.get(name, name) for name in names} | UNDECLARED
    packages = {
        name.partition(".")[0]
        for path in SOURCES
        for name in _read(path.read_text("utf-8")).imported
    }
    assert packages - known - set(sys.stdlib_module_names) == set()
    assert names >= {"pooch", "randomgen"}  # the list was read


def test_filters_of_warnings_are_changed_in_one_place():
    """All threads share them; the command line and the demo own their process."""
    changes = r"warnings\.(catch_warnings|\w*filter|resetwarnings)|from warnings import"
    found = {
        str(path.relative_to(PACKAGE))
        for path in SOURCES
        if re.search(changes, path.read_text("utf-8"))
    }
    assert found == {"utils/_system.py", "cli.py", "demo.py"}


def test_imports_work_without_extras_and_load_nothing_late():
    # First in a fork, with all that refused: does everything still import? Then as
    # installed: what does importing everything load that scikit-learn does not? Are
    # subpackages imported at first use?
    rooms = [f"skdptext.{room}" for room in ROOMS if room != "demo"]
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
try:
    skdptext.attack
except AttributeError as error:
    print(error)
for room in {rooms!r}:
    importlib.import_module(room)
late = [name for name in {LATE!r} if name not in before and sys.modules.get(name)]
assert not late, f"loaded by importing skdptext: {{late}}"
"""
    # a fork has no threads; a library that starts one all the same may do nothing
    # with it here
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = run_python("-c", code, cwd=ROOT, env=environment)
    assert done.stderr == ""
    assert done.stdout == "module 'skdptext' has no attribute 'attack'\n" * 2


def test_every_public_room_is_in_the_api_reference():
    page = (ROOT / "docs" / "api" / "index.rst").read_text("utf-8")
    listed = set(re.findall(r"^   skdptext\.(\w+)$", page, flags=re.MULTILINE))
    assert listed == set(ROOMS) - INTERNAL


def test_a_user_faces_at_most_64_names():
    pages = api_pages()
    names = [f"{room}.{name}" for room in pages.rooms() for name in pages.names(room)]
    assert len(names) <= 64
    others = pages.others()
    assert len(set(names + others)) == len(names) + len(others), "shown twice"
    shown = {operator.attrgetter(name)(skdptext) for name in names + others}
    # What users get and do not construct is on the page of what returns it.
    assert shown >= RESULTS
    assert set(pages.RESULTS) <= set(names)


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


def test_workflows_run_what_is_there():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = extras["requires-python"].removeprefix(">=")
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text("utf-8")
        made = re.findall(r"\bmake ([a-z-]+)", text)
        assert set(made) <= targets, workflow
        files = re.findall(r"(?:tests|\.ci|docs)/[\w./]+", text)
        assert made or files or "pypi" in text
        for file in files:
            there = (ROOT / file.rstrip(".")).exists()
            assert there or file.startswith("docs/_build"), file
        for version in re.findall(r'"(3\.\d+)"', text):
            assert (
                f"Programming Language :: Python :: {version}" in extras["classifiers"]
            )
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text("utf-8")
    assert f'python-version: "{oldest}"' in text


@pytest.mark.parametrize("folder", ["get_started", "howto", "understand", "evidence"])
def test_every_page_of_the_site_is_listed(folder):
    index = (ROOT / "docs" / folder / "index.rst").read_text("utf-8")
    pages = {path.stem for path in (ROOT / "docs" / folder).glob("*.rst")} - {"index"}
    listed = set(re.findall(r"^   (?:.* <)?(\w+)>?$", index, flags=re.MULTILINE))
    assert re.search(r"^   \*$", index, flags=re.MULTILINE) or pages <= listed


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    versions = re.findall(r"^ *version: (\S+)$", citation, flags=re.MULTILINE)
    assert versions == [skdptext.__version__] * 2  # of the file and how to cite it
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\n## {skdptext.__version__}" in changelog
