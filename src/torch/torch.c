/* Helpers that the torch bindings share: the context of a call, the generator, arguments,
 * results. torch.h is the manual. */
#include "torch/torch.h"

#include "base/mem.h"

/* The callbacks of num_ctx: the host keeps the accounts of memory and work. */
static int ask_room(void *arg, int64_t bytes)
{
	return host_room(arg, bytes);
}

static int ask_scratch(void *arg, int64_t bytes)
{
	return host_scratch(arg, bytes);
}

static int charge(void *arg, uint64_t work)
{
	return host_spend(arg, work);
}

/* A dry run (hollow host) uses a pool that runs nothing. */
struct num_ctx torch_ctx(struct bind *b)
{
	int hollow = host_is_hollow(b->h);

	return (struct num_ctx){ .pool = hollow ? pool_idle() : host_pool(b->h), .hollow = hollow,
				 .default_float = host_dtype(b->h, host_default_dtype(b->h)),
				 .room = ask_room, .scratch = ask_scratch, .charge = charge,
				 .arg = b->h, .carried = &b->carried, .tf32 = host_tf32(b->h) };
}

/* --- the generator -------------------------------------------------------------------------- */

/* PyTorch's default seed, default_rng_seed_val. */
static const uint64_t first_seed = 67280421310721;

static void release_rng(void *p)
{
	mem_free(p);
}

/* The generator is allocated at its first use; NULL without memory. */
struct num_rng *torch_rng(struct host *h)
{
	struct host_ext *x = host_ext(h);

	if (!x->p) {
		x->p = mem_alloc(sizeof (struct num_rng));
		x->release = release_rng;
		if (!x->p)
			return NULL;
		num_rng_seed(x->p, first_seed);
	}
	return x->p;
}

/* Without memory the seed is dropped; the next draw reports the failure. */
void torch_seed(struct host *h, uint64_t seed)
{
	struct num_rng *r = torch_rng(h);

	if (r)
		num_rng_seed(r, seed);
}

/* --- arguments --------------------------------------------------------------------------------- */

/* bool, int and float stay apart because they promote differently. */
int torch_arg(struct bind *b, size_t i, struct num_arg *a)
{
	struct bind_num v;

	if (bind_num(b, i, &v))
		return -1;
	*a = (struct num_arg){ .kind = v.t ? NUM_TENSOR : v.is_float ? NUM_FLOAT : v.is_bool ? NUM_BOOL : NUM_INT,
			       .t = v.t, .i = v.i, .f = v.f };
	return 0;
}

/* None counts as left out. */
int torch_int(struct bind *b, size_t i, int64_t otherwise, int64_t *v)
{
	*v = otherwise;
	return bind_given(b, i) ? bind_int(b, i, v) : 0;
}

int torch_float(struct bind *b, size_t i, double otherwise, double *v)
{
	*v = otherwise;
	return bind_given(b, i) ? bind_float(b, i, v) : 0;
}

/* -1 if left out; in the oracle a float dtype becomes float64. */
int torch_dtype(struct bind *b, size_t i, int *dt)
{
	enum dtype v;

	*dt = -1;
	if (!bind_given(b, i))
		return 0;
	if (bind_dtype(b, i, DT_F32, &v))
		return -1;
	*dt = (int)host_dtype(b->h, v);
	return 0;
}

/* A number, a list of numbers, or None (n = 0: all dimensions); negative ones are wrapped. */
int torch_dims(struct bind *b, size_t i, int ndim, struct num_dims *d)
{
	struct bind_ints v;

	if (bind_dims(b, i, ndim, &v))
		return -1;
	d->n = v.n;
	for (int k = 0; k < v.n; k++)
		d->v[k] = (int)v.v[k];
	return 0;
}

/* The message is PyTorch's for an invalid mode. */
int torch_choice(struct bind *b, size_t i, const char *const *names, const char *what, int *v)
{
	struct str s;

	if (bind_string(b, i, &s))
		return -1;
	for (*v = 0; names[*v]; ++*v)
		if (str_is(s, names[*v]))
			return 0;
	return bind_raise(b, EXC_ValueError, "%.*s is not a valid value for %s", STR_ARG(s), what);
}

