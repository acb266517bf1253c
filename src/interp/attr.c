/* Attributes of instances, classes, modules, functions and built-in values: x.name, x.name = v,
 * del x.name, and the call of special methods. Owns the lookup order and the names a program
 * may not touch. Does not own classes and their MRO (class.c) or module contents (import.c).
 *
 * Lookup order of an instance, as in CPython: a property of the class, then the instance's
 * dictionary, then any other member of the class (bound to the instance), then __getattr__.
 *
 * Return convention of the readers: 1 found, 0 absent, -1 failed. Results are temporaries. */
#include <stdio.h>

#include "interp/attr.h"
#include "interp/dict.h"
#include "interp/exec.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/import.h"
#include "interp/object.h"
#include "interp/scalar.h"
#include "interp/state.h"

/* Attributes that lead into the interpreter itself (code objects, frames, pickling). Asking for
 * one ends the program: none of them exists here. */
static const char *const forbidden[] = {
	"__code__", "__globals__", "__closure__", "__subclasses__", "__builtins__", "__reduce__", "__reduce_ex__",
	"__loader__", "__spec__", "__file__", "__path__", "gi_frame", "gi_code", "f_globals", "f_locals", "f_back",
	"tb_frame", "__traceback__", "__import__", "__getstate__", "__setstate__",
};

/* The test of the first letter keeps the common case, a plain name, cheap. */
static int is_forbidden(const struct str_obj *name)
{
	int dunder = name->p[0] == '_' && name->p[1] == '_';

	if (!dunder && name->p[0] != 'f' && name->p[0] != 'g' && name->p[0] != 't')
		return 0;
	for (size_t i = 0; i < COUNT_OF(forbidden); i++)
		if (!strcmp(forbidden[i], name->p))
			return 1;
	return 0;
}

/* The value of a class member read through an instance: a function becomes a bound method, a
 * property is called, a descriptor's __get__ is called. `c` is the class that class methods
 * receive. `m` is borrowed from the class. */
static int bind_member(struct host *h, struct val self, struct class_obj *c, struct val m, struct val *out)
{
	struct val got, a[2];
	switch (m.kind) {
	case V_FUNC: return val_pair(h, V_METHOD, self, m, out);
	case V_BUILTIN:
		if (m.u.b->row->flags & BIND_PROPERTY)
			return host_call1(h, m, self, out);
		if (m.u.b->row->flags & BIND_STATIC)
			break;
		return val_pair(h, V_METHOD, m.u.b->row->flags & BIND_CLASSMETHOD ? val_obj(&c->h) : self, m, out);
	case V_STATICMETHOD: *out = host_hold(h, m.u.m->self); return 0;
	case V_CLASSMETHOD: return val_pair(h, V_METHOD, val_obj(&c->h), m.u.m->self, out);
	case V_PROPERTY:
		if (m.u.m->self.kind == V_NONE || m.u.m->self.kind == V_UNSET)
			return host_raise(h, EXC_AttributeError, "unreadable attribute");
		return host_call1(h, m.u.m->self, self, out);
	/* A descriptor of the program. __get__ = None counts as a call of None. */
	case V_OBJECT: {
		int found = class_lookup(h, m.u.o->cls, h->nm[NM___get__], NULL) != NULL;
		if (!found)
			break;
		a[0] = self;
		a[1] = val_obj(&c->h);
		found = call_special(h, m, NM___get__, a, 2, &got);
		if (found <= 0)
			return found < 0 ? -1 : host_raise(h, EXC_TypeError, "'NoneType' object is not callable");
		*out = got;
		return 0;
	}
	default: break;
	}
	*out = host_hold(h, m);
	return 0;
}

/* Names that every value has: __class__, __dict__, __doc__. */
static int common_attr(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	if (name == h->nm[NM___class__]) {
		*out = val_obj(&val_class(h, v)->h);
		return 1;
	}
	if (name == h->nm[NM___dict__] && V_IS_HEAP(v) && v.u.o->attrs && v.kind != V_CLASS) {
		*out = host_hold(h, val_obj(&v.u.o->attrs->h));
		return 1;
	}
	if (name == h->nm[NM___doc__]) {
		*out = val_none();
		return 1;
	}
	return 0;
}

