/* Classes: the built-in types, class statements, the method resolution order, instances and
 * isinstance. Owns struct class_obj. Does not own attribute lookup through instances (attr.c).
 *
 * Built-in types (native.def) have a dotted name in `native` and take their members from binding
 * rows, each made at first use. Exceptions (exc.def) are made at first use as well. Every class
 * lives as long as its host, so classes are referred to by plain pointers. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/frame.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/scope.h"
#include "interp/state.h"

/* The built-in types, in the order of native.def: a base comes before its subclasses. */
static const struct native { const char *dotted, *name; enum val_kind kind; const char *base; } natives[] = {
#define NATIVE(dotted, name, kind, base) { dotted, name, kind, base },
#include "interp/native.def"
#undef NATIVE
};

/* The name and base of each built-in exception. */
static const struct { const char *name; int base; } excs[EXCS] = {
#define EXC(name, base, reason) { #name, EXC_##base },
#include "interp/exc.def"
#undef EXC
};

/* --- method resolution order: C3 -------------------------------------------------------------
 *
 * The MRO of class D(B, C) merges the MROs of B and C and the list (B, C). The next class is the
 * first head of a line that no other line has in its tail. If no head qualifies, the bases
 * contradict each other. Example: A; B(A); C(A); D(B, C) gives D, B, C, A, object. */

struct line { struct class_obj **v; size_t n; }; /* rest of one MRO to be merged */

/* Does some line have c after its head? Then c must wait. */
static int in_tail(const struct line *l, size_t n, const struct class_obj *c)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 1; k < l[i].n; k++)
			if (l[i].v[k] == c)
				return 1;
	return 0;
}

/* Removes c from the head of every line. */
static void take(struct line *l, size_t n, const struct class_obj *c)
{
	for (size_t i = 0; i < n; i++)
		if (l[i].n && l[i].v[0] == c)
			l[i].v++, l[i].n--;
}

/* Merges the lines into `out`, c first. Returns -1 if the bases contradict each other. */
static int c3_merge(struct class_obj *c, struct line *lines, size_t n, struct class_obj **out, size_t *count)
{
	*count = 0;
	out[(*count)++] = c;
	for (;;) {
		struct class_obj *next = NULL;
		size_t left = 0;
		for (size_t i = 0; i < n && !next; i++) {
			left += lines[i].n;
			if (lines[i].n && !in_tail(lines, n, lines[i].v[0]))
				next = lines[i].v[0];
		}
		if (!next)
			return left ? -1 : 0;
		out[(*count)++] = next;
		take(lines, n, next);
	}
}

/* With one base (or none) the MRO is the class followed by the MRO of the base. */
static int copy_base_order(struct host *h, struct class_obj *c, const struct class_obj *base)
{
	size_t n = base ? base->n_mro : 0;

	if (!(c->mro = host_alloc(h, (n + 1) * sizeof *c->mro)))
		return -1;
	c->mro[0] = c;
	if (n)
		memcpy(c->mro + 1, base->mro, n * sizeof *c->mro);
	c->n_mro = n + 1;
	return 0;
}

/* Computes c->mro. The cost in fuel grows with the square of the number of classes, as each
 * step of the merge may search all lines. */
static int class_order(struct host *h, struct class_obj *c)
{
	size_t total = 1, n = c->n_bases;
	struct line *lines;
	struct class_obj **order;
	int rc;

	for (size_t i = 0; i < n; i++)
		total += c->bases[i]->n_mro;
	if (host_burn(h, (int64_t)(n > 1 ? total * total : total) / 16))
		return -1;
	if (n <= 1)
		return copy_base_order(h, c, n ? c->bases[0] : NULL);
	lines = host_alloc(h, (n + 1) * sizeof *lines);
	order = lines ? host_alloc(h, total * sizeof *order) : NULL;
	rc = -1;
	if (order) {
		size_t count;
		for (size_t i = 0; i < n; i++)
			lines[i] = (struct line){ .v = c->bases[i]->mro, .n = c->bases[i]->n_mro };
		lines[n] = (struct line){ .v = c->bases, .n = n };
		rc = c3_merge(c, lines, n + 1, order, &count);
		if (rc)
			host_raise(h, EXC_TypeError,
				   "Cannot create a consistent method resolution order (MRO) for bases");
		else if ((c->mro = host_alloc(h, count * sizeof *order))) {
			memcpy(c->mro, order, count * sizeof *order);
			c->n_mro = count;
		} else {
			rc = -1;
		}
	}
	host_release(h, order, total * sizeof *order);
	host_release(h, lines, (n + 1) * sizeof *lines);
	return rc;
}

