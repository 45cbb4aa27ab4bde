# Every target does its own set-up: nothing but Python 3.11 or newer and make is needed beforehand.

PYTHON ?= python3
SEEDS ?= 20000
# more processes than the two cores of a small machine: tests that wait for a browser, a disk or a timer leave one idle
PYTEST_ARGS ?= -n 4 --dist worksteal
# Byte code is kept even if the environment says otherwise: without it each process compiles all of it again, and the
# tests start hundreds. (Python takes an empty value for none.)
export PYTHONDONTWRITEBYTECODE :=

BIN := .venv/bin
PY := $(BIN)/python
# The stamp lies inside the environment, so that removing one removes the other.
STAMP := .venv/.jeton-setup
# What is type-checked; examples/ may not be there yet.
TYPED := $(wildcard src tests examples benchmarks tools)
PIP := $(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup test check lint types mypy pyright layers fmt sync docs page page-check pictures page-dev chromium long simulate served crash mutants bench demo demo-page clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1	\2/p' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv with everything needed (instant when nothing changed)

# An environment that works is kept and brought up to date; one without a working pip is made anew.
# pip itself comes first: an old one takes twice as long to choose. The build backend is installed next and used from .venv,
# because pip applies constraints to no isolated build.
$(STAMP): pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null 2>&1 || \
		{ echo "make: no '$(PYTHON)' here: install Python 3.11 or newer, or name yours: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: '$(PYTHON)' is $$($(PYTHON) -V 2>&1): install Python 3.11 or newer, or name yours: make setup PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
		{ echo "make: '$(PYTHON)' lacks the venv or ensurepip module: install it (Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || { echo "making .venv"; $(PYTHON) -m venv --clear .venv; }
	@echo "installing jeton and its tools into .venv"
	@$(PIP) pip
	@$(PIP) hatchling editables
	@$(PIP) --no-build-isolation -e '.[dev]'
	@touch $@

test: check chromium ## all that must pass: check, then the tests (a few that fail are run once more, alone, and named)
	@rm -f .pytest_cache/v/cache/lastfailed
	$(PY) -m pytest $(PYTEST_ARGS) || $(PY) -m tools.again

check: lint types layers page-check ## lint, formatting, types and layers, without the tests

lint: setup ## lint and formatting, changing nothing
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup ## mypy and pyright, both strict, side by side
	@$(MAKE) --no-print-directory -j2 mypy pyright

mypy: setup
	$(PY) -m mypy $(TYPED)

pyright: setup
	$(PY) -m pyright $(TYPED)

layers: setup ## who may import whom
	$(BIN)/lint-imports --no-logo

page: setup ## build the page of ui/ into src/jeton/api/page (instant when nothing changed)
	$(PY) -m tools.page build

page-check: setup ## types, lint and unit tests of ui/ (instant when nothing changed)
	$(PY) -m tools.page check

pictures: setup chromium ## take the pictures of the documentation
	JETON_PICTURES=1 $(PY) -m pytest -q -n 0 tests/browser/test_pictures.py

page-dev: setup ## serve ui/ with reloading, in front of a server at JETON_URL
	$(PY) -m tools.page dev

chromium: setup ## find a Chromium for the tests of the page, and install one if it may
	@$(PY) -m tools.chromium

fmt: setup ## format, and mend what the linter can mend
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

sync: setup ## write the blocking engine, engine/sync.py, from the async one
	$(PY) -m tools.generate_sync

docs: setup ## write what the documentation takes from the code, and build the site into site/
	$(PY) -m tools.draw_phases
	$(PY) -m tests.docs.reference_pages
	$(PY) -m tools.site

long: setup ## tests that take long beside a quicker one of the same rule, and properties with new examples
	JETON_EXPLORE=1 $(PY) -m pytest $(PYTEST_ARGS) -m long
	JETON_EXPLORE=1 $(PY) -m pytest $(PYTEST_ARGS) -m hypothesis

simulate: setup ## run seeded schedules and faults (SEEDS=20000), or only conversations (TALKS=200000, FROM=0)
	$(PY) -m tests.simulation.$(if $(TALKS),talks --talks $(TALKS) --from $(or $(FROM),0),sweep --seeds $(SEEDS))

served: setup ## run all conformance scenarios through a server
	JETON_SERVED=all $(PY) -m pytest $(PYTEST_ARGS) tests/conformance/test_served.py

crash: setup ## kill, fail and tear the store at every write and sync (SAMPLE=N for N of each)
	$(PY) -m tests.crash.sweep $(if $(SAMPLE),--sample $(SAMPLE))

mutants: setup ## break the code in known ways and see the tests notice
	$(PY) -m tests.mutants.run

bench: setup chromium ## measure, and write docs/benchmarks.md (ROUNDS=N, PEERS=PYTHON that has other engines installed)
	$(PY) -m benchmarks.compare --write --rounds $(or $(ROUNDS),3) $(if $(PEERS),--peers $(PEERS))
	$(PY) -m benchmarks.where --write $(if $(ROUNDS),--rounds $(ROUNDS))
	$(PY) -m benchmarks.growth --write $(if $(ROUNDS),--rounds $(ROUNDS))
	$(PY) -m benchmarks.talk --write
	$(PY) -m benchmarks.wide_flow
	$(PY) -m benchmarks.large
	$(PY) -m benchmarks.page --write $(if $(ROUNDS),--rounds $(ROUNDS))

demo: setup ## watch a conversation and a run survive kill -9, and look at the run on the page
	$(PY) examples/demo_refund.py
	$(PY) examples/demo.py

demo-page: setup ## the page with something to see: a live fan-out of 10,000, a gate, a failed quorum, an agent
	$(PY) examples/demo_page.py

clean: ## remove caches and builds; .venv stays
	rm -rf ui/node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist site
	find $(TYPED) -name __pycache__ -type d -prune -exec rm -rf {} +
