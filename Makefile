# tritonrl: `make` builds, `make demo` and `make test` do everything from a bare machine.
#
#   make [BUILD=release|debug|asan|tsan] [CC=gcc|clang]   the program, at ./tritonrl
#   make demo        install missing packages, build, run the pipeline on the built-in data
#   make test        install missing packages, build, run every test; the last line sums up
#   make agree       compare with the real PyTorch, Triton, transformers, tokenizers, PEFT
#   make cuda        the shared object for GPUs, if CUDA's compiler is found; test-cuda and bench-cuda on a GPU
#   make bench       speed, as ratios against a peer or a limit measured in the same run
#   make fuzz torture soak      robustness, minutes each (FUZZ_SECONDS=, SOAK_SECONDS=)
#   make peers       TRL, verl, verifiers, OpenAI's client, KernelBench's script with our judge and server; the page in a browser
#   make deb wheel   a Debian package; a Python wheel with the program in it
#   make check       format, layers, sizes, English, static analysis; make format fixes the format
#   make install PREFIX=/usr/local

BUILD ?= release
# All cores, unless -j is given; one line per file, or commands with V=1, or nothing with -s.
ifeq ($(findstring j,$(firstword -$(MAKEFLAGS)))$(filter -j% --jobserver%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif
quiet = $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(V),,@$(if $(quiet),,echo "  $(1) $<";))
B ?= build/$(BUILD)
PREFIX ?= /usr/local
PROGRAM ?= $(if $(filter build/release,$(B)),tritonrl,$(B)/tritonrl)
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 60

OPT_release := -O3 -g -DNDEBUG
OPT_debug := -O0 -g3
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPT_tsan := -O1 -g -fsanitize=thread
OPT_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined
ifeq ($(OPT_$(BUILD)),)
$(error BUILD must be release, debug, asan, tsan or fuzz, not '$(BUILD)')
endif

PKGS := jansson yaml-0.1 libpcre2-8 sqlite3 libcurl openssl expat libseccomp libmicrohttpd zlib openblas
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)
VERSION := $(shell cat VERSION)

WARN := -Wall -Wextra -Wshadow -Wvla -Wdeclaration-after-statement -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
CFLAGS += -std=gnu17 -D_GNU_SOURCE -DTRITONRL_VERSION='"$(VERSION)"' $(WARN) $(OPT_$(BUILD)) \
	-fno-math-errno -fno-trapping-math -ffp-contract=off -pthread -Isrc $(PKG_CFLAGS)
# Text begins at a huge page, for src/verify/pool/pages.c.
LDFLAGS += $(filter -fsanitize%,$(OPT_$(BUILD))) -pthread -rdynamic -Wl,-z,now,-z,max-page-size=0x200000,--as-needed
LDLIBS += $(PKG_LIBS) -ldl -lm
LINK = @mkdir -p $(@D) && $(CC) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# --- sources: every .c under src is part of the program; x.simd.c once per instruction set ---
SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
SIMD := $(filter %.simd.c,$(SRC))
PLAIN := $(filter-out %.simd.c src/cmd/main.c,$(SRC))
LEVELS := base $(if $(filter x86_64,$(ARCH)),v3 v4)
FLAGS_base := -DSIMD_SUFFIX=_base -DSIMD_LEVEL=0
FLAGS_v3 := -march=x86-64-v3 -DSIMD_SUFFIX=_v3 -DSIMD_LEVEL=1
FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512 -DSIMD_SUFFIX=_v4 -DSIMD_LEVEL=2
# The longest compilations come first, so that no core waits for one at the end.
OBJ := $(foreach l,$(LEVELS),$(SIMD:%.simd.c=$(B)/%.$(l).o)) $(PLAIN:%.c=$(B)/%.o)
LIB := $(B)/libtritonrl.a