/* A new class with an empty namespace. It derives from a built-in type if one of its bases does:
 * then instances have that kind (class P(list) makes V_LIST values). The extra element keeps the
 * array non-NULL without bases; its charge is refunded at once. */
int class_new(struct host *h, struct str_obj *name, struct class_obj **bases, size_t n_bases, struct class_obj **out)
{
	struct class_obj *c = host_obj(h, V_CLASS, sizeof *c, h->type.type_class);
	struct dict_obj *d = c ? dict_obj_new(h, V_DICT) : NULL;
	if (!d || !(c->bases = host_alloc(h, (n_bases + 1) * sizeof *c->bases)))
		return -1;
	val_keep(val_obj(&d->h));
	val_keep(val_obj(&c->h));        /* classes live as long as the host */
	host_uncharge(h, sizeof *c->bases);
	c->h.attrs = d;
	c->name = name;
	c->kind = V_OBJECT;
	c->n_bases = n_bases;
	for (size_t i = 0; i < n_bases; i++) {
		c->bases[i] = bases[i];
		if (bases[i]->kind != V_OBJECT)
			c->kind = bases[i]->kind;
	}
	*out = c;
	return class_order(h, c);
}

/* Is c the class `of`, or derived from it? */
int class_is_sub(const struct class_obj *c, const struct class_obj *of)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i] == of)
			return 1;
	return 0;
}

/* --- built-in types ------------------------------------------------------------------------------ */

/* Makes a built-in class and registers it under its dotted name. The first class of a kind is
 * the class of all plain values of that kind. */
static int add_native(struct host *h, const char *dotted, const char *name, enum val_kind kind, struct class_obj *base,
		      struct class_obj **out)
{
	struct str_obj *n = host_intern(h, str_of(name)), *key = host_intern(h, str_of(dotted));
	if (!n || !key || class_new(h, n, &base, base ? 1 : 0, out))
		return -1;
	(*out)->native = key->p;
	(*out)->kind = kind;
	if (!h->type.kind_class[kind])
		h->type.kind_class[kind] = *out;
	return attrs_set(h, h->type.natives, key, val_obj(&(*out)->h));
}

/* Exception classes are made at first use, since a program meets few of them. They count as old
 * as the host, so that setting an attribute of one is guarded in the same way (fail.c). */
struct class_obj *host_exc_class(struct host *h, enum host_exc x)
{
	struct class_obj *base, *c;

	if (h->type.exc_class[x])
		return h->type.exc_class[x];
	base = x ? host_exc_class(h, (enum host_exc)excs[x].base) : h->type.object_class;
	if (!base || add_native(h, excs[x].name, excs[x].name, V_OBJECT, base, &c))
		return NULL;
	c->is_exc = (int)x + 1;
	/* as old as the host, whenever it is made */
	c->h.young = c->h.attrs->h.young = 0;
	return h->type.exc_class[x] = c;
}

/* Finds a built-in class by its dotted name. Returns 1 if found, 0 if unknown, -1 if memory ran
 * out. */
int host_find_native(struct host *h, const struct str_obj *key, struct class_obj **out)
{
	struct val *found = attrs_get(h->type.natives, key);

	*out = found ? found->u.c : NULL;
	for (int i = 0; i < EXCS && !*out; i++)
		if (str_is((struct str){ .p = key->p, .n = key->n }, excs[i].name))
			return (*out = host_exc_class(h, (enum host_exc)i)) ? 1 : -1;
	return *out != NULL;
}

struct class_obj *host_native_class(struct host *h, const char *dotted)
{
	struct str_obj *key = host_intern(h, str_of(dotted));
	struct class_obj *c;

