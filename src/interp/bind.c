/* Calling bound functions: finding the row, arguments into slots by the signature, checks, the
 * function itself, accounting. Owns the order of these steps (builtin_call). The checks
 * themselves are in sig.c (types), bind_check.c (tensors) and fail.c (what may change).
 *
 * A binding table has one row per Python name (bind.h). The library indexes all rows by dotted name
 * (lib.c). A signature is parsed once per library and shared by all hosts of a thread.
 *
 * Fuel of tensor operators: each call costs CALL_STEPS, and one step per WORK_A_STEP elements or
 * multiply-adds, so that a few huge operators end as surely as an endless loop. A dry run has no
 * contents and therefore no work. */
#include "interp/attr.h"
#include "interp/bind_check.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/ptrmap.h"
#include "interp/sig.h"
#include "interp/solid.h"
#include "interp/unwritten.h"
#include "interp/state.h"
#include "interp/work.h"
#include "tensor/sparse.h"

/* The parsed signature of a row. It lives in the library's arena. */
static struct sig *sig_of(struct host *h, const struct bind_row *row)
{
	struct sig *s = ptr_map_get(&h->lib->sigs, row);
	if (s)
		return s;
	s = arena_zalloc(&h->lib->arena, sizeof *s);
	if (!s || ptr_map_put(&h->lib->sigs, row, s)) {
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
		return NULL;
	}
	sig_parse(s, row);
	return s;
}

/* A new function object for a row. */
int builtin_get_row(struct host *h, const struct bind_row *row, struct val *out)
{
	struct builtin_obj *b = host_obj(h, V_BUILTIN, sizeof *b, NULL);
	if (!b)
		return -1;
	b->row = row;
	*out = val_obj(&b->h);
	return (b->sig = sig_of(h, row)) ? 0 : -1;
}

/* The value of a dotted name: 1 found, 0 no such row, -1 failed. A row "=other.name" is an
 * alias. A row with BIND_CONST is called at once: math.pi is a number, not a function. */
int builtin_lookup(struct host *h, struct str dotted, struct val *out)
{
	struct map_entry *e = map_get(&h->lib->rows, dotted);
	const struct bind_row *row = e ? e->val.ptr : NULL;
	if (!row)
		return 0;
	for (int hops = 0; row->sig && row->sig[0] == '='; hops++) {
		struct map_entry *to = map_get(&h->lib->rows, str_of(row->sig + 1));
		if (!to || hops > 4)
			BUG("binding %s refers to %s, which does not exist", row->name, row->sig + 1);
		row = to->val.ptr;
	}
	if (builtin_get_row(h, row, out))
		return -1;
	if (row->flags & BIND_CONST) {
		struct call_args none = { .n = 0 };
		return builtin_call(h, out->u.b, &none, out) ? -1 : 1;
	}
	return 1;
}

/* The member `name` of a built-in class: the row "torch.Tensor.add" of class torch.Tensor.
 * Returns as builtin_lookup. */
int host_native_get(struct host *h, struct class_obj *c, struct str_obj *name, struct val *out)
{
	char key[160];
	int n = str_dotted(key, sizeof key, str_of(c->native), (struct str){ .p = name->p, .n = name->n });
	if (n < 0)
		return 0;
	return builtin_lookup(h, (struct str){ .p = key, .n = (size_t)n }, out);
}

/* --- arguments into slots ------------------------------------------------------------------------ */

/* "add" of "torch.Tensor.add", for messages. */
static const char *short_name(const struct bind_row *row)
{
	const char *dot = strrchr(row->name, '.');
	return dot ? dot + 1 : row->name;
}

