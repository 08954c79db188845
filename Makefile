# Thin: what takes more than a line lives in scripts/. Stamps keep a step from running twice.
.DEFAULT_GOAL := help
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
export PYTHON

BIN := .venv/bin
BASE := .venv/.stamp-base
DEV := .venv/.stamp-dev
TORCH := .venv/.stamp-torch
DOCS := .venv/.stamp-docs
NATIVE := .venv/.stamp-native
LAB := .venv/.stamp-lab
PYODIDE := target/pyodide/.stamp
NODE := wasm/node_modules/.stamp
LABEXTENSION := py/jupyter/data/share/jupyter/labextensions/kinetoscope
BUNDLE := py/python/kinetoscope/_static/widget.js

RUST := Cargo.toml Cargo.lock $(shell find core -name Cargo.toml -o -path '*/src/*' -type f)
WEB := $(shell find wasm/web wasm/build wasm/src wasm/Cargo.toml wasm/build.mjs -type f)

# of `make wheels`; `make cross-check` has targets of its own
wheels: TARGETS ?= x86_64-unknown-linux-gnu

PYTEST := $(BIN)/python -m pytest
UNIT := $(PYTEST) -m unit tests/py tests/house
NPM := npm --prefix wasm --silent run

.PHONY: help setup tools packages build wasm demo lint lint-rust lint-scripts format check test check-rust check-rest test-rust test-web test-py notebooks test-nightly docs test-docs bench wheel wheels sdist crate audit notices deny advisories cross-check lint-forge ci-local release-check fixtures clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-13s %s\n", $$1, $$2 }' Makefile

setup: tools ## everything that `make check` needs to run offline, into .venv, node_modules, target, .cache
	cargo fetch --locked --quiet

# The front-end is linked by one processor while another one fills .venv.
tools:
	@$(MAKE) --no-print-directory -j2 SIDE_BY_SIDE=1 packages $(BUNDLE)

packages: # one after another: pip does not share a .venv
	@$(MAKE) --no-print-directory SIDE_BY_SIDE= $(DEV) $(TORCH) $(NATIVE)

build: $(BUNDLE) $(NATIVE) $(LAB) ## the front-end, and the extension module into .venv

wasm: $(BUNDLE) ## the front-end alone: core to WebAssembly, TypeScript to widget.js and viewer.js

demo: $(BASE) build ## read a trace that is shipped here, print its summary, write demo/report.html
	@scripts/demo.sh

lint: lint-rust lint-scripts

lint-rust: $(BUNDLE)
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-scripts: $(DEV) $(TORCH) $(BUNDLE)
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	wasm/node_modules/.bin/pyright
	$(NPM) lint
	$(NPM) types

format: $(DEV) $(NODE) ## write Rust, Python and TypeScript as the formatters want it
	cargo fmt --all
	$(BIN)/ruff check --quiet --fix-only
	$(BIN)/ruff format
	$(NPM) format

check: build lint ## lint, types and unit tests: offline, under a minute when built
	scripts/test-rust.sh
	$(NPM) test
	$(UNIT)

test: tools ## every test, browser and torch included
	@$(MAKE) --no-print-directory -j2 SIDE_BY_SIDE=1 check-rust check-rest
	@$(MAKE) --no-print-directory test-py

check-rust: # one after another: cargo does not share target
	@$(MAKE) --no-print-directory SIDE_BY_SIDE= lint-rust test-rust

check-rest: # all that does not wait for the compiler of Rust
	@$(MAKE) --no-print-directory SIDE_BY_SIDE= lint-scripts test-web notebooks

test-rust: ## the core's tests and the examples in its documentation
	scripts/test-rust.sh --all

test-web: $(BUNDLE) ## the front-end's tests in node
	$(NPM) test

test-py: $(DEV) $(TORCH) build ## the Python, browser and house tests
	KINETOSCOPE_BROWSER="$$(scripts/browser.sh)" && export KINETOSCOPE_BROWSER && \
	$(PYTEST) -m "not alone and not nightly" --numprocesses logical --maxprocesses 8 && $(PYTEST) -m alone

notebooks: $(DEV) $(TORCH) build ## execute the notebooks
	$(PYTEST) --nbmake notebooks