/* C.__dict__ as a copy: Python's mappingproxy cannot be written either. Entries with V_UNSET
 * only remember a lookup that found nothing and are left out. */
static int own_members(struct host *h, const struct class_obj *c, struct val *out)
{
	const struct dict_entry *e;
	size_t at = 0;

	if (val_dict(h, out))
		return -1;
	while ((e = dict_next(c->h.attrs, &at)))
		if (e->val.kind != V_UNSET && dict_set(h, *out, e->key, e->val))
			return -1;
	return 0;
}

/* Reading an attribute of a class object: C.name. A method comes back unbound; a class method
 * is bound to the class. A tuple of bases or of the MRO is built on each request. */
static int class_attr(struct host *h, struct class_obj *c, struct str_obj *name, struct val *out)
{
	struct val self = val_obj(&c->h), *m;
	if (name == h->nm[NM___name__] || name == h->nm[NM___qualname__]) {
		*out = val_of_str(c->name);
		return 1;
	}
	if (name == h->nm[NM___bases__] || name == h->nm[NM___mro__]) {
		int all = name == h->nm[NM___mro__];
		if (val_tuple(h, NULL, 0, out))
			return -1;
		for (size_t i = 0; i < (all ? c->n_mro : c->n_bases); i++)
			if (list_append(h, *out, val_obj(&(all ? c->mro : c->bases)[i]->h)))
				return -1;
		return 1;
	}
	if (name == h->nm[NM___dict__]) {
		return own_members(h, c, out) ? -1 : 1;
	}
	if (name == h->nm[NM___class__]) {
		*out = val_obj(&h->type.type_class->h);
		return 1;
	}
	if ((m = class_lookup(h, c, name, NULL))) {
		if (m->kind == V_CLASSMETHOD || m->kind == V_STATICMETHOD ||
		    (m->kind == V_BUILTIN && m->u.b->row->flags & BIND_CLASSMETHOD))
			return bind_member(h, self, c, *m, out) ? -1 : 1;
		*out = host_hold(h, *m);
		return 1;
	}
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (name == h->nm[NM___doc__] || name == h->nm[NM___module__]) {
		*out = name == h->nm[NM___doc__] ? val_none() : val_of_str(host_intern(h, STR("builtins")));
		return 1;
	}
	/* A class is an instance of `type`: a name that neither it nor its bases have may be a
	 * method of type. */
	if ((m = class_lookup(h, h->type.type_class, name, NULL)) && h->type.type_class->native)
		return val_pair(h, V_METHOD, self, *m, out) ? -1 : 1;
	return h->fail.fatal ? -1 : 0;
}

/* Attributes of functions, bound methods and built-in functions. A bound method passes
 * everything except __self__ and __func__ on to its function. Returns 0 for a name it does not
 * know. */
static int function_attr(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	struct val *own;

	if (v.kind == V_METHOD) {
		if (name == h->nm[NM___self__])
			*out = host_hold(h, v.u.m->self);
		else if (name == h->nm[NM___func__])
			*out = host_hold(h, v.u.m->fn);
		else
			return v.u.m->fn.kind == V_FUNC || v.u.m->fn.kind == V_BUILTIN ?
				function_attr(h, v.u.m->fn, name, out) : 0;
		return 1;
	}
	own = v.u.o->attrs ? attrs_get(v.u.o->attrs, name) : NULL;
	if (own)
		*out = host_hold(h, *own);
	else if (v.kind == V_BUILTIN && (name == h->nm[NM___name__] || name == h->nm[NM___qualname__])) {
		const char *dot = strrchr(v.u.b->row->name, '.');
		return val_str(h, str_of(dot ? dot + 1 : v.u.b->row->name), out) ? -1 : 1;
	} else if (v.kind == V_FUNC && name == h->nm[NM___name__])
		*out = val_of_str(v.u.fn->name);
	else if (v.kind == V_FUNC && name == h->nm[NM___qualname__])
		*out = host_hold(h, val_of_str(v.u.fn->qualname));
	else if (v.kind == V_FUNC && name == h->nm[NM___module__])
		*out = val_of_str(v.u.fn->mod->name);
	else if (v.kind == V_FUNC && name == h->nm[NM___annotations__])
		return val_dict(h, out) ? -1 : 1;
	else if (v.kind == V_FUNC && name == h->nm[NM___dict__]) {
		/* The dictionary itself: f.__dict__["a"] = 1 sets f.a. */
		if (!v.u.o->attrs) {
			struct dict_obj *d = dict_obj_new(h, V_DICT);
			if (!d)
				return -1;
			val_keep(val_obj(&d->h));
			v.u.o->attrs = d;
		}
		*out = host_hold(h, val_obj(&v.u.o->attrs->h));
	} else
		return 0;
	return 1;
}

