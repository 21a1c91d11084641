# Every target first installs what it needs (scripts/setup.py); a second run installs nothing.
#   make bake          the example, from .blend to Alembic and a picture of 8 frames in out/
#   make test          lint, types and the suite (at most 10 minutes on two idle cores, with some compilation);  make test-all: the long ones too
#   make test-blender VERSION=5.2.3      tests/addon in another Blender (4.2.0 or later), with its Python and numpy
#   make test-gui      tests in a window: journeys by real keys and clicks; VERSION=5.2.3 in another Blender
#   make test-farm     farm jobs, also on a real Slurm of two nodes that it starts here and of which it kills a worker and a node
#   make mutants       breaks lines of the code one at a time and lists the breaks that no test detects (NAMES="word …")
#   make bench NAME=step      one benchmark;   make benchmarks: all of them, into docs/benchmarks.md
#   make equations     every equation of the papers with the line that implements it
#   make manual        the generated pages: settings, presets, tuned constants; and the integrators' damping curves
#   make extension     dist/conjac-<version>-py311-linux-x64.zip and the like: for every Python and platform, and their repository
#   make installs      installs them into every Blender that runs here and bakes Suzanne, for the README's table
#   make assets        rebuilds the asset library of the extension
#   make examples      rebuilds examples_blend/*.blend
#   make gallery       bakes the paper's scenes and writes docs/gallery/*.png (20 minutes)

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3.11
PY := .venv/bin/python
WORKERS ?= 3
GALLERY := twist aniso hetero barcut slices drop ragdoll chain links muscle muscle2d klann bowl wrung edge rollers key stack ducks belly rabbit tumble push throw tablecloth wire nails friction jaws cloak necklace crane puppet hammock shirt bridge tree
SCENES := suzanne bar $(GALLERY)
EXAMPLES := $(SCENES:%=examples_blend/%.blend)

.PHONY: help python setup bake gallery examples assets test kernels suite test-all test-blender test-gui test-farm mutants lint types equations manual bench benchmarks extension installs clean

help:
	@sed -n 's/^#   //p' Makefile

python:
	@command -v $(PYTHON) >/dev/null || { echo "setup: $(PYTHON) is missing: install Python 3.11 (Debian: python3.11 python3.11-venv python3.11-dev)" >&2; exit 4; }

setup: python
	@$(PYTHON) scripts/setup.py

# ---- the example

$(EXAMPLES): | setup
	$(PY) -m examples_blend.build $(basename $(notdir $@))

examples: setup
	$(PY) -m examples_blend.build $(SCENES)

assets: setup
	$(PY) -m scripts.asset_library

bake: setup $(EXAMPLES)
	$(PY) -m examples_blend.bake suzanne

gallery: setup $(GALLERY:%=examples_blend/%.blend)
	for name in $(GALLERY); do $(PY) -m examples_blend.bake $$name --gallery || exit; done

# ---- tests

# even where the machine keeps no bytecode: each worker would parse all tests and rewrite their assertions anew
test test-all test-blender test-gui test-farm: export PYTHONDONTWRITEBYTECODE :=

# on two cores one compiles kernels, as soon as what they need is installed, while the other one goes on
test: python
	@$(PYTHON) scripts/setup.py build solver
	@$(MAKE) --no-print-directory -j2 kernels suite

kernels:
	@$(PY) tests/compile_kernels.py 1

suite: setup lint types
	$(PY) -m pytest -n $(WORKERS) --dist worksteal -m "not long" -p no:cacheprovider

test-all: setup lint types
	$(PY) -m pytest -n $(WORKERS) --dist worksteal -p no:cacheprovider

test-blender: setup
	@test -n "$(VERSION)" || { echo "make test-blender VERSION=4.2.0, 5.0.1, 5.2.3, ... (whatever pip finds of bpy)"; exit 2; }
	$(PY) scripts/test_blender.py $(VERSION) -n $(WORKERS) -m "not long" tests/addon

# one window at a time: keys and clicks go to the one in front
test-gui: setup
	@for tool in xvfb-run xdotool import; do command -v $$tool >/dev/null || { echo "test-gui: $$tool is missing (Debian: xvfb xauth xdotool imagemagick libgl1-mesa-dri libegl1)" >&2; exit 4; }; done
	$(if $(VERSION),$(PY) scripts/test_blender.py $(VERSION),$(PY) -m pytest -p no:cacheprovider) -m long -k window tests/addon

# a Slurm of two nodes on this machine, from Debian's packages; AWS's client has a place of its own
test-farm: setup
	@[ -x build/deadline/bin/deadline ] || { $(PYTHON) -m venv build/deadline && build/deadline/bin/pip install -q deadline==0.60.10; } || { echo "test-farm: deadline, AWS Deadline Cloud's client, cannot be installed" >&2; exit 4; }
	@command -v slurmd munged >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null; } || { echo "test-farm: slurm-wlm and munge are missing, install them and run again" >&2; exit 4; }
	$(PY) -m pytest tests/farm -p no:cacheprovider

mutants: setup
	$(PY) scripts/mutants.py $(NAMES)

lint: setup
	$(PY) -m ruff check .

types: setup
	mkdir -p build/types && ln -sfn ../.. build/types/conjac
	cd build/types && MYPYPATH=. ../../$(PY) -m mypy --config-file ../../pyproject.toml -p conjac.solver -p conjac.conjac_addon

equations: setup
	@$(PY) scripts/equations.py

manual: setup
	$(PY) scripts/manual_tables.py
	$(PY) scripts/constants_table.py
	$(PY) scripts/presets.py
	$(PY) scripts/wheel_table.py
	$(PY) scripts/damping_curves.py

# ---- numbers

bench: setup
	@test -n "$(NAME)" || { $(PY) -m benchmarks.run 2>&1 | tail -1; exit 2; }
	$(PY) -m benchmarks.run $(NAME)

benchmarks: setup
	$(PY) -m benchmarks.run --all

# ---- the extension

extension: setup
	$(PY) scripts/build_extension.py

installs: setup
	$(PY) scripts/installs.py

clean:
	rm -rf build dist out
