# Everything runs from a virtual environment that these targets make themselves;
# the only tools they expect are make and Python >= 3.11 (and, for the
# acceptance tests on servers from npm, node).
SHELL := /bin/sh
.DEFAULT_GOAL := help
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTHONDONTWRITEBYTECODE
export PIP_DISABLE_PIP_VERSION_CHECK := 1

PYTHON ?= python3
VENV ?= .venv
# Tests wait for processes of their own for a good part of their time, so more run at once than there are cores.
JOBS ?= 3
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --constraint constraints.txt
PYTEST := $(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=loadfile

.PHONY: help demo test test-all conformance check format fetch servers suite clean

help:
	@echo "make demo         play a session through the gateway and show what each side saw"
	@echo "make test         run the tests"
	@echo "make test-all     run the slow ones too"
	@echo "make conformance  run the official conformance suite, with the gateway and without"
	@echo "make check        lint, types and layers"
	@echo "make format       rewrite the sources in the project's format"
	@echo "make fetch        get what the tests need, which they do themselves where it is missing"
	@echo "make clean        remove everything that these targets made"

demo: $(VENV)/.runtime
	@$(BIN)/cloakllm-gateway demo

test: $(VENV)/.dev servers
	$(PYTEST) -m "not slow"

test-all: $(VENV)/.dev servers suite
	$(PYTEST)

conformance: $(VENV)/.dev suite
	$(BIN)/python -m tests.conformance.suite

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

fetch: $(VENV)/.dev servers suite

servers:
	@sh tests/acceptance/install.sh

suite:
	@sh tests/conformance/install.sh

clean:
	rm -rf $(VENV) .cache dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable .
	@$(BIN)/python -m compileall -q src && touch $@

# Of its packages little is ever imported, and compiled then: all of them would take half a minute.
$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --no-compile --editable ".[dev,detection,keyring,redis]"
	@$(BIN)/python -m compileall -q src && touch $@ $(VENV)/.runtime