test-nightly: $(DEV) $(TORCH) build ## long browser tests, and mutants for five minutes of the processor
	KINETOSCOPE_BROWSER="$$(scripts/browser.sh)" $(PYTEST) -m nightly
	KINETOSCOPE_MUTANT_SECONDS=300 KINETOSCOPE_MUTANT_SEED=$$(date +%j) $(PYTEST) tests/py/read/test_mutants.py

docs: $(DEV) $(TORCH) $(DOCS) $(NODE) build $(PYODIDE) ## the documentation site into site/, with every link followed
	NO_MKDOCS_2_WARNING=1 DISABLE_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict
	$(BIN)/python scripts/docs/lite.py target/pyodide/*.whl site/lite
	$(BIN)/linkchecker --no-status --output=failures --no-follow-url=/site/lite/ site/index.html

test-docs: docs ## the site's notebook, run in a browser
	KINETOSCOPE_BROWSER="$$(scripts/browser.sh)" $(PYTEST) tests/web/e2e/test_lite.py

bench: $(DEV) $(TORCH) build ## time and memory beside orjson, gzip, HTA and native code, into benches/RESULTS.md
	cargo bench --locked --quiet --package kinetoscope --bench read
	$(BIN)/python benches/run.py

wheel: $(BASE) $(BUNDLE) ## the wheel into dist/, tried in an empty environment
	scripts/wheel.sh

wheels: $(BASE) $(BUNDLE) ## wheels for old versions of the C library: TARGETS="aarch64-unknown-linux-gnu"
	scripts/wheel.sh $(TARGETS)

sdist: $(BASE) $(BUNDLE) ## the source distribution into dist/, tried without Node
	scripts/sdist.sh

crate: ## the crate of the core, as crates.io would get it
	cargo package --package kinetoscope --locked

audit: ## metadata, symbols, licences and bill of materials of what is in dist/
	scripts/audit.sh

notices: $(NODE) ## write the notices and the bill of materials of the packages in a wheel
	scripts/notices.sh

deny: ## which crates, licences and registries may enter the binaries
	scripts/deny.sh

cross-check: ## type-check the core and the extension module for other systems
	scripts/cross-check.sh $(TARGETS)

lint-forge: $(NODE) ## workflows, issue forms and release settings; downloads its tools at first
	scripts/lint-forge.sh

ci-local: $(DEV) ## run the workflows on this machine: ARGS="--list", ARGS="test/forge"
	$(BIN)/python scripts/ci_local.py $(ARGS)

advisories: ## known vulnerabilities of all dependencies; needs a network
	scripts/advisories.sh

release-check: $(BASE) $(NODE) $(BUNDLE) ## every check before a release, with a table at the end: ARGS="--list"
	python3 scripts/release_check.py $(ARGS)

fixtures: $(DEV) $(TORCH) build ## record tests/data anew
	scripts/fixtures.sh

clean: ## remove what was built; .venv, node_modules and .cache stay
	rm -rf target dist demo site wasm/dist py/python/kinetoscope/_static $(LABEXTENSION)/static $(LABEXTENSION)/package.json py/python/kinetoscope/*.so $(NATIVE)
	find . -name __pycache__ -not -path './.venv/*' -not -path './wasm/node_modules/*' -prune -exec rm -rf {} +

$(BASE): pyproject.toml scripts/venv.sh
	scripts/venv.sh base
	@touch $@

$(DEV): $(BASE)
	scripts/venv.sh dev
	@touch $@

$(TORCH): $(BASE)
	scripts/venv.sh torch
	@touch $@

$(DOCS): $(BASE)
	scripts/venv.sh docs
	@touch $@

$(NODE): wasm/package.json wasm/package-lock.json scripts/node.sh
	scripts/node.sh
	@touch $@

$(BUNDLE): $(NODE) $(RUST) $(WEB)
	node wasm/build.mjs

$(NATIVE): $(BASE) $(RUST) py/pyproject.toml py/Cargo.toml $(shell find py/src -name '*.rs')
	scripts/maturin.sh develop
	@touch $@

$(LAB): $(NATIVE) $(BUNDLE) # a newer one than maturin installed
	rm -rf .venv/share/jupyter/labextensions/kinetoscope && cp -R $(LABEXTENSION) .venv/share/jupyter/labextensions
	@touch $@

$(PYODIDE): $(BASE) $(BUNDLE) $(RUST) $(shell find py -name '*.rs' -o -name '*.py' -o -name '*.toml') scripts/wheel-pyodide.sh scripts/emscripten/emcc
	scripts/wheel-pyodide.sh target/pyodide
	@touch $@
