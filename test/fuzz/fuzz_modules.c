/* A module of a user: mutated by words, then loaded, built and called, with contents, in fp64, and
 * without contents. No module may end the process. */
#include <string.h>

#include "base/str.h"
#include "host/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Calls forward once as a judge would: on the GPU, in training mode. */
static void run(const struct py_module *m, struct host_options o)
{
	struct err e = ERR_INIT;
	struct host *h = host_new(&o, &e);
	struct val ns, model, inputs, out;

	if (h && !host_load(h, m, NULL, 0, &ns, &e) && !host_build(h, ns, ns, "Model", 1, &model, &e) &&
	    !host_to_device(h, model, HOST_CUDA, &e) && !host_inputs(h, ns, 1, 0, &inputs, &e))
		host_forward(h, model, inputs, &out, &e);
	host_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct py_module m;
	struct err e = ERR_INIT;
	static struct host_lib *lib;
	struct host_options o;

	if (!lib)
		lib = host_lib_new(&e);
	o = (struct host_options){ .lib = lib, .fuel = 100000, .memory = (size_t)32 << 20, .recursion = 100,
				   .is_reference = 1, .may_mix = 1 };
	if (py_parse(&m, (struct str){ .p = (const char *)data, .n = size }, "fuzz", (size_t)16 << 20, &e))
		return 0;
	run(&m, o);
	o.oracle = 1;
	run(&m, o);
	o.oracle = 0;
	o.hollow = 1;
	run(&m, o);
	py_release(&m);
	return 0;
}

/* --- mutation by words ------------------------------------------------------------------------- */

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
