# tritonrl: `make` builds, `make demo` and `make test` do everything from a bare machine.
#
#   make [BUILD=release|debug|asan|tsan] [CC=gcc|clang]   the program, at ./tritonrl
#   make demo        install what is missing, build, show the pipeline on the built-in data
#   make test        install what is missing, build, run every test; one closing line
#   make agree       compare with the real PyTorch, Triton, transformers, tokenizers, PEFT
#   make bench       speed, as ratios against a peer or a limit measured in the same run
#   make fuzz torture soak      robustness, minutes each (FUZZ_SECONDS=, SOAK_SECONDS=)
#   make check       format, layers, sizes, static analysis
#   make install PREFIX=/usr/local

BUILD ?= release
B ?= build/$(BUILD)
PREFIX ?= /usr/local
PROGRAM ?= $(if $(filter build/release,$(B)),tritonrl,$(B)/tritonrl)
PYTHON ?= python3

OPT_release := -O3 -g -DNDEBUG
OPT_debug := -O0 -g3
OPT_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPT_tsan := -O1 -g -fsanitize=thread
ifeq ($(OPT_$(BUILD)),)
$(error BUILD must be release, debug, asan or tsan, not '$(BUILD)')
endif

PKGS := jansson yaml-0.1 libpcre2-8 sqlite3 libcurl openssl expat libseccomp libmicrohttpd zlib openblas
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS) 2>/dev/null)
PKG_LIBS := $(shell pkg-config --libs $(PKGS) 2>/dev/null)
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
VERSION := $(shell cat VERSION)

WARN := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes $(if $(CI),-Werror)
CFLAGS += -std=gnu17 -D_GNU_SOURCE -DTRITONRL_VERSION='"$(VERSION)"' $(WARN) $(OPT_$(BUILD)) \
	-fno-math-errno -ffp-contract=off -pthread -Isrc $(PKG_CFLAGS)
LDFLAGS += $(filter -fsanitize%,$(OPT_$(BUILD))) -pthread -rdynamic
LDLIBS += $(PKG_LIBS) -ldl -lm

# --- sources: every .c under src is part of the program; x.simd.c once per instruction set ---
SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
SIMD := $(filter %.simd.c,$(SRC))
PLAIN := $(filter-out %.simd.c src/cmd/main.c,$(SRC))
LEVELS := base $(if $(filter x86_64,$(ARCH)),v3 v4)
FLAGS_base := -DSIMD_SUFFIX=_base -DSIMD_LEVEL=0
FLAGS_v3 := -march=x86-64-v3 -DSIMD_SUFFIX=_v3 -DSIMD_LEVEL=1
FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512 -DSIMD_SUFFIX=_v4 -DSIMD_LEVEL=2
OBJ := $(PLAIN:%.c=$(B)/%.o) $(foreach l,$(LEVELS),$(SIMD:%.simd.c=$(B)/%.$(l).o))
LIB := $(B)/libtritonrl.a

UNIT := $(patsubst test/unit/%.c,$(B)/test/%,$(sort $(wildcard test/unit/test_*.c)))
FUZZ := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(sort $(wildcard test/fuzz/fuzz_*.c)))
BENCH := $(patsubst bench/%.c,$(B)/bench/%,$(sort $(wildcard bench/bench_*.c)))
HELPER := $(patsubst test/tool/%.c,$(B)/tool/%,$(sort $(wildcard test/tool/*.c)))

.PHONY: all demo test agree bench fuzz torture soak install format check clean setup unit
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM)

$(PROGRAM): $(B)/src/cmd/main.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

$(LIB): $(OBJ)
	@rm -f $@
	@$(AR) rcs $@ $^

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<

define simd_rule
$(B)/%.$(1).o: %.simd.c $(B)/flags
	@mkdir -p $$(@D)
	$$(CC) $$(CFLAGS) $$(FLAGS_$(1)) -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call simd_rule,$(l))))

# Rebuild everything when the flags change.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' > $@
FORCE:

$(B)/test/%: $(B)/test/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS) -lcmocka
$(B)/fuzz/%: $(B)/test/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(FUZZ_LDFLAGS) -o $@ $^ $(LDLIBS)
$(B)/bench/%: $(B)/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(B)/tool/%: $(B)/test/tool/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

unit: $(UNIT) $(HELPER)

clean:
	rm -rf build tritonrl

-include $(shell find $(B) -name '*.d' 2>/dev/null)
