# Every target makes its own environment: Python 3.11+, make and a package registry are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.ready-dev

.PHONY: demo test soak lint bench docs requirements constraints clean

demo: $(READY)
	@$(BIN)/gieok demo

test: $(DEV)
	$(BIN)/pytest -n 4 --dist loadgroup $(PYTEST_ARGS)

# The slow proofs: many kills, power cuts, driver faults and writers, and new examples for every property.
soak: $(DEV)
	GIEOK_SOAK=1 $(BIN)/pytest -n 2 -m hypothesis $(PYTEST_ARGS)
	GIEOK_SOAK=1 GIEOK_CRASH_ROUNDS=200 $(BIN)/pytest tests/crash tests/faults tests/jobs/test_kill.py tests/decisions/test_writers.py tests/service $(PYTEST_ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(DEV)
	$(BIN)/python -m bench

# The site, in site/; a broken link or anchor fails it.
docs: $(DEV)
	$(BIN)/mkdocs build --strict

requirements: $(DEV)
	@$(BIN)/python -m tests.requirements

# Pin every version again. The file names no index and no host.
constraints: $(DEV)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --no-header --no-annotate --output-file constraints.txt

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Gieok needs Python 3.11 or newer; set PYTHON=/path/to/python3")'
	@echo 'making $(VENV), once'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $(READY)

# What the tests and linters need besides: every extra, PostgreSQL, the tools.
$(DEV): $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(DEV)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis build dist site
