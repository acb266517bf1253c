/* The prelude: src/host/prelude/FILE as bytes of the program, by the assembler's .incbin
 * (paths are relative to the root of the tree, where make runs). */
#include "host/prelude.h"

#include "base/mem.h"

#define PRELUDE(symbol, module, file) \
	__asm__(".pushsection .rodata\n" \
		"prelude_" #symbol ": .incbin \"src/host/prelude/" file "\"\n" \
		"prelude_" #symbol "_end: .byte 0\n" \
		".popsection\n"); \
	extern const char prelude_##symbol[], prelude_##symbol##_end[];
#include "host/prelude.def"
#undef PRELUDE

__asm__(".pushsection .rodata\n"
	"prelude_known: .incbin \"src/host/prelude/known.txt\"\n"
	"prelude_known_end: .byte 0\n"
	".popsection\n");
extern const char prelude_known[], prelude_known_end[];

static const struct { const char *module, *file, *text, *end; } files[] = {
#define PRELUDE(symbol, module, file) { module, file, prelude_##symbol, prelude_##symbol##_end },
#include "host/prelude.def"
#undef PRELUDE
};

size_t prelude_count(void)
{
	return COUNT_OF(files);
}

struct prelude prelude_get(size_t i)
{
	return (struct prelude){ .module = files[i].module, .file = files[i].file,
				 .text = { .p = files[i].text, .n = (size_t)(files[i].end - files[i].text) } };
}

int prelude_knows(struct str dotted)
{
	struct str rest = { .p = prelude_known, .n = (size_t)(prelude_known_end - prelude_known) };
	while (rest.n)
		if (str_eq(str_cut(&rest, '\n'), dotted))
			return 1;
	return 0;
}
