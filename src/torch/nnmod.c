/* The attribute rules of nn.Module, nn.Parameter and nn.Buffer.
 *
 * The class nn.Module itself is Python (prelude/torch/nn/modules/module.py). Its __setattr__,
 * __getattr__ and __delattr__ are here because every attribute access runs them. Invariant,
 * as in PyTorch: a name is in at most one of _parameters, _buffers, _modules and the instance
 * dict. */
#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/state.h"

/* The class nn.Module, found once per host. NULL on failure (the host holds the error). */
static struct class_obj *module_class(struct host *h)
{
	struct val nn, c;
	struct str_obj *name;

	if (h->type.nn_module)
		return h->type.nn_module;
	name = host_intern(h, STR("Module"));
	if (!name || import_module(h, STR("torch.nn"), &nn) || module_attr(h, nn.u.mod, name, &c) <= 0 ||
	    c.kind != V_CLASS)
		return NULL;
	return h->type.nn_module = c.u.c;
}

/* The dict `name` ("_parameters", ...) of a module, or NULL before Module.__init__ has run.
 * It is read without __getattr__, which would look into these very dicts. */
static struct dict_obj *table(struct host *h, struct val self, enum name_id name)
{
	struct val *v = V_IS_HEAP(self) && self.u.o->attrs ? attrs_get(self.u.o->attrs, h->nm[name]) : NULL;
	return v && v->kind == V_DICT ? v->u.d : NULL;
}

/* Deletes a name from a table that may not exist. */
static void remove_from(struct host *h, struct dict_obj *d, struct str_obj *name)
{
	if (d)
		attrs_del(h, d, name);
}

/* The three tables of a module; NULL for a missing one. */
struct tables { struct dict_obj *params, *buffers, *modules; };

/* Moves `name` to the table `where` and out of the instance dict and the other tables.
 * Assigning before Module.__init__ is PyTorch's AttributeError. */
static int place(struct bind *b, struct tables *t, struct str_obj *name, struct val v,
		 enum name_id where)
{
	struct host *h = b->h;
	struct dict_obj *into = where == NM__parameters ? t->params : where == NM__modules ? t->modules : t->buffers;
	if (!into)
		return bind_raise(b, EXC_AttributeError, "cannot assign %s before Module.__init__() call",
				  where == NM__parameters ? "parameters" : "module");
	/* A plain attribute of the same name would hide the table's entry. */
	attrs_del(h, b->a[0].u.o->attrs, name);
	if (into != t->params)
		remove_from(h, t->params, name);
	if (into != t->buffers)
		remove_from(h, t->buffers, name);
	if (into != t->modules)
		remove_from(h, t->modules, name);
	return attrs_set(h, into, name, v);
}

/* torch.nn.Module.__setattr__(self, name, value). */
static int m_setattr(struct bind *b)
{
	struct host *h = b->h;
	struct val self = b->a[0], v = b->a[2];
	struct tables t = { table(h, self, NM__parameters), table(h, self, NM__buffers), table(h, self, NM__modules) };
	struct str_obj *name;
	struct class_obj *mc;

	if (b->a[1].kind != V_STR)
		return bind_raise(b, EXC_TypeError, "attribute name must be string");
	name = host_intern(h, val_text(b->a[1]));
	mc = module_class(h);
	if (!name || !mc)
		return -1;
	/* The type of the value decides the table, and a name that already is in a table
	 * takes only values of that kind or None. The order of the tests is PyTorch's. */
	if (v.kind == V_TENSOR && v.u.t->is_param)
		return place(b, &t, name, v, NM__parameters);
	if (t.params && attrs_get(t.params, name)) {
		if (v.kind != V_NONE)
			return bind_raise(b, EXC_TypeError,
					  "cannot assign '%s' as parameter '%s' (torch.nn.Parameter or None expected)",
					  v.kind == V_TENSOR ? "torch.FloatTensor" : val_type_name(h, v), name->p);
		return attrs_set(h, t.params, name, v);
	}
	if (V_IS_HEAP(v) && v.kind == V_OBJECT && class_is_sub(v.u.o->cls, mc))
		return place(b, &t, name, v, NM__modules);
	if (t.modules && attrs_get(t.modules, name)) {
		if (v.kind != V_NONE)
			return bind_raise(b, EXC_TypeError,
					  "cannot assign '%s' as child module '%s' (torch.nn.Module or None expected)",
					  val_type_name(h, v), name->p);
		return attrs_set(h, t.modules, name, v);
	}
	if (v.kind == V_TENSOR && v.u.o->cls->native && !strcmp(v.u.o->cls->native, "torch.nn.Buffer"))
		return place(b, &t, name, v, NM__buffers);
	if (t.buffers && attrs_get(t.buffers, name)) {
		if (v.kind != V_NONE && v.kind != V_TENSOR)
			return bind_raise(b, EXC_TypeError,
					  "cannot assign '%s' object to buffer '%s' (torch Tensor or None required)",
					  val_type_name(h, v), name->p);
		return attrs_set(h, t.buffers, name, v);
	}
	return attr_set_generic(h, self, name, v);
}

