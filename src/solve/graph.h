/* The graph of a module: values, each the elements of one allocation as an expression.
 *
 * A value is an argument of the kernels (an input, a weight, a buffer) or computed: a map gives each
 * element by an expression over the coordinates, a reduction also runs over further variables, and a scan adds up (or
 * multiplies) the elements of its expression along one coordinate. The
 * loop sizes and strides of a value describe its memory completely: the element at coordinates
 * i[0..rank) lies at sum(i[d] * stride[d]). Loop sizes need not be the tensor's shape.
 *
 * A view is a value seen through an offset and strides, as PyTorch's tensors are. So views of any
 * kind cost nothing and need no operator of their own. */
#ifndef SOLVE_GRAPH_H
#define SOLVE_GRAPH_H

#include "solve/element.h"

enum { GRAPH_RANK = 12, GRAPH_REDUCED = 8, GRAPH_VARS = GRAPH_RANK + GRAPH_REDUCED + 1,
       /* the number of the program instance, as a variable of a kernel */
       GRAPH_INSTANCE = GRAPH_VARS - 1,
       /* products of fewer multiply-adds are not worth tl.dot */
       GRAPH_DOT_LEAST = 1 << 17 };

enum value_kind { VALUE_ARG, VALUE_MAP, VALUE_REDUCE, VALUE_SCAN };

/* How a reduction combines its terms. The order is that of reduce_info in emit_reduce.c. */
enum combine { COMBINE_SUM, COMBINE_PROD, COMBINE_MAX, COMBINE_MIN, COMBINE_ARGMAX, COMBINE_ARGMIN };

struct value {
	enum value_kind kind;
	enum dtype dt;                         /* of its memory */
	int rank;                              /* coordinates: variables 0 .. rank - 1 */
	int64_t size[GRAPH_RANK], stride[GRAPH_RANK];
	int64_t numel;                         /* elements of its memory */
	int n_red;                             /* REDUCE: variables rank .. rank + n_red - 1 */
	int64_t red[GRAPH_REDUCED];
	enum combine how;
	int along;                             /* SCAN: the coordinate along which it runs */
	const struct sx *body;                 /* MAP, REDUCE, SCAN */
	int on_cpu;                            /* ARG: the tensor lies on the CPU */
	int of_model;                          /* ARG: a parameter, a buffer or another member of the module */
	const char *name;                      /* ARG: as Python code, "self.conv.weight"; else a word for names */
	const char *op;                        /* torch operator that made it */
	int tf32;                              /* a product that PyTorch computes in tf32 */
	int in_parts;                          /* a REDUCE that adds up the parts of a product */
	int must_store;                        /* its memory is read by index values, or by the caller */
	int into;                              /* written to the memory of this ARG at the end, or -1 */
	int rank_out;                          /* result of the module: the shape of the tensor; -1: none */
	int64_t shape_out[GRAPH_RANK];
	/* for the planner (cut.c) */
	int uses, live, group;
	int in_product, in_reduce;             /* products and reductions that read it */
	const struct sx *last_load;            /* counted last, and its reader */
	int last_reader;
};

/* A tensor of the program. */
struct view {
	int value;                             /* -1: the number `num` */
	double num;
	enum dtype dt;
	int rank;
	int64_t offset, size[GRAPH_RANK], stride[GRAPH_RANK];
};

/* Decisions that depend on sizes, in order. A solution for other sizes takes the same ones. */
struct graph_choices { signed char *v; size_t n, cap, next; };

struct graph {
	struct expr_pool *pool;
	int split;                             /* products of few tiles are summed in parts */
	int may_split;                         /* the graph has a product of few tiles */
	struct graph_choices *choices;         /* to follow, or to fill if it is empty; or NULL */
	struct { struct value *v; size_t n, cap; } values;
};

struct value *graph_value(struct graph *g, int id);
/* A decision that depends on sizes: `wanted`, or what was decided for other sizes. */
int graph_choose(struct graph *g, int wanted);
/* Adds a value without a body. Returns its number. */
int graph_add(struct graph *g, const struct value *like);
/* The coordinates of the element at linear position `at` of a value. */
void graph_coords(struct graph *g, const struct value *v, const struct ix *at, const struct ix **out);
/* The linear position of coordinates. */
const struct ix *graph_at(struct graph *g, int rank, const int64_t *stride, const struct ix *const *i);

/* Rebuilds an expression with its variables replaced, and guards its loads by a mask (NULL: none). A load
 * that is inside its memory in any case is left alone unless `always`. */
const struct sx *graph_guard(struct graph *g, const struct sx *body, const struct ix *const *to, const struct sx *mask,
			     int always);

#endif
