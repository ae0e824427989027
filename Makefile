# Everything there is to do here. `make` lists it.
.DEFAULT_GOAL := help
PORT ?= 8000
HOST ?= 127.0.0.1
BIN := .venv/bin
LOCK := scripts/lock

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

.venv/.runtime: requirements.lock
	@sh scripts/setup requirements.lock
	@touch $@

.venv/.dev: requirements-dev.lock
	@sh scripts/setup requirements-dev.lock
	@touch .venv/.runtime $@

setup: .venv/.dev ## make .venv with everything, test tools too

demo: ## read the demo book and serve it with a page to try (PORT=8123 picks the port)
	@[ -e .venv/.runtime ] || echo "Making .venv with what Citewell needs (once, about a minute) ..."
	@$(MAKE) -s .venv/.runtime
	@$(BIN)/citewell demo --host $(HOST) --port $(PORT)

serve: .venv/.runtime ## serve the index in CITEWELL_DATA_DIR
	@$(BIN)/citewell serve --host $(HOST) --port $(PORT)

test: .venv/.dev check browser ## format, lint, types, import directions and all tests
	@$(BIN)/pytest -n 2 --dist loadfile -q

check: .venv/.dev ## format, lint, types and import directions only
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

unit: .venv/.dev ## the fast tests only
	@$(BIN)/pytest -q tests/unit

coverage: .venv/.dev ## which lines the tests run: a table here, pages in .coverage-html
	@$(BIN)/pytest -n 2 --dist loadfile -q -m "not browser" --cov --cov-report=term --cov-report=html:.coverage-html

lowest: .venv/.dev ## the unit tests on the lowest versions that pyproject.toml names
	@sh scripts/lowest

faults: .venv/.dev ## attacks and faults of every part, played against us; prints what held
	@$(BIN)/pytest --faults -q -p no:xdist --timeout 1200

browser: ## install Chromium for the browser tests, where that is possible
	@sh scripts/get_browser

widget: ## build the widget and the page from widget/ (needs Node)
	@cd widget && npm ci --silent --no-progress && npx --no-install tsc --noEmit && node build.mjs

docs-site: .venv/.dev ## build the docs as a site in site/, links checked
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build -q --strict

docs: docs-site ## serve the docs, with Citewell answering questions about Citewell (PORT=8123 picks the port)
	@sh scripts/serve_docs $(PORT)

screenshots: .venv/.dev browser ## take the pictures of the widget in docs/images
	@$(BIN)/python scripts/screenshots.py

format: .venv/.dev ## format and mend what ruff can mend
	@$(BIN)/ruff format -q . && $(BIN)/ruff check -q --fix .

bench: .venv/.dev ## measure speed and size, and write docs/benchmarks.md
	@$(BIN)/python bench/run.py

peers: .venv/.dev ## measure LlamaIndex, Haystack and LangChain beside us (each gets its own environment)
	@sh bench/peers/setup && $(BIN)/python bench/run.py --only peers,install

dist: .venv/.dev ## build the wheels of citewell, citewell-larger and citewell-evaluation into dist/
	@export UV_SYSTEM_CERTS=1; for part in . larger evaluation; do $(BIN)/uv build -q --wheel -o dist $$part || exit 1; done; ls dist

lock: ## write the lock files again from pyproject.toml
	@sh $(LOCK)

clean: ## remove the environment, caches and the demo's data
	@rm -rf .venv .citewell .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage-html .import_linter_cache

.PHONY: help setup demo serve test check unit lowest faults coverage browser widget docs-site docs screenshots format bench peers dist lock clean
