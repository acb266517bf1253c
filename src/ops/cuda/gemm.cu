/* Matrix products by cuBLASLt, with the algorithm of each shape measured once.
 *
 * The library is column-major: a row-major matrix is its own transpose there, so y = x W^T is asked
 * for as y^T = W x^T and so on; `layout_of` has the three cases. The first product of a shape times
 * what the library proposes and keeps the fastest; the choice is a function of the shape from then on,
 * and can be saved, so that later runs have the same bits. Numbers of rows that are near each other share
 * a choice: a pack has another number of rows in every step, and measuring takes longer than the step. */
#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <new>
#include <unordered_map>

#include "dev/cuda/context.cuh"
#include "ops/cuda/cuda.h"

enum { PROPOSALS = 8, WARM = 1, ROUNDS = 3, ALIGN = 256 };

/* The key of the algorithm table: all that the best algorithm depends on. All bytes are set, so
 * that keys compare as bytes. */
struct key {
	int32_t kind, M, n, k;
	int32_t x_dt, w_dt, y_dt;
	int32_t bias, beta, exact;
	int32_t align;             /* the least alignment of pointers and rows */
	int32_t add;               /* another operand than y is added */
	int64_t ldx, ldw, ldy;
};

struct hash_key {
	size_t operator()(const struct key &a) const
	{
		const unsigned char *p = (const unsigned char *)&a;
		size_t h = 1469598103934665603u;

		for (size_t i = 0; i < sizeof a; i++)
			h = (h ^ p[i]) * 1099511628211u;
		return h;
	}
};

struct same_key {
	bool operator()(const struct key &a, const struct key &b) const { return !memcmp(&a, &b, sizeof a); }
};

struct gemm_choice {
	cublasLtMatmulAlgo_t algo;
	float us;                  /* measured; 0: the library's first, not measured */
};

struct cuda_blas {
	cublasLtHandle_t lt;
	std::unordered_map<struct key, struct gemm_choice, hash_key, same_key> chosen;
};

#define BLAS_TRY(call) do { \
		cublasStatus_t blas_rc_ = (call); \
		if (blas_rc_) \
			return CUDA_FROM_BLAS + (int)blas_rc_; \
	} while (0)

static void blas_free(struct cuda_blas *b)
{
	cublasLtDestroy(b->lt);
	delete b;
}

static int get_blas(struct cuda *c, struct cuda_blas **out)
{
	if (!c->blas) {
		struct cuda_blas *b = new (std::nothrow) cuda_blas();

		if (!b)
			return cudaErrorMemoryAllocation;
		cublasStatus_t rc = cublasLtCreate(&b->lt);

		if (rc) {
			delete b;
			return CUDA_FROM_BLAS + (int)rc;
		}
		c->blas = b;
		c->blas_free = blas_free;
	}
	*out = c->blas;
	return 0;
}

/* --- the description of a product ---- */

struct plan {
	cublasLtMatmulDesc_t op;
	cublasLtMatrixLayout_t a, b, c, d;
	const void *pa, *pb;
};

static cudaDataType_t type_of(int dt)
{
	return dt == DT_F32 ? CUDA_R_32F : dt == DT_F8E4M3 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
}

static void plan_free(struct plan *p)
{
	cublasLtMatrixLayoutDestroy(p->a);
	cublasLtMatrixLayoutDestroy(p->b);
	cublasLtMatrixLayoutDestroy(p->c);
	cublasLtMatrixLayoutDestroy(p->d);
	cublasLtMatmulDescDestroy(p->op);
}

static int set_fp8(struct plan *p, const struct cuda_gemm *g)
{
	int32_t mode = CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
	int8_t fast = 1;

	if (g->x_dt != DT_F8E4M3)
		return 0;
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, &mode, sizeof mode));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, &mode, sizeof mode));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &g->w_scale,
						sizeof g->w_scale));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &g->x_scale,
						sizeof g->x_scale));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof fast));
	return 0;
}

