/* The surroundings of torch: dtypes, devices, gradient modes, and the settings of CUDA and of
 * the backends that programs read. "cuda" is accepted everywhere and is a label: tensors are
 * in host memory.
 *
 * Answers that would tell a judged program about the machine or the run (memory in use,
 * timings, settings it changed itself) are refused or made up, so that a program cannot
 * behave differently when it is judged. */
#include <stdio.h>

#include "base/hash.h"
#include "interp/fail.h"
#include "interp/state.h"
#include "num/num.h"
#include "tile/estimate/gpu.h"

/* --- dtypes ------------------------------------------------------------------------------------------- */

/* torch.float32 and the like; the row's name says which. "long" and its kin are second names. */
static int dtype_const(struct bind *b)
{
	int dt;

	static const struct { const char *alias; enum dtype dt; } aliases[] = {
		{ "float", DT_F32 }, { "double", DT_F64 }, { "half", DT_F16 }, { "int", DT_I32 },
		{ "long", DT_I64 }, { "short", DT_I16 },
	};
	const char *name = strrchr(b->row->name, '.') + 1;
	for (size_t i = 0; i < COUNT_OF(aliases); i++)
		if (!strcmp(aliases[i].alias, name)) {
			b->out = val_dtype(aliases[i].dt);
			return 0;
		}
	dt = dtype_by_torch(str_of(name));
	if (dt < 0)
		BUG("dtype %s", name);
	b->out = val_dtype((enum dtype)dt);
	return 0;
}

static int d_is_float(struct bind *b)
{
	b->out = val_bool(dtype_is_float((enum dtype)b->a[0].u.i));
	return 0;
}

static int d_is_signed(struct bind *b)
{
	enum dtype_class c = dtype_info((enum dtype)b->a[0].u.i)->class;
	b->out = val_bool(c == DTC_FLOAT || c == DTC_SINT);
	return 0;
}

static int d_itemsize(struct bind *b)
{
	b->out = val_int(dtype_size((enum dtype)b->a[0].u.i));
	return 0;
}

static int d_false(struct bind *b)
{
	b->out = val_bool(0);
	return 0;
}

static int get_default_dtype(struct bind *b)
{
	b->out = val_dtype(b->h->torch.default_dtype);
	return 0;
}

/* During a judged call the default dtype must not change: it would outlive the call. */
static int set_default_dtype(struct bind *b)
{
	enum dtype dt;
	if (bind_dtype(b, 0, DT_F32, &dt))
		return -1;
	if (!dtype_is_float(dt))
		return bind_raise(b, EXC_TypeError, "only floating-point types are supported as the default type");
	/* `guarded`: a judged call is running. */
	if (b->h->heap.guarded && dt != b->h->torch.default_dtype)
		return host_fatal(b->h, REASON_state_kept,
				  "forward changes the default dtype, which outlives the call");
	b->h->torch.default_dtype = dt;
	return 0;
}

/* --- settings -------------------------------------------------------------------------------------------------- */

/* Index of a setting (the hash of its name) among those that the program changed, or their
 * number. */
static size_t find_setting(const struct host *h, uint64_t name)
{
	size_t i = 0;

	while (i < h->torch.changed.n && h->torch.changed.v[i] != name)
		i++;
	return i;
}

/* Notes that a setting differs from its default, or no longer does. */
static int change_setting(struct host *h, struct str name, int differs)
{
	uint64_t key = hash_xxh64(name.p, name.n, 0);
	size_t i = find_setting(h, key), n = h->torch.changed.n;

	/* The table has a fixed size: no real program changes that number of settings. */
	if (differs && i == HOST_SETTINGS)
		return host_fatal(h, REASON_unsupported, "the program changes too many settings of torch");
	if (differs) {
		h->torch.changed.v[i] = key;
		h->torch.changed.n = MAX(n, i + 1);
	} else if (i < n) {
		h->torch.changed.v[i] = h->torch.changed.v[--h->torch.changed.n];
	}
	return 0;
}

/* A setting outlives the call, and a later call must not see what an earlier one left. So a
 * changed setting has its effect but cannot be read back. */
static int may_ask(struct host *h, struct str name)
{
	if (find_setting(h, hash_xxh64(name.p, name.n, 0)) == h->torch.changed.n)
		return 0;
	return host_fatal(h, REASON_unstable,
			  "the setting '%.*s', which the program changed, cannot be read back", STR_ARG(name));
}

/* torch.backends._change(name, differs), for the settings objects of the prelude. */
static int backends_change(struct bind *b)
{
	int differs;

	if (bind_bool(b, 1, &differs))
		return -1;
	return change_setting(b->h, val_text(b->a[0]), differs);
}

/* torch.use_deterministic_algorithms(mode): everything here is deterministic. */
static int deterministic(struct bind *b)
{
	int on;

	if (bind_bool(b, 0, &on))
		return -1;
	return change_setting(b->h, STR("deterministic_algorithms"), on);
}

/* torch.backends._ask(name): may the setting be read? */
static int backends_ask(struct bind *b)
{
	return may_ask(b->h, val_text(b->a[0]));
}

/* --- products in tf32 --------------------------------------------------------------------------------------- */

/* Products of these kinds lose the mantissa bits that TF32 lacks, as on a GPU. */
static int set_tf32(struct bind *b, unsigned products, int on)
{
	b->h->torch.tf32 = on ? b->h->torch.tf32 | products : b->h->torch.tf32 & ~products;
	return 0;
}

/* torch.backends._tf32(products, on): torch.backends.cuda.matmul.allow_tf32 and cudnn's. */
static int backends_tf32(struct bind *b)
{
	int on;

	return bind_bool(b, 1, &on) ? -1 : set_tf32(b, str_is(val_text(b->a[0]), "conv") ? NUM_TF32_CONV :
						    NUM_TF32_MATMUL, on);
}

/* torch.set_float32_matmul_precision: "high" and "medium" allow TF32. */
static int matmul_precision(struct bind *b)
{
	struct str s = val_text(b->a[0]);

	if (!str_is(s, "highest") && !str_is(s, "high") && !str_is(s, "medium"))
		return bind_raise(b, EXC_RuntimeError, "Float32 matmul precision must be one of highest, high, medium");
	if (change_setting(b->h, STR("matmul"), !str_is(s, "highest")))
		return -1;
	return set_tf32(b, NUM_TF32_MATMUL, !str_is(s, "highest"));
}

/* "highest" as long as the program has not changed it. */
static int get_matmul_precision(struct bind *b)
{
	return may_ask(b->h, STR("matmul")) ? -1 : val_str(b->h, STR("highest"), &b->out);
}

/* --- devices --------------------------------------------------------------------------------------------- */

/* torch.device(type), torch.device("cuda:0"), torch.device("cuda", 0), torch.device(0). The
 * messages are PyTorch's. */
static int device_new(struct bind *b)
{
	struct val x = b->a[1];
	int64_t index = -1;
	enum host_device d;
	if (x.kind == V_NONE)
		return bind_raise(b, EXC_TypeError, "device(): argument 'type' must be str, not None");
	if (bind_given(b, 2) && bind_int(b, 2, &index))
		return -1;
	if ((bind_given(b, 2) && index < 0) || (x.kind == V_INT && x.u.i < 0))
		return bind_raise(b, EXC_RuntimeError, "Device index must not be negative");
	if (bind_device(b, 1, &d))
		return -1;
	if (x.kind == V_INT)
		index = x.u.i;
	if (x.kind == V_DEVICE)
		index = x.u.i;
	/* "cuda:1": the part behind the colon is a number without leading zeros. */
	if (x.kind == V_STR) {
		struct str rest = val_text(x), type = str_cut(&rest, ':');

		if (type.n < val_text(x).n && bind_given(b, 2))
			return bind_raise(b, EXC_RuntimeError,
					  "type (string) must not include an index because index "
					  "was passed explicitly: %s", x.u.s->p);
		if (type.n < val_text(x).n && (str_to_i64(rest, &index) || index < 0 ||
					       (rest.n > 1 && rest.p[0] == '0')))
			return bind_raise(b, EXC_RuntimeError, "Invalid device string: '%s'", x.u.s->p);
	}
	if (index > INT8_MAX)
		return bind_unsupported(b, "a device index above 127");
	b->out = val_device(d, (int)index);
	return 0;
}

/* The name in the order of enum host_device. */
static int device_type(struct bind *b)
{
	static const char *const names[] = { "cpu", "cuda", "meta" };
	return val_str(b->h, str_of(names[b->a[0].aux]), &b->out);
}

/* None without an index. */
static int device_index(struct bind *b)
{
	b->out = b->a[0].u.i < 0 ? val_none() : val_int(b->a[0].u.i);
	return 0;
}

/* with torch.device(...): no effect here. */
static int self_enter(struct bind *b)
{
	b->out = b->a[0];
	return 0;
}

static int no_exit(struct bind *b)
{
	b->out = val_none();
	return 0;
}

/* --- gradient modes ----------------------------------------------------------------------------------------- */

static int grad_get(struct bind *b)
{
	b->out = val_bool(b->h->torch.grad_enabled);
	return 0;
}

/* torch._C._set_grad_enabled(mode) returns the old mode. */
static int grad_set(struct bind *b)
{
	int on;
	if (bind_bool(b, 0, &on))
		return -1;
	b->out = val_bool(b->h->torch.grad_enabled);
	b->h->torch.grad_enabled = on;
	return 0;
}

/* --- names of tensors' other properties ------------------------------------------------------------------------ */

/* Constants such as torch.channels_last are their own dotted name as a text. */
static int word(struct bind *b)
{
	/* for example "torch.contiguous_format" */
	return val_str(b->h, str_of(b->row->name), &b->out);
}

static int yes(struct bind *b) { b->out = val_bool(1); return 0; }
static int zero(struct bind *b) { b->out = val_int(0); return 0; }
static int one(struct bind *b) { b->out = val_int(1); return 0; }
static int nothing(struct bind *b) { b->out = val_none(); return 0; }

/* torch.set_num_threads: checked and ignored. */
static int set_threads(struct bind *b)
{
	int64_t n;

	if (b->a[0].kind != V_INT)
		return bind_raise(b, EXC_TypeError, "set_num_threads expects an int, but got %s",
				  val_type_name(b->h, b->a[0]));
	if (bind_int(b, 0, &n))
		return -1;
	return n > 0 ? nothing(b) : bind_raise(b, EXC_RuntimeError, "set_num_threads expects a positive integer");
}

static int version(struct bind *b) { return val_str(b->h, STR("2.11.0+cu130"), &b->out); }

/* --- the machine, as torch would see it ------------------------------------------------------------------------- */

/* torch.cuda._gpu(): name of the judged GPU, capability, multiprocessors, bytes of memory,
 * bytes of shared memory per block. */
static int gpu(struct bind *b)
{
	const struct tile_gpu *g = tile_gpu_find(str_of(b->h->o.gpu ? b->h->o.gpu : TILE_GPU_DEFAULT));
	struct val name, all[5];

	if (!g)
		BUG("GPU %s", b->h->o.gpu);
	if (val_str(b->h, str_of(g->name), &name))
		return -1;
	all[0] = name;
	all[1] = val_int(g->capability);
	all[2] = val_int(g->processors);
	all[3] = val_int((int64_t)(g->gib * (1 << 30)));
	all[4] = val_int(g->shared_bytes);
	return val_tuple(b->h, all, COUNT_OF(all), &b->out);
}

/* torch.cuda.memory_allocated: bytes in use, rounded as by the caching allocator to a
 * multiple of 512 and never 0. */
static int memory_now(struct bind *b)
{
	if (host_varies(b->h, "the amount of memory in use"))
		return -1;
	b->out = val_int((int64_t)(b->h->lim.tensor_bytes / 512 + 1) * 512);
	return 0;
}

/* The largest value of memory_now() so far. */
static int memory_peak(struct bind *b)
{
	if (host_varies(b->h, "the amount of memory in use"))
		return -1;
	b->out = val_int((int64_t)(b->h->lim.peak / 512 + 1) * 512);
	return 0;
}

/* torch.cuda._elapsed(): a made-up time of a launch in milliseconds. Nothing is timed here,
 * and a program must not be able to tell; the number is a hash of the steps so far and of the
 * run. */
static int elapsed(struct bind *b)
{
	/* 0.004 to 0.054 milliseconds, uniformly. */
	uint64_t x = (uint64_t)b->h->lim.fuel * 0x9e3779b97f4a7c15u + b->h->o.poison;

	x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
	b->out = val_float(0.004 + (double)(x >> 44) / (double)(1 << 20) * 0.05);
	return 0;
}

/* Facts about the processor are not the candidate's business and differ from those of the
 * target. */
static int not_here(struct bind *b)
{
	return host_fatal(b->h, REASON_forbidden_name, "%s is not available here", b->row->name);
}

/* torch._assert(condition, message) */
static int assert_that(struct bind *b)
{
	int yes_no = val_truth(b->h, b->a[0]);

	return yes_no < 0 ? -1 : yes_no ? 0 :
	       bind_raise(b, EXC_AssertionError, "%s", b->a[1].kind == V_STR ? b->a[1].u.s->p : "");
}

/* A constant (BIND_CONST) is evaluated once, at its first use. */
#define DT(name) { "torch." #name, "", dtype_const, BIND_CONST },

