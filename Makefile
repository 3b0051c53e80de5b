# Every target makes its own environment from a lock file: only Python 3.11 (or newer) and make
# are needed. Another interpreter: make PYTHON=/path/to/python3.12 test

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin

# How long `make soak` plays with misbehaving bots, and how many processes it kills.
SOAK_SECONDS ?= 3600
SOAK_KILLS ?= 300

# How long `make fuzz` draws inputs; FUZZ_SEED and FUZZ_TARGET draw the same again.
FUZZ_SECONDS ?= 300

.PHONY: demo test fuzz soak languages languages-table screenshots lint bench protos locks wheel clean

demo: $(VENV)/.run
	$(BIN)/knavery demo

test: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(ARGS)
	$(if $(ARGS),,$(MAKE) languages)

# The templates, built with the tools of their languages as far as they are here; with CI=true all
# of them must be. What they build stays in .cache, and in the tools' own caches.
languages: $(VENV)/.dev
	$(BIN)/pytest -m languages --timeout 1800 tests/languages

languages-table: $(VENV)/.dev
	$(BIN)/python -m benchmarks.languages

# Bytes and talks that are drawn, against the wire and the match; failing inputs are kept in .fuzz.
fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED)) \
	  $(if $(FUZZ_TARGET),--target $(FUZZ_TARGET))

# Long runs: what docs/reliability.md reports.
soak: $(VENV)/.dev
	$(BIN)/python -m benchmarks.kills $$(( $(SOAK_KILLS) / 2 ))
	$(BIN)/python -m benchmarks.bot_kills $(SOAK_KILLS)
	$(BIN)/python -m benchmarks.soak --seconds $(SOAK_SECONDS)

# The pictures in docs/images: two small tournaments, their reports, and Chromium.
screenshots: $(VENV)/.dev
	$(BIN)/python docs/screenshots.py $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks $(ARGS)

# The Python code in knavery/v1 is made from protos/ (tests/test_protos.py fails when it is stale),
# and so are the copies in the templates, and Go's code where there is a go.
protos: $(VENV)/.dev
	$(BIN)/python protos/generate.py
	$(BIN)/python protos/make_vectors.py

wheel: $(VENV)/.dev
	$(BIN)/python -m build --wheel --no-isolation

# Exact versions, with hashes, of all that pyproject.toml names with lower bounds.
locks: $(VENV)/bin/python
	$(BIN)/pip install -q pip-tools
	for extra in setup dev "dev,bench"; do \
	  case "$$extra" in setup) out=requirements;; dev) out=requirements-dev;; *) out=requirements-bench;; esac; \
	  CUSTOM_COMPILE_COMMAND="make locks" $(BIN)/pip-compile -q --strip-extras --allow-unsafe \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	    --extra $$extra -o $$out.lock pyproject.toml || exit 1; \
	done

clean:
	@[ ! -d .cache ] || chmod -R u+w .cache
	rm -rf .cache $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Knavery needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.11") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; exit 2; }

$(VENV)/.run: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.run

$(VENV)/.bench: requirements-bench.lock $(VENV)/.dev
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@
