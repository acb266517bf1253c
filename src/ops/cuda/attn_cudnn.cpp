/* Attention by cuDNN 9, found when it is first asked for: see attn.cuh.
 *
 * The only file that knows cuDNN, through its header-only frontend. A cuDNN plan is built for a
 * number of sequences and a longest length, both rounded up, and cached. A smaller pack is filled
 * up with empty sequences. Rows are not moved: ragged offsets tell cuDNN where each sequence
 * begins. The deterministic backward needs memory for sequences x longest^2, so a pack of many
 * sequences is done a few at a time. No exception leaves this file. */
#include "ops/cuda/attn.cuh"

#if __has_include(<cudnn_frontend.h>)

#include <dlfcn.h>

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#define NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING
#define NV_CUDNN_FRONTEND_DISABLE_LOGGING
#include <cudnn_frontend.h>

namespace cudnn_frontend { void *cudnn_dlhandle = nullptr; }
namespace fe = cudnn_frontend;

enum uid { Q = 1, K, V, O, STATS, DO, DQ, DK, DV, ROWS_QKV, ROWS_OUT, ROWS_STATS, LENGTHS };

struct shape {
	int H, HKV, D, B, S;
	int grad, stats;
	bool operator<(const shape &o) const
	{
		return std::tie(H, HKV, D, B, S, grad, stats) < std::tie(o.H, o.HKV, o.D, o.B, o.S, o.grad, o.stats);
	}
};

struct plan {
	std::shared_ptr<fe::graph::Graph> graph;       /* NULL: cuDNN has none for the shape */
	size_t bytes;
};

struct cuda_cudnn {
	void *handle;                  /* cudnnHandle_t; NULL: no library */
	int version;
	std::map<shape, plan> plans;
};

/* --- the library ---- */

/* The first of the names that can be opened. */
static void *open_first(const char *const *names)
{
	for (; *names; names++)
		if (void *h = dlopen(*names, RTLD_NOW | RTLD_GLOBAL))
			return h;
	return nullptr;
}

/* The frontend asks for the runtime by its soname, which finds what was opened by path. */
static void *open_cudnn(void)
{
	static const char *const runtime[] = { "libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13",
					       "/usr/local/cuda/targets/x86_64-linux/lib/libcudart.so.13", nullptr };
	static const char *const cudnn[] = { "libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9", nullptr };

	return open_first(runtime) ? open_first(cudnn) : nullptr;
}

static void close_cudnn(struct cuda_cudnn *n)
{
	n->plans.clear();
	if (n->handle)
		fe::detail::destroy_handle((cudnnHandle_t)n->handle);
	delete n;
}

/* The library of `c`, opened at the first call. Its handle is NULL if cuDNN is not installed. */
static struct cuda_cudnn *library(struct cuda *c)
{
	if (c->cudnn)
		return c->cudnn;
	struct cuda_cudnn *n = new cuda_cudnn();
	cudnnHandle_t handle = nullptr;

	c->cudnn = n;
	c->cudnn_free = close_cudnn;
	fe::cudnn_dlhandle = open_cudnn();
	if (!fe::cudnn_dlhandle || fe::detail::create_handle(&handle) != CUDNN_STATUS_SUCCESS)
		return n;
	n->handle = handle;
	n->version = (int)fe::detail::get_backend_version();
	if (fe::detail::set_stream(handle, c->stream) != CUDNN_STATUS_SUCCESS)
		n->version = 0;
	return n;
}

int attn_cudnn_built(void) { return 1; }

int attn_cudnn_there(struct cuda *c, int *version)
{
	try {
		*version = library(c)->version;
	} catch (...) {
		*version = 0;
	}
	return 0;
}

/* --- plans ---- */

/* The next of 1, 2, 3, 4, 6, 8, 12, 16, ... */
static int round_up(int n, int least)
{
	int r = least;

	while (r < n)
		r = r & (r - 1) ? r / 3 * 4 : r < 2 ? 2 : r / 2 * 3;
	return r;
}

typedef std::shared_ptr<fe::graph::Tensor_attributes> tensor;

static tensor list(fe::graph::Graph *g, uid id, int n, fe::DataType_t type)
{
	return g->tensor(fe::graph::Tensor_attributes().set_uid(id).set_dim({ n, 1, 1, 1 }).set_stride({ 1,
			1, 1, 1 }).set_data_type(type));
}