/* super().name: searches the MRO of the object's own class after the class that super() is
 * written in. Example: in a diamond D(B, C), super() in B finds C before A. s->self is that class,
 * s->fn the object or class. */
static int super_attr(struct host *h, struct method_obj *s, struct str_obj *name, struct val *out)
{
	struct val self = s->fn;
	struct class_obj *of = self.kind == V_CLASS ? self.u.c : val_class(h, self);
	size_t i = 0;
	while (i < of->n_mro && of->mro[i] != s->self.u.c)
		i++;
	for (i++; i < of->n_mro; i++) {
		struct class_obj *c = of->mro[i];
		struct val *m = attrs_get(c->h.attrs, name);
		/* Members of a built-in class are made on first use, so a lookup of this one
		 * class is needed. */
		if ((!m || m->kind == V_UNSET) && c->native) {
			struct class_obj one = { .mro = &c, .n_mro = 1 };
			m = class_lookup(h, &one, name, NULL);
		}
		if (!m || m->kind == V_UNSET)
			continue;
		if (name == h->nm[NM___new__]) {
			*out = host_hold(h, m->kind == V_STATICMETHOD ? m->u.m->self : *m);
			return 1;
		}
		if (self.kind == V_CLASS && m->kind == V_FUNC && name != h->nm[NM___init_subclass__]) {
			*out = host_hold(h, *m);
			return 1;
		}
		return bind_member(h, self, of, *m, out) ? -1 : 1;
	}
	return h->fail.fatal ? -1 : 0;
}

/* --- reading --------------------------------------------------------------------------------------- */

/* The lookup without __getattr__; see the head of the file for the order. */
int attr_generic(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	struct class_obj *c = val_class(h, v);
	struct val *own, *m;
	if (is_forbidden(name))
		return host_fatal(h, REASON_forbidden_name, "attribute '%s' is not available here", name->p);
	switch (v.kind) {
	case V_MODULE: return module_attr(h, v.u.mod, name, out);
	case V_CLASS:
		/* An absent base may change the members of a class (an enumeration does). */
		if (name->p[0] != '_' && class_refuse_absent(h, v.u.c))
			return -1;
		return class_attr(h, v.u.c, name, out);
	case V_SUPER: return super_attr(h, v.u.m, name, out);
	case V_FUNC: case V_METHOD: case V_BUILTIN: {
		int found = function_attr(h, v, name, out);
		return found ? found : common_attr(h, v, name, out);
	}
	default: break;
	}
	m = class_lookup(h, c, name, NULL);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (m && (m->kind == V_PROPERTY || (m->kind == V_BUILTIN && m->u.b->row->flags & BIND_PROPERTY)))
		return bind_member(h, v, c, host_hold(h, *m), out) ? -1 : 1;
	own = V_IS_HEAP(v) && v.u.o->attrs ? attrs_get(v.u.o->attrs, name) : NULL;
	if (own) {
		*out = host_hold(h, *own);
		return 1;
	}
	if (m)
		return bind_member(h, v, c, host_hold(h, *m), out) ? -1 : 1;
	return common_attr(h, v, name, out);
}

/* Private members of our triton and torch.library objects: how the autotuner chooses a
 * configuration here must not be visible to a program. */