/* TypeError for too many positional arguments; `self` is not counted. */
static int too_many(struct host *h, const struct bind_row *row, const struct sig *s, size_t got)
{
	size_t least = 0, self = strncmp(row->name, "torch.Tensor.", 13) == 0 || (s->n && str_is(s->p[0].name, "self"));
	for (size_t i = 0; i < s->n_positional; i++)
		least += s->p[i].required;
	if (least < s->n_positional)
		return host_raise(h, EXC_TypeError,
				  "%s() takes from %zu to %zu positional arguments but %zu were given", short_name(row),
				  least - self, s->n_positional - self, got - self);
	return host_raise(h, EXC_TypeError, "%s() takes %zu positional argument%s but %zu %s given", short_name(row),
			  s->n_positional - self, s->n_positional - self == 1 ? "" : "s", got - self,
			  got - self == 1 ? "was" : "were");
}

/* Stores a keyword argument in its slot. torch also accepts numpy's names (axis for dim) and
 * size=(2, 3) for *size. */
static int slot_keyword(struct host *h, const struct bind_row *row, const struct sig *s, struct val *a,
			struct val name, struct val v)
{
	struct str key = val_text(name);
	for (size_t i = 0; i < s->n; i++) {
		if (s->p[i].star || s->p[i].starstar || s->p[i].positional_only || !str_eq(s->p[i].name, key))
			continue;
		if (a[i].kind != V_KINDS)
			return host_raise(h, EXC_TypeError, "%s() got multiple values for argument '%s'",
					  short_name(row), name.u.s->p);
		a[i] = v;
		return 0;
	}
	/* size=(2, 3) for *size */
	if (s->star >= 0 && str_eq(s->p[s->star].name, key) && a[s->star].u.seq->n == 0 &&
	    !strncmp(row->name, "torch.", 6))
		return val_tuple(h, &v, 1, &a[s->star]);
	/* torch accepts numpy's names as well */
	if (str_is(key, "axis") || str_is(key, "keepdims") || str_is(key, "x")) {
		const char *torch = str_is(key, "axis") ? "dim" : str_is(key, "x") ? "input" : "keepdim";
		for (size_t i = 0; i < s->n; i++)
			if (str_is(s->p[i].name, torch) && a[i].kind == V_KINDS && !strncmp(row->name, "torch.", 6)) {
				a[i] = v;
				return 0;
			}
	}
	if (s->starstar >= 0)
		return dict_set(h, a[s->starstar], name, v);
	return host_raise(h, EXC_TypeError, "%s() got an unexpected keyword argument '%s'", short_name(row),
			  name.u.s->p);
}

/* Gives an unfilled slot its default, or raises TypeError if it is required. */
static int slot_default(struct host *h, const struct bind_row *row, const struct sig_param *p, struct val *a)
{
	struct str_obj *s;

	if (a->kind != V_KINDS)
		return 0;
	if (p->required)
		return host_raise(h, EXC_TypeError, "%s() missing 1 required positional argument: '%.*s'",
				  short_name(row), STR_ARG(p->name));
	if (p->empty_tuple)
		return val_tuple(h, NULL, 0, a);
	if (!p->text.p) {
		*a = p->def;
		return 0;
	}
	s = host_intern(h, p->text);
	*a = s ? val_of_str(s) : val_none();
	return s ? 0 : -1;
}

/* The old order of arguments that torch still accepts: x.add(2, y) means x.add(y, alpha=2), and
 * x.addcmul(2, y, z) means value=2. Moves the number to its slot. Returns 1 if the call has this
 * form. */
static int slot_old_order(const struct bind_row *row, const struct sig *s, const struct call_args *args, struct val *a)
{
	size_t factor = s->n;

	for (size_t i = s->n_positional; i < s->n; i++)
		if (str_is(s->p[i].name, "alpha") || str_is(s->p[i].name, "value"))
			factor = i;
	if (factor == s->n || args->n != s->n_positional + 1 || strncmp(row->name, "torch.", 6) != 0 ||
	    !val_is_number(args->a[1]) || args->a[2].kind != V_TENSOR)
		return 0;
	a[factor] = args->a[1];
	memcpy(&a[1], &args->a[2], (s->n_positional - 1) * sizeof *a);
	return 1;
}

/* Distributes the arguments of a call over the slots and checks their types. The kind V_KINDS
 * marks a slot that no argument has filled yet. */
static int fill_slots(struct host *h, const struct bind_row *row, const struct sig *s,
		      const struct call_args *args, struct val *a)
{
	size_t n_pos;

	for (size_t i = 0; i < s->n; i++)
		a[i] = (struct val){ .kind = V_KINDS };
	n_pos = MIN(args->n, s->n_positional);
	for (size_t i = 0; i < n_pos; i++)
		a[i] = args->a[i];
	if (s->star >= 0) {
		if (val_tuple(h, n_pos ? args->a + n_pos : args->a, args->n - n_pos, &a[s->star]))
			return -1;
	} else if (args->n > s->n_positional && !slot_old_order(row, s, args, a)) {
		return too_many(h, row, s, args->n);
	}
	if (s->starstar >= 0 && val_dict(h, &a[s->starstar]))
		return -1;
	for (size_t i = 0; i < args->n_kw; i++)
		if (slot_keyword(h, row, s, a, args->kw_names[i], args->kw_vals[i]))
			return -1;
	for (size_t i = 0; i < s->n; i++)
		if (slot_default(h, row, &s->p[i], &a[i]))
			return -1;
	return sig_check(h, s, row, a);
}

/* The record of this binding at the current source line, with its count raised. Only the last
 * 16 records are searched, since a loop repeats the same few lines. NULL: the record is full or
 * memory ran out. */
struct host_op *host_record_op(struct host *h, const struct bind_row *row, unsigned flags)
{
	int line, col;
	struct host_op op;

	host_position(h, &line, &col);
	for (size_t i = h->did.ops.n; i-- > 0 && i + 16 > h->did.ops.n;)
		if (h->did.ops.v[i].name == row->name && h->did.ops.v[i].line == line &&
		    h->did.ops.v[i].flags == flags) {
			h->did.ops.v[i].count++;
			return &h->did.ops.v[i];
		}
	if (h->did.ops.n >= 100000)
		return NULL;
	op = (struct host_op){ .name = row->name, .line = line, .flags = flags, .count = 1 };
	if (vec_push(&h->did.ops, op)) {
		host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
		return NULL;
	}
	return &h->did.ops.v[h->did.ops.n - 1];
}

/* --- the call ---------------------------------------------------------------------------------------- */

/* CALL_STEPS: cost of an operator on a small tensor in steps of fuel. WORK_A_STEP: elements or
 * multiply-adds that cost one step. */
enum { CALL_STEPS = 10, WORK_A_STEP = 50000 };

/* Announces work before it is done: a call that would exceed the fuel fails before it starts.
 * burn_work pays for the sum after the call. The sum saturates. */
int host_spend(struct host *h, uint64_t work)
{
	h->lim.work += MIN(work, UINT64_MAX / 4 - MIN(h->lim.work, UINT64_MAX / 4));
	return h->lim.work / WORK_A_STEP > (uint64_t)MAX(h->lim.fuel, 0) ? host_out_of_fuel(h) : 0;
}

/* Pays for a call on tensors with fuel: by announced work or by the operations and bytes
 * counted, whichever is more. Also reports the call to host_options.called. */
static int burn_work(struct host *h, const struct bind_row *row, unsigned kind, const struct val *a,
		     const struct sig *s, struct val out)
{
	struct host_op *op = host_record_op(h, row, kind);
	int64_t flops, bytes, done = (int64_t)(h->lim.work / WORK_A_STEP), counted;

	h->lim.work = 0;
	if (!op)
		return h->fail.fatal ? -1 : host_burn(h, done);
	flops = op->flops;
	bytes = op->bytes;
	host_count_work(op, a, s->n, out);
	if (kind & BIND_WINDOW)
		op->unread = 1.0 - (1.0 - op->unread) * host_window_share(row->name, s, a, out);
	counted = h->o.hollow ? 0 : (op->flops - flops) / 100000 + (op->bytes - bytes) / 20000;
	if (h->o.called)
		h->o.called(h->o.called_ctx, &(struct host_op_call) {
			.name = row->name, .kind = kind, .sig = s, .a = a, .n = s->n, .out = out,
			.tf32 = host_tf32(h) });
	return host_burn(h, CALL_STEPS + MAX(counted, done));
}

/* X.__new__(cls) made a value of the built-in type; it gets the class of the program that was
 * asked for. Interned strings are shared and keep theirs. */
static void adopt_class(struct val cls, struct val *out)
{
	if (cls.kind == V_CLASS && V_IS_HEAP(*out) && out->u.o->cls != cls.u.c && out->kind == cls.u.c->kind &&
	    out->kind != V_CLASS && class_is_sub(cls.u.c, out->u.o->cls) && !(out->kind == V_STR && out->u.s->interned))
		out->u.o->cls = cls.u.c;
}

/* A hollow tensor made by torch.empty has no known contents until something is written to it:
 * its storage is marked as empty. */
static int note_empty(struct host *h, unsigned kind, struct val v)
{
	if (!(kind & BIND_ALLOC) || kind & (BIND_RANDOM | BIND_COMPUTE) || v.kind != V_TENSOR ||
	    !v.u.t->t.st->hollow || v.u.t->t.st->sparse)
		return 0;
	return sparse_empty(v.u.t->t.st) ? host_fatal(h, REASON_out_of_memory, "the machine is out of memory") : 0;
}

/* Calls a bound function. The device and gradient flags of its tensor arguments are noted in
 * h->torch for its results, and restored afterwards, because a binding may call other bindings. */
int builtin_call(struct host *h, struct builtin_obj *o, const struct call_args *args, struct val *out)
{
	struct val a[SIG_SLOTS];
	const struct bind_row *row = o->row;
	const struct sig *s = o->sig;
	struct bind b;
	const struct bind *outer;
	enum host_device device;
	int grad, rc;
	unsigned tensors, kind;

	if (host_enter(h))
		return -1;
	b = (struct bind){ .h = h, .row = row, .a = a, .n = s->n, .out = val_none(), .e = ERR_INIT };
	outer = h->torch.call;
	device = h->torch.call_device;
	grad = h->torch.call_grad;
	tensors = BIND_COMPUTE | BIND_VIEW | BIND_ALLOC | BIND_RANDOM | BIND_INPLACE | BIND_COPY;
	/* All arguments of natives are checked here. First types by the row's
	 * signature, then the rules of tensors (devices, dtypes, the strict track), then what
	 * the candidate may not change. */
	rc = fill_slots(h, row, s, args, a);
	kind = rc ? 0 : bind_kind(row, s, a);
	if (!rc && kind & tensors)
		rc = bind_check(h, row, kind, s, a);
	if (!rc && h->heap.guarded && row->flags & (BIND_INPLACE | BIND_CHANGES))
		rc = host_may_change(h, a[0]);
	h->torch.call = &b;
	if (!rc)
		unwritten_before(&b, kind, s);
	if (!rc)
		rc = solid_call(&b, kind);
	if (!rc)
		rc = unwritten_after(&b, kind);
	if (!rc && kind & tensors)
		rc = bind_check_result(h, row, kind, s, a, b.out) || burn_work(h, row, kind, a, s, b.out) ? -1 : 0;
	if (!rc && h->o.hollow)
		rc = note_empty(h, kind, b.out);
	h->torch.call = outer;
	h->torch.call_device = device;
	h->torch.call_grad = grad;
	host_leave(h);
	if (rc)
		return h->fail.fatal || h->fail.exc.kind != V_UNSET ? -1 :
			host_fatal(h, REASON_internal, "%s failed without reporting a reason", row->name);
	if (s->is_new)
		adopt_class(a[0], &b.out);
	*out = b.out;
	return h->fail.fatal ? -1 : 0;
}