/* The library requires a bias of the result's type, of bf16 with 8-bit operands: the cast bias is
 * stored after the workspace. */
static int cast_bias(struct cuda *c, const struct cuda_gemm *g, const void **bias, cudaDataType_t *type)
{
	*bias = g->bias;
	*type = CUDA_R_32F;
	if (g->y_dt == DT_F32 && g->x_dt != DT_F8E4M3)
		return 0;
	*bias = (char *)c->workspace + c->workspace_bytes;
	*type = CUDA_R_16BF;
	return (size_t)g->n * 2 > CUDA_BIAS_BYTES ? CUDA_OWN_SHAPE : cuda_cast(c, (void *)*bias, DT_BF16,
			g->bias, DT_F32, g->n);
}

static int set_bias(struct cuda *c, struct plan *p, const struct cuda_gemm *g)
{
	cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
	cudaDataType_t type;
	const void *bias;

	if (!g->bias)
		return 0;
	CUDA_TRY(cast_bias(c, g, &bias, &type));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &type, sizeof type));
	return 0;
}

/* Operands as the column-major library sees them. */
static int layout_of(struct plan *p, const struct cuda_gemm *g)
{
	cublasOperation_t T = CUBLAS_OP_T, N = CUBLAS_OP_N, ta = N, tb = N;
	cudaDataType_t x = type_of(g->x_dt), w = type_of(g->w_dt), y = type_of(g->y_dt);
	size_t ldc = g->add ? g->ldadd : g->ldy;

	if (g->kind == CUDA_GEMM_Y) {
		ta = T, p->pa = g->w, p->pb = g->x;
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->a, w, g->k, g->n, g->ldw));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->b, x, g->k, g->M, g->ldx));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->c, y, g->n, g->M, ldc));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->d, y, g->n, g->M, g->ldy));
	} else if (g->kind == CUDA_GEMM_DX) {
		p->pa = g->w, p->pb = g->x;
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->a, w, g->k, g->n, g->ldw));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->b, x, g->n, g->M, g->ldx));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->c, y, g->k, g->M, ldc));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->d, y, g->k, g->M, g->ldy));
	} else {
		tb = T, p->pa = g->x, p->pb = g->w;
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->a, x, g->k, g->M, g->ldx));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->b, w, g->n, g->M, g->ldw));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->c, y, g->k, g->n, ldc));
		BLAS_TRY(cublasLtMatrixLayoutCreate(&p->d, y, g->k, g->n, g->ldy));
	}
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta));
	BLAS_TRY(cublasLtMatmulDescSetAttribute(p->op, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb));
	return 0;
}

static int plan_make(struct cuda *c, struct plan *p, const struct cuda_gemm *g)
{
	memset(p, 0, sizeof *p);
	BLAS_TRY(cublasLtMatmulDescCreate(&p->op, CUBLAS_COMPUTE_32F, CUDA_R_32F));
	CUDA_TRY(layout_of(p, g));
	CUDA_TRY(set_bias(c, p, g));
	return set_fp8(p, g);
}

/* --- the choice ---- */

static int alignment(const void *p, size_t ld, int dt)
{
	size_t bits = (size_t)p | ld * (dt == DT_F32 ? 4 : dt == DT_F8E4M3 ? 1 : 2) | ALIGN;

	return (int)(bits & -bits);
}

static int least(int a, int b) { return a < b ? a : b; }

/* Up to the next of 1, 2, ... 8, 10, 12, 14, 16, 20, 24, ...: four steps to the double. */
static int rounded(int M)
{
	int step = 1;

	while (step * 8 < M)
		step *= 2;
	return (M + step - 1) / step * step;
}

/* With `own` the number of rows counts as it is, which no rounded one is equal to. */
static struct key key_of(const struct cuda_gemm *g, int own)
{
	struct key k;

