# Every target makes its own environment: Python 3.11+, make and a package registry are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test soak lint bench requirements constraints clean

demo: $(READY)
	@$(BIN)/gieok demo

test: $(READY)
	$(BIN)/pytest -n 2 --dist loadgroup $(PYTEST_ARGS)

# The slow proofs: many kills, power cuts, driver faults and writers.
soak: $(READY)
	GIEOK_SOAK=1 GIEOK_CRASH_ROUNDS=200 $(BIN)/pytest tests/crash tests/faults tests/jobs/test_kill.py tests/decisions/test_writers.py $(PYTEST_ARGS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(READY)
	$(BIN)/python -m bench

requirements: $(READY)
	@$(BIN)/python -m tests.requirements

# Pin every version again. The file names no index and no host.
constraints: $(READY)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --no-header --no-annotate --output-file constraints.txt

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Gieok needs Python 3.11 or newer; set PYTHON=/path/to/python3")'
	@echo 'making $(VENV), once'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(READY)

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
