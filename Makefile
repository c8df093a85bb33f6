# SPDX-License-Identifier: Apache-2.0
#
# make            builds build/topkcts
# make run        the main job: suite smoke, v1 on the simulator and the reference, a verdict table, topkcts.db
# make test       all tests
# make help       every target
#
# Each target first installs what it needs and does not find (Debian and Ubuntu packages, as root or through sudo;
# elsewhere it says what is missing). NO_INSTALL=1 only says it.
#
# Knobs: CC, CXX, BUILD=folder, V=1 (show commands), NO_INSTALL=1

# One compiler a core, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
# `make clean all` is one after the other.
ifneq ($(and $(filter clean,$(MAKECMDGOALS)),$(filter-out clean,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

BUILD ?= build
CC ?= cc
CXX ?= c++
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
Q := $(if $(V),,@)

BUILD_PACKAGES := gcc g++ pkg-config libsqlite3-dev libyaml-dev libxxhash-dev libgit2-dev libjansson-dev \
                  libzstd-dev libzip-dev libxml2-dev libboost-context-dev libdw-dev sqlite3
TEST_PACKAGES := libcriterion-dev python3 python3-numpy python3-torch python3-jinja2 python3-plotly slurmctld slurmd slurm-client munge \
                 procps python3-pip
REPORT_PACKAGES := python3-jinja2 python3-plotly python3-numpy python3-selenium chromium chromium-driver
LINT_PACKAGES := clang clang-tidy cppcheck libclang-rt-14-dev
LIBRARIES := sqlite3 yaml-0.1 libxxhash libgit2 jansson libzstd libzip libxml-2.0 libdw libelf

# Messages are cut to their buffers on purpose, hence -Wno-format-truncation.
WARNINGS := -Wall -Wextra -Wpedantic -Werror
CFLAGS ?= -O2 -g
CXXFLAGS ?= -O2 -g
C_FLAGS := -std=gnu17 -D_GNU_SOURCE -I. $(WARNINGS) $(if $(findstring clang,$(CC)),,-Wno-format-truncation)
CXX_FLAGS := -std=gnu++17 -D_GNU_SOURCE -I. -Ikernels/simulator/include $(WARNINGS)
# The reference decides what is right: no option that changes what a float means may reach it.
REFERENCE_FLAGS := -fno-fast-math -ffp-contract=off
# Kernels on the simulator run millions of times.
KERNEL_FLAGS := -O3

HARNESS_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard harness/*.c harness/fleet/*.c harness/fuzz/*.c harness/import/*.c harness/shrink/*.c))
REFERENCE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard reference/*.c))
CASES_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard cases/*.c))
KERNEL_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/*.c kernels/faulty/*.c)) \
                  $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard kernels/*.cpp kernels/simulator/*.cpp)) \
                  $(patsubst %.hip,$(BUILD)/%.o,$(wildcard kernels/faulty/*.hip))
LIBRARY_OBJECTS := $(filter-out $(BUILD)/harness/main.o,$(HARNESS_OBJECTS)) $(REFERENCE_OBJECTS) $(CASES_OBJECTS) \
                   $(KERNEL_OBJECTS)

# Tests: the C and C++ files of each folder's tests/ become one Criterion binary. (test sources)
TEST_FOLDERS := reference cases kernels harness
TEST_BINARIES := $(patsubst %,$(BUILD)/%/tests/run,$(TEST_FOLDERS))
test_objects = $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(1)/tests/*_test.c)) \
               $(patsubst %.cpp,$(BUILD)/%.o,$(wildcard $(1)/tests/*_test.cpp))
PLUGINS := $(patsubst %.c,$(BUILD)/%.so,$(wildcard harness/tests/plugins/*.c kernels/plugin/*.c))

# Asked when first needed, after the packages are there.
# The simulator's functions are there for kernels that are compiled at run time.
LINK_FLAGS := -Wl,--dynamic-list=kernels/simulator/exported.list
LINK_LIBRARIES = $(LINK_FLAGS) $(shell pkg-config --libs $(LIBRARIES)) -lboost_context -ldl -lpthread -lm

.PHONY: fuzz all run test test-c test-cli asan shrink lint bench plugin report-tools help clean install-build install-test
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/topkcts $(BUILD)/topkcts.1 backends code-objects ## the program, its man page, its GPU backends, v1 for the GPUs that compilers here know

# The page is made from the program's own tables: man -l build/topkcts.1
$(BUILD)/topkcts.1: $(BUILD)/topkcts
	$(Q)$(BUILD)/topkcts help --man >$@

run: all ## the main job: smoke on the simulator and the reference, verdicts in topkcts.db
	$(BUILD)/topkcts run --suite smoke --provider v1 --provider reference
	@echo
	@echo "Next:  $(BUILD)/topkcts run --provider ./mine.so       your own kernel, see kernels/plugin/README.md"
	@echo "       $(BUILD)/topkcts run --suite conformance       everything the contract asks for"
	@echo "       sqlite3 topkcts.db 'select * from latest'      what is known, with plain SQL"

# ---- what is missing ----------------------------------------------------------------------------------------------

# A package's presence is told by what it brings, so that other distributions work too. $(1): packages
define install_missing
	@missing=""; \
	for p in $(1); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$p"; done; \
	if [ -z "$$missing" ]; then :; \
	elif ! command -v apt-get >/dev/null; then \
	    echo "This is no Debian or Ubuntu. Needed, by their Debian names:$$missing"; \
	    echo "If they are there under other names, run: mkdir -p $(BUILD) && touch $(BUILD)/.packages-build $(BUILD)/.packages-test"; exit 2; \
	elif [ -n "$(NO_INSTALL)" ]; then echo "Missing packages:$$missing"; exit 2; \
	elif [ "$$(id -u)" = 0 ]; then \
	    echo "installing$$missing"; \
	    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing; } >$(BUILD)/apt.log 2>&1 \
	        || { tail -5 $(BUILD)/apt.log; echo "Needed:$$missing"; exit 2; }; \
	elif command -v sudo >/dev/null; then \
	    echo "installing$$missing (through sudo)"; \
	    sudo apt-get update -qq && sudo apt-get install -y -qq --no-install-recommends $$missing || { echo "Needed:$$missing"; exit 2; }; \
	else echo "Missing packages, and no right to install them:$$missing"; exit 2; fi
endef

# A newer Makefile may ask for more packages.
$(BUILD)/.packages-build: Makefile
	@mkdir -p $(BUILD)
	$(call install_missing,$(BUILD_PACKAGES))
	@touch $@

$(BUILD)/.packages-test: Makefile $(BUILD)/.packages-build
	$(call install_missing,$(TEST_PACKAGES))
	@touch $@

$(BUILD)/.packages-lint: Makefile $(BUILD)/.packages-build
	$(call install_missing,$(LINT_PACKAGES))
	@touch $@

# ---- building -----------------------------------------------------------------------------------------------------

$(BUILD)/topkcts: $(BUILD)/harness/main.o $(LIBRARY_OBJECTS) $(BUILD)/.objects kernels/simulator/exported.list
	@echo "link  $@"
	$(Q)$(CXX) $(CXXFLAGS) $(SANITIZE) -o $@ $(filter %.o,$^) $(LINK_LIBRARIES)

# A rebuild follows a change of the flags, too; and a link that of the list of objects: a source that is gone leaves no
# trace among the times of files.
ALL_FLAGS = $(CC) $(CXX) $(CFLAGS) $(CXXFLAGS) $(SANITIZE) $(C_FLAGS) $(CXX_FLAGS) $(REFERENCE_FLAGS) $(KERNEL_FLAGS)
ALL_OBJECTS = $(LIBRARY_OBJECTS) $(foreach folder,$(TEST_FOLDERS),$(call test_objects,$(folder))) $(LINK_FLAGS)
$(BUILD)/.flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(ALL_FLAGS)' | cmp -s - $@ || echo '$(ALL_FLAGS)' >$@
$(BUILD)/.objects: FORCE
	@mkdir -p $(BUILD)
	@echo '$(ALL_OBJECTS)' | cmp -s - $@ || echo '$(ALL_OBJECTS)' >$@
.PHONY: FORCE
FORCE:

$(BUILD)/reference/%.o: C_FLAGS += $(REFERENCE_FLAGS)
$(BUILD)/harness/store_schema.o: harness/schema.sql harness/schema_2.sql harness/schema_3.sql harness/schema_4.sql
$(BUILD)/harness/shrink/shrink_reproducer.o: harness/shrink/template/reproducer.c
# The one library whose headers stand in a folder of their own. Asked when needed, after the packages are there.
XML_FLAGS = $(shell pkg-config --cflags libxml-2.0)
$(BUILD)/harness/junit.o: HEADER_FLAGS = $(XML_FLAGS)
V1_SOURCES := kernels/topk_v1.hip kernels/topk_v1_selection.h kernels/topk_v1_registers.h kernels/topk_v1_long.h kernels/topk_v1_split.h kernels/port.h
$(BUILD)/kernels/topk_v1_simulator.o: $(V1_SOURCES)
# GCC's null check takes the extern thread-local array that stands for dynamic LDS for a null pointer.
$(BUILD)/kernels/topk_v1_simulator.o: UNSANITIZE = $(if $(SANITIZE),-fno-sanitize=null)
$(BUILD)/kernels/read_once.o: kernels/read_once.hip
# Each carries the text of what it is made of.
$(patsubst %.c,$(BUILD)/%.o,$(wildcard kernels/faulty/*.c)): kernels/faulty/host_topk.c

$(BUILD)/%.o: %.c $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "cc    $<"
	$(Q)$(CC) $(C_FLAGS) $(HEADER_FLAGS) $(CFLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.cpp $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "c++   $<"
	$(Q)$(CXX) $(CXX_FLAGS) $(CXXFLAGS) $(KERNEL_FLAGS) $(SANITIZE) $(UNSANITIZE) -MMD -MP -c -o $@ $<

# A kernel source, compiled for the simulator as plain C++.
$(BUILD)/%.o: %.hip $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "sim   $<"
	$(Q)$(CXX) $(CXX_FLAGS) $(CXXFLAGS) $(KERNEL_FLAGS) $(SANITIZE) -MMD -MP -x c++ -c -o $@ $<

# A plugin, against harness/provider.h alone.
$(BUILD)/%.so: %.c harness/provider.h $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "so    $<"
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE $(WARNINGS) $(CFLAGS) -Iharness -shared -fPIC -MMD -MP -MF $(@:.so=.d) -MT $@ -o $@ $<

-include $(PLUGINS:.so=.d)
-include $(patsubst %.o,%.d,$(LIBRARY_OBJECTS) $(BUILD)/harness/main.o $(foreach f,$(TEST_FOLDERS),$(call test_objects,$(f))))

include harness/gpu/gpu.mk

# ---- tests --------------------------------------------------------------------------------------------------------

define test_binary
$(BUILD)/$(1)/tests/run: $(call test_objects,$(1)) $(LIBRARY_OBJECTS) $(BUILD)/.objects | $(BUILD)/.packages-test
	@echo "link  $$@"
	$$(Q)$$(CXX) $$(CXXFLAGS) $$(SANITIZE) -o $$@ $$(filter %.o,$$^) $$(LINK_LIBRARIES) -lcriterion
$(call test_objects,$(1)): | $(BUILD)/.packages-test
endef
$(foreach folder,$(TEST_FOLDERS),$(eval $(call test_binary,$(folder))))

test: all $(TEST_BINARIES) $(PLUGINS) $(HIP_DOUBLE) ## all tests: Criterion, then the program as people use it
	$(Q)BUILD=$(BUILD) sh harness/tests/run_tests.sh $(TEST_BINARIES)

test-c: $(TEST_BINARIES) $(PLUGINS) ## the Criterion tests alone
	$(Q)for t in $(TEST_BINARIES); do $$t -j2 --quiet || exit 1; done

asan: ## all Criterion tests, built with the address and undefined-behaviour sanitizers
	$(Q)ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 $(MAKE) --no-print-directory BUILD=$(BUILD)/asan \
	    CFLAGS='-O1 -g' CXXFLAGS='-O1 -g' SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=all' test-c

fuzz: $(BUILD)/topkcts $(PLUGINS) ## the fuzzer against every planted host fault and providers that are right: minutes
	$(Q)BUILD=$(BUILD) sh harness/tests/fuzz_faults.sh

shrink: $(BUILD)/topkcts $(PLUGINS) ## every planted host fault made small, as a case and as a program: minutes
	$(Q)BUILD=$(BUILD) sh harness/tests/shrink_faults.sh

lint: $(BUILD)/.packages-build $(BUILD)/.packages-lint ## clang-tidy and cppcheck
	$(Q)echo $(wildcard harness/*.c harness/fleet/*.c harness/fuzz/*.c harness/import/*.c harness/shrink/*.c reference/*.c cases/*.c kernels/*.c kernels/faulty/*.c kernels/plugin/*.c) | tr ' ' '\n' \
	    | xargs -P 2 -I{} clang-tidy --quiet {} -- -std=gnu17 -D_GNU_SOURCE -I. -Iharness $(XML_FLAGS)
	$(Q)cppcheck --quiet --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,performance,portability \
	    --suppress=missingInclude --suppress=invalidPointerCast -I. -D__VERSION__='""' -DTOPKCTS_CUDA -D'Test(...)=void test(void)' \
	    -D'TestSuite(...)=' harness reference cases kernels/*.c kernels/faulty kernels/plugin

plugin: all ## SRC=x.hip SIM=1: a plugin with kernels and host code, built for the simulator as x.so beside it
	$(Q)test -n "$(SRC)" || { echo "usage: make plugin SRC=x.hip SIM=1"; exit 2; }
	$(Q)test "$(SIM)" = 1 || { echo "only SIM=1 is built here; for a GPU compile against harness/provider.h with hipcc or nvcc"; exit 2; }
	$(Q)$(BUILD)/topkcts plugin $(SRC)

bench: all ## throughput of reference, judge and simulator as ratios to named baselines
	$(Q)$(BUILD)/topkcts bench

report-tools: $(BUILD)/.packages-build ## installs what `topkcts report` needs, and a browser: make test then tests the pages in it
	$(call install_missing,$(REPORT_PACKAGES))

clean: ## removes the build folder
	rm -rf $(BUILD)

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22
