# Everything sets itself up: Python 3.11, git and make are enough. Java comes from PyPI where the machine has none.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEMO ?= demo
# as many at once as there is memory for, 4 GB each; a browser and a JVM are waited for, so that three fill two processors
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(3, int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 4e9) or 1))')

.PHONY: demo site test test-all exhaustive fuzz lab check lint types rooms unit spark4 tab-test matrix dist notebooks save-notebooks pictures benchmarks benchmark-venv lock clean help

help:
	@echo "make demo   what an INSERT writes to a Hive, an Iceberg, a Paimon and a Delta table, on local Spark"
	@echo "make lab    JupyterLab on the notebooks"
	@echo "make site   the site as a folder of static files, at site/, with the explorer at site/tab/"
	@echo "make test   every check: style, types, rooms, tests, notebooks; make test-all takes every case of each"
	@echo "make tab-test the core in Pyodide, in Node and in Chromium"
	@echo "make matrix the tests under every Python here, PySpark 4.1, JupyterLab and Notebook"
	@echo "make dist   the wheel and the sdist, built and tried in fresh environments"

$(READY): requirements.lock pyproject.toml $(wildcard lakelens/jupyter/labextension/*/* lakelens/jupyter/labextension/*.json)
	@echo "lakelens: making $(VENV) (once; a minute or two)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lakelens needs Python 3.11 or newer")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.8"
	@echo "lakelens: installing the pinned packages"
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $(READY)

demo: $(READY)
	@$(BIN)/lakelens demo $(DEMO)

lab: $(READY)
	@$(BIN)/jupyter trust notebooks/*.ipynb
	@$(BIN)/jupyter lab notebooks/00-start.ipynb

# what is fetched for the tab is kept in build/tab
site: $(READY)
	@echo "lakelens: making the site (its examples run now)"
	@$(BIN)/python -m website site
	@$(BIN)/lakelens tab site/tab --parts build/tab
	@$(BIN)/python -m website.lab site/lab build/tab
	@echo "look at it: $(BIN)/python -m http.server --directory site"

test: lint types rooms unit notebooks
	@echo "lakelens: every check passed; make test-all takes every case of each"

# CI runs both
test-all: test exhaustive
	@echo "lakelens: every case of every check passed"

check: lint types rooms

lint: $(READY)
	@echo "lakelens: style (ruff)"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet . || (echo "run: $(BIN)/ruff format ."; exit 1)

types: $(READY)
	@echo "lakelens: types (mypy --strict)"
	@$(BIN)/mypy

rooms: $(READY)
	@echo "lakelens: who may import whom (import-linter)"
	@$(BIN)/lint-imports --no-cache

unit: $(READY)
	@echo "lakelens: tests (the first run fetches Spark's jars)"
	@LAKELENS_EXHAUSTIVE=no $(BIN)/python -m pytest -m "not spark" -n $(WORKERS) --dist loadfile
	@LAKELENS_EXHAUSTIVE=no $(BIN)/python -m pytest -m spark

# what `make test` leaves out: the other cases of tests that are marked `exhaustive`
exhaustive: $(READY)
	@echo "lakelens: the cases that make test leaves out"
	@LAKELENS_EXHAUSTIVE=only $(BIN)/python -m pytest -m "not spark" -n $(WORKERS) --dist loadfile
	@LAKELENS_EXHAUSTIVE=only $(BIN)/python -m pytest -m spark
	@$(NBVAL) $(LONG_NOTEBOOKS)

# by hand: FUZZ_SECONDS=600, FUZZ_SEED; what is found is kept in tests/fuzz/corpus (see tests/fuzz/__init__.py)
fuzz: $(READY)
	@echo "lakelens: damaging tables and walking them"
	@$(BIN)/python -m tests.fuzz

# by hand: files as DataFrames and the data source under PySpark 4.1, in an environment of its own
spark4: .venv-spark4/.ready
	@echo "lakelens: tests of DataFrames under PySpark 4.1"
	@.venv-spark4/bin/python -m pytest tests/spark/test_planning.py tests/spark/test_spark_files.py tests/spark/test_data_source.py

.venv-spark4/.ready: tests/spark/spark4.lock pyproject.toml $(READY)
	@$(PYTHON) -m venv .venv-spark4
	@VIRTUAL_ENV=$(CURDIR)/.venv-spark4 $(BIN)/uv pip install --quiet --require-hashes -r tests/spark/spark4.lock
	@VIRTUAL_ENV=$(CURDIR)/.venv-spark4 $(BIN)/uv pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# the core in Pyodide, in Node and in Chromium; what is fetched for it is kept in build/tab
tab-test: $(READY)
	@echo "lakelens: the core in a browser's Python (the first run fetches Pyodide with npm)"
	@$(BIN)/python -m pytest tests/tab

# every Python that is here, then PySpark 4.1, then the hosts of notebooks; MATRIX="tests/codecs" runs a part
matrix: $(READY)
	@$(BIN)/python -m tests.release.matrix $(MATRIX)
	@$(MAKE) --no-print-directory spark4
	@echo "lakelens: cards and widgets in JupyterLab, Notebook 7 and marimo (needs Chromium)"
	@$(BIN)/python -m pytest tests/browser/test_lab_cards.py tests/browser/test_lab_widgets.py tests/browser/test_hosts.py

dist: $(READY)
	@echo "lakelens: building the wheel and the sdist, and trying both in fresh environments"
	@$(BIN)/python -m tests.release.dist

# a directory of answers that nobody has written, so that no reader's guesses are in an output
NBVAL = LAKELENS_PROGRESS=0 LAKELENS_STATE=$$(mktemp -d) $(BIN)/python -m pytest --nbval --nbval-current-env --nbval-sanitize-with notebooks/sanitize.cfg \
	-p no:cacheprovider -n $(WORKERS) --dist loadfile
# these take as long as all the others together
LONG_NOTEBOOKS := notebooks/06-who-pays.ipynb notebooks/07-inventory.ipynb notebooks/11-health-check.ipynb

notebooks: $(READY)
	@echo "lakelens: notebooks, run again and compared with what they keep (nbval)"
	@$(NBVAL) $(filter-out $(LONG_NOTEBOOKS),$(wildcard notebooks/*.ipynb))

save-notebooks: $(READY)
	@echo "lakelens: running the notebooks and keeping their outputs"
	@$(BIN)/python notebooks/execute.py
	@$(BIN)/python -m notebooks.pages

pictures: $(READY)
	@echo "lakelens: photographing the main cards in JupyterLab (needs Chromium)"
	@$(BIN)/python -m tests.browser.pictures

benchmarks: $(READY) benchmark-venv
	@echo "lakelens: measuring beside pyiceberg, pypaimon, Spark and others (most of an hour; PARTS=iceberg,cold takes some; leave the machine alone)"
	@$(BIN)/python -m tests.benchmarks --write-readme $(if $(PARTS),--only $(PARTS))

# the peers have an environment of their own: their pins are not those of lakelens
benchmark-venv: $(READY) $(VENV)-benchmarks/.ready

$(VENV)-benchmarks/.ready: tests/benchmarks/requirements.lock
	@echo "lakelens: making $(VENV)-benchmarks"
	@$(PYTHON) -m venv $(VENV)-benchmarks
	@VIRTUAL_ENV=$(CURDIR)/$(VENV)-benchmarks $(BIN)/uv pip install --quiet --require-hashes -r $<
	@touch $@

lock:
	@$(BIN)/uv pip compile pyproject.toml --extra all --group dev -c constraints.txt --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml tests/spark/spark4.in --extra fast --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o tests/spark/spark4.lock
	@$(BIN)/uv pip compile tests/benchmarks/requirements.in --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o tests/benchmarks/requirements.lock
	@$(BIN)/uv pip compile lakelens/tab/packages.in -c requirements.lock --universal --python-version 3.14 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o lakelens/tab/packages.lock
	@$(BIN)/uv pip compile tests/tab/packages.in -c requirements.lock --universal --python-version 3.14 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o tests/tab/packages.lock
	@$(BIN)/uv pip compile website/lab/packages.in -c lakelens/tab/packages.lock --universal --python-version 3.14 \
		--generate-hashes --no-emit-index-url --no-header --quiet -o website/lab/packages.lock

clean:
	@rm -rf $(VENV) $(DEMO) warehouse build site
