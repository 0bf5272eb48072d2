"""Fixtures shared by all tests."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import importlib
import importlib.util
import itertools
import logging
import os
import pkgutil
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage.collector

# Before SciPy is imported: scikit-learn's array API check needs it, and would skip.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Coverage has begun, and imports take twice as long under it: not of other libraries.
_begun = coverage.Coverage.current()
if _begun:
    _begun.stop()
    # A lock at each call keeps one thread from adding lines while another saves them.
    # They are saved once, after the last test; `tuple` does nothing, in no time.
    no_lock = staticmethod(tuple)
    coverage.collector.Collector.lock_data = no_lock
    coverage.collector.Collector.unlock_data = no_lock

import hypothesis
import numpy as np
import pytest

if _begun:
    _begun.start()

import skdptext
from skdptext import WordEmbedding
from skdptext.datasets import load_docstrings

# Else Python prints warnings for which there is no handler
logging.getLogger().addHandler(logging.NullHandler())

# How long an example takes, to be made or to be tested, says nothing about the code on
# a busy machine.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("untimed")

ROOT = Path(__file__).parents[1]

# ../shared/data beside the checkout, or wherever SKDPTEXT_TEST_DATA points.
DATA = Path(
    os.environ.get("SKDPTEXT_TEST_DATA") or ROOT.parent / "shared" / "data"
).resolve()


# Where workers and later runs find the built-in corpus. The Makefile names the same
# folder to doctests and to the site.
_CACHE = Path(os.environ.get("SKDPTEXT_CACHE") or ROOT / "build" / "cache")

# Tests draw the same noise in every run, so that one that fails can be looked at; those
# of another seed another. CI takes a new one once a week.
_SEED = os.environ.get("SKDPTEXT_TEST_SEED", "0")

# Coverage does not watch them: half of their time, for no line that only they run. They
# are about the repository, its notebooks and benchmarks; or thousands of calls fail in
# them, or repeat what other tests run once. Elsewhere, single tests that take long and
# run hardly a line of their own have the mark themselves.
_UNWATCHED = {
    ROOT / "tests" / f"{name}.py"
    for name in (
        "learning/test_readout",
        "mechanisms/test_losses",
        "neighbors/test_wmd_search",
        "perturbation/test_randomness",
        "privacy/test_bag_bound",
        "privacy/test_exact_laws",
        "replacement/test_replacement_law",
        "test_fasttext",
        "test_fresh_noise",
        "test_benchmarks",
        "test_common",
        "test_docstrings",
        "test_experiments",
        "test_notebook",
        "test_pipelines",
        "test_public_calls",
        "test_repository",
    )
}


class _Entropy:
    """What the operating system would give this process, fixed by a seed and a test."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self.begin("")

    def begin(self, test: str) -> None:
        self._key = hashlib.sha256(f"{_SEED} {test}".encode()).digest()
        self._calls = itertools.count()
        # what scikit-learn takes for random_state=None
        np.random.seed(int.from_bytes(self._key[:4], "little"))  # noqa: NPY002

    def __call__(self, n_bytes: int) -> bytes:
        if os.getpid() != self._process:  # a fork has noise of its own
            return os.urandom(n_bytes)
        call = next(self._calls).to_bytes(8, "little")
        return hashlib.shake_256(self._key + call).digest(n_bytes)


# Where `secrets` has its bytes from, and NumPy by it the seeds of its generators
random._urandom = _entropy = _Entropy()


def pytest_configure(config: pytest.Config) -> None:
    """Coverage ends where no test runs: in xdist's main process, and below its workers.

    pytest-cov begins in a worker as in the main process, and then once more. While the
    second pauses, the first would watch, and take half of the time of all tests.
    """
    plugin = config.pluginmanager.getplugin("_cov")
    if plugin and config.getoption("no_cov"):  # it would fail at the mark no_cover
        config.pluginmanager.unregister(plugin)
    elif plugin and type(plugin.cov_controller).__name__ == "DistMaster":
        plugin.cov_controller.pause()


def pytest_report_header() -> str:
    return f"noise: SKDPTEXT_TEST_SEED={_SEED}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs words of the built-in corpus comes first, in one of several workers.

    Each would train vectors of its own.
    """
    for item in items:
        if item.path in _UNWATCHED:
            item.add_marker(pytest.mark.no_cover)
    items.sort(key=lambda item: "built_in" not in getattr(item, "fixturenames", ()))


def _watching(config: pytest.Config) -> Any:
    """What watches this process for coverage; None where nothing does, or it pauses."""
    plugin = config.pluginmanager.getplugin("_cov")
    controller = plugin and plugin.cov_controller
    return controller if controller and controller.started else None


@contextlib.contextmanager
def unwatched(config: pytest.Config) -> Iterator[None]:
    """Coverage does not watch what runs inside.

    It makes all Python code two to six times as slow, that of other libraries too.
    """
    watching = _watching(config)
    if not watching:
        yield
        return
    watching.pause()
    try:
        yield
    finally:
        watching.resume()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """pytest-cov sees to calls that are not watched: here to fixtures of whole files.

    A fixture of a single test may serve others, which are watched.
    """
    _entropy.begin(item.nodeid)
    whole = item.path in _UNWATCHED
    with unwatched(item.config) if whole else contextlib.nullcontext():
        yield


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """What is imported here stays: no collection of garbage looks at it.

    Coverage watches the imports of the package, and nothing else that runs here.
    """
    gc.disable()
    try:
        if _watching(session.config):
            for module in pkgutil.walk_packages(skdptext.__path__, "skdptext."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
        with unwatched(session.config):
            return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def data_home() -> Iterator[Path]:
    """The folder of the built-in corpus."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKDPTEXT_CACHE", str(_CACHE))
        yield _CACHE


@pytest.fixture(scope="session")
def built_in(data_home, pytestconfig) -> WordEmbedding:
    """Words of the built-in corpus, in 100 dimensions.

    Trained for a tenth of the time of the embedding that comes with the library.
    """
    models = pytest.importorskip("gensim.models", reason="no wheel for this Python")
    with unwatched(pytestconfig):
        texts = [text.lower() for text in load_docstrings().data]
        words = [re.findall(r"\b[^\W\d]\w+\b", text) for text in texts]
        quick = {"epochs": 1, "alpha": 0.1, "min_count": 8, "sg": 1}
        model = models.Word2Vec(words, seed=0, workers=1, **quick)
        return WordEmbedding.from_gensim(model)


@pytest.fixture(scope="session")
def prose(built_in, pytestconfig):
    """(texts, labels) of 1,200 pieces of ten words each of the built-in corpus.

    Two topics in equal parts and turns; words without a vector are left out.
    """
    topics = ["signals and images", "statistics"]
    with unwatched(pytestconfig):
        corpus = load_docstrings(topics=topics, remove=("examples", "headers", "names"))
    known = set(built_in.words)
    pieces: dict[int, list[str]] = {0: [], 1: []}
    for text, topic in zip(corpus.data, corpus.target, strict=True):
        words = [w for w in re.findall(r"\w\w+", text.lower()) if w in known]
        whole = range(0, len(words) - 9, 10)
        pieces[topic] += [" ".join(words[i : i + 10]) for i in whole]
    rng = np.random.default_rng(0)
    halves = [rng.choice(pieces[topic], 600, replace=False) for topic in (0, 1)]
    texts = np.stack(halves, axis=1).ravel().tolist()
    return texts, np.array(topics * 600)


@pytest.fixture(scope="session")
def data_file():
    """Path of a file of the shared real data; skips where the data is absent."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            if "SKDPTEXT_TEST_DATA" in os.environ:
                pytest.fail(f"SKDPTEXT_TEST_DATA has no {name}: {path}")
            pytest.skip(f"real data not here: {path} (set SKDPTEXT_TEST_DATA)")
        return path

    return find


@pytest.fixture(scope="session")
def small_embedding():
    """200 words in 8 dimensions, anisotropic, for tests of logic rather than size."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(200, 8)) * np.linspace(0.3, 2.0, 8)
    return WordEmbedding([f"w{i}" for i in range(200)], vectors)