static int is_inside(const struct host *h, struct val v, const struct str_obj *name)
{
	const struct module_obj *m;

	if (name->p[0] != '_' || name->p[1] == '_' || v.kind != V_OBJECT || !h->frame || h->frame->mod->trusted)
		return 0;
	m = v.u.o->cls->mod;
	return m && m->trusted && (!strncmp(m->name->p, "triton", 6) || !strcmp(m->name->p, "torch.library") ||
				   !strcmp(m->name->p, "os"));
}

/* x.name with the hook: __getattr__ is called if nothing was found or a property raised
 * AttributeError. */
int attr_get(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	struct val *hook, a[2];
	int found;
	struct call_args args;

	if (scalar_is(v) && v.kind == V_BOOL && host_serves_program(h))
		return host_fatal(h, REASON_unsupported, "attribute '%s' of a numpy bool is not supported", name->p);
	if (v.kind == V_TUPLE && name == h->nm[NM__fields] && v.u.o->cls->native && h->frame && !h->frame->mod->trusted)
		return host_fatal(h, REASON_unsupported, "'_fields' of a torch return value is not supported");
	if (is_inside(h, v, name))
		return host_fatal(h, REASON_unstable, "'%s' of %s is private", name->p, val_type_name(h, v));
	found = attr_generic(h, v, name, out);
	if (found > 0)
		return 1;
	if (found < 0 && !host_exc_is(h, EXC_AttributeError))
		return -1;
	hook = v.kind == V_CLASS || v.kind == V_MODULE ? NULL :
		class_lookup(h, val_class(h, v), h->nm[NM___getattr__], NULL);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!hook)
		return found;
	host_exc_clear(h);
	a[0] = v;
	a[1] = val_of_str(name);
	args = (struct call_args){ .a = a, .n = 2 };
	return host_callv(h, host_hold(h, *hook), &args, out) ? -1 : 1;
}

/* Tells a name that PyTorch has and this engine lacks from a mistake of the program. The first
 * ends the run as `unsupported`, the second is an AttributeError. */
static int unsupported_attr(struct host *h, struct val v, struct str_obj *name)
{
	const char *owner = v.kind == V_MODULE ? v.u.mod->name->p : v.kind == V_TENSOR ? "torch.Tensor" : NULL;
	char dotted[200];
	if (!owner || h->o.may_vary || (v.kind == V_MODULE && !v.u.mod->trusted))
		return 0;
	snprintf(dotted, sizeof dotted, "%s.%s", owner, name->p);
	if (!lib_knows(h->lib, str_of(dotted)))
		return 0;
	host_fatal(h, REASON_unsupported, "%s is not supported here", dotted);
	return 1;
}

/* AttributeError in CPython's words. A missing name of a module is certain (exc_sure): no
 * installation has it, so a program may catch it. */
static int no_attr(struct host *h, struct val v, struct str_obj *name)
{
	if (unsupported_attr(h, v, name) || class_refuse_absent(h, v.kind == V_CLASS ? v.u.c : val_class(h, v)))
		return -1;
	if (v.kind == V_MODULE)
		return host_raise_sure(h, EXC_AttributeError, "module '%s' has no attribute '%s'",
				       v.u.mod->name->p, name->p);
	if (v.kind == V_CLASS)
		return host_raise(h, EXC_AttributeError, "type object '%s' has no attribute '%s'",
				  v.u.c->name->p, name->p);
	return host_raise(h, EXC_AttributeError, "'%s' object has no attribute '%s'", val_type_name(h, v), name->p);
}

/* A name with a capital is a class, which a program may name without using it:
 * isinstance(x, torch.nn.parallel.DataParallel). */
static int absent_class(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	int is_class = v.kind == V_MODULE && name->p[0] >= 'A' && name->p[0] <= 'Z';

	return is_class ? absent_name(h, v.u.mod, name, out) : 0;
}

int attr_load(struct host *h, struct val v, struct str_obj *name, struct val *out)
{
	int found = attr_get(h, v, name, out);

	if (!found)
		found = absent_class(h, v, name, out);
	if (found)
		return found < 0 ? -1 : 0;
	return no_attr(h, v, name);
}

