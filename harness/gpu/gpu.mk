# SPDX-License-Identifier: Apache-2.0
#
# The GPU half of the build: backends for the toolkits that this machine has, v1's code objects for the targets that its
# compilers know, the static gate, a modern ROCm in a folder, and the folder that runs elsewhere. Included by Makefile.
#
# Knobs: CUDA_HOME=folder, ROCM_HOME=folder, AOT_TARGETS="gfx1100 sm_90"

CUDA_HOME ?= $(firstword $(patsubst %/include/cuda.h,%,$(wildcard /usr/local/cuda/include/cuda.h /opt/cuda/include/cuda.h /usr/include/cuda.h)))
ROCM_HOME ?= $(firstword $(patsubst %/include/hip/hip_runtime_api.h,%,$(wildcard /opt/rocm/include/hip/hip_runtime_api.h /usr/include/hip/hip_runtime_api.h)))
GFX_TARGETS := gfx1030 gfx1100 gfx1151 gfx1201 gfx90a gfx942 gfx950
SM_TARGETS := sm_80 sm_90 sm_100 sm_120 compute_80
AOT_TARGETS ?= $(GFX_TARGETS) $(SM_TARGETS)

# ---- backends: one source each for driver and compiler, against each toolkit's real headers -------------------------

# The driver's own library comes with the driver, not with the toolkit: the toolkit's stub stands in for it when linking.
BACKENDS := $(if $(wildcard $(CUDA_HOME)/include/cuda.h),$(BUILD)/backends/topkcts_cuda.so) \
            $(if $(and $(CUDA_HOME),$(wildcard $(CUDA_HOME)/include/nvrtc.h)),$(BUILD)/backends/topkcts_cuda_jit.so) \
            $(if $(ROCM_HOME),$(BUILD)/backends/topkcts_hip.so $(BUILD)/backends/topkcts_hip_jit.so)
BACKEND_FLAGS = -std=gnu17 -D_GNU_SOURCE -I. $(WARNINGS) $(if $(findstring clang,$(CC)),,-Wno-format-truncation) $(CFLAGS) \
                -fPIC -fvisibility=hidden -shared
CUDA_FLAGS = -DTOPKCTS_CUDA -isystem $(CUDA_HOME)/include
HIP_FLAGS = -DTOPKCTS_HIP -D__HIP_PLATFORM_AMD__ $(if $(filter-out /usr,$(ROCM_HOME)),-isystem $(ROCM_HOME)/include)
CUDA_LIBRARIES = -L$(CUDA_HOME)/lib64 -L$(CUDA_HOME)/lib64/stubs -L$(CUDA_HOME)/lib/x86_64-linux-gnu/stubs
HIP_LIBRARIES = $(if $(filter-out /usr,$(ROCM_HOME)),-L$(ROCM_HOME)/lib)
RTC_RPATH = -Wl,-rpath,'$$ORIGIN' -Wl,-rpath,'$$ORIGIN/../lib'
# hiprtc became a library of its own in ROCm 5.3 or so; before, libamdhip64 holds it.
HIPRTC_LIBRARY = $(if $(wildcard $(ROCM_HOME)/lib/libhiprtc.so $(ROCM_HOME)/lib/x86_64-linux-gnu/libhiprtc.so),-lhiprtc,-lamdhip64)

BACKEND_HEADERS := harness/gpu/gpu_driver.h harness/gpu/gpu_names.h harness/gpu/gpu_compiler.h harness/status.h

$(BUILD)/backends/topkcts_cuda.so: harness/gpu/gpu_driver.c harness/status.c $(BACKEND_HEADERS) $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "cuda  $@"
	$(Q)$(CC) $(BACKEND_FLAGS) $(CUDA_FLAGS) -o $@ $(filter %.c,$^) $(CUDA_LIBRARIES) -lcuda -ldl

$(BUILD)/backends/topkcts_cuda_jit.so: harness/gpu/gpu_compiler.c harness/status.c $(BACKEND_HEADERS) $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "cuda  $@"
	$(Q)$(CC) $(BACKEND_FLAGS) $(CUDA_FLAGS) -o $@ $(filter %.c,$^) $(CUDA_LIBRARIES) -lnvrtc $(RTC_RPATH) -Wl,-rpath,$(CUDA_HOME)/lib64

$(BUILD)/backends/topkcts_hip.so: harness/gpu/gpu_driver.c harness/status.c $(BACKEND_HEADERS) $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "hip   $@"
	$(Q)$(CC) $(BACKEND_FLAGS) $(HIP_FLAGS) -o $@ $(filter %.c,$^) $(HIP_LIBRARIES) -lamdhip64 -ldl -Wl,-rpath,/opt/rocm/lib