# --- CUDA: a separate shared object, loaded at run time; built if nvcc is found ---
NVCC ?= $(firstword $(shell command -v nvcc 2>/dev/null) $(wildcard /usr/local/cuda/bin/nvcc))
NVCC_ARCH ?= $(foreach a,80 89 90a,-gencode arch=compute_$(a),code=sm_$(a)) -gencode arch=compute_90,code=compute_90
NVCC_FLAGS := -O3 -std=c++17 -Xcompiler -fPIC,-fvisibility=hidden,-Wall -Isrc -Itest/cuda
# For attention by cuDNN: tools/cudnn finds its header-only frontend; CUDNN_FRONTEND=DIR names another folder.
CUDNN_FLAGS = $(shell CUDNN_FRONTEND="$(CUDNN_FRONTEND)" tools/cudnn)
CU := $(sort $(wildcard src/*/cuda/*.cu src/*/cuda/*.cpp))
CUDA_SO := $(B)/libtritonrl_cuda.so

programs = $(patsubst $(1)/%.c,$(B)/$(2)/%,$(sort $(wildcard $(1)/$(3)*.c)))
UNIT := $(call programs,test/unit,test,test_)
FUZZ := $(call programs,test/fuzz,fuzz,fuzz_)
BENCH := $(call programs,bench,bench,bench_)
TORTURE := $(call programs,test/torture,torture,torture_)
HELPER := $(call programs,test/tool,tool,)
# Programs for a GPU machine: C programs that use the library, and CUDA programs for single kernels.
GPU_C := $(patsubst %.c,$(B)/%,$(wildcard test/cuda/*.c bench/cuda/*.c))
GPU_CU := $(patsubst %.cu,$(B)/%,$(wildcard test/cuda/*.cu bench/cuda/*.cu))

.PHONY: peers run-peers deb wheel
.PHONY: all cuda test-cuda bench-cuda demo test agree bench fuzz torture soak install format check clean setup unit
.PHONY: run-test run-agree run-bench run-fuzz run-torture run-soak FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM)

cuda: $(CUDA_SO)
	@CUDNN_FRONTEND="$(CUDNN_FRONTEND)" tools/cudnn --say

$(PROGRAM): $(B)/src/cmd/main.o $(LIB)
	$(LINK)

$(LIB): $(OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

# The compiler does not see the files that the assembler includes with .incbin.
$(B)/src/torch/prelude.o: $(shell find src/torch/prelude -type f)
$(B)/src/store/store.o: src/store/schema.sql
$(B)/src/web/data.o: src/web/app.html
$(B)/src/verify/gpu/compile_process.o: python/tritonrl/compile_worker.py
$(B)/src/verify/gpu/torch_process.o: python/tritonrl/torch_worker.py
$(B)/src/verify/gpu/gpu_slot.o: python/tritonrl/torch_runner.py

define simd_rule
$(B)/%.$(1).o: %.simd.c $(B)/flags
	@mkdir -p $$(@D)
	$$(call say,CC  )$$(CC) $$(CFLAGS) $$(FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call simd_rule,$(l))))

# Everything is rebuilt when the flags change. If libraries are missing, the build stops here.
$(B)/flags: FORCE
	@$(if $(PKG_LIBS),true,CC="$(CC)" tools/setup --check build)
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' > $@
FORCE:

$(B)/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) $(NVCC_ARCH) -MMD -MF $(@:.o=.d) -c -o $@ $<
# Attention is compiled again when the headers of cuDNN appear or go.
$(B)/cudnn.flags: FORCE
	@mkdir -p $(@D)
	@flags='$(CUDNN_FLAGS)'; echo "$$flags" | cmp -s - $@ || echo "$$flags" >$@
$(B)/%.cpp.o: %.cpp $(B)/cudnn.flags
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -Xcompiler -O1 $(CUDNN_FLAGS) -MMD -MF $(@:.o=.d) -c -o $@ $<
$(CUDA_SO): $(CU:%=$(B)/%.o)
	$(NVCC) -shared -cudart static -Xlinker --exclude-libs,ALL -o $@ $^ -lcublasLt

$(B)/test/%: $(B)/test/unit/%.o $(LIB)
	$(LINK) -lcmocka
$(B)/fuzz/fuzz_modules $(B)/fuzz/fuzz_solve: $(B)/test/fuzz/module_mutator.o
$(B)/fuzz/%: $(B)/test/fuzz/%.o $(LIB)
	$(LINK) -fsanitize=fuzzer
$(B)/bench/%: $(B)/bench/%.o $(LIB)
	$(LINK)
$(B)/torture/%: $(B)/test/torture/%.o $(B)/test/torture/harness.o $(B)/test/torture/disk.o $(LIB)
	$(LINK)
$(B)/tool/%: $(B)/test/tool/%.o $(LIB)
	$(LINK)

$(GPU_C): $(B)/%: $(B)/%.o $(LIB)
	$(LINK)
$(GPU_CU): $(B)/%: $(B)/%.cu.o $(CU:%=$(B)/%.o)
	@mkdir -p $(@D)
	$(NVCC) -cudart static -o $@ $^ -lcublasLt -ldl

# A stand-in for CUDA's driver, for tests of the GPU judge. It uses functions of the program that loads it.
STANDIN := $(B)/standin/libcuda_standin.so
$(STANDIN): $(sort $(wildcard test/standin/*.c)) test/standin/standin.h $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS) $(filter -fsanitize%,$(OPT_$(BUILD))) -fPIC -shared -Itest/standin -o $@ $(filter %.c,$^)

unit: $(UNIT) $(HELPER) $(BENCH) $(STANDIN)

# --- entry points: packages are installed first; the rest runs in a second make, which
# sees the new compiler and libraries ---
setup:
	@CC="$(CC)" tools/setup build test

demo: setup
	@$(MAKE) --no-print-directory all
	@tools/demo ./$(PROGRAM)

test: setup
	@$(MAKE) --no-print-directory run-test
run-test: all unit $(TORTURE) $(if $(NVCC),cuda)
	@tools/test $(B) ./$(PROGRAM)

agree: setup
	@$(MAKE) --no-print-directory run-agree
run-agree: all unit
	@tools/agree $(B) ./$(PROGRAM)

peers: setup
	@$(MAKE) --no-print-directory run-peers
run-peers: all
	@tools/peers $(B) ./$(PROGRAM)

bench: setup
	@$(MAKE) --no-print-directory run-bench
run-bench: all unit
	@tools/bench $(B) ./$(PROGRAM)

# --- on a machine with a GPU: every op against the CPU's, single kernels, and speed ---
test-cuda: all cuda $(GPU_C) $(GPU_CU) $(B)/tool/model_tool
	@bad=0; for t in $(filter $(B)/test/%,$(GPU_C) $(GPU_CU)) "test/cuda/agree_transformers.py $(B) ./$(PROGRAM)" \
		"test/cuda/gpu_judge.sh $(B) ./$(PROGRAM)"; do \
		$$t; rc=$$?; [ $$rc = 0 ] || [ $$rc = 77 ] || { echo "$$t failed ($$rc)"; bad=1; }; done; exit $$bad
bench-cuda: cuda $(GPU_C)
	@bench/cuda/run.sh $(B)

fuzz:
	@tools/setup build fuzz
	@$(MAKE) --no-print-directory BUILD=fuzz CC=clang run-fuzz
run-fuzz: $(FUZZ)
	@tools/fuzz $(B) $(FUZZ_SECONDS)

torture: setup
	@$(MAKE) --no-print-directory BUILD=asan run-torture
run-torture: $(TORTURE)
	@for t in $(TORTURE); do $$t || exit 1; done

soak: setup
	@tools/setup soak
	@$(MAKE) --no-print-directory run-soak
run-soak: all unit
	@for s in test/soak/*.sh; do \
		TRITONRL=$$PWD/$(PROGRAM) BUILD_DIR=$$PWD/$(B) SOAK_SECONDS=$(SOAK_SECONDS) bash $$s || exit 1; done

install: all
	install -D -s -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/tritonrl
	./$(PROGRAM) help --man > $(B)/tritonrl.1
	install -D -m 644 $(B)/tritonrl.1 $(DESTDIR)$(PREFIX)/share/man/man1/tritonrl.1
	./$(PROGRAM) help --completion > $(B)/completion
	install -D -m 644 $(B)/completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/tritonrl
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/tritonrl/models/writer models/writer/*

# --- packages: a release build without its symbols ---
deb: all
	@tools/deb ./$(PROGRAM) $(B) $(VERSION)

# The program of the wheel finds its libraries in lib/ next to it. RPATH, unlike RUNPATH, also holds for their libraries.
$(B)/wheel/tritonrl: LDFLAGS += -Wl,--disable-new-dtags,-rpath,'$$ORIGIN/lib'
$(B)/wheel/tritonrl: $(B)/src/cmd/main.o $(LIB)
	$(LINK)
wheel: $(B)/wheel/tritonrl
	@tools/wheel $< $(B) $(VERSION)

C_FILES = $(shell find src test bench -name '*.[ch]' -o -name '*.inc' 2>/dev/null)
format:
	@tools/setup check
	@tools/format.py $(C_FILES)

check:
	@tools/setup check
	@rc=0; for c in tools/layers.py tools/names.py tools/sizes.py tools/cycles.py tools/english.py "tools/docs.py --check" tools/analyse "tools/format.py --check $(C_FILES)"; do \
		$$c || rc=1; done; exit $$rc

clean:
	rm -rf build tritonrl

-include $(shell find $(B) -name '*.d' 2>/dev/null)
