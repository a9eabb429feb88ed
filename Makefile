# A thin front for CMake: `make help` lists what there is.
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
PREFIX ?= /usr/local
MODEL   = models/mobilenet_v1_0.25_96_int8.tflite
CORPUS  = $(wildcard ../shared/corpus/*/*/model.tflite)
CMAKE   = env -u MAKEFLAGS -u MAKELEVEL cmake
CTEST   = ctest --output-on-failure --parallel $(JOBS)

.PHONY: all demo test test-corpus tidy test-release test-sanitize check bench install fuzz format clean help

all: ## build the release program, build/berth (the default)
	@$(CMAKE) --preset release >/dev/null
	@$(CMAKE) --build build --parallel $(JOBS) --target berth berth_plan

demo: ## install what is missing (apt), build, and plan a shipped model
	@tools/install-packages demo
	@$(MAKE) --no-print-directory all
	build/berth plan $(MODEL)

test: ## install what is missing (apt), then run every test and check
	@tools/install-packages test
	@$(MAKE) --no-print-directory test-release test-sanitize check

test-release: all
	@$(CMAKE) --build build --parallel $(JOBS)
	cd build && $(CTEST)

test-sanitize:
	@$(CMAKE) --preset sanitize >/dev/null
	@$(CMAKE) --build build-sanitize --parallel $(JOBS)
	cd build-sanitize && $(CTEST)

check: ## the checks of `make test` that are not tests: layers, freestanding build, formatting
	tools/check-layers
	JOBS=$(JOBS) tools/check-freestanding
	tools/check-format

tidy: all ## clang-tidy on every source file (needs clang-tidy)
	find src cli -name '*.c' -print0 | xargs -0 -P $(JOBS) -n 4 clang-tidy --quiet -p build

bench: all ## measure: every program build/bench/bench_*, then speed beside TensorFlow Lite
	@$(CMAKE) --build build --parallel $(JOBS)
	@set -e; for program in build/bench/bench_*; do \
	  if [ -f "$$program" ] && [ -x "$$program" ]; then echo "== $$program"; "$$program"; fi; done
	bench/runtime.py

install: all ## install below PREFIX (/usr/local), inside DESTDIR if that is set
	@$(CMAKE) -DCMAKE_INSTALL_PREFIX=$(PREFIX) build >/dev/null
	@$(CMAKE) --install build --prefix $(PREFIX)

test-corpus: all ## every model of ../shared x planners x alignments x streaming, guarded; every line of advice (QUICK=1: less)
	@$(CMAKE) --build build --parallel $(JOBS) --target ways
	tools/test-corpus --jobs $(JOBS) $(if $(QUICK),--quick)
	$(if $(QUICK),,python3 -B tests/cli/check_advice.py build/berth $(CORPUS))

fuzz: ## mutate a million model files under the sanitizers
	tools/fuzz

format: ## format every C file as .clang-format says
	@tools/check-format --fix

clean: ## remove every build folder
	rm -rf build build-*

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