$(BUILD)/backends/topkcts_hip_jit.so: harness/gpu/gpu_compiler.c harness/status.c $(BACKEND_HEADERS) $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "hip   $@"
	$(Q)$(CC) $(BACKEND_FLAGS) $(HIP_FLAGS) -o $@ $(filter %.c,$^) $(HIP_LIBRARIES) $(HIPRTC_LIBRARY) $(RTC_RPATH) -Wl,-rpath,/opt/rocm/lib

.PHONY: backends
backends: $(BACKENDS) ## loadable GPU backends for the toolkits of this machine
	@$(if $(CUDA_HOME),,echo "no CUDA toolkit here: no cuda backend (CUDA_HOME=folder names one)";) \
	 $(if $(ROCM_HOME),,echo "no HIP headers here: no hip backend (apt-get install libamdhip64-dev, or ROCM_HOME=folder)";) :

# ---- code objects ---------------------------------------------------------------------------------------------------

CODE_OBJECTS := $(BUILD)/code_objects
CODE_OBJECT_STAMPS := $(patsubst %,$(CODE_OBJECTS)/.%,$(AOT_TARGETS))

# What could compile: a compiler that appears or goes has its targets built anew.
$(CODE_OBJECTS)/.compilers: FORCE
	@mkdir -p $(@D)
	@{ ls /usr/bin/clang++-* /opt/rocm/llvm/bin/clang++ $(CUDA_HOME)/bin/nvcc 2>/dev/null; command -v clang++ nvcc; echo "$(HIP_COMPILERS)"; } >$@.new || :
	@cmp -s $@.new $@ && rm -f $@.new || mv $@.new $@

$(CODE_OBJECT_STAMPS): $(CODE_OBJECTS)/.%: $(V1_SOURCES) kernels/code_object.sh $(CODE_OBJECTS)/.compilers
	@echo "aot   $*"
	$(Q)HIP_COMPILERS="$(HIP_COMPILERS)" sh kernels/code_object.sh $* $(CODE_OBJECTS)
	@touch $@

$(CODE_OBJECTS)/manifest.json: $(CODE_OBJECT_STAMPS) $(BUILD)/topkcts
	$(Q)$(BUILD)/topkcts code-objects --update $(CODE_OBJECTS)

.PHONY: code-objects gate
code-objects: $(CODE_OBJECTS)/manifest.json ## v1 ahead of time, for every target that a compiler here knows

COMMA := ,
SPACE := $(subst ,, )

gate: code-objects ## static gate: LDS, spills, scratch, wave size and kernels of every gfx code object
	$(Q)$(BUILD)/topkcts code-objects $(if $(GATE_TARGETS),--targets "$(subst $(SPACE),$(COMMA),$(strip $(GATE_TARGETS)))") $(CODE_OBJECTS)
# What must be there: all gfx targets where a compiler for the newest of them is, else those of the compiler at hand.
GATE_TARGETS ?= $(if $(wildcard /usr/bin/clang++-2*),$(GFX_TARGETS),$(if $(wildcard /usr/bin/clang++-19),$(filter-out gfx950,$(GFX_TARGETS)),))

# ---- the folder that runs elsewhere ---------------------------------------------------------------------------------

PORTABLE := $(BUILD)/portable/topkcts

# The system's own: they go with the kernel and the loader of the machine it will run on. Everything else travels.
PORTABLE_EXCEPT := linux-vdso|ld-linux|/libc\.so|/libm\.so|/libdl\.so|/libpthread\.so|/librt\.so|/libresolv\.so|/libstdc\+\+|/libgcc_s

# RPATH, not RUNPATH: the libraries that travel find each other by it, too. libstdc++ is linked in or the machine's own,
# because a GPU's libraries there want theirs.
$(BUILD)/topkcts-portable: $(BUILD)/harness/main.o $(LIBRARY_OBJECTS) $(BUILD)/.objects
	@echo "link  $@"
	$(Q)$(CXX) $(CXXFLAGS) -static-libstdc++ -static-libgcc -Wl,--disable-new-dtags -Wl,-rpath,'$$ORIGIN/lib' -o $@ $(filter %.o,$^) $(LINK_LIBRARIES)