/* Module.__getattr__: called only if the ordinary lookup found nothing. */
static int m_getattr(struct bind *b)
{
	static const enum name_id where[] = { NM__parameters, NM__buffers, NM__modules };
	struct host *h = b->h;
	for (size_t i = 0; i < COUNT_OF(where) && b->a[1].kind == V_STR; i++) {
		struct dict_obj *d = table(h, b->a[0], where[i]);
		struct val *v = d ? attrs_get(d, b->a[1].u.s) : NULL;
		if (v) {
			b->out = host_hold(h, *v);
			return 0;
		}
	}
	return bind_raise(b, EXC_AttributeError, "'%s' object has no attribute '%s'", val_type_name(h, b->a[0]),
			  b->a[1].kind == V_STR ? b->a[1].u.s->p : "?");
}

/* Module.__delattr__: the tables first, then the instance dict. */
static int m_delattr(struct bind *b)
{
	static const enum name_id where[] = { NM__parameters, NM__buffers, NM__modules };
	struct str_obj *name = host_intern(b->h, val_text(b->a[1]));
	if (!name)
		return -1;
	for (size_t i = 0; i < COUNT_OF(where); i++) {
		struct dict_obj *d = table(b->h, b->a[0], where[i]);
		if (d && attrs_del(b->h, d, name))
			return 0;
	}
	return attr_del_generic(b->h, b->a[0], name);
}

/* --- nn.Parameter ------------------------------------------------------------------------------------- */

/* A Parameter or Buffer from slot 1, which it shares storage with; without data it is an
 * empty tensor of the default dtype. The marks "made by empty" and "computed" pass on,
 * because the judge looks at both. */
static int new_param(struct bind *b, int grad, int is_param)
{
	struct tensor t, *from;
	struct err e = ERR_INIT;
	enum host_device dev;

	if (!bind_given(b, 1)) {
		int64_t zero = 0;
		if (tensor_new(&t, host_dtype(b->h, b->h->torch.default_dtype), 1, &zero, &e))
			return host_raise_err(b->h, &e);
	} else {
		if (bind_tensor(b, 1, &from))
			return -1;
		t = *from;
		tensor_retain(&t);
	}
	dev = bind_given(b, 1) ? b->a[1].u.t->device : HOST_CPU;
	if (grad && !dtype_is_float(t.dt)) {
		tensor_release(&t);
		return bind_raise(b, EXC_RuntimeError,
				  "Only Tensors of floating point and complex dtype can require gradients");
	}
	if (val_tensor(b->h, &t, dev, &b->out))
		return -1;
	b->out.u.t->is_param = (unsigned char)is_param;
	b->out.u.t->requires_grad = (unsigned char)grad;
	b->out.u.t->leaf = LEAF_OWN;
	b->out.u.t->made_empty = bind_given(b, 1) && b->a[1].u.t->made_empty;
	b->out.u.t->computed = bind_given(b, 1) && b->a[1].u.t->computed;
	b->out.u.o->cls = is_param ? b->h->type.param_class : host_native_class(b->h, "torch.nn.Buffer");
	return 0;
}

/* Parameter(data=None, requires_grad=True). */
static int p_new(struct bind *b)
{
	int grad;
	return bind_bool(b, 2, &grad) ? -1 : new_param(b, grad, 1);
}

/* Buffer(data=None, persistent=True): a tensor that is no parameter. */
static int buffer_new(struct bind *b)
{
	return new_param(b, 0, 0);
}

/* The functions of Module are internal: the class in the prelude calls them from its special
 * methods. */
const struct bind_row nn_module_rows[] = {
	{ "torch.nn._module_setattr", "self, name: str, value", m_setattr, BIND_INTERNAL },
	{ "torch.nn._module_getattr", "self, name: str", m_getattr, BIND_INTERNAL },
	{ "torch.nn._module_delattr", "self, name: str", m_delattr, BIND_INTERNAL },
	{ "torch.nn.Parameter.__new__", "cls, data=None, requires_grad=True", p_new, BIND_STATIC },
	{ "torch.nn.Buffer.__new__", "cls, data=None, *, persistent=True", buffer_new, BIND_STATIC },
	{ NULL, NULL, NULL, 0 }
};