	memset(&k, 0, sizeof k);
	k.kind = g->kind, k.M = own ? -g->M : rounded(g->M), k.n = g->n, k.k = g->k;
	k.x_dt = g->x_dt, k.w_dt = g->w_dt, k.y_dt = g->y_dt;
	k.bias = g->bias != NULL, k.beta = g->beta != 0, k.add = g->add != NULL, k.exact = g->exact;
	k.align = least(least(alignment(g->x, g->ldx, g->x_dt), alignment(g->w, g->ldw, g->w_dt)),
			alignment(g->y, g->ldy, g->y_dt));
	k.ldx = (int64_t)g->ldx, k.ldw = (int64_t)g->ldw, k.ldy = (int64_t)g->ldy;
	return k;
}

static int propose(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct key *k,
		   cublasLtMatmulHeuristicResult_t *found, int *n)
{
	cublasLtMatmulPreference_t pref;
	uint32_t align = (uint32_t)k->align, none = CUBLASLT_REDUCTION_SCHEME_NONE;
	cublasStatus_t rc;

	BLAS_TRY(cublasLtMatmulPreferenceCreate(&pref));
	cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
					     &c->workspace_bytes, sizeof c->workspace_bytes);
	cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &align, sizeof align);
	cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &align, sizeof align);
	cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &align, sizeof align);
	cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &align, sizeof align);
	if (k->exact)
		cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
						     &none, sizeof none);
	rc = cublasLtMatmulAlgoGetHeuristic(b->lt, p->op, p->a, p->b, p->c, p->d, pref, PROPOSALS, found, n);
	cublasLtMatmulPreferenceDestroy(pref);
	return rc ? CUDA_FROM_BLAS + (int)rc : *n ? 0 : CUDA_OWN_SHAPE;
}

static int run(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct cuda_gemm *g,
	       void *y, const cublasLtMatmulAlgo_t *algo)
{
	BLAS_TRY(cublasLtMatmul(b->lt, p->op, &g->alpha, p->pa, p->a, p->pb, p->b, &g->beta, g->add ?
				g->add : y, p->c, y, p->d, algo,
				c->workspace, c->workspace_bytes, c->stream));
	return 0;
}

/* Microseconds of one algorithm, or a negative number if it does not run. */
static float measure(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct cuda_gemm *g,
		     void *y, const cublasLtMatmulAlgo_t *algo)
{
	cudaEvent_t from, to;
	float ms = -1;
	int rc = 0;

	cudaEventCreate(&from);
	cudaEventCreate(&to);
	for (int i = 0; !rc && i < WARM + ROUNDS; i++) {
		if (i == WARM)
			cudaEventRecord(from, c->stream);
		rc = run(c, b, p, g, y, algo);
	}
	cudaEventRecord(to, c->stream);
	if (cudaEventSynchronize(to) || rc || cudaEventElapsedTime(&ms, from, to))
		ms = -1;
	cudaEventDestroy(from);
	cudaEventDestroy(to);
	return ms < 0 ? -1 : ms * 1000 / ROUNDS;
}

static size_t result_bytes(const struct cuda_gemm *g)
{
	size_t rows = g->kind == CUDA_GEMM_DW ? g->n : g->M;

	return rows * g->ldy * (g->y_dt == DT_F32 ? 4 : 2);
}

/* Times the proposed algorithms into memory of their own, since y may be added to. If that memory
 * cannot be allocated, or a graph is being recorded, the first proposal is used. */
static void tune(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct cuda_gemm *g,
		 const cublasLtMatmulHeuristicResult_t *found, int n, struct gemm_choice *best)
{
	cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
	void *y = NULL;

	best->algo = found[0].algo;
	best->us = 0;
	cudaStreamIsCapturing(c->stream, &capturing);
	if (n < 2 || g->variant == CUDA_GEMM_FIRST || capturing != cudaStreamCaptureStatusNone ||
	    cudaMalloc(&y, result_bytes(g))) {
		cudaGetLastError();
		return;
	}
	cudaMemsetAsync(y, 0, result_bytes(g), c->stream);
	for (int i = 0; i < n; i++) {
		float us = found[i].state ? -1 : measure(c, b, p, g, y, &found[i].algo);

		if (us > 0 && (!best->us || us < best->us)) {
			best->us = us;
			best->algo = found[i].algo;
		}
	}
	cudaFree(y);
}