.PHONY: portable
portable: all $(BUILD)/topkcts-portable ## one folder that runs on another x86-64 Linux with nothing installed
	$(Q)rm -rf $(PORTABLE) && mkdir -p $(PORTABLE)/lib
	$(Q)cp $(BUILD)/topkcts-portable $(PORTABLE)/topkcts && strip $(PORTABLE)/topkcts
	$(Q)cp -r registry $(PORTABLE)/registry
	$(Q)if [ -d cases/captured ]; then mkdir -p $(PORTABLE)/cases && cp -r cases/captured $(PORTABLE)/cases/captured; fi
	$(Q)if [ -d $(BUILD)/backends ]; then cp -r $(BUILD)/backends $(PORTABLE)/backends; fi
	$(Q)mkdir -p $(PORTABLE)/code_objects && cp $(CODE_OBJECTS)/manifest.json $(PORTABLE)/code_objects/
	$(Q)for object in $(CODE_OBJECTS)/topk_v1.*; do \
	    if [ -e "$$object" ]; then cp "$$object" $(PORTABLE)/code_objects/; \
	    else echo "no compiler for GPUs here: the folder holds no code object of v1"; fi; done
	$(Q)cp -r reports $(PORTABLE)/reports 2>/dev/null || :
	$(Q)ldd $(BUILD)/topkcts-portable | awk '$$3 ~ /^\// { print $$3 }' | grep -vE '$(PORTABLE_EXCEPT)' | xargs -I{} cp -L {} $(PORTABLE)/lib/
	@echo "$(PORTABLE): $$(du -sh $(PORTABLE) | cut -f1), needs glibc $$(objdump -T $(PORTABLE)/topkcts $(PORTABLE)/lib/* | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -1 | cut -d_ -f2) or newer"

# ---- HIP without a GPU, for tests: the called functions on the simulator, under the real library's name -------------

ifneq ($(ROCM_HOME),)
HIP_DOUBLE := $(BUILD)/harness/tests/hip_double/libamdhip64.so
HIP_DOUBLE_SOURCES := harness/tests/hip_double/hip_double.cpp kernels/topk_v1.c kernels/topk_v1_simulator.cpp $(wildcard kernels/simulator/*.cpp)
HIP_DOUBLE_OBJECTS := $(patsubst %,$(BUILD)/harness/tests/hip_double/%.o,$(HIP_DOUBLE_SOURCES))
HIP_DOUBLE_FLAGS = $(WARNINGS) -O2 -g -D_GNU_SOURCE -I. -fPIC -fvisibility=default -MMD -MP

# A few tests run it: to compile v1 as for millions of launches takes longer than they do. Below -O2 GCC takes what an
# inlined function sets for unset.
$(BUILD)/harness/tests/hip_double/kernels/topk_v1_simulator.cpp.o: HIP_DOUBLE_KERNEL_FLAGS = -O1 -Wno-maybe-uninitialized

# The real headers for the double; the simulator's for the kernel.
$(BUILD)/harness/tests/hip_double/harness/%.cpp.o: harness/%.cpp $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "hip   $<"
	$(Q)$(CXX) -std=gnu++17 $(HIP_DOUBLE_FLAGS) -D__HIP_PLATFORM_AMD__ $(if $(filter-out /usr,$(ROCM_HOME)),-isystem $(ROCM_HOME)/include) -c -o $@ $<
$(BUILD)/harness/tests/hip_double/kernels/%.cpp.o: kernels/%.cpp $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "hip   $<"
	$(Q)$(CXX) $(CXX_FLAGS) $(HIP_DOUBLE_FLAGS) $(HIP_DOUBLE_KERNEL_FLAGS) -c -o $@ $<
$(BUILD)/harness/tests/hip_double/kernels/%.c.o: kernels/%.c $(BUILD)/.flags | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "hip   $<"
	$(Q)$(CC) $(C_FLAGS) $(HIP_DOUBLE_FLAGS) -c -o $@ $<

# The name that the backend asks for: libamdhip64.so.5, .6, ...
$(BUILD)/harness/tests/hip_double/libamdhip64.so: $(HIP_DOUBLE_OBJECTS)
	@echo "link  $@"
	$(Q)$(CXX) -shared -o $@ $^ -lboost_context -Wl,-soname,$$(objdump -p $(BUILD)/backends/topkcts_hip.so | awk '/NEEDED.*amdhip64/ { print $$2 }')
$(BUILD)/harness/tests/hip_double/libamdhip64.so: $(BUILD)/backends/topkcts_hip.so
-include $(HIP_DOUBLE_OBJECTS:.o=.d)

# A plugin with a fault that only a device with streams shows.
HIP_DOUBLE += $(BUILD)/harness/tests/hip_double/wrong_stream.so
$(BUILD)/harness/tests/hip_double/wrong_stream.so: harness/tests/hip_double/wrong_stream.c kernels/topk_v1.c | $(BUILD)/.packages-build
	@mkdir -p $(@D)
	@echo "so    $<"
	$(Q)$(CC) -std=gnu17 -D_GNU_SOURCE -I. $(WARNINGS) $(CFLAGS) $(HIP_FLAGS) -shared -fPIC -o $@ $^ $(HIP_LIBRARIES) -lamdhip64
endif

hip-double: $(HIP_DOUBLE) ## libamdhip64 for tests, on the simulator
.PHONY: hip-double

# ---- a modern ROCm, without a GPU -----------------------------------------------------------------------------------

.PHONY: rocm
rocm: portable ## every gfx target ahead of time and by hiprtc, with a modern ROCm fetched into a folder; no GPU needed
	$(Q)sh harness/gpu/rocm.sh $(abspath $(BUILD)) $(GFX_TARGETS)