/* Heads of rows that are `ld` elements apart. */
static fe::graph::Tensor_attributes heads(const shape &s, uid id, int n, int64_t ld, tensor rows)
{
	return fe::graph::Tensor_attributes().set_uid(id).set_dim({ s.B, n, s.S, s.D }).set_stride({ s.S * ld,
			s.D, ld, 1 })
		.set_data_type(fe::DataType_t::BFLOAT16).set_ragged_offset(rows);
}

static void as_output(tensor t, fe::graph::Tensor_attributes like)
{
	t->set_output(true).set_uid(like.get_uid()).set_dim(like.get_dim()).set_stride(like.get_stride())
		.set_data_type(like.get_data_type()).set_ragged_offset(like.get_ragged_offset());
}

static fe::graph::Tensor_attributes statistics(const shape &s, tensor rows)
{
	return fe::graph::Tensor_attributes().set_uid(STATS).set_dim({ s.B, s.H, s.S,
					1 }).set_stride({ (int64_t)s.S * s.H, 1, s.H, 1 })
		.set_data_type(fe::DataType_t::FLOAT).set_ragged_offset(rows);
}

static void describe(fe::graph::Graph *g, const shape &s)
{
	int64_t ld = (int64_t)(s.H + 2 * s.HKV) * s.D, out = (int64_t)s.H * s.D;
	float scale = (float)(1 / sqrt((double)s.D));
	tensor rows = list(g, ROWS_QKV, s.B + 1, fe::DataType_t::INT64), rows_out = list(g, ROWS_OUT,
			s.B + 1, fe::DataType_t::INT64);
	tensor rows_stats = s.stats ? list(g, ROWS_STATS, s.B + 1, fe::DataType_t::INT64) : nullptr;
	tensor lengths = list(g, LENGTHS, s.B, fe::DataType_t::INT32);
	tensor q = g->tensor(heads(s, Q, s.H, ld, rows)), k = g->tensor(heads(s, K, s.HKV, ld, rows)),
		v = g->tensor(heads(s, V, s.HKV, ld, rows));

	if (!s.grad) {
		auto made = g->sdpa(q, k, v,
				    fe::graph::SDPA_attributes().set_generate_stats(s.stats != 0).set_attn_scale(scale)
				    .set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(lengths)
				    .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
					    .set_diagonal_band_right_bound(0));

		as_output(made[0], heads(s, O, s.H, out, rows_out));
		if (s.stats)
			as_output(made[1], statistics(s, rows_stats));
		return;
	}
	auto made = g->sdpa_backward(q, k, v, g->tensor(heads(s, O, s.H, out, rows_out)),
				     g->tensor(heads(s, DO, s.H, out, rows_out)),
				     g->tensor(statistics(s, rows_stats)),
				     fe::graph::SDPA_backward_attributes().set_attn_scale(scale).set_padding_mask(true)
				     .set_seq_len_q(lengths).set_seq_len_kv(lengths)
					     .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
				     .set_diagonal_band_right_bound(0).set_deterministic_algorithm(true));

	as_output(made[0], heads(s, DQ, s.H, ld, rows));
	as_output(made[1], heads(s, DK, s.HKV, ld, rows));
	as_output(made[2], heads(s, DV, s.HKV, ld, rows));
}

static plan make_plan(struct cuda_cudnn *n, const shape &s)
{
	auto g = std::make_shared<fe::graph::Graph>();
	cudnnHandle_t handle = (cudnnHandle_t)n->handle;
	int64_t bytes = 0;

	g->set_io_data_type(fe::DataType_t::BFLOAT16).set_intermediate_data_type(fe::DataType_t::FLOAT)
		.set_compute_data_type(fe::DataType_t::FLOAT);
	describe(g.get(), s);
	if (g->validate().is_bad() || g->build_operation_graph(handle).is_bad() ||
	    g->create_execution_plans({ fe::HeurMode_t::A }).is_bad() ||
	    g->check_support(handle).is_bad() || g->build_plans(handle).is_bad() || g->get_workspace_size(bytes)
		    .is_bad())
		return { nullptr, 0 };
	return { g, (size_t)bytes };
}

static const plan &plan_of(struct cuda_cudnn *n, const shape &s)
{
	auto at = n->plans.find(s);

	if (at == n->plans.end())
		at = n->plans.emplace(s, make_plan(n, s)).first;
	return at->second;
}