static int choose(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct cuda_gemm *g,
		  int own, const struct gemm_choice **out)
{
	struct key k = key_of(g, own);
	auto known = b->chosen.find(k);
	cublasLtMatmulHeuristicResult_t found[PROPOSALS];
	struct gemm_choice best;
	int n = 0;

	if (known == b->chosen.end()) {
		CUDA_TRY(propose(c, b, p, &k, found, &n));
		tune(c, b, p, g, found, n, &best);
		known = b->chosen.emplace(k, best).first;
	}
	*out = &known->second;
	return 0;
}

/* With the choice of rows near these, or of exactly these where the library refuses that. */
static int run_chosen(struct cuda *c, struct cuda_blas *b, const struct plan *p, const struct cuda_gemm *g)
{
	const struct gemm_choice *chosen;
	int rc = 0;

	for (int own = 0; own < 2; own++) {
		CUDA_TRY(choose(c, b, p, g, own, &chosen));
		rc = run(c, b, p, g, g->y, &chosen->algo);
		if (rc != CUDA_FROM_BLAS + CUBLAS_STATUS_NOT_SUPPORTED && rc != CUDA_FROM_BLAS +
		    CUBLAS_STATUS_INVALID_VALUE)
			break;
	}
	return rc;
}

int cuda_gemm(struct cuda *c, const struct cuda_gemm *g)
{
	struct cuda_blas *b;
	struct plan p;
	int rc;

	if (!g->M || !g->n || !g->k)
		return 0;
	CUDA_TRY(get_blas(c, &b));
	rc = plan_make(c, &p, g);
	if (!rc)
		rc = run_chosen(c, b, &p, g);
	plan_free(&p);
	return rc;
}

/* --- the choices as a file: version of the library, name of the GPU, then pairs ---- */

struct stamp {
	uint64_t version;
	char gpu[256];
};

static struct stamp stamp_of(const struct cuda *c)
{
	struct stamp s;

	memset(&s, 0, sizeof s);
	s.version = cublasLtGetVersion();
	memcpy(s.gpu, c->info.name, sizeof s.gpu);
	return s;
}

int cuda_gemm_save(struct cuda *c, const char *path)
{
	struct stamp s = stamp_of(c);
	struct cuda_blas *b;
	FILE *f;
	int bad;

	CUDA_TRY(get_blas(c, &b));
	if (!(f = fopen(path, "wb")))
		return CUDA_OWN_FILE;
	bad = fwrite(&s, sizeof s, 1, f) != 1;
	for (const auto &kv : b->chosen)
		if (kv.second.us > 0)
			bad |= fwrite(&kv.first, sizeof kv.first, 1, f) != 1 ||
				fwrite(&kv.second, sizeof kv.second, 1, f) != 1;
	bad |= fclose(f) != 0;
	return bad ? CUDA_OWN_FILE : 0;
}

int cuda_gemm_load(struct cuda *c, const char *path)
{
	struct stamp s = stamp_of(c), t;
	struct gemm_choice v;
	struct cuda_blas *b;
	struct key k;
	FILE *f;

	CUDA_TRY(get_blas(c, &b));
	if (!(f = fopen(path, "rb")))
		return CUDA_OWN_FILE;
	if (fread(&t, sizeof t, 1, f) == 1 && !memcmp(&s, &t, sizeof s))
		while (fread(&k, sizeof k, 1, f) == 1 && fread(&v, sizeof v, 1, f) == 1)
			b->chosen.emplace(k, v);
	fclose(f);
	return 0;
}
