/* The host engine: runs the Python of tasks and candidates over torch-like values.
 *
 * A `struct host` is one program's world: its modules, objects, limits, generator and what
 * it did (operations, kernel launches, printed text). It has no file, network, process,
 * clock or introspection functions. Running never crashes and never exceeds its limits by
 * more than one operation's worth.
 *
 * Calls that run program code return 0: ran; 1: the program failed, host_diag says why with
 * the line in the program's source; -1: we failed, `e` says why. After 1 the host stays
 * usable (unless a limit was hit: then every call fails the same way). */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "interp/program.h"

/* What is shared between hosts of one thread: the binding index and the parsed prelude.
 * Make one per thread (or before forking) and pass it to every host; a host without one
 * makes its own, which costs more than most programs do. */
struct host_lib;
struct host_lib *host_lib_new(struct err *e);
void host_lib_free(struct host_lib *lib);
/* Flags of a binding by its dotted name ("torch.matmul", "torch.Tensor.sum"); -1: no such name. */
int host_lib_flags(const struct host_lib *lib, const char *dotted);

struct host *host_new(const struct host_options *o, struct err *e);
void host_free(struct host *h);
/* Makes ready for another run of the same program: fuel is full again, noise starts from its
 * seed; launch, compute, nominal, tf32, gpu, track_undef, poison, config and tune are taken from *o, the rest stays. */
void host_renew(struct host *h, const struct host_options *o);
int host_is_lost(const struct host *h);          /* a limit was hit: nothing runs any more */
const struct diag *host_diag(const struct host *h);
/* Why a call returned 1, at most the text of one exception: "TypeError: ...". */

/* --- modules ---------------------------------------------------------------------------- */

/* Runs a module (the tree must outlive the host); *ns is its namespace. */
int host_load(struct host *h, const struct py_module *m, const struct host_override *ov, size_t n_ov,
	      struct val *ns, struct err *e);
/* A global of a module: 1 found, 0 absent. */
int host_get(struct host *h, struct val ns, const char *name, struct val *out);
/* Values that outlive the call that returned them must be kept by the caller: host_load,
 * host_call and the functions below return values already kept; give them back with
 * val_drop (or let host_free do it). */
int host_call(struct host *h, struct val fn, const struct val *args, size_t n, struct val *out, struct err *e);

/* --- tasks in KernelBench's form ----------------------------------------------------------- */

/* cls(*get_init_inputs()) under a seed; `ns` gives get_init_inputs, `cls_ns` the class. */
int host_build(struct host *h, struct val ns, struct val cls_ns, const char *cls, uint64_t seed,
	       struct val *model, struct err *e);
/* get_inputs() under a seed: a list. With `ends`, integers that it draws have both ends of their range among them. */
int host_inputs(struct host *h, struct val ns, uint64_t seed, int ends, struct val *inputs, struct err *e);
/* model(*inputs); what a program returns may be a tensor, or any nest of tuples, lists, dicts. */
int host_forward(struct host *h, struct val model, struct val inputs, struct val *out, struct err *e);
int host_eval_mode(struct host *h, struct val model, struct err *e);
/* Inputs with tensors copied (and their aliasing among themselves kept). */
int host_copy(struct host *h, struct val v, struct val *out, struct err *e);
/* A value of another host, copied: numbers, strings, dtypes, tuples, lists, dicts and tensors
 * (aliasing among them kept, floats widened where this host is an oracle). The other host is
 * only read. 1: it holds something that cannot leave its host. */
int host_import(struct host *h, struct val v, struct val *out, struct err *e);
/* The same for a host of another process, by way of bytes. 0, 1: it cannot leave its host, -1. */
int host_pack(struct val v, struct buf *out, struct err *e);
int host_unpack(struct host *h, struct str packed, struct val *out, struct err *e);
int host_to_device(struct host *h, struct val v, enum host_device dev, struct err *e);   /* in place, module or nest */
int host_to_dtype(struct host *h, struct val v, enum dtype dt, struct err *e);           /* floats only */

/* The tensors in a value, in order, with their paths: "0", "1.x"; for a module state_dict's
 * names. fn gets borrowed tensors. Nonzero from fn stops and is returned. */
typedef int host_tensor_fn(void *ctx, struct str name, struct tensor_obj *t);
int host_tensors(struct host *h, struct val v, host_tensor_fn *fn, void *ctx);
int host_state(struct host *h, struct val model, host_tensor_fn *fn, void *ctx);
/* The same for what a program returned, Python numbers included (as tensors without dimensions), in
 * an order that does not depend on that of dictionaries; *form says how it is made: "Tensor",
 * "tuple(Tensor, dict{a: Tensor, b: float})". */
int host_result(struct host *h, struct val v, struct buf *form, host_tensor_fn *fn, void *ctx);

/* --- what the program did --------------------------------------------------------------------- */

struct host_ops host_ops(const struct host *h);
/* What these moved and computed, in about nanoseconds of a core: their bytes and an eighth of their operations. */
int64_t host_ops_work(const struct host *h);
void host_ops_clear(struct host *h);
/* Replaces host_options.compute from here on. */
void host_set_compute(struct host *h, int (*fn)(void *ctx, const char *name, int line, struct diag *d), void *ctx);
/* Each operation on tensors from here on is told there; NULL: nowhere. */
void host_set_called(struct host *h, host_op_call_fn *fn, void *ctx);
/* What the program comes to from here on is noted there; NULL: nowhere. */
void host_dry_run(struct host *h, struct host_path *path);
/* What exists now outlives the calls to come. While guarded, program code that changes any of
 * it (a list, a dictionary, an iterator, a tensor) fails with the reason state_kept. */
void host_seal(struct host *h);
void host_guard(struct host *h, int on);
/* The program that is judged is built or called from now on, or neither. It may not draw from generators of Python and
 * numpy without a seed, nor leave a seed to what the next call draws. */
void host_set_judged(struct host *h, enum host_judged judged);
/* Storages up to this id are sealed; for what changes tensors without this engine. */
uint64_t host_sealed_storage(const struct host *h);
struct str host_printed(const struct host *h);

/* Launches of kernels, in order, with what they were launched with. */
struct host_launches { const struct host_launch *v; size_t n; };
struct host_launches host_launches(const struct host *h);
void host_launches_clear(struct host *h);

/* The most programs that an autotuned launch had to choose from, and what was chosen where there
 * was a choice: "kernel with BLOCK: 64, num_warps: 4; ..."; after a failure to compile, what was
 * to be compiled. */
struct host_tuned { int most; struct str chosen; };
struct host_tuned host_tuned(const struct host *h);
void host_tuned_clear(struct host *h);

/* Bytes of tensors now and at the most, and of the largest that was asked for since operations were
 * cleared; steps taken. */
struct host_usage { size_t bytes, peak; int64_t largest, steps; };
/* A float of a hollow tensor was asked for: zero was given. */
int host_guessed(const struct host *h);
struct host_usage host_usage(const struct host *h);

#endif
