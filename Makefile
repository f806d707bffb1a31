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

.PHONY: help demo test test-quick docs gui accuracy bench bench-planting bench-motion sanitize fuzz matrix packages batch-example extension wheel format clean

help:
	@echo "make demo [CLIP=file [ACTION=name]] [GROUND=hills|steps|slope|flat|platform|bridge|stairs|ladder|file] [FINE=1], test, test-quick, docs, gui, accuracy, bench, bench-planting, sanitize, extension, wheel, format, clean"
	@echo "make bench-motion [CLIPS=parts of names] [GROUNDS=parts of names] [KEEP=file] [AGAINST=file], fuzz [SECONDS=60]"
	@echo "make matrix [BLENDERS=\"4.2 5.2\"] [FOLDER=for their virtual environments], packages, batch-example [CLIPS=folder]"

demo: $(VENV)/package
	@$(RUN) -m demo $(if $(CLIP),--clip "$(CLIP)") $(if $(ACTION),--action "$(ACTION)") $(if $(GROUND),--ground "$(GROUND)") $(if $(FINE),--samples 6)

# In several processes, each of which starts a Blender of its own; a file's tests share what they set up.
test: $(VENV)/package
	$(RUN) -m pytest tests --numprocesses auto --maxprocesses 4 --dist loadfile

# In under two minutes on two processors: the package but for emulated ones, and the add-on's main way in Blender.
test-quick: $(VENV)/package
	$(RUN) -m pytest tests/solver tests/planting tests/test_demo_gait.py tests/blender/test_operator.py \
		tests/blender/test_register.py --ignore tests/solver/test_platforms.py --numprocesses auto --maxprocesses 4 --dist loadfile

# Mouse and keyboard in a Blender with a window, into which the zip is installed, run by a tool that brings a display;
# skipped where there is no such tool. Pictures are left in build/gui.
gui: extension
	@$(RUN) -m tests.gui "$(DESKTOP)" $(SUITE)

# The zip installed and used in every Blender from 4.2 to 5.2, each in a virtual environment: 8 GB the first time.
matrix: extension
	@$(RUN) -m tests.matrix dist $(FOLDER) $(BLENDERS)

# Source distribution and wheel built by the oldest setuptools, and tested in every Python that is installed; half an hour.
packages: $(VENV)/package
	@$(RUN) -m tests.packages

# A folder of clips planted by the command, and by Dask with one and two workers.
batch-example: extension
	@$(RUN) examples/batch.py "$(or $(CLIPS),$${IK2BONE_DATA:-../shared/data}/bvh)" --zip dist/ik2bone-*.zip

# The pages of docs/ as a site in build/docs; the first time installs Sphinx.
docs: $(VENV)/package
	@$(SETUP) docs

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
