/* The library that programs can import: the tables of bound names (bind.def) and the prelude,
 * which is Python code embedded in the executable. The assembler takes each file of
 * prelude.def in with .incbin; paths are relative to the root of the tree, where make runs.
 * The Makefile lists the files as prerequisites, because the compiler does not see them. */
#include "torch/prelude.h"

#include "base/mem.h"
#include "interp/bind.h"

#define BIND_TABLE(name) extern const struct bind_row name[];
#include "torch/bind.def"
#undef BIND_TABLE

static const struct bind_row *const tables[] = {
#define BIND_TABLE(name) name,
#include "torch/bind.def"
#undef BIND_TABLE
};

/* The bytes of each file between two symbols, followed by a zero byte. */
#define PRELUDE(symbol, module, file) \
	__asm__(".pushsection .rodata\n" \
		"prelude_" #symbol ": .incbin \"src/torch/prelude/" file "\"\n" \
		"prelude_" #symbol "_end: .byte 0\n" \
		".popsection\n"); \
	extern const char prelude_##symbol[], prelude_##symbol##_end[];
#include "torch/prelude.def"
#undef PRELUDE

/* The names that the real libraries have: tools/gen_known.py writes known.txt. */
__asm__(".pushsection .rodata\n"
	"prelude_known: .incbin \"src/torch/prelude/known.txt\"\n"
	"prelude_known_end: .byte 0\n"
	".popsection\n");
extern const char prelude_known[], prelude_known_end[];

/* One row per line of prelude.def, in its order. */
static const struct lib_file files[] = {
#define PRELUDE(symbol, module, file) { module, file, prelude_##symbol, prelude_##symbol##_end },
#include "torch/prelude.def"
#undef PRELUDE
};

const struct lib_source torch_library = {
	.tables = tables, .n_tables = COUNT_OF(tables),
	.files = files, .n_files = COUNT_OF(files),
	.known = prelude_known, .known_end = prelude_known_end,
};
