/* The part of triton.language that is itself written in Triton: standard.py and random.py.
 *
 * This front end compiles it like any jit function, so types and refusals follow from the same
 * rules. Names in it resolve to triton.language and to the `lib` rows of builtin.def. Sorting and
 * flipping become single operations of the machine; Triton writes them as exchange networks, with
 * the same result and the same types. */
#include "tile/front/engine.h"

static const char source[] =
"def cdiv(x, div):\n"
"    return (x + (div - 1)) // div\n"
"\n"
/* 1 / (1 + e^-x). */
"def sigmoid(x):\n"
"    return 1 / (1 + exp(-x))\n"
"\n"
/* e^(x - max) / sum of the same, along one dimension. */
"def softmax(x, dim=None, keep_dims=False, ieee_rounding=False):\n"
"    if dim is None:\n"
"        at: constexpr = 0\n"
"    else:\n"
"        at: constexpr = dim\n"
"    top = exp(x - max(x, at, keep_dims=keep_dims))\n"
"    return fdiv(top, sum(top, at, keep_dims=keep_dims), ieee_rounding)\n"
"\n"
/* All elements as one dimension. */
"def ravel(x, can_reorder=False):\n"
"    return reshape(x, [x.numel], can_reorder=can_reorder)\n"
"\n"
/* Renumbers the tiles (i, j) of a grid so that consecutive instances stay within groups of size_g
 * rows and share operands in the cache. */
"def swizzle2d(i, j, size_i, size_j, size_g):\n"
"    flat = i * size_j + j\n"
"    per_group = size_g * size_j\n"
"    first = flat // per_group * size_g\n"
"    rows = minimum(size_i - first, size_g)\n"
"    flat = flat % per_group\n"
"    return first + flat % rows, flat // rows\n"
"\n"
"def zeros(shape, dtype):\n"
"    return full(shape, 0, dtype)\n"
"\n"
"def zeros_like(input):\n"
"    return zeros(input.shape, input.dtype)\n"
"\n"
/* Combine functions of reductions: two values, or two pairs of value and index. sem_reduce.c knows
 * them by name. */