/* For bindings: an AttributeError counts as absent. */
int host_getattr(struct host *h, struct val v, const char *name, struct val *out)
{
	struct str_obj *s = host_intern(h, str_of(name));
	int found = s ? attr_get(h, v, s, out) : -1;
	if (found < 0 && host_exc_is(h, EXC_AttributeError)) {
		host_exc_clear(h);
		return 0;
	}
	return found;
}

/* --- writing ----------------------------------------------------------------------------------------- */

/* Gives the value an empty __dict__ if it has none yet. */
static int own_attrs(struct host *h, struct val v)
{
	struct dict_obj *d;

	if (v.u.o->attrs)
		return 0;
	d = dict_obj_new(h, V_DICT);
	if (!d)
		return -1;
	val_keep(val_obj(&d->h));
	v.u.o->attrs = d;
	return 0;
}

/* Can attributes be set on this value? An instance of a built-in type has none, as in Python:
 * (3).x = 1 fails. */
static int may_have_attrs(struct val v)
{
	if (!V_IS_HEAP(v))
		return 0;
	return v.kind == V_OBJECT || v.kind == V_FUNC || v.kind == V_TENSOR || v.kind == V_CLASS ||
		v.kind == V_MODULE || (v.u.o->cls && !v.u.o->cls->native);
}

/* x.name = v without __setattr__. A property calls its setter; anything else goes to the
 * instance's dictionary. */
int attr_set_generic(struct host *h, struct val v, struct str_obj *name, struct val x)
{
	struct val r;
	struct val *m = v.kind == V_CLASS || v.kind == V_MODULE ? NULL : class_lookup(h, val_class(h, v), name, NULL);
	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (m && m->kind == V_PROPERTY) {
		struct val a[2];
		struct call_args args;

		if (m->u.m->fn.kind == V_UNSET || m->u.m->fn.kind == V_NONE)
			return host_raise(h, EXC_AttributeError, "property '%s' of '%s' object has no setter",
					  name->p, val_type_name(h, v));
		a[0] = v;
		a[1] = x;
		args = (struct call_args){ .a = a, .n = 2 };
		return host_callv(h, m->u.m->fn, &args, &r);
	}
	/* A native property `x` is set by the native `x.set` of the same class, if there is one. */
	if (m && m->kind == V_BUILTIN && m->u.b->row->flags & BIND_PROPERTY) {
		struct val setter, set, *s, a[2];
		struct str_obj *key;
		struct call_args args;

		if (val_strf(h, &set, "%s.set", name->p))
			return -1;
		key = host_intern(h, val_text(set));
		s = key ? class_lookup(h, val_class(h, v), key, NULL) : NULL;
		if (h->fail.fatal)
			return -1;
		if (!s)
			return host_raise(h, EXC_AttributeError,
					  "attribute '%s' of '%s' objects is not writable", name->p,
					  val_type_name(h, v));
		setter = host_hold(h, *s);
		a[0] = v;
		a[1] = x;
		args = (struct call_args){ .a = a, .n = 2 };
		return host_callv(h, setter, &args, &r);
	}
	if (!may_have_attrs(v) || (v.kind == V_CLASS && v.u.c->native))
		return host_raise(h, EXC_AttributeError, "'%s' object has no attribute '%s'",
				  val_type_name(h, v), name->p);
	/* The rest protects the judge: a program must not replace a function of torch or
	 * triton, which the reference uses too, nor disguise one object as another. */
	if (v.kind == V_MODULE && v.u.mod->trusted)
		return host_fatal(h, REASON_forbidden_name, "'%s.%s' cannot be replaced", v.u.mod->name->p, name->p);
	if (name == h->nm[NM___class__] || name == h->nm[NM___dict__])
		return host_fatal(h, REASON_forbidden_name, "'%s' cannot be replaced", name->p);
	if (v.kind == V_CLASS && v.u.c->mod && v.u.c->mod->trusted && h->frame && !h->frame->mod->trusted)
		return host_fatal(h, REASON_forbidden_name, "'%s.%s' cannot be replaced", v.u.c->name->p, name->p);
	if (v.kind == V_CLASS && h->frame && !h->frame->mod->trusted && class_members(h, v.u.c))
		return host_fatal(h, REASON_unsupported, "changing an enumeration class is not supported");
	if (v.kind == V_CLASS && name == h->nm[NM___name__] && x.kind == V_STR) {
		struct str_obj *s = host_intern(h, val_text(x));
		v.u.c->name = s ? s : v.u.c->name;
		return s ? 0 : -1;
	}
	return own_attrs(h, v) ? -1 : attrs_set(h, v.u.o->attrs, name, x);
}

