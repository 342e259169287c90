# `make demo` and `make test` need nothing but Python 3.11 or newer and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKFLOWS := .github/workflows/*.yml examples/workflows/*.yml
PIN := $(BIN)/pip-compile --quiet --upgrade --generate-hashes --strip-extras --no-header --no-annotate \
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links
READY := $(VENV)/ready

.PHONY: demo test check attack fuzz mutate requirements

demo: $(READY)  ## the whole pass on the bundled pull request, without a key
	@$(BIN)/python examples/demo/run.py

test: $(READY)  ## the tests, with their branch coverage, and some of the attacks on the whole program
	$(BIN)/coverage erase
	$(BIN)/pytest -n auto --dist worksteal --cov --cov-report=term --ignore tests/adversary tests
	$(BIN)/pytest -n auto --dist worksteal tests/adversary

check: $(READY)  ## format, lint, types, import contracts, action metadata, workflows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows $(WORKFLOWS)
	$(BIN)/zizmor --offline --quiet --pedantic $(WORKFLOWS) action.yml
	$(BIN)/actionlint -shellcheck= -pyflakes= $(WORKFLOWS)

attack: $(READY)  ## every attack on the whole program, and the weakenings it must see: half an hour
	$(BIN)/python tools/assurance.py --mutants

fuzz: $(READY)  ## every parser of outside bytes against inputs that are made up: a minute each, two at once
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary atheris -r requirements/fuzz.txt
	$(BIN)/python fuzz/run.py --seconds 60

mutate: $(READY)  ## every mutant of the guards, the application of verdicts, the memory and the text: ten minutes
	$(BIN)/python tools/mutate.py

requirements:  ## renew the pinned requirement files from pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-tools
	$(PIN) --output-file requirements/run.txt pyproject.toml
	$(PIN) --extra dev --output-file requirements/dev.txt pyproject.toml
	$(PIN) --extra fuzz --output-file requirements/fuzz.txt pyproject.toml

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@