"def _argmax_combine_tie_break_left(v1, i1, v2, i2):\n"
"    first = (v1 > v2) | ((v1 == v2) & (i1 < i2))\n"
"    return where(first, v1, v2), where(first, i1, i2)\n"
"\n"
"def _argmax_combine_tie_break_fast(v1, i1, v2, i2):\n"
"    first = v1 > v2\n"
"    return where(first, v1, v2), where(first, i1, i2)\n"
"\n"
"def _argmin_combine_tie_break_left(v1, i1, v2, i2):\n"
"    first = (v1 < v2) | ((v1 == v2) & (i1 < i2))\n"
"    return where(first, v1, v2), where(first, i1, i2)\n"
"\n"
"def _argmin_combine_tie_break_fast(v1, i1, v2, i2):\n"
"    first = v1 < v2\n"
"    return where(first, v1, v2), where(first, i1, i2)\n"
"\n"
"def _elementwise_max(a, b):\n"
"    return maximum(a, b)\n"
"\n"
"def _elementwise_min(a, b):\n"
"    return minimum(a, b)\n"
"\n"
"def _sum_combine(a, b):\n"
"    return a + b\n"
"\n"
"def _prod_combine(a, b):\n"
"    return a * b\n"
"\n"
"def _xor_combine(a, b):\n"
"    return a ^ b\n"
"\n"
"def _or_combine(a, b):\n"
"    return a | b\n"
"\n"
/* Triton reduces narrow types in 32 bits. */
"def _widened(input):\n"
"    if input.dtype.primitive_bitwidth < 32:\n"
"        if input.dtype.is_floating():\n"
"            return input.to(float32)\n"
"        else:\n"
"            static_assert(input.dtype.is_int(), \"Expecting input to be integer type\")\n"
"            return input.to(int32)\n"
"    else:\n"
"        return input\n"
"\n"
/* tl.max, tl.min and their indices. NaN is skipped, as maximum and minimum do. */
"def max(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):\n"
"    input = _promote_bfloat16_to_float32(input)\n"
"    if return_indices:\n"
"        if return_indices_tie_break_left:\n"
"            return _reduce_with_indices(input, axis, _argmax_combine_tie_break_left, keep_dims=keep_dims)\n"
"        else:\n"
"            return _reduce_with_indices(input, axis, _argmax_combine_tie_break_fast, keep_dims=keep_dims)\n"
"    else:\n"
"        return reduce(_widened(input), axis, _elementwise_max, keep_dims=keep_dims)\n"
"\n"
"def argmax(input, axis, tie_break_left=True, keep_dims=False):\n"
"    _, at = max(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
"    return at\n"
"\n"
"def min(input, axis=None, return_indices=False, return_indices_tie_break_left=True, keep_dims=False):\n"
"    input = _promote_bfloat16_to_float32(input)\n"
"    if return_indices:\n"
"        if return_indices_tie_break_left:\n"
"            return _reduce_with_indices(input, axis, _argmin_combine_tie_break_left, keep_dims=keep_dims)\n"
"        else:\n"
"            return _reduce_with_indices(input, axis, _argmin_combine_tie_break_fast, keep_dims=keep_dims)\n"
"    else:\n"
"        return reduce(_widened(input), axis, _elementwise_min, keep_dims=keep_dims)\n"
"\n"
"def argmin(input, axis, tie_break_left=True, keep_dims=False):\n"
"    _, at = min(input, axis, return_indices=True, return_indices_tie_break_left=tie_break_left, keep_dims=keep_dims)\n"
"    return at\n"
"\n"
/* The type of a sum: the one given, or 32 bits for narrow integers. Floats keep their type. */
"def _summable(input, dtype):\n"
"    if dtype is not None:\n"
"        return input.to(dtype)\n"
"    elif input.dtype.is_int() and input.dtype.primitive_bitwidth < 32:\n"
"        return input.to(_int_dtype(32, input.dtype.is_int_signed()))\n"
"    else:\n"
"        return input\n"
"\n"
/* Reductions by +, ^ and |. */
"def sum(input, axis=None, keep_dims=False, dtype: constexpr = None):\n"
"    return reduce(_summable(input, dtype), axis, _sum_combine, keep_dims=keep_dims)\n"
"\n"
"def xor_sum(input, axis=None, keep_dims=False):\n"
"    static_assert(input.type.scalar.is_int(), \"xor_sum only supported for integers\")\n"
"    return reduce(input, axis, _xor_combine, keep_dims=keep_dims)\n"
"\n"
"def reduce_or(input, axis, keep_dims=False):\n"
"    static_assert(input.type.scalar.is_int(), \"reduce_or only supported for integers\")\n"
"    return reduce(input, axis, _or_combine, keep_dims=keep_dims)\n"
"\n"
/* Running sums and products along a dimension, from the end if reverse. */
"def cumsum(input, axis=0, reverse=False, dtype: constexpr = None):\n"
"    input = _promote_bfloat16_to_float32(input)\n"
"    return associative_scan(_summable(input, dtype), axis, _sum_combine, reverse)\n"
"\n"
"def cumprod(input, axis=0, reverse=False):\n"
"    return associative_scan(_promote_bfloat16_to_float32(input), axis, _prod_combine, reverse)\n"
"\n"
/* Sorts the last dimension; with k it keeps the first 2 ** floor(log2 k) lanes. */
"def sort_impl(x, k: constexpr = None, dim: constexpr = None, descending: constexpr = 0):\n"
"    last: constexpr = len(x.shape) - 1\n"
"    at: constexpr = last if dim is None else dim\n"
"    static_assert(at == last, \"only minor dimension is currently supported\")\n"
"    n: constexpr = x.shape[at]\n"
"    keep: constexpr = n if k is None else 2 ** _log2(k)\n"
"    static_assert(keep <= n, \"k is larger than the dimension\")\n"
"    if keep < n:\n"
"        return _sorted(_widened(_promote_bfloat16_to_float32(x)), keep, descending)\n"
"    else:\n"
"        return _sorted(x, None, descending)\n"
"\n"
"def sort(x, dim: constexpr = None, descending: constexpr = 0):\n"
"    return sort_impl(x, dim=dim, descending=descending)\n"
"\n"
"def topk(x, k: constexpr, dim: constexpr = None, descending: constexpr = True):\n"
"    return sort_impl(x, k=k, dim=dim, descending=descending)\n"
"\n"
"def bitonic_merge(x, dim: constexpr = None, descending: constexpr = 0):\n"
"    return sort_impl(x, dim=dim, descending=descending)\n"
"\n"
/* Reverses one dimension. */
"def flip(x, dim=None):\n"
"    static_assert(-len(x.shape) <= dim and dim < len(x.shape))\n"
"    at: constexpr = dim + len(x.shape) if dim < 0 else dim\n"
"    return _flipped(x, at)\n"
"\n"
/* Removes and inserts a dimension of 1. */
"def squeeze(x, dim: constexpr):\n"
"    static_assert(-len(x.shape) <= dim and dim < len(x.shape))\n"
"    at: constexpr = dim + len(x.shape) if dim < 0 else dim\n"
"    static_assert(x.shape[at] == 1)\n"
"    return x.reshape(x.shape[:at] + x.shape[at + 1:])\n"
"\n"
"def unsqueeze(x, dim: constexpr):\n"
"    rank: constexpr = len(x.shape) + 1\n"
"    static_assert(-rank <= dim and dim < rank)\n"
"    at: constexpr = dim + rank if dim < 0 else dim\n"
"    return x.reshape(x.shape[:at] + (1, ) + x.shape[at:])\n"
"\n"
/* A hint of Triton 3.8 about masked lanes; it changes no value. */
"def expect_zero(x, mask):\n"
"    to_tensor(mask)\n"
"    return x\n"
"\n"
/* Waits until another instance has stored the value. The machine runs instances one after another,
 * so a value that comes later never arrives and the run ends for lack of fuel. */
