# One virtual environment, $(VENV), with a stamp file per set of extras. Every target
# installs what it needs and nothing more; pyproject.toml newer than a stamp reinstalls.
PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
# A file of pip constraints, as .ci/run names one
CONSTRAINTS ?=
# What make test-scale installs, 2 GB with all else, in an environment of its own
ENGINES ?= pyspark "dask[complete]" "ray[data]" aiohttp duckdb datasets
SCALE_VENV ?= $(VENV)-scale
# Passed on to pytest, as in: make test PYTEST_ARGS="-k wmd -x"
PYTEST_ARGS ?=
# The oldest Python of pyproject.toml, and what make test-oldest runs there
OLDEST_PYTHON ?= python3.11
OLDEST_TESTS ?= tests
# What make dist runs from the unpacked sdist. It holds every file of the repository, so
# that a few tests show that they run from there
DIST_TESTS ?= tests/test_repository.py tests/preprocessing
# Which of the notebooks make test-notebooks runs, as pytest's -k names tests; all by
# default
NOTEBOOKS ?=
# Random settings of the perturber whose exact law make test-fuzz works out
LAWS ?= 20000
# Passed on, as in: make paper PAPER_ARGS="--quick"
PAPER_ARGS ?=
# Which of the benchmarks, as in: make bench BENCHES="benchmarks/bench_wmd.py"
BENCHES ?= $(sort $(wildcard benchmarks/bench_*.py))

PY := $(VENV)/bin/python
STAMP := $(VENV)/.stamp
OLDEST := $(VENV)-oldest
INSTALL := .ci/install $(VENV) $(addprefix -c ,$(CONSTRAINTS))
# Test workers times BLAS threads would oversubscribe the cores.
PIN := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 MPLBACKEND=Agg
# Tests, doctests and site make the built-in corpus and embedding once for all of them.
# Many processes start: what one compiles to bytecode serves the others.
SHARED := $(PIN) PYTHONDONTWRITEBYTECODE= SKDPTEXT_CACHE=$(CURDIR)/build/cache
BENCH_OUT := build/bench
# Each worker begins with half of the tests in their order and takes from the other's when
# it has none left: files stay whole, and what they make for all their tests is made once.
WORKERS := $(if $(filter 0,$(JOBS)),,-n $(JOBS) --dist worksteal)
QUICK := not slow and not fuzz and not scale and not notebooks
COVER := --cov=skdptext --cov-branch --cov-config=setup.cfg

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Two processes that install into one environment break it.
.NOTPARALLEL:
.PHONY: help environment demo test test-oldest test-slow test-fuzz test-notebooks test-scale doctest lint format types docs dist constraints bench record paper obfuscation mechanisms learn coverage clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

environment: $(STAMP)-all  ## install what the targets from test to dist need, at once

demo: $(STAMP)-plot  ## run the demonstration on the built-in corpus
	MPLBACKEND=Agg $(PY) -m skdptext.demo

# What it did not run is listed by: .venv/bin/coverage report --rcfile=setup.cfg
test: $(STAMP)-test  ## run the tests; fails under 95 % branch coverage
	$(SHARED) $(PY) -m pytest $(WORKERS) -m "$(QUICK)" --durations=10 $(COVER) \
	    --cov-report= --cov-fail-under=95 $(PYTEST_ARGS)

test-oldest: $(OLDEST)/.stamp  ## run the tests with the oldest versions that pyproject.toml allows
	$(SHARED) PYTHONPATH=$(CURDIR) $(OLDEST)/bin/python -m pytest $(WORKERS) -m "$(QUICK)" --durations=10 \
	    $(OLDEST_TESTS) $(PYTEST_ARGS)

test-slow: $(STAMP)-slow  ## run the tests that take minutes, dp-accounting's bounds among them
	$(SHARED) $(PY) -m pytest $(WORKERS) -m "slow and not fuzz and not scale" --durations=10 $(PYTEST_ARGS)