/* --- results -------------------------------------------------------------------------------------- */

/* out= takes the result with a conversion, if the dtype's category allows it. */
int torch_result(struct bind *b, struct tensor *t, size_t out)
{
	struct tensor *o;
	int rc;

	if (out >= b->n || !bind_given(b, out))
		return bind_result(b, t);
	if (bind_tensor(b, out, &o)) {
		tensor_release(t);
		return -1;
	}
	rc = num_can_cast(t->dt, o->dt) ? tensor_copy(o, t, bind_e(b))
					: err_set(bind_e(b), ERR_STATE,
						  "result type %s can't be cast to the desired output type %s",
						  num_type_name(t->dt), num_type_name(o->dt));
	tensor_release(t);
	if (rc)
		return bind_fail(b);
	b->out = b->a[out];
	return 0;
}

/* In-place forms are computed into *t first and copied, so they may read slot 0 freely. */
int torch_write_back(struct bind *b, struct tensor *t)
{
	struct tensor *self;
	int rc = bind_tensor(b, 0, &self);

	if (!rc && tensor_same_shape(self, t) == 0)
		rc = err_set(bind_e(b), ERR_STATE, "output with shape %s doesn't match the broadcast shape %s",
			     SHAPE_TEXT(self->ndim, self->shape), SHAPE_TEXT(t->ndim, t->shape));
	rc = rc || tensor_copy(self, t, bind_e(b));
	tensor_release(t);
	return rc ? bind_fail(b) : bind_self(b);
}

/* A result of an operator that has no in-place form of its own. */
int torch_give(struct bind *b, struct tensor *t)
{
	return b->row->flags & BIND_INPLACE ? torch_write_back(b, t) : bind_result(b, t);
}

/* Slot 0 op= args, after PyTorch's check that no operand overlaps slot 0 partly. */
static int apply_inplace(struct bind *b, enum num_op op, const struct num_arg *args,
			 const double *p)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor *self;

	if (bind_tensor(b, 0, &self))
		return -1;
	for (int i = 0; i < num_op_info(op)->arity; i++)
		if (args[i].kind == NUM_TENSOR && tensor_check_overlap(self, args[i].t, bind_e(b)))
			return bind_fail(b);
	if (num_apply_into(&c, self, op, args, p, bind_e(b)))
		return bind_fail(b);
	return bind_self(b);
}

/* Elementwise operators have a real in-place form: no copy is made. */
int torch_apply(struct bind *b, enum num_op op, const struct num_arg *args, const double *p)
{
	struct num_ctx c = torch_ctx(b);
	struct tensor y;

	if (b->row->flags & BIND_INPLACE)
		return apply_inplace(b, op, args, p);
	if (num_apply(&c, &y, op, args, p, bind_e(b)))
		return bind_fail(b);
	return bind_result(b, &y);
}

/* The flag inplace= of F.relu and the like decides at run time. */
int torch_apply_maybe(struct bind *b, enum num_op op, const struct num_arg *args, const double *p,
		      size_t inplace)
{
	int on;

	if (bind_bool(b, inplace, &on))
		return -1;
	return on ? apply_inplace(b, op, args, p) : torch_apply(b, op, args, p);
}

/* host_read refuses contents that a judged program must not see, and contents that a dry run
 * does not have. */
int torch_item(struct bind *b, const struct tensor *t, struct val *out)
{
	if (tensor_numel(t) != 1)
		return bind_raise(b, EXC_RuntimeError, "a Tensor with %lld elements cannot be converted to Scalar",
				  (long long)tensor_numel(t));
	return host_read(b->h, t, out);
}

/* Only the label changes: all tensors are in host memory. */
int torch_on_device(struct bind *b, size_t device)
{
	enum host_device d;

	if (bind_device(b, device, &d))
		return -1;
	if (b->out.kind == V_TENSOR)
		b->out.u.t->device = d;
	return 0;
}