"def atomic_poll(pointer, expected_value, sem=None, scope=None, timeout_ns=None):\n"
"    seen = atomic_add(pointer, 0)\n"
"    if timeout_ns is None:\n"
"        while seen != expected_value:\n"
"            seen = atomic_add(pointer, 0)\n"
"    return seen == expected_value\n"
"\n"
/* a0, b0, a1, b1, ... in the last dimension. */
"def interleave(a, b):\n"
"    c = join(a, b)\n"
"    if len(c.shape) == 1:\n"
"        return c\n"
"    else:\n"
"        return reshape(c, c.shape[:-2] + [2 * c.shape[-2]])\n"
"\n"
/* The counter-based generator Philox 4x32-10 (or 4x64): ten rounds mix four counters with a
 * two-word key. */
"def philox_impl(c0, c1, c2, c3, k0, k1, n_rounds: constexpr = 10):\n"
"    if c0.dtype == uint32:\n"
"        step_a: constexpr = 0x9E3779B9\n"
"        step_b: constexpr = 0xBB67AE85\n"
"        mul_a: constexpr = 0xD2511F53\n"
"        mul_b: constexpr = 0xCD9E8D57\n"
"    else:\n"
"        static_assert(c0.dtype == uint64, \"dtype not supported in philox_impl\")\n"
"        step_a: constexpr = 0x9E3779B97F4A7C15\n"
"        step_b: constexpr = 0xBB67AE8584CAA73B\n"
"        mul_a: constexpr = 0xD2E7470EE14C6C93\n"
"        mul_b: constexpr = 0xCA5A826395121157\n"
"    for _ in static_range(n_rounds):\n"
"        a = mul_a\n"
"        b = mul_b\n"
"        x, y = c0, c2\n"
"        c0 = umulhi(b, y) ^ c1 ^ k0\n"
"        c2 = umulhi(a, x) ^ c3 ^ k1\n"
"        c1 = mul(b, y)\n"
"        c3 = mul(a, x)\n"
"        k0 = add(k0, step_a)\n"
"        k1 = add(k1, step_b)\n"
"    return c0, c1, c2, c3\n"
"\n"
/* The key is the seed, split in two words. */
"def philox(seed, c0, c1, c2, c3, n_rounds: constexpr = 10):\n"
"    seed = to_tensor(seed)\n"
"    static_assert(seed.dtype.is_int())\n"
"    seed = seed.to(uint64)\n"
"    c0 = to_tensor(c0)\n"
"    c1 = to_tensor(c1)\n"
"    c2 = to_tensor(c2)\n"
"    c3 = to_tensor(c3)\n"
"    if c0.dtype.primitive_bitwidth == 32:\n"
"        word = uint32\n"
"        hi = ((seed >> 32) & 0xffffffff).to(uint32)\n"
"        lo = (seed & 0xffffffff).to(uint32)\n"
"    else:\n"
"        static_assert(c0.dtype.primitive_bitwidth == 64, \"bitwidth not supported in philox\")\n"
"        word = uint64\n"
"        hi = full((1, ), 0, dtype=word)\n"
"        lo = seed\n"
"    return philox_impl(c0.to(word, bitcast=True), c1.to(word, bitcast=True), c2.to(word, bitcast=True),\n"
"                       c3.to(word, bitcast=True), lo, hi, n_rounds)\n"
"\n"
/* Four random integers for each offset. The offset is the counter, so a value depends on seed and
 * offset only. */
