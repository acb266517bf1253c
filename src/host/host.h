/* The host engine: runs the Python code of tasks and candidates over values like PyTorch's.
 *
 * A `struct host` is the world of one program: its modules, objects, limits, random generators, and
 * a record of what it did (operations, kernel launches, printed text). It has no functions for
 * files, network, processes, clocks or introspection. Running a program never crashes and never
 * exceeds its limits by more than one operation.
 *
 * Calls that run program code return 0 if it ran, 1 if the program failed (host_diag says why, with
 * the line in the program's source) and -1 on our own failure (`e`). After 1 the host stays usable,
 * unless a limit was hit: then every call fails the same way. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include "interp/program.h"
#include "interp/ptrmap.h"

/* The library that hosts of one thread share: the index of bindings and the parsed prelude. Make one for
 * each thread (or before forking) and pass it to every host. A host without one makes its own, which costs
 * more than most programs do. */
struct host_lib;
struct host_lib *host_lib_new(struct err *e);
void host_lib_free(struct host_lib *lib);

struct host *host_new(const struct host_options *o, struct err *e);
void host_free(struct host *h);
/* Prepares the host for another run of the same program: fuel is refilled and noise starts from its seed.
 * launch, compute, nominal, tf32, gpu, track_undef, poison, config and tune are taken from *o; the rest
 * stays. */
void host_renew(struct host *h, const struct host_options *o);
int host_is_lost(const struct host *h);          /* a limit was hit: nothing runs any more */
/* Why a call returned 1: at most the text of one exception, "TypeError: ...". */
const struct diag *host_diag(const struct host *h);

/* --- modules ---------------------------------------------------------------------------- */

/* Runs a module, whose tree must outlive the host. *ns is its namespace. `ov` replaces constants of the
 * module: sizes of a task. */
int host_load(struct host *h, const struct py_module *m, const struct host_override *ov, size_t n_ov,
	      struct val *ns, struct err *e);
/* A global of a module. Returns 1 if it exists, else 0. */
int host_get(struct host *h, struct val ns, const char *name, struct val *out);
/* Calls a function of the program. host_load, host_call and the functions below return values with a
 * reference of the caller's; release it with val_drop, or let host_free do it. */
int host_call(struct host *h, struct val fn, const struct val *args, size_t n, struct val *out, struct err *e);

/* --- tasks in KernelBench's form ----------------------------------------------------------- */

/* cls(*get_init_inputs()) under a seed. get_init_inputs comes from `ns`, the class from `cls_ns`. */
int host_build(struct host *h, struct val ns, struct val cls_ns, const char *cls, uint64_t seed,
	       struct val *model, struct err *e);
/* get_inputs() under a seed, as a list. With `ends`, every tensor of random integers contains both ends of its
 * range. */
int host_inputs(struct host *h, struct val ns, uint64_t seed, int ends, struct val *inputs, struct err *e);
/* model(*inputs). The result may be a tensor, or any nest of tuples, lists and dicts. */
int host_forward(struct host *h, struct val model, struct val inputs, struct val *out, struct err *e);
int host_eval_mode(struct host *h, struct val model, struct err *e);
/* A deep copy of inputs. Tensors that share memory share memory in the copy, too. */
int host_copy(struct host *h, struct val v, struct val *out, struct err *e);
/* A copy of a value of another host: numbers, strings, dtypes, tuples, lists, dicts and tensors. Aliasing
 * among tensors is kept; floats are widened if this host computes in double precision. The other host is
 * only read. Returns 1 if the value holds an object that cannot leave its host. */
int host_import(struct host *h, struct val v, struct val *out, struct err *e);
/* The same for a host of another process, through bytes. Returns 0 on success, 1 if the value cannot leave its
 * host, -1 on our own failure (*e). */
int host_pack(struct val v, struct buf *out, struct err *e);
int host_unpack(struct host *h, struct str packed, struct val *out, struct err *e);
/* in place; a module or a nest of values */
int host_to_device(struct host *h, struct val v, enum host_device dev, struct err *e);
int host_to_dtype(struct host *h, struct val v, enum dtype dt, struct err *e);           /* floats only */

/* Calls fn for each tensor in a value, in order, with its path: "0", "1.x"; for a module the names of
 * state_dict. fn borrows the tensors. A nonzero result of fn stops the walk and is returned. */
typedef int host_tensor_fn(void *ctx, struct str name, struct tensor_obj *t);
int host_tensors(struct host *h, struct val v, host_tensor_fn *fn, void *ctx);
int host_state(struct host *h, struct val model, host_tensor_fn *fn, void *ctx);
/* The same for the result of a program. Python numbers are included, as tensors without dimensions. The order
 * does not depend on that of dictionaries. *form describes the structure: "Tensor",
 * "tuple(Tensor, dict{a: Tensor, b: float})". */
int host_result(struct host *h, struct val v, struct buf *form, host_tensor_fn *fn, void *ctx);

/* --- what the program did --------------------------------------------------------------------- */

struct host_ops host_ops(const struct host *h);
/* The work of these operations, roughly in nanoseconds of one core: bytes moved plus an eighth of the
 * floating-point operations. */
int64_t host_ops_work(const struct host *h);
void host_ops_clear(struct host *h);
/* Replaces host_options.compute from here on. */
void host_set_compute(struct host *h, int (*fn)(void *ctx, const char *name, int line, struct diag *d), void *ctx);
/* Calls fn for each tensor operation from now on; NULL: for none. */
void host_set_called(struct host *h, host_op_call_fn *fn, void *ctx);
/* Records each statement that runs from now on, and the test of each `if` that was false; NULL: nowhere. */
void host_set_ran(struct host *h, struct ptr_map *ran);
/* Records the path of the program (branches, launches) in *path from now on; NULL: nowhere. */
void host_dry_run(struct host *h, struct host_path *path);
/* host_seal: everything that exists now outlives the calls to come. While guarded, program code that changes
 * any of it (a list, a dictionary, an iterator, a tensor) fails with the reason state_kept. */
void host_seal(struct host *h);
void host_guard(struct host *h, int on);
/* Says whether the judged program is being built or called from now on, or neither. While it is, it may not
 * draw from unseeded generators of Python and NumPy, nor leave a seed behind for the next call. */
void host_set_judged(struct host *h, enum host_judged judged);
/* Storages up to this id are sealed. Kernels write tensors without this engine, so their launcher checks it. */
uint64_t host_sealed_storage(const struct host *h);
struct str host_printed(const struct host *h);

/* The kernel launches of the program, in order, with their arguments. */
struct host_launches { const struct host_launch *v; size_t n; };
struct host_launches host_launches(const struct host *h);
void host_launches_clear(struct host *h);

/* most: the largest number of configurations that an autotuned launch had to choose from. chosen: the
 * configurations that were used, "kernel with BLOCK: 64, num_warps: 4; ..."; after a failure to compile,
 * the one that was being compiled. */
struct host_tuned { int most; struct str chosen; };
struct host_tuned host_tuned(const struct host *h);
void host_tuned_clear(struct host *h);

/* Bytes of tensors now, their peak, the largest tensor that was requested since host_ops_clear, and the steps
 * that the interpreter took. */
struct host_usage { size_t bytes, peak; int64_t largest, steps; };
/* Whether the program read a float of a tensor without contents (dry run) and got zero. */
int host_guessed(const struct host *h);
struct host_usage host_usage(const struct host *h);

#endif
