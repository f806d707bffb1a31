# SPDX-License-Identifier: MIT
# PYTHON= names another Python (3.11 or 3.13), VENV= another virtual environment.
PYTHON ?= python3
VENV ?= .venv
# The tool that `make gui` runs Blender by, and which of its Blenders.
DESKTOP ?= ../shared/tools/desktop-blender
SUITE ?= sid
RUN := $(VENV)/bin/python
SETUP := PYTHON="$(PYTHON)" VENV="$(VENV)" sh tools/setup.sh
PACKAGE := pyproject.toml setup.py $(wildcard native/core/* native/binding/* native/ik2bone/* native/ik2bone/*/*)

.PHONY: help demo test gui accuracy bench bench-planting bench-motion sanitize fuzz extension wheel format clean

help:
	@echo "make demo [CLIP=file [ACTION=name]] [GROUND=hills|steps|slope|flat|platform|bridge|stairs|ladder|file], test, gui, accuracy, bench, bench-planting, sanitize, extension, wheel, format, clean"
	@echo "make bench-motion [CLIPS=parts of names] [GROUNDS=parts of names] [KEEP=file] [AGAINST=file], fuzz [SECONDS=60]"

demo: $(VENV)/package
	@$(RUN) -m demo $(if $(CLIP),--clip "$(CLIP)") $(if $(ACTION),--action "$(ACTION)") $(if $(GROUND),--ground "$(GROUND)")

# In several processes, each of which starts a Blender of its own; a file's tests share what they set up.
test: $(VENV)/package
	$(RUN) -m pytest tests --numprocesses auto --maxprocesses 4 --dist loadfile

# Mouse and keyboard in a Blender with a window, run by a tool that brings a display; skipped where there is no such tool.
gui: $(VENV)/package
	@$(RUN) -m tests.gui "$(DESKTOP)" $(SUITE)

accuracy: $(VENV)/package
	@$(RUN) -m tests.accuracy

bench: $(VENV)/package
	@$(RUN) -m tests.bench
	@$(RUN) -m tests.bench.calls
	@$(RUN) -m tests.bench.planting
	@$(RUN) -m tests.bench.sampling

bench-planting: $(VENV)/package
	@$(RUN) -m tests.bench.planting $(CLIPS)

bench-motion: $(VENV)/package
	@$(RUN) -m tests.bench_motion $(if $(CLIPS),--clips $(CLIPS)) $(if $(GROUNDS),--grounds $(GROUNDS)) \
		$(if $(KEEP),--keep "$(KEEP)") $(if $(AGAINST),--against "$(AGAINST)")

# The solver's tests on an extension built with the address and undefined-behaviour checks of gcc, then of clang.
sanitize: $(VENV)/package
	@$(SETUP) sanitize

# Random calls of the solver for SECONDS on each build of its loops, judged by the fast twin in tests/fuzz/twin.c.
fuzz: $(VENV)/package
	@$(RUN) -m tests.fuzz --seconds $(or $(SECONDS),60)

extension: wheel
	$(RUN) tools/extension.py dist

wheel: $(VENV)/package
	@$(SETUP) wheel

format: $(VENV)/blender
	@$(SETUP) format

clean:
	rm -rf build dist native/*.egg-info

$(VENV)/blender: tools/setup.sh
	@$(SETUP) blender && touch $@

$(VENV)/package: $(VENV)/blender $(PACKAGE)
	@$(SETUP) package && touch $@