"def randint4x(seed, offset, n_rounds: constexpr = 10):\n"
"    lo = offset.to(uint32)\n"
"    zero = lo * 0\n"
"    if offset.dtype.primitive_bitwidth > 32:\n"
"        hi = (offset >> 32).to(uint32)\n"
"    else:\n"
"        hi = zero\n"
"    return philox(seed, lo, hi, zero, zero, n_rounds)\n"
"\n"
"def randint(seed, offset, n_rounds: constexpr = 10):\n"
"    a, _, _, _ = randint4x(seed, offset, n_rounds)\n"
"    return a\n"
"\n"
/* An integer to [0, 1): negative values are mirrored, then all are scaled. */
"def uint_to_uniform_float(x):\n"
"    if x.dtype == uint32 or x.dtype == int32:\n"
"        x = x.to(int32, bitcast=True)\n"
"        scale = 4.6566127342e-10\n"
"    else:\n"
"        static_assert(x.dtype == uint64 or x.dtype == int64)\n"
"        x = x.to(int64, bitcast=True)\n"
"        scale = 1.0842020432385337e-19\n"
"    x = where(x < 0, -x - 1, x)\n"
"    return x * scale\n"
"\n"
/* Uniform numbers in [0, 1). */
"def rand(seed, offset, n_rounds: constexpr = 10):\n"
"    return uint_to_uniform_float(randint(seed, offset, n_rounds))\n"
"\n"
"def rand4x(seed, offsets, n_rounds: constexpr = 10):\n"
"    a, b, c, d = randint4x(seed, offsets, n_rounds)\n"
"    return uint_to_uniform_float(a), uint_to_uniform_float(b), uint_to_uniform_float(c), uint_to_uniform_float(d)\n"
"\n"
/* Box-Muller: two uniform numbers give two normal ones. The bound keeps the logarithm finite. */
"def pair_uniform_to_normal(u1, u2):\n"
"    u1 = maximum(1.0e-7, u1)\n"
"    angle = 6.283185307179586 * u2\n"
"    radius = sqrt(-2.0 * log(u1))\n"
"    return radius * cos(angle), radius * sin(angle)\n"
"\n"
/* Normal numbers. */
"def randn(seed, offset, n_rounds: constexpr = 10):\n"
"    a, b, _, _ = randint4x(seed, offset, n_rounds)\n"
"    n, _ = pair_uniform_to_normal(uint_to_uniform_float(a), uint_to_uniform_float(b))\n"
"    return n\n"
"\n"
"def randn4x(seed, offset, n_rounds: constexpr = 10):\n"
"    u1, u2, u3, u4 = rand4x(seed, offset, n_rounds)\n"
"    n1, n2 = pair_uniform_to_normal(u1, u2)\n"
"    n3, n4 = pair_uniform_to_normal(u3, u4)\n"
"    return n1, n2, n3, n4\n";

/* Library functions that are methods of tensors, too. */
static const char *const methods[] = {
	"cdiv", "sigmoid", "softmax", "ravel", "max", "argmax", "min", "argmin", "sum", "xor_sum", "reduce_or",
	"cumsum", "cumprod", "sort", "flip", "squeeze", "unsqueeze", "atomic_poll",
};

/* Parses the source once for each engine and indexes its functions by name. */
int lang_library_open(struct tile_engine *g, struct err *e)
{
	const struct py_list *body;

	if (py_parse(&g->library, (struct str){ source, sizeof source - 1 }, "triton.language", 0, e))
		return err_wrap(e, "the library of the tile language");
	body = &g->library.root->u.Module.body;
	g->lib_fns = arena_array(&g->mem, body->n, sizeof *g->lib_fns);
	if (!g->lib_fns)
		return err_nomem(e);
	for (size_t i = 0; i < body->n; i++) {
		struct str name = body->v[i]->u.FunctionDef.name;
		struct map_entry *m;

		g->lib_fns[i] = (struct tile_fn){ .name = name, .def = body->v[i], .module = &g->library };
		m = map_put(&g->lib_by_name, name);
		if (!m)
			return err_nomem(e);
		m->val.i64 = (int64_t)i + 1;
	}
	g->n_lib_fns = body->n;
	return 0;
}

/* sort_impl has no underscore in Triton but is not exported either. */
const struct tile_fn *lang_library_get(const struct tile_engine *g, struct str name, int exported)
{
	const struct map_entry *m;

	if (exported && (str_starts(name, "_") || str_is(name, "sort_impl")))
		return NULL;
	m = map_get(&g->lib_by_name, name);
	return m ? &g->lib_fns[m->val.i64 - 1] : NULL;
}

/* Errors in library functions are reported at their call. */
int lang_is_library(const struct tile_engine *g, const struct tile_fn *fn)
{
	return fn->module == &g->library;
}

int lang_library_method(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(methods); i++)
		if (str_is(name, methods[i]))
			return 1;
	return 0;
}