/* x.name = v. A __setattr__ of the class comes first. host_may_set guards objects that outlive
 * the call of forward. */
int attr_set(struct host *h, struct val v, struct str_obj *name, struct val x)
{
	struct class_obj *where = NULL;
	struct val r, *hook = v.kind == V_OBJECT ? class_lookup(h, v.u.o->cls, h->nm[NM___setattr__], &where) : NULL;
	int own_guard = v.kind == V_TENSOR && name == h->nm[NM_data]; /* x.data = x.data changes nothing */
	struct val a[3];
	struct call_args args;

	if (h->fail.fatal || h->fail.failed || (!own_guard && host_may_set(h, v)))
		return -1;
	if (!hook || where == h->type.object_class)
		return attr_set_generic(h, v, name, x);
	a[0] = v;
	a[1] = val_of_str(name);
	a[2] = x;
	args = (struct call_args){ .a = a, .n = 3 };
	return host_callv(h, host_hold(h, *hook), &args, &r);
}

/* del x.name without __delattr__. Built-in classes and prelude modules lose nothing. */
int attr_del_generic(struct host *h, struct val v, struct str_obj *name)
{
	if (V_IS_HEAP(v) && v.u.o->attrs && !(v.kind == V_CLASS && v.u.c->native) &&
	    !(v.kind == V_MODULE && v.u.mod->trusted) && attrs_del(h, v.u.o->attrs, name))
		return 0;
	return no_attr(h, v, name);
}

/* del x.name. A __delattr__ of the class comes first. */
int attr_del(struct host *h, struct val v, struct str_obj *name)
{
	struct class_obj *where = NULL;
	struct val r, *hook = v.kind == V_OBJECT ? class_lookup(h, v.u.o->cls, h->nm[NM___delattr__], &where) : NULL;
	struct val a[2];
	struct call_args args;

	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!hook || where == h->type.object_class)
		return attr_del_generic(h, v, name);
	a[0] = v;
	a[1] = val_of_str(name);
	args = (struct call_args){ .a = a, .n = 2 };
	return host_callv(h, host_hold(h, *hook), &args, &r);
}

/* --- special methods ----------------------------------------------------------------------------------- */

/* Special methods are looked up in the class, never in the instance: `x.__len__ = f` has no effect
 * on len(x). `__iter__ = None` in a class means that the class has no such method. */
int has_special(struct host *h, struct val v, enum name_id name)
{
	struct val *m = class_lookup(h, val_class(h, v), h->nm[name], NULL);
	return m && m->kind != V_NONE;
}

/* Calls type(v).name(v, *a). At most four arguments (__exit__ has three). */
int call_special(struct host *h, struct val v, enum name_id name, const struct val *a, size_t n, struct val *out)
{
	struct val *m = class_lookup(h, val_class(h, v), h->nm[name], NULL), all[5];
	struct val fn;
	struct call_args args;

	if (h->fail.fatal || h->fail.failed)
		return -1;
	if (!m || m->kind == V_NONE)
		return 0;
	BUG_ON(n + 1 > COUNT_OF(all));
	all[0] = v;
	for (size_t i = 0; i < n; i++)
		all[i + 1] = a[i];
	fn = host_hold(h, *m);
	args = (struct call_args){ .a = all, .n = n + 1 };
	if (fn.kind == V_STATICMETHOD || fn.kind == V_CLASSMETHOD) {
		args.a++;
		args.n--;
		fn = fn.u.m->self;
	}
	return host_callv(h, fn, &args, out) ? -1 : 1;
}