	return key && host_find_native(h, key, &c) > 0 ? c : NULL;
}

/* Fills h->type when a host starts. Objects that were made before their class existed, such as
 * the first strings, get it at the end. */
int host_make_natives(struct host *h)
{
	struct class_obj *c;
	for (size_t i = 0; i < COUNT_OF(natives); i++) {
		const struct native *n = &natives[i];
		struct class_obj *base = n->base[0] ? host_native_class(h, n->base) : NULL;
		if (add_native(h, n->dotted, n->name, n->kind, base, &c))
			return -1;
	}
	h->type.object_class = host_native_class(h, "object");
	h->type.type_class = host_native_class(h, "type");
	h->type.size_class = host_native_class(h, "torch.Size");
	h->type.param_class = host_native_class(h, "torch.nn.Parameter");
	h->type.kind_class[V_BIG] = h->type.kind_class[V_INT];
	h->type.kind_class[V_UNSET] = h->type.kind_class[V_NONE];
	if (!host_exc_class(h, EXC_BaseException))
		return -1;
	for (struct obj *o = h->heap.objects; o; o = o->next)      /* made before its class was */
		if (!o->cls)
			o->cls = h->type.kind_class[o->kind];
	return 0;
}

/* type(v). Immediate values have no class pointer: the kind decides. `aux` marks a numpy
 * scalar. */
struct class_obj *val_class(struct host *h, struct val v)
{
	if (V_IS_HEAP(v))
		return v.u.o->cls;
	if (v.aux && (v.kind == V_INT || v.kind == V_FLOAT))
		return h->type.scalar_class[v.kind == V_FLOAT];
	return h->type.kind_class[v.kind];
}

const char *val_type_name(struct host *h, struct val v)
{
	return val_class(h, v)->name->p;
}

/* A member of a built-in type, made from its binding row at first use and kept in the class's
 * namespace. A name without a row is remembered as V_UNSET, so that the search is not repeated. */
static struct val *native_member(struct host *h, struct class_obj *c, const struct str_obj *name)
{
	struct val v;
	struct str_obj *key;
	int found;

	if (c == h->type.object_class && name->p[0] != '_')
		return NULL;
	found = host_native_get(h, c, (struct str_obj *)name, &v);
	if (!found && c->kind == V_TENSOR && !strcmp(c->native, "torch.Tensor"))
		found = tensor_method(h, (struct str_obj *)name, &v);
	if (found < 0)
		return NULL;
	if (!found)
		v = (struct val){ .kind = V_UNSET };     /* remembers that the name is missing */
	key = host_intern(h, (struct str){ .p = name->p, .n = name->n });
	if (!key || attrs_set(h, c->h.attrs, key, v))
		return NULL;
	return found ? attrs_get(c->h.attrs, key) : NULL;
}

/* Finds `name` along the MRO. Returns a pointer into a namespace, valid until that namespace
 * changes, or NULL; a caller checks h->fail then. *where receives the class that has it. */
struct val *class_lookup(struct host *h, struct class_obj *c, const struct str_obj *name, struct class_obj **where)
{
	for (size_t i = 0; i < c->n_mro; i++) {
		struct val *v = attrs_get(c->mro[i]->h.attrs, name);
		if (!v && c->mro[i]->native)
			v = native_member(h, c->mro[i], name);
		if (v && v->kind != V_UNSET) {
			if (where)
				*where = c->mro[i];
			return v;
		}
	}
	return NULL;
}

/* The __members__ dictionary of an enumeration class, NULL for any other class. */
struct dict_obj *class_members(struct host *h, struct class_obj *c)
{
	struct val *v = c->native ? NULL : class_lookup(h, c, h->nm[NM___members__], NULL);

	return v && v->kind == V_DICT ? v->u.d : NULL;
}

/* --- class statements -------------------------------------------------------------------------------- */

/* Evaluates the bases of a class statement. Typing forms such as Generic[T] add nothing to the
 * MRO and are skipped (their class is _Mixin in the prelude). Without bases the base is object. */
