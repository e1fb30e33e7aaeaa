# Everything a user or CI does is one of these targets; each begins with `make install`'s .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= train,dev
comma := ,
STAMP := $(VENV)/.installed-$(subst $(comma),-,$(EXTRAS))
LOCALE := thegame_app/locale
KEYWORDS := N_ lang _lang plural:1,2 Refusal Denied UnknownGame TooLarge NotAForm BadInput
POSITION ?= up=14,23 down=90,77 seen=2,5,96,99 hand=12,13,30,67,80,88 others=6,6,6,6

.PHONY: help install demo test test-browser test-long fmt lint type check bench results messages clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: $(STAMP)  ## Make .venv with the `thegame` command in it

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$(EXTRAS)]"
	@touch $@

demo: install  ## Train an agent for two and a half minutes, compare it with others, give a hint
	$(BIN)/thegame train configs/demo.yaml --out runs/demo --overwrite
	$(BIN)/thegame eval --players 5 --games 2000 --agents random,greedy,ppo:runs/demo/policy
	$(BIN)/thegame hint "$(POSITION)" --agent ppo:runs/demo/policy

test: install  ## The default tests (some two minutes)
	$(BIN)/pytest -n 2
	@echo "Left out: the page in a real browser (make test-browser) and the long tier (make test-long)."

test-browser: install  ## The page in a real browser (Debian: apt-get install chromium)
	$(BIN)/pytest tests/browser -m browser -rs

test-long: install  ## The long tier: every step of 100,000 games and the like
	$(BIN)/pytest -m long -n 2

fmt: install  ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: install  ## Style, and who may import whom
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

type: install  ## Types, strictly
	$(BIN)/mypy

bench: install  ## Speeds on this machine, beside other libraries where they are installed
	$(BIN)/thegame bench --compare

results: install  ## Play the runs behind the README's tables and write them anew
	$(BIN)/python -m benchmarks.results

messages: install  ## Collect the messages for translation, and compile the catalogues
	$(BIN)/pybabel -q extract -F babel.cfg $(KEYWORDS:%=-k %) --omit-header --no-location --sort-output \
		-o $(LOCALE)/thegame.pot thegame_app thegame_env
	$(BIN)/pybabel -q update -D thegame -i $(LOCALE)/thegame.pot -d $(LOCALE) --no-fuzzy-matching \
		--ignore-obsolete --ignore-pot-creation-date
	$(BIN)/pybabel -q compile -D thegame -d $(LOCALE)
	rm $(LOCALE)/thegame.pot

check: lint type test  ## Before every commit

clean:  ## Remove caches and build products
	rm -rf build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +
