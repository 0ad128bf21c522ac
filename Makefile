# make help lists the targets. Everything runs as an ordinary user or as root with python3 (3.11 or newer), git and make.
.PHONY: help setup up demo test test-real prove lint bench pins
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/pytest -q -n 2 --dist loadfile
CODE := manage.py tools bench spellbook approvals incidents catalog foundation tests examples
SETTINGS := set -a; [ ! -e .env ] || . ./.env; set +a

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

setup: ## make .venv and .envs/dbt (instant when nothing changed)
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) was not found: install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) tools/environments.py

up: setup ## the site, its workers and beat at http://localhost:8000 (PORT=)
	@$(SETTINGS); exec $(BIN)/python manage.py up

demo: setup ## plays one night on a real dbt project (EXIT=1 ends it, ROWS= makes it small, MANUAL=1 waits for you, PORT=)
	@export EXIT="$(EXIT)" ROWS="$(ROWS)" MANUAL="$(MANUAL)" PATH="$(CURDIR)/$(BIN):$$PATH"; \
	$(if $(PORT),export PORT="$(PORT)";) exec examples/mixpanel_night/play

test: setup ## all quick tests, on SQLite and on PostgreSQL (WHAT= narrows)
	SPELLBOOK_TEST_ENGINE=sqlite $(PYTEST) -m "not real and not prove" $(WHAT)
	SPELLBOOK_TEST_ENGINE=postgres $(PYTEST) -m "not real and not prove and (not dbt or both)" $(WHAT)

test-real: setup ## tests against real counterparts that are slow
	@$(PYTHON) tools/environments.py openlineage
	@SPELLBOOK_TEST_ENGINE=sqlite $(PYTEST) -m real $(WHAT) || [ $$? -eq 5 ]
	@SPELLBOOK_TEST_ENGINE=postgres $(PYTEST) -m "real and both" $(WHAT) || [ $$? -eq 5 ]

prove: setup ## model search, races, kills and guard mutants
	@SPELLBOOK_TEST_ENGINE=sqlite $(PYTEST) -m prove $(WHAT) || [ $$? -eq 5 ]
	@SPELLBOOK_TEST_ENGINE=postgres $(PYTEST) -m prove $(WHAT) || [ $$? -eq 5 ]

lint: setup ## style, types, the import contract, missing migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(wildcard $(CODE))
	$(BIN)/lint-imports
	SPELLBOOK_DATA_DIR=var/lint $(BIN)/python manage.py makemigrations --check --dry-run

bench: setup ## one JSON object a line (ONLY=name)
	@if [ -e bench/__main__.py ]; then exec $(BIN)/python -m bench $(ONLY); else echo "There is nothing to measure yet." >&2; fi

PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header
pins: setup ## write requirements*.txt anew from requirements*.in (UPGRADE=--upgrade)
	$(PIN) $(UPGRADE) requirements.in -o requirements.txt
	$(PIN) $(UPGRADE) requirements-dev.in -o requirements-dev.txt
	$(PIN) $(UPGRADE) requirements-dbt.in -o requirements-dbt.txt
	$(PIN) $(UPGRADE) requirements-openlineage.in -o requirements-openlineage.txt