static int eval_bases(struct host *h, struct host_frame *f, const struct py_node *n, struct class_obj **bases,
		      size_t *count)
{
	const struct py_list *l = &n->u.ClassDef.bases;
	*count = 0;
	if (l->n > 15)
		return host_fatal(h, REASON_unsupported, "a class with more than 15 bases is not supported");
	for (size_t i = 0; i < l->n; i++) {
		struct val v;
		if (eval_expr(h, f, l->v[i], &v))
			return -1;
		f->node = l->v[i];
		if (v.kind == V_CLASS)
			bases[(*count)++] = v.u.c;
		else if (v.kind == V_OBJECT && v.u.o->cls->mod && v.u.o->cls->mod->trusted &&
			 strcmp(v.u.o->cls->name->p, "_Mixin"))
			return host_fatal(h, REASON_unsupported, "deriving a class from this type is not supported");
		/* Generic[T] and the like add no base. */
		else if (v.kind != V_OBJECT || !v.u.o->cls->mod || !v.u.o->cls->mod->trusted)
			return host_raise(h, EXC_TypeError, "bases must be types");
	}
	for (size_t i = 0; i < *count; i++)
		if (bases[i] == h->type.kind_class[V_BOOL] || bases[i]->kind == V_DTYPE || bases[i]->kind == V_FUNC)
			return host_raise(h, EXC_TypeError, "type '%s' is not an acceptable base type",
					  bases[i]->name->p);
	if (!*count)
		bases[(*count)++] = h->type.object_class;
	return 0;
}

/* The part of an annotation that dataclasses look at: ClassVar of `a: ClassVar[int]`, int of
 * `a: int`. Only a name, or one of the special names in a module, is evaluated; evaluating
 * every annotation could fail where CPython defers it. Returns 1 with the value, 0 for another
 * form, -1 on failure. */
static int annotation_head(struct host *h, struct host_frame *f, const struct py_node *said, struct val *out)
{
	static const char *const special[] = { "ClassVar", "InitVar", "KW_ONLY" };
	int wanted = said->kind == PY_Subscript ? annotation_head(h, f, said->u.Subscript.value, out) :
		said->kind == PY_Name;

	if (said->kind == PY_Subscript)
		return wanted;
	for (size_t i = 0; said->kind == PY_Attribute && i < COUNT_OF(special); i++)
		wanted |= str_is(said->u.Attribute.attr, special[i]);
	if (!wanted)
		return 0;
	if (!eval_expr(h, f, said, out))
		return 1;
	if (h->fail.fatal)
		return -1;
	host_exc_clear(h);                       /* the name may be bound later or never */
	return 0;
}

/* Replaces the values of __annotations__ by the evaluated heads. exec.c fills in only the names. An
 * annotation that is a text ("int") becomes None. */
static int note_annotations(struct host *h, struct host_frame *f, const struct py_list *body, struct class_obj *c)
{
	struct val *notes = attrs_get(c->h.attrs, h->nm[NM___annotations__]), head;

	for (size_t i = 0; notes && notes->kind == V_DICT && i < body->n; i++) {
		const struct py_node *n = body->v[i], *t = n->kind == PY_AnnAssign ? n->u.AnnAssign.target : NULL;
		struct str_obj *id = t && t->kind == PY_Name ? host_ident(h, t->u.Name.id) : NULL;
		int found = id ? annotation_head(h, f, n->u.AnnAssign.annotation, &head) : 0;

		if (found < 0 || (found && attrs_set(h, notes->u.d, id, head)))
			return -1;
		if (id && n->u.AnnAssign.annotation->kind == PY_Constant && attrs_set(h, notes->u.d, id, val_none()))
			return -1;
	}
	return 0;
}

/* Runs the body. Its namespace is the class's own dictionary. The body sees the variables of
 * enclosing functions through borrowed cells. */
static int run_class_body(struct host *h, struct host_frame *f, const struct py_node *n, struct scope *s,
			  struct class_obj *c, struct val cell)
{
	struct val cells[64];
	enum flow w;
	struct host_frame body;

	if (s->n_free > (int)COUNT_OF(cells))
		return host_fatal(h, REASON_unsupported,
				  "a class that uses more than 64 variables of its enclosing function "
				  "is not supported");
	for (int i = 0; i < s->n_free; i++)
		cells[i] = s->captures[i].from_free ? f->cells[s->captures[i].index] : f->slots[s->captures[i].index];
	body = (struct host_frame){ .up = h->frame, .scope = s, .unit = f->unit, .mod = f->mod, .cells = cells,
			      .names = c->h.attrs, .fn = f->fn, .class_cell = cell };
	if (host_enter(h))
		return -1;
	h->frame = &body;
	w = exec_block(h, &body, &n->u.ClassDef.body);
	if (w != FLOW_FAIL && !f->mod->trusted && note_annotations(h, &body, &n->u.ClassDef.body, c))
		w = FLOW_FAIL;
	h->frame = body.up;
	host_leave(h);
	return w == FLOW_FAIL ? -1 : 0;
}

/* Evaluates the keywords of the class statement and calls the nearest __init_subclass__ of the
 * bases with all of them except metaclass. */
static int init_subclass(struct host *h, struct host_frame *f, const struct py_node *n, struct class_obj *c)
{
	struct val names[8], vals[8], m, r;
	size_t k = 0;
	for (size_t i = 0; i < n->u.ClassDef.keywords.n; i++) {
		const struct py_keyword *kw = &n->u.ClassDef.keywords.v[i]->u.keyword;
		struct str_obj *s;

		if (!kw->arg.p || k == COUNT_OF(names))
			return host_fatal(h, REASON_unsupported,
					  "these keywords of a class statement are not supported");
		s = host_ident(h, kw->arg);
		if (!s || eval_expr(h, f, kw->value, &vals[k]))
			return -1;
		names[k] = val_of_str(s);
		if (str_is(kw->arg, "metaclass")) {
			if (vals[k].kind != V_CLASS || !(vals[k].u.c->native ||
							 (vals[k].u.c->mod && vals[k].u.c->mod->trusted)))
				return host_fatal(h, REASON_unsupported, "metaclasses are not supported");
			continue;
		}
		k++;
	}
	for (size_t i = 1; i < c->n_mro; i++) {
		struct val *hook = attrs_get(c->mro[i]->h.attrs, h->nm[NM___init_subclass__]);
		struct val self;
		struct call_args args;

		if (!hook || hook->kind == V_UNSET)
			continue;
		m = hook->kind == V_CLASSMETHOD ? hook->u.m->self : *hook;
		self = val_obj(&c->h);
		args = (struct call_args){ .a = &self, .n = 1, .kw_names = names, .kw_vals = vals, .n_kw = k };
		return host_callv(h, m, &args, &r);
	}
	if (k)
		return host_raise(h, EXC_TypeError, "%s.__init_subclass__() takes no keyword arguments", c->name->p);
	return 0;
}

/* A class statement. The cell that methods hold for super() is filled after the body ran, as in
 * CPython. */
int make_class(struct host *h, struct host_frame *f, const struct py_node *n, struct val *out)
{
	struct class_obj *bases[16], *c;
	struct val cell, unset = { .kind = V_UNSET };
	size_t n_bases;
	struct scope *s = scope_of(f->unit, n);
	struct str_obj *name = host_ident(h, n->u.ClassDef.name);
	if (!s)
		return host_fatal(h, REASON_out_of_memory, "the machine is out of memory");
	if (!name || eval_bases(h, f, n, bases, &n_bases) || class_new(h, name, bases, n_bases, &c) ||
	    val_pair(h, V_CELL, unset, unset, &cell))
		return -1;
	c->mod = f->mod;
	f->node = n;
	if (attrs_set(h, c->h.attrs, h->nm[NM___module__], val_of_str(f->mod->name)) ||
	    run_class_body(h, f, n, s, c, cell))
		return -1;
	f->node = n;
	if (attrs_get(c->h.attrs, h->nm[NM___getattribute__]))
		return host_fatal(h, REASON_unsupported, "__getattribute__ is not supported");
	val_assign(h, &CELL_VALUE(cell), val_obj(&c->h));
	*out = val_obj(&c->h);
	return init_subclass(h, f, n, c);
}

/* --- instances ------------------------------------------------------------------------------------------ */