# SKDPTEXT_FUZZ: files of each format, 3,000 unless told; SKDPTEXT_FUZZ_SEED: others.
test-fuzz: $(STAMP)-test  ## thousands of mutated files and of random releases, minutes
	$(SHARED) $(PY) -m pytest $(WORKERS) -m fuzz -rP $(PYTEST_ARGS)
	$(SHARED) SKDPTEXT_LAWS=$(LAWS) $(PY) -m pytest $(WORKERS) \
	    tests/privacy/test_exact_laws.py -k more_than_is_promised $(PYTEST_ARGS)

test-notebooks: $(STAMP)-test  ## run the notebooks in Jupyter, and the README's example
	$(SHARED) $(PY) -m pytest $(WORKERS) -m notebooks -k "$(NOTEBOOKS)" --durations=15 tests/test_notebook.py tests/test_front_door.py $(PYTEST_ARGS)

# Spark needs Java 17 or newer: apt-get install openjdk-17-jre-headless
test-scale: $(SCALE_VENV)/.stamp-scale  ## run the tests on Spark, Dask, Ray and others, minutes
	$(SHARED) $(SCALE_VENV)/bin/python -m pytest -ra --durations=10 tests/scale $(PYTEST_ARGS)

coverage: $(STAMP)-test  ## run all tests and write htmlcov/index.html
	$(SHARED) $(PY) -m pytest $(WORKERS) -m "not fuzz and not scale and not notebooks" $(COVER) --cov-report=html --cov-report=term $(PYTEST_ARGS)

doctest: $(STAMP)-test  ## run the examples of the docstrings and of the site's pages
	$(SHARED) $(PY) -m pytest $(WORKERS) --doctest-modules --doctest-glob="*.rst" \
	    docs/get_started docs/howto docs/understand docs/evidence docs/reference \
	    skdptext $(PYTEST_ARGS)

lint: $(STAMP)-dev  ## check style, formatting and words
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) .ci/words.py skdptext docs examples README.md CHANGELOG.md CONTRIBUTING.md

format: $(STAMP)-dev  ## repair style and formatting
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

types: $(STAMP)-dev  ## check the type hints
	$(PY) -m mypy

# The API stubs are made afresh, or one of a name since removed would stay behind.
docs: $(STAMP)-docs  ## build the site into docs/_build/html; warnings are errors
	rm -rf docs/api/generated
	$(SHARED) $(PY) -m sphinx -j $(if $(filter 0,$(JOBS)),1,$(JOBS)) -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html

