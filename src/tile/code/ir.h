/* Tile code: a small typed three-address code for one specialised kernel.
 *
 * Registers have a static type: a scalar or a tile of power-of-two dimensions of a dtype, or
 * of pointers to one. A register may be assigned more than once (loop-carried values); every
 * path to a use assigns it first, which the verifier proves. Control flow is structured
 * (tileop.def). Function 0 is the kernel; the others are combine and map functions over
 * scalars, which the machine evaluates over as many lanes as it needs.
 *
 * Code is built by build.h or read from text (parse_text.h), verified once, and immutable
 * from then on. The machine trusts verified code and nothing else. */
#ifndef TILE_CODE_IR_H
#define TILE_CODE_IR_H

#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "tensor/tensor.h"

enum { TILE_DIMS = 5, TILE_ATTRS = 6, TILE_MAX_NUMEL = 1 << 20, TILE_FUNC_PARAMS = 64 };

enum tile_op {
#define TILEOP(id, name, rule, dst, src_min, src_max, cost, flags) TOP_##id,
#include "tile/code/tileop.def"
#undef TILEOP
	TILE_OPS
};

enum tile_op_flag { TOF_NONE = 0, TOF_L = 1, TOF_C = 2, TOF_S = 4, TOF_R = 8, TOF_LR = TOF_L | TOF_R };
enum tile_op_cost { TOC_NONE, TOC_ARITH, TOC_SPECIAL, TOC_MEM, TOC_DOT };

struct tile_op_info {
	const char *name;
	int n_dst, src_min, src_max;        /* -1: any number */
	enum tile_op_cost cost;
	int flags;
};

const struct tile_op_info *tile_op_info(enum tile_op op);
/* Whether the operation has no effect, cannot fault and reads no memory: it may run earlier, or not at
 * all. */
int tile_op_is_pure(enum tile_op op);
int tile_op_by_name(struct str name);   /* enum tile_op or -1 */

/* A type: ndim 0 is a scalar. A pointer has `ptr` set, and `dt` is the type of the elements it points to. */
struct tile_type {
	uint8_t dt;                 /* enum dtype */
	uint8_t ptr;
	uint8_t ndim;
	int32_t shape[TILE_DIMS];   /* unused dims are 0 */
};

struct tile_type tile_scalar(enum dtype dt);
struct tile_type tile_pointer(enum dtype dt);
struct tile_type tile_shaped(struct tile_type element, int ndim, const int32_t *shape);
int tile_type_eq(struct tile_type a, struct tile_type b);
int tile_same_shape(struct tile_type a, struct tile_type b);
int64_t tile_numel(struct tile_type t);                 /* 1 for a scalar */
int tile_elem_size(struct tile_type t);                 /* bytes in a register: 8 for pointers */
/* "fp32", "*fp16[16x32]" */
void tile_type_print(struct tile_type t, struct buf *out);
int tile_type_parse(struct str s, struct tile_type *out);   /* nonzero: not a type */

/* Attribute values. */
enum tile_round { TILE_RN, TILE_RZ, TILE_RD, TILE_RU };      /* float to int always truncates */
enum tile_pad { TILE_PAD_NONE, TILE_PAD_ZERO, TILE_PAD_NAN };
enum tile_rmw { TILE_RMW_ADD, TILE_RMW_MAX, TILE_RMW_MIN, TILE_RMW_AND, TILE_RMW_OR, TILE_RMW_XOR, TILE_RMW_XCHG };
enum tile_sem { TILE_SEM_ACQ_REL, TILE_SEM_ACQUIRE, TILE_SEM_RELEASE, TILE_SEM_RELAXED };
enum tile_scope { TILE_SCOPE_GPU, TILE_SCOPE_CTA, TILE_SCOPE_SYS };
enum tile_hint { TILE_HINT_MULTIPLE, TILE_HINT_CONTIGUOUS, TILE_HINT_CONSTANT };
enum tile_prec { TILE_PREC_IEEE, TILE_PREC_TF32, TILE_PREC_TF32X3, TILE_PREC_BF16X3, TILE_PREC_BF16X6 };
enum tile_fmt { TILE_FMT_E2M1, TILE_FMT_E4M3, TILE_FMT_E5M2, TILE_FMT_BF16, TILE_FMT_FP16 };
enum tile_combine {
	TILE_CUSTOM,
	TILE_SUM, TILE_PROD,
	TILE_MAX, TILE_MIN,                      /* skip NaN */
	TILE_MAX_NAN, TILE_MIN_NAN,
	TILE_ARGMAX, TILE_ARGMIN,                /* value, index; the lower index wins ties */
	TILE_ARGMAX_FAST, TILE_ARGMIN_FAST,      /* on ties either index may win */
	TILE_AND, TILE_OR, TILE_XOR,
	TILE_COMBINES
};

typedef uint32_t tile_reg;
#define TILE_NO_REG UINT32_MAX

struct tile_insn {
	uint16_t op;                /* enum tile_op */
	uint8_t rounding;           /* enum tile_round, where the op honours it */
	uint8_t n_dst;
	uint16_t n_src;
	int32_t loc;                /* index into locs */
	tile_reg *r;                /* results, then sources */
	int64_t imm;                /* integer constant, axis, branch depth, ... as tileop.def says */
	double fimm;
	int32_t attr[TILE_ATTRS];
	struct str text;
};

static inline tile_reg tile_dst(const struct tile_insn *in, int k) { return in->r[k]; }
static inline tile_reg tile_src(const struct tile_insn *in, int k) { return in->r[in->n_dst + k]; }

/* A location in the source, and the call through which it was inlined. */
struct tile_loc {
	int line, col;
	int32_t parent;             /* loc of the call, or -1 */
	struct str fn;              /* function that contains the line */
};

/* A register that holds an argument when the kernel starts, and the part of the launch that it comes from. */
enum tile_part { TILE_PART_VALUE, TILE_PART_SHAPE, TILE_PART_STRIDE };
struct tile_param {
	tile_reg reg;
	struct str name;            /* for reports */
	int arg;                    /* index into tile_launch.args */
	int path[3], n_path;        /* indices into nested tuples of the argument */
	enum tile_part part;        /* VALUE: scalar, or pointer to a tensor's or descriptor's data */
	int dim;                    /* of SHAPE and STRIDE of a descriptor */
};

struct tile_func {
	struct str name;
	tile_reg *params, *results;         /* none for the kernel: see tile_code.params */
	int n_params, n_results;
	struct tile_insn *insns;
	int n_insns;
};

struct tile_decoded;                   /* the form that the machine runs (machine/decode.h) */

struct tile_code {
	struct arena mem;           /* everything below lives here */
	struct str name;
	struct tile_param *params;
	int n_params;
	struct tile_type *regs;
	int n_regs;
	struct tile_loc *locs;
	int n_locs;
	struct tile_func *funcs;    /* [0] is the kernel */
	int n_funcs;
	struct tile_decoded *decoded;  /* the form the machine runs; NULL before tile_decode */
	void *front;                /* facts that the front end keeps about this code, in `mem` */
};

void tile_code_free(struct tile_code *code);
/* Whether the instruction converts an address to a number, or compares two addresses. */
int tile_looks_at_address(const struct tile_code *code, const struct tile_insn *in);

/* Checks that code is well typed, well nested and assigns each register before it is used. Returns 0, or
 * -1 with the first error and its location. */
int tile_verify(const struct tile_code *code, struct err *e);

#endif