/* An instance of a class of the program, with an empty __dict__. */
static int new_object(struct host *h, struct class_obj *c, struct val *out)
{
	struct obj *o = host_obj(h, V_OBJECT, sizeof *o, c);
	struct dict_obj *d = o ? dict_obj_new(h, V_DICT) : NULL;
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	o->attrs = d;
	*out = val_obj(o);
	return 0;
}

static int is_exc_class(struct host *h, const struct class_obj *c)
{
	return class_is_sub(c, h->type.exc_class[EXC_BaseException]);
}

/* The first half of C(...): the object before __init__, by a __new__ of the program or of a
 * built-in type. An exception gets its arguments as `args` here, even without calling __init__. */
static int make_instance(struct host *h, struct class_obj *c, const struct call_args *args, int own_init,
			 struct val *out)
{
	struct class_obj *where = NULL;
	struct val *maker = class_lookup(h, c, h->nm[NM___new__], &where), a[33], t;
	struct val fn;
	struct call_args all;

	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!maker || where == h->type.object_class) {
		if (c->kind != V_OBJECT)
			return host_raise(h, EXC_TypeError, "cannot create '%s' instances", c->name->p);
		if (new_object(h, c, out))
			return -1;
		if (!is_exc_class(h, c))
			return 0;
		return val_tuple(h, args->a, args->n, &t) || attrs_set(h, out->u.o->attrs, h->nm[NM_args], t) ? -1 : 0;
	}
	all = *args;
	if (where->native && own_init && (c->kind == V_LIST || c->kind == V_DICT || c->kind == V_SET))
		all = (struct call_args){ .n = 0 };     /* their own __init__ fills them */
	if (all.n + 1 > COUNT_OF(a))
		return host_fatal(h, REASON_unsupported,
				  "a call of %s with more than 32 arguments is not supported", c->name->p);
	a[0] = val_obj(&c->h);
	if (all.n)
		memcpy(a + 1, all.a, all.n * sizeof *a);
	all.a = a;
	all.n++;
	fn = host_hold(h, maker->kind == V_STATICMETHOD ? maker->u.m->self : *maker);
	return host_callv(h, fn, &all, out);
}

/* The second half: calls __init__ with self in front. Only None may come back. */
static int init_instance(struct host *h, struct class_obj *c, struct val self, struct val init,
			 const struct call_args *args)
{
	struct val a[33], r, *v = a;
	size_t n = args->n + 1;
	int rc;
	struct call_args all;

	if (n > COUNT_OF(a) && !(v = host_alloc(h, n * sizeof *v)))
		return -1;
	v[0] = self;
	if (args->n)
		memcpy(v + 1, args->a, args->n * sizeof *v);
	all = *args;
	all.a = v;
	all.n = n;
	rc = host_callv(h, init, &all, &r);
	if (v != a)
		host_release(h, v, n * sizeof *v);
	if (!rc && r.kind != V_NONE)
		return host_raise(h, EXC_TypeError, "__init__() should return None, not '%s'", val_type_name(h, r));
	(void)c;
	return rc;
}

/* Refuses a class that is absent here or derives from one that is. Returns 0 for any other. */
int class_refuse_absent(struct host *h, const struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++)
		if (c->mro[i]->absent)
			return host_fatal(h, REASON_unsupported, "%s.%s is not supported here",
					  c->mro[i]->mod->name->p, c->mro[i]->name->p);
	return 0;
}

/* C(args). type(x) with one argument is the class of x. As in CPython, __init__ runs only if
 * __new__ returned an instance of C. */
int call_class(struct host *h, struct class_obj *c, const struct call_args *args, struct val *out)
{
	struct val *maker, start, *init;
	int own_init;
	struct class_obj *where;

	if (c == h->type.type_class) {
		if (args->n != 1 || args->n_kw)
			return host_fatal(h, REASON_unsupported,
					  "type() with more or fewer than one argument is not supported");
		*out = val_obj(&val_class(h, args->a[0])->h);
		return 0;
	}
	if (class_refuse_absent(h, c))
		return -1;
	where = NULL;
	init = class_lookup(h, c, h->nm[NM___init__], &where);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	own_init = init && !where->native;
	start = init ? host_hold(h, *init) : val_none();      /* __new__ may change the class */
	if (make_instance(h, c, args, own_init, out))
		return -1;
	if (own_init && class_is_sub(val_class(h, *out), c))
		return init_instance(h, c, *out, start, args);
	maker = class_lookup(h, c, h->nm[NM___new__], &where);
	if (!own_init && (!maker || where == h->type.object_class) && !is_exc_class(h, c) && (args->n || args->n_kw))
		return host_raise(h, EXC_TypeError, "%s() takes no arguments", c->name->p);
	return 0;
}

