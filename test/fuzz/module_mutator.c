/* The mutator of fuzz_modules and fuzz_solve: words of a module become other numbers and names of torch, lines go
 * or are written twice. So most inputs still parse and run. */
#include <string.h>

#include "base/mem.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

static const char *const numbers[] = { "0", "1", "-1", "2", "3", "7", "64", "0.5", "1e30", "-1e-30", "float('nan')",
	"None", "2147483648", "-9223372036854775808", "(1, 2)", "[]", "True", "'mean'", "torch.float16", "x" };
static const char *const names[] = { "view", "reshape", "permute", "transpose", "expand", "repeat", "chunk", "split",
	"unfold", "gather", "scatter_", "scatter_add_", "index_add_", "index_select", "topk", "sort", "cumsum", "flip",
	"roll", "as_strided", "narrow", "squeeze", "unsqueeze", "masked_fill", "masked_select", "masked_scatter_",
	"long", "bool", "half", "double", "size", "stride", "T", "data", "grad", "item", "tolist", "resize_", "set_",
	"copy_", "fill_", "clamp", "norm", "renorm_", "std", "var", "max", "min", "median", "mode", "prod", "softmax",
	"conv1d", "conv2d", "conv_transpose2d", "max_pool2d", "avg_pool2d", "adaptive_max_pool2d", "interpolate",
	"grid_sample", "affine_grid", "pad", "fold", "one_hot", "embedding", "layer_norm", "group_norm", "batch_norm",
	"einsum", "bmm", "matmul", "addmm", "outer", "cross", "where", "nonzero", "unique", "bincount", "cdist",
	"Linear", "Conv2d", "LSTM", "GRU", "MultiheadAttention", "BatchNorm2d", "Embedding", "Unfold", "Fold",
	"__init__", "__dict__", "__class__", "forward", "register_buffer", "register_parameter", "state_dict" };

static int is_word(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* Replaces the word around `at` by a number or, after its last dot, by a name. */
static size_t replace_word(uint8_t *data, size_t size, size_t most, size_t at, unsigned seed)
{
	size_t from = at, to = at, dot, n;
	const char *word;

	while (from && is_word(data[from - 1]))
		from--;
	while (to < size && is_word(data[to]))
		to++;
	dot = to;
	while (dot > from && data[dot - 1] != '.')
		dot--;
	word = dot > from ? names[seed % COUNT_OF(names)] : numbers[seed % COUNT_OF(numbers)];
	from = dot > from ? dot : from;
	n = strlen(word);
	if (from == to || size - (to - from) + n > most)
		return size;
	memmove(data + from + n, data + to, size - to);
	memcpy(data + from, word, n);
	return size - (to - from) + n;
}

/* Removes the line around `at`, or writes it twice. */
static size_t change_line(uint8_t *data, size_t size, size_t most, size_t at, int twice)
{
	size_t from = at, to = at;

	while (from && data[from - 1] != '\n')
		from--;
	while (to < size && data[to] != '\n')
		to++;
	to = MIN(to + 1, size);
	if (twice && size + (to - from) > most)
		return size;
	if (twice) {
		memmove(data + to, data + from, size - from);
		return size + (to - from);
	}
	memmove(data + from, data + to, size - to);
	return size - (to - from);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	size_t at = size ? (seed / 16) % size : 0;

	switch (size ? seed % 16 : 15) {
	case 15: return LLVMFuzzerMutate(data, size, most);
	case 14: return change_line(data, size, most, at, 0);
	case 13: return change_line(data, size, most, at, 1);
	default: return replace_word(data, size, most, at, seed * 2654435761u >> 8);
	}
}
