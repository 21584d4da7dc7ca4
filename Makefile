# Everything a person needs to run, test and change HDSP Agent. `make help` lists it.
# Stamps under .venv and node_modules remember what is done, so a second run does only what changed.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
WORKSPACE ?= workspace
export PATH := $(CURDIR)/$(BIN):$(PATH)
# Neither a person's own pip settings for editable builds nor yarn's questions may change what we build.
export HATCH_JUPYTER_BUILDER_SKIP_NPM := 1
export YARN_ENABLE_TELEMETRY := 0
# Where an environment forbids bytecode, each of the many programs the tests start would compile all anew.
export PYTHONDONTWRITEBYTECODE :=

PY_INSTALLED := $(VENV)/.stamp-installed
JS_INSTALLED := node_modules/.stamp-installed
SYSTEM_READY := $(VENV)/.stamp-system
DOCS_INSTALLED := $(VENV)/.stamp-docs
BUILT := labextension/dist/.stamp-built
LINKED := $(VENV)/.stamp-linked
COLLABORATION := .collaboration/.stamp-installed
CORPUS := .corpus/.stamp-installed
DATABASES := .databases/.stamp-installed
OBJECTS := .objects/.stamp-installed
PROGRAMS := .programs/.stamp-installed
HUB := .hub/.stamp-installed
GATEWAY := .gateway/.stamp-installed
OLDEST_LAB := .lab-4.2/.stamp-installed

FRONT := $(shell find src labextension/style labextension/schema -type f 2>/dev/null) tsconfig.json package.json
SERVER := $(shell find hdsp_agent -name '*.py' -o -name '*.json' -path '*locale*' -o -name '*.yaml' 2>/dev/null)

.PHONY: help lab check test test-unit test-long docs screenshots pictures lint lint-python lint-js generate bench dev clean collaboration databases objects test-python test-js test-ui test-wheel format translations install

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

## ---- what everything stands on

$(VENV)/.stamp-created: scripts/create_env.sh
	bash scripts/create_env.sh $(VENV)
	@touch $@

# What `develop` linked goes first: pip would write through the link into the built extension, and fail the next time.
$(PY_INSTALLED): pyproject.toml package.json $(VENV)/.stamp-created
	rm -rf $(VENV)/share/jupyter/labextensions/hdsp-agent labextension/dist/install.json
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,local]'
	@touch $@

# Not the project itself once more: pip would write through the link, as above.
$(DOCS_INSTALLED): pyproject.toml | $(PY_INSTALLED)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"], sep="\n")' > $(VENV)/docs.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(VENV)/docs.txt
	@touch $@

$(JS_INSTALLED): package.json yarn.lock .yarnrc.yml | $(PY_INSTALLED)
	jlpm install --immutable
	@touch $@

$(BUILT): $(FRONT) $(JS_INSTALLED)
	jlpm build:prod
	@touch $@

$(LINKED): $(BUILT) $(PY_INSTALLED)
	jupyter-builder develop . --overwrite
	@touch $@

$(SYSTEM_READY): scripts/system_packages.sh | $(PY_INSTALLED)
	bash scripts/system_packages.sh
	python -m bash_kernel.install --sys-prefix > /dev/null
	@touch $@

$(COLLABORATION): scripts/collaboration.txt | $(VENV)/.stamp-created
	rm -rf .collaboration
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .collaboration -r $<
	@touch $@

$(CORPUS): scripts/corpus.txt | $(VENV)/.stamp-created
	rm -rf .corpus
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .corpus -r $<
	@touch $@

# The two packages with a `%sql` are one in name, and so are the versions of SQLAlchemy: each has a folder.
$(DATABASES): scripts/databases.txt | $(VENV)/.stamp-created
	rm -rf .databases
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .databases/common -r $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .databases/ipython-sql \
		ipython-sql==0.5.0 ipython-genutils==0.2.0 six
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .databases/sqlalchemy-1.4 sqlalchemy==1.4.54
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .databases/sqlalchemy-2.0 sqlalchemy==2.0.58
	@touch $@

$(OBJECTS): scripts/object_store.txt | $(VENV)/.stamp-created
	rm -rf .objects
	mkdir .objects
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .objects -r $<
	@touch $@

# More than a gigabyte, for the long tests alone: other agents' programs, which connect to ours, and MCP servers, which ours uses.
$(PROGRAMS): scripts/programs.txt | $(VENV)/.stamp-created
	rm -rf .programs
	npm install --prefix .programs --no-save --no-audit --no-fund $$(cat $<)
	@touch $@

# JupyterHub and its proxy, for the long tests alone.
$(HUB): scripts/hub.txt | $(VENV)/.stamp-created
	rm -rf .hub
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target .hub -r $<
	npm install --prefix .hub --no-save --no-audit --no-fund configurable-http-proxy@5.3.0
	@touch $@

# Enterprise Gateway with a kernel of its own, for the long tests alone. It needs older versions of Jupyter's packages.
$(GATEWAY): scripts/gateway.txt | $(PY_INSTALLED)
	rm -rf .gateway
	$(BIN)/python -m venv .gateway
	.gateway/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# The oldest JupyterLab that HDSP Agent works in, with a wheel of what is built, for the long tests alone.
$(OLDEST_LAB): $(BUILT) $(SERVER) pyproject.toml
	rm -rf .lab-4.2
	$(BIN)/python -m venv .lab-4.2
	.lab-4.2/bin/python -m pip install --quiet --disable-pip-version-check . pandas 'jupyterlab>=4.2,<4.3'
	@touch $@