# The wheel is made from the unpacked sdist, and what is tested is the sdist alone.
dist: $(STAMP)-dev  ## build sdist and wheel into dist, and test the sdist from itself
	rm -rf dist build/sdist && mkdir -p build/sdist
	$(PY) -m build --outdir dist .
	$(PY) -m twine check --strict dist/*
	tar -xzf dist/*.tar.gz -C build/sdist --strip-components 1
	@missing=$$(git ls-files | while read -r file; do \
	    test -e "build/sdist/$$file" || echo "$$file"; done); \
	test -z "$$missing" || { echo "Not in the sdist, see MANIFEST.in: $$missing" >&2; exit 1; }
	cd build/sdist && $(SHARED) PYTHONPATH=. $(abspath $(PY)) -m pytest -q $(WORKERS) -p no:cacheprovider $(DIST_TESTS)

# The versions that CI installs, for the Python that makes them.
constraints:  ## write .ci/constraints.txt anew: the newest versions of all that CI installs
	rm -rf build/constraints-venv && $(PYTHON) -m venv build/constraints-venv
	build/constraints-venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	{ echo "# What .ci/run installs under Python 3.11. Made by: make constraints"; \
	    build/constraints-venv/bin/python -m pip freeze --exclude-editable; } > .ci/constraints.txt

# One that fails does not keep the others from running, and is named at the end.
bench: $(STAMP)-bench  ## run every benchmark, an hour or two; tables in build/bench
	@$(if $(filter file,$(origin BENCHES)),rm -rf $(BENCH_OUT);) mkdir -p $(BENCH_OUT); failed=; \
	for script in $(BENCHES); do \
	    echo "== $$script"; \
	    SKDPTEXT_BENCH_RESULTS=$(BENCH_OUT) $(PIN) $(PY) $$script || failed="$$failed $$script"; \
	done; \
	test -z "$$failed" || { echo "Failed:$$failed" >&2; exit 1; }

record: $(STAMP)-bench  ## compare accuracy, attacks, exponents and times with those on record
	$(PIN) $(PY) benchmarks/record.py --compare

# Stopped and called again, it goes on where it was: each piece is kept in build/cells.
paper: $(STAMP)-paper  ## repeat the 2020 paper's experiments, about an hour
	$(PIN) $(PY) benchmarks/experiment.py paper $(PAPER_ARGS)

# It goes on where it was stopped, too. Tables: benchmarks/results/obfuscation_*.json.
obfuscation: $(STAMP)-paper  ## repeat the 2019 paper's experiment on authors, half an hour
	$(PIN) $(PY) benchmarks/experiment.py obfuscation $(OBFUSCATION_ARGS)

# It goes on where it was stopped, too. Tables: benchmarks/results/comparison_*.json.
mechanisms: $(STAMP)-bench  ## compare all mechanisms, matched, on four corpora, within an hour
	$(PIN) $(PY) benchmarks/experiment.py mechanisms $(MECHANISMS_ARGS)

# It goes on where it was stopped, too. Tables: benchmarks/results/learn_*.json.
learn: $(STAMP)-bench  ## learn from private text by us and by others, twenty minutes
	$(PIN) $(PY) benchmarks/experiment.py learn $(LEARN_ARGS)

clean:  ## remove the environment and everything built
	rm -rf $(VENV) $(OLDEST) $(SCALE_VENV) build dist htmlcov demo-output .coverage .coverage.* coverage.xml
	rm -rf docs/_build docs/_benchmarks docs/notebooks docs/api/generated docs/api/names.txt docs/reference/commands.txt
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find skdptext tests examples benchmarks docs -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

$(STAMP)-venv:
	@command -v $(PYTHON) >/dev/null || { \
	    echo "No $(PYTHON) here. Install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "skdptext needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Name another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	    echo "$(PYTHON) lacks the venv module (Debian, Ubuntu: apt-get install python3-venv)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Larger sets hold smaller ones, so each also sets the stamps of those inside it.
$(STAMP)-plot: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[plot]"
	@touch $@

$(STAMP)-test: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[test]"
	@touch $(STAMP)-plot $@

# Every bound "name>=version" of pyproject.toml, as "name==version". Without the checkout,
# which a second process may be installing.
$(OLDEST)/.stamp: pyproject.toml .ci/requirements.py
	$(OLDEST_PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python .ci/requirements.py test --oldest > $(OLDEST)/requirements.txt
	.ci/install $(OLDEST) -r $(OLDEST)/requirements.txt
	@touch $@

# The peers that tests compare with: no other part of the library needs them.
$(STAMP)-slow: $(STAMP)-test
	$(INSTALL) "dp-accounting>=0.4" "floret>=0.10.5"
	@touch $@

# By this file again, for the other environment.
$(SCALE_VENV)/.stamp-scale: pyproject.toml
	$(MAKE) VENV=$(SCALE_VENV) $(SCALE_VENV)/.stamp-test
	.ci/install $(SCALE_VENV) $(ENGINES)
	@touch $@

$(STAMP)-all: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[dev]"
	@touch $(STAMP)-plot $(STAMP)-test $(STAMP)-docs $(STAMP)-dev $@

$(STAMP)-docs: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[docs]"
	@touch $(STAMP)-plot $@

$(STAMP)-bench: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[bench]"
	@touch $(STAMP)-plot $@

$(STAMP)-paper: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[bench]" "floret>=0.10.5"  # supervised fastText, for the papers' tables
	@touch $(STAMP)-plot $(STAMP)-bench $@

$(STAMP)-dev: pyproject.toml $(STAMP)-venv
	$(INSTALL) -e ".[dev]"
	@touch $(STAMP)-plot $(STAMP)-test $(STAMP)-docs $@