const struct bind_row torch_env_rows[] = {
	DT(float32) DT(float) DT(float64) DT(double) DT(float16) DT(half) DT(bfloat16) DT(float8_e4m3fn) DT(float8_e5m2)
	DT(int8) DT(int16) DT(short) DT(int32) DT(int) DT(int64) DT(long) DT(uint8) DT(uint16)
	DT(uint32) DT(uint64) DT(bool)
	{ "torch.dtype.is_floating_point", "self", d_is_float, BIND_PROPERTY },
	{ "torch.dtype.is_complex", "self", d_false, BIND_PROPERTY },
	{ "torch.dtype.is_signed", "self", d_is_signed, BIND_PROPERTY },
	{ "torch.dtype.itemsize", "self", d_itemsize, BIND_PROPERTY },
	{ "torch.get_default_dtype", "", get_default_dtype, 0 },
	{ "torch.set_default_dtype", "d", set_default_dtype, 0 },
	{ "torch.device.__new__", "cls, type, index=None", device_new, BIND_STATIC },
	{ "torch.device.type", "self", device_type, BIND_PROPERTY },
	{ "torch.device.index", "self", device_index, BIND_PROPERTY },
	{ "torch.device.__enter__", "self", self_enter, 0 },
	{ "torch.device.__exit__", "self, a, b, c", no_exit, 0 },
	{ "torch.is_grad_enabled", "", grad_get, 0 },
	{ "torch._C._cuda_getCurrentRawStream", "device=0", zero, 0 },
	{ "torch._C._set_grad_enabled", "mode", grad_set, 0 },
	{ "torch.contiguous_format", "", word, BIND_CONST },
	{ "torch.channels_last", "", word, BIND_CONST },
	{ "torch.channels_last_3d", "", word, BIND_CONST },
	{ "torch.preserve_format", "", word, BIND_CONST },
	{ "torch.strided", "", word, BIND_CONST },
	{ "torch.__version__", "", version, BIND_CONST },
	{ "torch.cuda.is_available", "", yes, 0 },
	{ "torch.cuda.is_initialized", "", yes, 0 },
	{ "torch.cuda.is_bf16_supported", "*args, **kwargs", yes, 0 },
	{ "torch.cuda.device_count", "", one, 0 },
	{ "torch.cuda.current_device", "", zero, 0 },
	{ "torch.cuda.empty_cache", "", nothing, 0 },
	{ "torch.cuda.ipc_collect", "", nothing, 0 },
	{ "torch.cuda._gpu", "", gpu, BIND_INTERNAL },
	{ "torch.cuda._elapsed", "", elapsed, BIND_INTERNAL },
	{ "torch.cuda.memory_allocated", "device=None", memory_now, 0 },
	{ "torch.cuda.memory_reserved", "device=None", memory_peak, 0 },
	{ "torch.cuda.max_memory_allocated", "device=None", memory_peak, 0 },
	{ "torch.cuda.max_memory_reserved", "device=None", memory_peak, 0 },
	{ "torch.cuda.reset_peak_memory_stats", "device=None", nothing, 0 },
	{ "torch.set_float32_matmul_precision", "precision: str", matmul_precision, 0 },
	{ "torch.get_float32_matmul_precision", "", get_matmul_precision, 0 },
	{ "torch.backends._tf32", "products: str, on", backends_tf32, BIND_INTERNAL },
	{ "torch.backends._change", "name: str, differs", backends_change, BIND_INTERNAL },
	{ "torch.backends._ask", "name: str", backends_ask, BIND_INTERNAL },
	{ "torch.use_deterministic_algorithms", "mode, *, warn_only=False", deterministic, 0 },
	{ "torch.set_printoptions",
	  "precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None", nothing, 0 },
	{ "torch.set_num_threads", "n", set_threads, 0 },
	{ "torch.get_num_threads", "", not_here, 0 },
	{ "torch.get_num_interop_threads", "", not_here, 0 },
	{ "torch.is_autocast_enabled", "*args", d_false, 0 },
	{ "torch._assert", "condition, message", assert_that, 0 },
	{ "torch.jit.is_scripting", "", d_false, 0 },
	{ "torch.jit.is_tracing", "", d_false, 0 },
	{ "torch.compiler.is_compiling", "", d_false, 0 },
	{ "torch.compiler.is_dynamo_compiling", "", d_false, 0 },
	{ "torch._dynamo.is_compiling", "", d_false, 0 },
	{ "torch.onnx.is_in_onnx_export", "", d_false, 0 },
	{ NULL, NULL, NULL, 0 }
};
