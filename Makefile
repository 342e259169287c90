# `make demo` and `make test` need nothing but Python 3.11 or newer and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.PHONY: demo test check requirements

demo: $(READY)  ## the whole pass on the bundled pull request, without a key
	@$(BIN)/python examples/demo/run.py

test: $(READY)  ## the tests
	$(BIN)/pytest -n auto

check: $(READY)  ## format, lint, types, import contracts, tests with coverage
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/coverage erase
	$(BIN)/pytest -n auto --cov --cov-report=

	$(BIN)/coverage report

requirements: $(READY)  ## renew the pinned requirement files from pyproject.toml
	$(BIN)/python -m pip install --quiet pip-tools
	$(BIN)/python tools/pin_requirements.py

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@