/* --- isinstance ---------------------------------------------------------------------------------------------- */

/* Does the class derive from one of our library, other than nn.Module? The real one may have bases
 * that this engine lacks. */
static int is_of_library(struct host *h, const struct class_obj *c)
{
	for (size_t i = 0; i < c->n_mro; i++) {
		const struct class_obj *m = c->mro[i];

		if (m->mod && m->mod->trusted && !m->absent && m != h->type.nn_module &&
		    strcmp(m->name->p, "Module") != 0)
			return 1;
	}
	return 0;
}

/* issubclass(c, of). `of` is a class, a tuple (nested tuples allowed), a union such as int |
 * None, or an abstract type of collections.abc. Returns 0, 1 or -1. Tuples may nest, so the
 * search counts as a call and costs fuel. */
int issubclass_of(struct host *h, struct val c, struct val of)
{
	struct val r;
	if (of.kind == V_CLASS && of.u.c->mod && of.u.c->mod->trusted && !strcmp(of.u.c->name->p, "ABCMeta"))
		return host_fatal(h, REASON_unsupported, "asking whether a class has a metaclass is not supported");
	if (of.kind == V_CLASS && of.u.c->absent && c.kind == V_CLASS && is_of_library(h, c.u.c) &&
	    class_refuse_absent(h, of.u.c))
		return -1;
	if (of.kind == V_CLASS)
		return c.kind == V_CLASS ? class_is_sub(c.u.c, of.u.c) : 0;
	if (of.kind == V_TUPLE && of.u.o->cls->native && !strcmp(of.u.o->cls->native, "types.GenericAlias"))
		return host_raise(h, EXC_TypeError, "isinstance() argument 2 cannot be a parameterized generic");
	if (of.kind == V_TUPLE) {
		int yes = 0;
		if (host_enter(h))
			return -1;
		for (size_t i = 0; i < of.u.seq->n && !yes; i++)
			yes = host_step(h) ? -1 : issubclass_of(h, c, of.u.seq->v[i]);
		host_leave(h);
		return yes;
	}
	if (of.kind == V_NONE)                   /* in a union: int | None */
		return c.kind == V_CLASS && c.u.c == h->type.kind_class[V_NONE];
	if (of.kind == V_OBJECT) {               /* the abstract types of collections.abc and typing */
		struct str_obj *name = host_intern(h, STR("__subclasscheck__"));
		int found = name ? attr_get(h, of, name, &r) : -1;
		if (found > 0)
			return host_call1(h, r, c, &r) ? -1 : val_truth(h, r);
		if (found < 0)
			return -1;
	}
	return host_raise(h, EXC_TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

/* isinstance(v, of): asks about the class of v. */
int isinstance_of(struct host *h, struct val v, struct val of)
{
	return issubclass_of(h, val_obj(&val_class(h, v)->h), of);
}

/* For C code: is v an instance of the class with this dotted name, either a built-in
 * ("torch.Tensor") or one of a module ("torch.nn.Module")? */
int val_isinstance(struct host *h, struct val v, const char *class_name)
{
	const struct class_obj *c = val_class(h, v);
	for (size_t i = 0; i < c->n_mro; i++) {
		const struct class_obj *m = c->mro[i];
		struct str full;

		if (m->native && !strcmp(m->native, class_name))
			return 1;
		full = str_of(class_name);
		if (m->mod && full.n > m->mod->name->n + 1 && str_starts(full, m->mod->name->p) &&
		    !strcmp(class_name + m->mod->name->n + 1, m->name->p))
			return 1;
	}
	return 0;
}
