# One command for each habit. What a target needs is installed by the target, once: a stamp file marks that
# it is there, and the lock files say what it is. Nothing is installed outside this folder, but for Chromium
# where make runs as root.

PYTHON ?= python3
PORT ?= 8000

BIN := .venv/bin
UV := $(BIN)/uv
INTO := --quiet --python $(BIN)/python
EDITABLE := $(UV) pip install $(INTO) --no-deps --no-build-isolation --editable .

.PHONY: help demo test faults check format bench bench-replicas lock clean

help:
	@echo "make demo    the example coach in your browser (PORT=8000, MODEL=provider:model)"
	@echo "make test    all tests, in a real browser too"
	@echo "make faults  kills, races and stalls in great numbers, and a table (FAULTS='F1 F3 --part 0.1' for some)"
	@echo "make check   style, types, and the types of the front end"
	@echo "make format  what 'make check' can mend by itself"
	@echo "make bench   what a pause costs (BENCH_DIR=... to compare with peers)"
	@echo "make bench-replicas  what this machine serves, with 1 to 3 replicas (BENCH='waiting --scale 0.05' for some)"
	@echo "make lock    write the lock files anew"
	@echo "make clean   remove what these targets installed"

# With a provider's key in the environment, or MODEL=provider:model, the coach speaks through that model.
demo: $(if $(MODEL)$(ANTHROPIC_API_KEY)$(OPENAI_API_KEY),.venv/.models,.venv/.demo)
	$(BIN)/yourcall demo --open --port $(PORT) $(if $(MODEL),--model $(MODEL))

# A file is one process's, and those with a browser come last (tests/conftest.py).
test: .venv/.dev .venv/.chromium .venv/.servers node_modules/.installed
	$(BIN)/pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder $(PYTEST)

faults: .venv/.dev .venv/.servers
	$(BIN)/python -m tests.faults $(FAULTS)

check: .venv/.dev node_modules/.installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	npm run --silent check

format: .venv/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: .venv/.demo
	$(BIN)/python bench $(BENCH)

bench-replicas: .venv/.dev .venv/.servers
	$(BIN)/python -m bench.replicas $(BENCH)

LOCK := $(UV) pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock"
WEB := pyproject.toml --extra web
DEMO := $(WEB) --extra demo
MODELS := $(DEMO) --extra anthropic --extra openai --extra google

lock: .venv/.uv
	$(LOCK) requirements/uv.in -o requirements/uv.txt
	$(LOCK) $(DEMO) requirements/build.in -o requirements/demo.txt
	$(LOCK) $(MODELS) requirements/build.in -c requirements/demo.txt -o requirements/models.txt
	$(LOCK) $(MODELS) --extra postgres --extra redis requirements/dev.in -o requirements/dev.txt
	$(LOCK) $(DEMO) requirements/bench.in -o requirements/bench.txt
	npm install --package-lock-only

clean:
	rm -rf .venv node_modules .bench

# --- what is installed

.venv/.uv: requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed: make PYTHON=/path/to/python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@touch $@

.venv/.demo: .venv/.uv requirements/demo.txt pyproject.toml
	$(UV) pip install $(INTO) --require-hashes -r requirements/demo.txt
	$(EDITABLE)
	@touch $@

.venv/.models: .venv/.demo requirements/models.txt
	$(UV) pip install $(INTO) --require-hashes -r requirements/models.txt
	@touch $@

.venv/.dev: .venv/.uv requirements/dev.txt pyproject.toml
	$(UV) pip sync $(INTO) --require-hashes requirements/dev.txt
	$(EDITABLE)
	@touch .venv/.demo .venv/.models $@  # all that the demo needs is in dev.txt

node_modules/.installed: package-lock.json
	npm ci
	@touch $@

# Debian's package as root, which fetches what the browser needs as well; else the build of Playwright
.venv/.chromium: .venv/.dev
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	else $(BIN)/playwright install chromium; fi
	@touch $@

SERVERS := postgresql redis-server nginx-light strace curl

# The tests start servers of their own; they only have to be there.
.venv/.servers: .venv/.dev
	@PATH="$$PATH:/usr/sbin:$$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)"; \
	missing=; for it in postgres redis-server nginx strace curl; do command -v $$it >/dev/null || missing=yes; done; \
	if [ -z "$$missing" ]; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends $(SERVERS) >/dev/null; \
	else echo "The tests need (as Debian names them): $(SERVERS)"; exit 1; fi
	@touch $@