collaboration: $(COLLABORATION) ## put jupyter-collaboration beside the environment, for the tests that switch it on

objects: $(OBJECTS) ## put SeaweedFS beside the environment, for the tests of artifacts in an S3-compatible store

databases: $(DATABASES) ## put SQLAlchemy, DuckDB and the %sql magics beside the environment, for the tests that use them

install: $(PY_INSTALLED) $(LINKED) ## make the environment and install into it

## ---- for people who want to use it

lab: $(PY_INSTALLED) $(LINKED) ## open JupyterLab on a sample workspace with the agent's panel ready
	bash scripts/lab.sh $(WORKSPACE)

## ---- for people who change it

# The rooms whose tests start no kernel, no Jupyter Server and no browser.
UNIT_TESTS := tests/config tests/context tests/events tests/messages tests/persistence tests/providers tests/test_docs.py $(wildcard tests/tools/test_*.py)

check: lint test-js test-unit ## what a change is checked with while you work: lint, types, unit tests

test-unit: $(PY_INSTALLED) ## the Python tests without kernels and servers
	python -m pytest -p no:cacheprovider -n $${TEST_PROCESSES:-3} --dist loadfile -m "not slow" $(UNIT_TESTS)

test: lint test-python test-js test-ui test-wheel ## everything: lint, types, Python, jest, Chromium, wheel
	@echo "All of HDSP Agent's checks passed."

test-python: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) $(COLLABORATION) $(CORPUS) $(DATABASES) $(OBJECTS) ## the Python tests
	python -m pytest -p no:cacheprovider -n $${TEST_PROCESSES:-3} --dist loadfile --no-loadscope-reorder

# How many mutants are tried, and for how long at most; SAMPLE=100000 tries all of them.
SAMPLE ?= 400
MUTATION_MINUTES ?= 60

test-long: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) $(COLLABORATION) $(PROGRAMS) $(OBJECTS) $(HUB) $(GATEWAY) $(OLDEST_LAB) ## what takes long: the tests and stories left out of make test, fuzzing, other surroundings, mutation testing
	HDSP_AGENT_LONG_TESTS=1 python -m pytest -p no:cacheprovider -o timeout=7200 -n $${TEST_PROCESSES:-3} --dist loadfile -m "long or in_short"
	HDSP_AGENT_LONG_TESTS=1 python -m pytest -p no:cacheprovider -o timeout=7200 -m "not long and not in_short" $$(grep -rlE '^from (tests|\.+)\.?_helpers\.long_tests import' tests --include='test_*.py')
	HDSP_AGENT_LONG_TESTS=1 jlpm playwright test --config ui-tests/playwright.config.ts
	HDSP_AGENT_LONG_TESTS=1 jlpm playwright test --config ui-tests/surroundings.config.ts
	python -m tests.mutation --sample $(SAMPLE) --minutes $(MUTATION_MINUTES)

test-js: $(JS_INSTALLED) ## the front end's unit tests
	jlpm test

test-ui: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) $(COLLABORATION) ## the tests in Chromium
	jlpm playwright test --config ui-tests/playwright.config.ts

test-wheel: $(VENV)/.stamp-wheel ## build the wheel, install it where there is no Node, look at what Jupyter says

$(VENV)/.stamp-wheel: $(FRONT) $(SERVER) pyproject.toml yarn.lock scripts/check_wheel.py | $(PY_INSTALLED)
	python scripts/check_wheel.py
	@touch $@

lint: $(PY_INSTALLED) $(JS_INSTALLED) ## formatting, lint, types, import contract, generated code in step
	$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint-python lint-js

lint-python: $(PY_INSTALLED)
	ruff check .
	ruff format --check .
	mypy
	lint-imports --no-logo
	python scripts/check_structure.py
	python scripts/check_unused.py

# Generated code and translations are of both sides. They are checked with this one, which takes less time.
lint-js: $(PY_INSTALLED) $(JS_INSTALLED)
	jlpm lint:check
	jlpm tsc --noEmit
	jlpm tsc --noEmit -p ui-tests
	python scripts/generate.py --check
	python scripts/translations.py check

docs: $(DOCS_INSTALLED) ## build the documentation into build/site; fails for a broken link
	NO_MKDOCS_2_WARNING=1 mkdocs build --strict

screenshots: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) ## take the pictures in the documents anew
	jlpm playwright test --config ui-tests/screenshots.config.ts

pictures: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) ## picture every state in every theme and language, to look at; axe looks too
	jlpm playwright test --config ui-tests/appearances.config.ts

format: $(PY_INSTALLED) $(JS_INSTALLED) ## put every file into the house's form
	ruff check --fix .
	ruff format .
	jlpm lint

generate: $(PY_INSTALLED) $(JS_INSTALLED) ## write what is derived: TypeScript, reference pages, translations
	python scripts/generate.py
	python scripts/translations.py extract
	python scripts/translations.py update
	python scripts/translations.py compile

bench: $(PY_INSTALLED) $(LINKED) $(SYSTEM_READY) ## measure the claims; CLAIM="channel start" for some of them
	python -m benchmarks $(CLAIM)

dev: $(PY_INSTALLED) $(JS_INSTALLED) ## rebuild the front end while you edit it, with JupyterLab beside it
	bash scripts/dev.sh $(WORKSPACE)

clean: ## remove what was built; never your workspace
	rm -rf lib labextension/dist tsconfig.tsbuildinfo ui-tests/tsconfig.tsbuildinfo dist coverage .mypy_cache .pytest_cache .ruff_cache
	rm -f $(VENV)/.stamp-linked $(VENV)/.stamp-wheel