/* --- calls ---- */

/* Sequences that are done at a time: as many as a pack of the longest ones has. */
static int together(const struct cuda_attention *a)
{
	int n = (a->T + a->longest - 1) / a->longest;

	return n < a->sequences ? n : a->sequences;
}

static shape shape_of(const struct cuda_attention *a, int grad)
{
	return { a->H, a->HKV, a->D, round_up(grad ? together(a) : a->sequences, 1), round_up(a->longest, 64),
		 grad, grad || a->lse };
}

/* Offsets of the plan's sequences lie in front of its workspace. */
static size_t offsets_bytes(const shape &s)
{
	return (((size_t)s.B + 1) * 3 * sizeof(int64_t) + (size_t)s.B * sizeof(int32_t) + 255) & ~(size_t)255;
}

int attn_cudnn_work(struct cuda *c, const struct cuda_attention *a, size_t *bytes)
{
	*bytes = 0;
	try {
		for (int grad = 0; grad < 2; grad++) {
			shape s = shape_of(a, grad);
			const plan &p = plan_of(library(c), s);

			if (p.graph && offsets_bytes(s) + p.bytes > *bytes)
				*bytes = offsets_bytes(s) + p.bytes;
		}
	} catch (...) {
		*bytes = 0;
	}
	return 0;
}

/* Sequences from `first` on, as many as the plan takes. */
static int execute(struct cuda *c, const struct cuda_attention *a, const shape &s, const plan &p, int first)
{
	char *at = (char *)a->work, *kv = (char *)a->qkv + (size_t)a->H * a->D * 2,
		*dkv = (char *)a->dqkv + (size_t)a->H * a->D * 2;
	int64_t *rows = (int64_t *)at, *rows_out = rows + s.B + 1, *rows_stats = rows_out + s.B + 1;
	int32_t *lengths = (int32_t *)(rows_stats + s.B + 1);
	size_t v = (size_t)a->HKV * a->D * 2;
	struct attn_ragged r = { a->start + first, a->sequences - first < s.B ? a->sequences - first : s.B,
				 s.B, a->H, a->HKV, a->D,
				 rows, rows_out, rows_stats, lengths };
	std::unordered_map<int64_t, void *> pack = { { Q, (void *)a->qkv }, { K, kv }, { V, kv + v },
						     { O, a->out }, { ROWS_QKV, rows },
						     { ROWS_OUT, rows_out }, { LENGTHS, lengths } };

	if (s.stats) {
		pack[STATS] = a->lse;
		pack[ROWS_STATS] = rows_stats;
	}
	if (s.grad) {
		pack[DO] = (void *)a->dout;
		pack[DQ] = a->dqkv;
		pack[DK] = dkv;
		pack[DV] = dkv + v;
	}
	CUDA_TRY(attn_ragged(c->stream, &r));
	return p.graph->execute((cudnnHandle_t)c->cudnn->handle, pack, at + offsets_bytes(s)).is_bad() ?
		CUDA_FROM_CUDNN + 1 : 0;
}

static int run(struct cuda *c, const struct cuda_attention *a, int grad)
{
	try {
		shape s = shape_of(a, grad);
		const plan &p = plan_of(library(c), s);

		if (!p.graph)
			return CUDA_OWN_SHAPE;
		if (a->work_bytes < offsets_bytes(s) + p.bytes)
			return CUDA_OWN_WORK;
		for (int first = 0; first < a->sequences; first += s.B)
			CUDA_TRY(execute(c, a, s, p, first));
		return 0;
	} catch (...) {
		return CUDA_FROM_CUDNN + 1;
	}
}

int attn_cudnn_forward(struct cuda *c, const struct cuda_attention *a) { return run(c, a, 0); }
int attn_cudnn_grad(struct cuda *c, const struct cuda_attention *a) { return run(c, a, 1); }

#else /* built without cuDNN's frontend */

int attn_cudnn_built(void) { return 0; }
int attn_cudnn_there(struct cuda *, int *version) { return *version = 0; }
int attn_cudnn_forward(struct cuda *, const struct cuda_attention *) { return CUDA_OWN_SHAPE; }
int attn_cudnn_grad(struct cuda *, const struct cuda_attention *) { return CUDA_OWN_SHAPE; }
int attn_cudnn_work(struct cuda *, const struct cuda_attention *, size_t *bytes) { return *bytes = 0, 0; }

#endif
