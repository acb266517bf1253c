/* Text of values: str() and repr(), as CPython writes them.
 *
 * Some texts differ between runs or installations: addresses, the order of sets, tensors with many
 * elements. A program that asks for one is refused (host_varies), except inside print. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "interp/attr.h"
#include "interp/big.h"
#include "interp/dict.h"
#include "interp/fail.h"
#include "interp/heap.h"
#include "interp/iter.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/scalar.h"
#include "interp/state.h"
#include "interp/val_text.h"

/* Code points of valid UTF-8: bytes that are no continuation bytes. */
size_t utf8_count(struct str s)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return n;
}

/* The byte offset after the first `chars` code points. */
size_t utf8_offset(struct str s, size_t chars)
{
	size_t i = 0;
	while (i < s.n && chars) {
		i++;
		while (i < s.n && (s.p[i] & 0xc0) == 0x80)
			i++;
		chars--;
	}
	return i;
}

/* Is s valid UTF-8? */
int utf8_is_text(struct str s)
{
	uint32_t cp;
	int bad = 0;

	for (size_t i = 0; i < s.n && !bad;)
		i += utf8_decode(s.p + i, s.n - i, &cp, &bad);
	return !bad;
}

/* The shortest digits that read back to the same double, in Python's notation: with an exponent
 * below 1e-4 and from 1e16 on. 0.1 needs 1 digit, 0.1 + 0.2 needs 17. */
void float_repr(double f, struct buf *out)
{
	char t[40], *e;
	int exp, digits;

	if (isnan(f)) {
		buf_adds(out, "nan");
		return;
	}
	if (isinf(f)) {
		buf_adds(out, f < 0 ? "-inf" : "inf");
		return;
	}
	/* the first precision whose text reads back exactly */
	for (int prec = 1; prec <= 17; prec++) {
		snprintf(t, sizeof t, "%.*e", prec - 1, f);
		if (strtod(t, NULL) == f)
			break;
	}
	e = strchr(t, 'e');
	exp = atoi(e + 1);
	digits = 0;
	for (char *p = t; p < e; p++)
		digits += *p >= '0' && *p <= '9';
	if (exp >= -4 && exp < 16) {
		snprintf(t, sizeof t, "%.*f", MAX(digits - 1 - exp, 1), f);
		buf_adds(out, t);
		return;
	}
	buf_add(out, t, (size_t)(e - t));
	buf_addf(out, "e%c%02d", exp < 0 ? '-' : '+', abs(exp));
}

/* Quotes are single unless the text has single but no double quotes. Text beyond ASCII stays. */
void str_repr(struct str s, struct buf *out)
{
	char quote = memchr(s.p, '\'', s.n) && !memchr(s.p, '"', s.n) ? '"' : '\'';
	buf_addc(out, quote);
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == (unsigned char)quote || c == '\\')
			buf_addf(out, "\\%c", c);
		else if (c == '\n')
			buf_adds(out, "\\n");
		else if (c == '\t')
			buf_adds(out, "\\t");
		else if (c == '\r')
			buf_adds(out, "\\r");
		else if (c < 32 || c == 127)
			buf_addf(out, "\\x%02x", c);
		else
			buf_addc(out, (char)c);
	}
	buf_addc(out, quote);
}

/* b'...' with \x escapes beyond ASCII. */
static void bytes_repr(struct str s, struct buf *out)
{
	struct buf t = BUF_INIT;

	buf_addc(out, 'b');
	str_repr(s, &t);
	for (size_t i = 0; i < t.n; i++)
		if ((unsigned char)t.p[i] > 127)
			buf_addf(out, "\\x%02x", (unsigned char)t.p[i]);
		else
			buf_addc(out, t.p[i]);
	buf_release(&t);
}

/* [1, 2], (1,) or torch.Size([1, 2]). Members are held, as __repr__ may change the list. */
static int seq_repr(struct host *h, struct val v, struct buf *out)
{
	int tuple = v.kind == V_TUPLE, size = v.u.o->cls == h->type.size_class;
	buf_adds(out, size ? "torch.Size([" : tuple ? "(" : "[");
	for (size_t i = 0; i < v.u.seq->n; i++) {
		if (i)
			buf_adds(out, ", ");
		if (val_repr(h, host_hold(h, v.u.seq->v[i]), out))
			return -1;
	}
	buf_adds(out, size ? "])" : !tuple ? "]" : v.u.seq->n == 1 ? ",)" : ")");
	return 0;
}

/* Is v an OrderedDict, written as OrderedDict([(k, v), ...])? */
static int is_ordered(struct host *h, struct val v)
{
	const struct class_obj *c = v.u.o->cls;

	for (size_t i = 0; v.kind == V_DICT && c != h->type.kind_class[V_DICT] && i < c->n_mro; i++)
		if (c->mro[i]->native && !strcmp(c->mro[i]->native, "collections.OrderedDict"))
			return 1;
	return 0;
}

/* `k: v`, `(k, v)` of an OrderedDict, or the element of a set. */
static int entry_repr(struct host *h, const struct dict_entry *e, int set, int ordered, struct buf *out)
{
	struct val key = host_hold(h, e->key), x = host_hold(h, e->val);

	buf_adds(out, ordered ? "(" : "");
	if (val_repr(h, key, out))
		return -1;
	if (set)
		return 0;
	buf_adds(out, ordered ? ", " : ": ");
	if (val_repr(h, x, out))
		return -1;
	buf_adds(out, ordered ? ")" : "");
	return 0;
}

/* Subclasses of dict show like a dict; subclasses of set and OrderedDict show their name. */
static int dict_repr(struct host *h, struct val v, struct buf *out)
{
	size_t at = 0, n = 0;
	int set = v.kind == V_SET, ordered = is_ordered(h, v);
	int named = ordered || (set && v.u.o->cls != h->type.kind_class[V_SET]);
	struct dict_entry *e;
	if ((set || ordered) && !v.u.d->live) {
		buf_addf(out, "%s()", val_type_name(h, v));
		return 0;
	}
	if (set && v.u.d->live > 1 && host_varies(h, "the order of a set"))
		return -1;
	if (named)
		buf_addf(out, "%s(", val_type_name(h, v));
	buf_addc(out, ordered ? '[' : '{');
	while ((e = dict_next(v.u.d, &at))) {
		buf_adds(out, n++ ? ", " : "");
		if (entry_repr(h, e, set, ordered, out))
			return -1;
	}
	buf_addc(out, ordered ? ']' : '}');
	if (named)
		buf_addc(out, ')');
	return 0;
}

/* str(e) is the only argument, or the tuple of several; a KeyError shows the repr of its key.
 * repr(e) is ValueError('text'). */
static int exc_text(struct host *h, struct val v, int repr, struct buf *out)
{
	struct val *args = attrs_get(v.u.o->attrs, h->nm[NM_args]);
	size_t n = args && args->kind == V_TUPLE ? args->u.seq->n : 0;
	struct val a = args ? host_hold(h, *args) : val_none();
	int key;

	if (repr) {
		buf_adds(out, val_type_name(h, v));
		buf_addc(out, '(');
		for (size_t i = 0; i < n; i++) {
			if (i)
				buf_adds(out, ", ");
			if (val_repr(h, a.u.seq->v[i], out))
				return -1;
		}
		buf_addc(out, ')');
		return 0;
	}
	if (!n)
		return 0;
	if (n > 1)
		return val_repr(h, a, out);
	key = class_is_sub(v.u.o->cls, h->type.exc_class[EXC_KeyError]);
	return key ? val_repr(h, a.u.seq->v[0], out) : val_to_str(h, a.u.seq->v[0], out);
}

/* Calls __str__ or __repr__. Returns 1 if called, 0 if the class has no such method, -1 on
 * failure. */
static int special_text(struct host *h, struct val v, enum name_id name, struct buf *out)
{
	struct val r;
	int found = call_special(h, v, name, NULL, 0, &r);
	if (found <= 0)
		return found;
	if (r.kind != V_STR)
		return host_raise(h, EXC_TypeError, "%s returned non-string (type %s)", h->nm[name]->p,
				  val_type_name(h, r));
	buf_addstr(out, val_text(r));
	return 1;
}

/* tensor(0.5) and short rows of numbers. Larger tensors show only shape and type; only print
 * sees it. */
static int tensor_repr(struct host *h, struct val v, struct buf *out)
{
	const struct tensor *t = &v.u.t->t;
	int64_t n = tensor_numel(t);
	/* PyTorch chooses digits and widths by all elements and by settings. */
	if (host_varies(h, "the text of a tensor"))
		return -1;
	if (v.u.t->is_param)
		buf_adds(out, "Parameter containing:\n");
	buf_adds(out, "tensor(");
	if (t->ndim > 1 || n > 16) {
		buf_adds(out, "..., size=(");
		for (int i = 0; i < t->ndim; i++)
			buf_addf(out, "%s%lld", i ? ", " : "", (long long)t->shape[i]);
		buf_addf(out, "), dtype=torch.%s", dtype_info(host_nominal(h, t->dt))->torch);
	} else {
		if (host_may_read(h, t->dt, n))
			return -1;
		buf_adds(out, t->ndim ? "[" : "");
		for (int64_t i = 0; i < n && !t->st->hollow; i++) {
			const char *p = (const char *)tensor_data(t) + i * (t->ndim ? t->stride[0] : 0) *
				dtype_size(t->dt);
			buf_adds(out, i ? ", " : "");
			if (t->dt == DT_BOOL)
				buf_adds(out, *p ? "True" : "False");
			else if (!dtype_is_float(t->dt))
				buf_addf(out, "%lld", (long long)dtype_load_int(t->dt, p));
			else
				buf_addf(out, dtype_load(t->dt, p) == floor(dtype_load(t->dt, p)) ?
					 "%.0f." : "%.4f", dtype_load(t->dt, p));
		}
		buf_adds(out, t->ndim ? "]" : "");
	}
	buf_adds(out, v.u.t->device == HOST_CUDA ? ", device='cuda:0'" : "");
	buf_adds(out, v.u.t->requires_grad ? ", requires_grad=True)" : ")");
	return 0;
}

/* __repr__ of the class, an exception's text, or <module.Class object>. */
static int object_repr(struct host *h, struct val v, struct buf *out)
{
	struct class_obj *c;
	int found;

	if (v.kind == V_TENSOR)
		return tensor_repr(h, v, out);
	found = special_text(h, v, NM___repr__, out);
	if (found)
		return found < 0 ? -1 : 0;
	if (class_is_sub(val_class(h, v), h->type.exc_class[EXC_BaseException]))
		return exc_text(h, v, 1, out);
	if (host_varies(h, "the default text of an object"))
		return -1;
	c = val_class(h, v);
	buf_addf(out, "<%s.%s object>", c->mod ? c->mod->name->p : "builtins", c->name->p);
	return 0;
}

/* <class 'int'> or <class 'module.Name'>. */
static void class_repr(struct val v, struct buf *out)
{
	const struct class_obj *c = v.u.c;
	if (c->native)
		buf_addf(out, "<class '%s'>", c->native);
	else
		buf_addf(out, "<class '%s.%s'>", c->mod ? c->mod->name->p : "__main__", c->name->p);
}

/* The step is written only if it is not 1. */
static int range_repr(struct val v, struct buf *out)
{
	const struct range_obj *r = v.u.range;
	if (r->step == 1)
		buf_addf(out, "range(%lld, %lld)", (long long)r->start, (long long)r->stop);
	else
		buf_addf(out, "range(%lld, %lld, %lld)", (long long)r->start, (long long)r->stop, (long long)r->step);
	return 0;
}

/* str() is cuda:0, repr() is device(type='cuda', index=0). */
static void device_text(struct val v, int repr, struct buf *out)
{
	static const char *const names[] = { "cpu", "cuda", "meta" };
	if (!repr) {
		buf_adds(out, names[v.aux]);
		if (v.u.i >= 0)
			buf_addf(out, ":%lld", (long long)v.u.i);
		return;
	}
	buf_addf(out, "device(type='%s'", names[v.aux]);
	if (v.u.i >= 0)
		buf_addf(out, ", index=%lld", (long long)v.u.i);
	buf_addc(out, ')');
}

/* Whether the text has only ASCII and Latin letters, which are all printable. For other characters
 * Unicode's tables decide whether repr() escapes them. */
static int is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c > 0xc5 || (c == 0xc2 && i + 1 < s.n))
			return 0;
	}
	return 1;
}

/* The name of a triton.language type: tl.float32 shows as fp32. NULL if v is not a type. */
static const char *tl_type(struct val v)
{
	static const char *const types[][2] = {
#define SCALAR(id, name, sig, module, bits, class, mantissa) { module, name },
#include "tile/code/types.def"
#undef SCALAR
	};
	struct str name = val_text(v);

	if (!str_starts(name, "triton.language."))
		return NULL;
	name.p += strlen("triton.language.");
	name.n -= strlen("triton.language.");
	for (size_t i = 0; i < COUNT_OF(types); i++)
		if (str_is(name, types[i][0]))
			return types[i][1];
	return NULL;
}

/* dict_keys(['a', 'b']). A dictionary may hold its own view, so this counts as a call. */
static int view_repr(struct host *h, struct val v, struct buf *out)
{
	struct val list;
	int rc;

	if (host_to_list(h, v, &list) || host_enter(h))
		return -1;
	buf_addf(out, "%s(", val_type_name(h, v));
	rc = val_repr(h, list, out);
	buf_addc(out, ')');
	host_leave(h);
	return rc;
}

/* Memory formats such as torch.channels_last are strings here. */
static int is_format(struct str s)
{
	return str_starts(s, "torch.") && (str_ends(s, "_format") || str_starts(s, "torch.channels_last") ||
					   str_is(s, "torch.strided"));
}

/* Values that hold no other values. */
static int simple_repr(struct host *h, struct val v, struct buf *out)
{
	switch (v.kind) {
	case V_UNSET: case V_NONE: buf_adds(out, "None"); return 0;
	case V_ELLIPSIS: buf_adds(out, "Ellipsis"); return 0;
	case V_NOTIMPL: buf_adds(out, "NotImplemented"); return 0;
	case V_BOOL: buf_adds(out, v.u.i ? "True" : "False"); return 0;
	case V_INT: buf_addf(out, "%lld", (long long)v.u.i); return 0;
	case V_BIG: big_format(h, v, 10, out); return h->fail.fatal ? -1 : 0;
	case V_FLOAT: float_repr(v.u.f, out); return 0;
	case V_STR:
		if (is_format(val_text(v)))      /* torch.channels_last is its name here */
			return host_varies(h, "the text of a memory format") ? -1 : (buf_addstr(out, val_text(v)), 0);
		str_repr(val_text(v), out);
		return is_plain(val_text(v)) ? 0 : host_varies(h, "the repr() of text beyond Latin letters");
	case V_BYTES: bytes_repr(val_text(v), out); return 0;
	case V_DTYPE: buf_addf(out, "torch.%s", dtype_info((enum dtype)v.u.i)->torch); return 0;
	case V_DEVICE: device_text(v, 1, out); return 0;
	case V_TL:
		buf_addstr(out, val_text(v));
		return tl_type(v) ? 0 : host_varies(h, "the text of a triton.language function");
	case V_RANGE: return range_repr(v, out);
	case V_CLASS:
		class_repr(v, out);
		return v.u.c->native ? 0 : host_varies(h, "the module name in the text of a class");
	case V_MODULE: buf_addf(out, "<module '%s'>", v.u.mod->name->p); break;
	case V_FUNC: buf_addf(out, "<function %s>", v.u.fn->qualname->p); break;
	case V_BUILTIN: buf_addf(out, "<built-in function %s>", v.u.b->row->name); break;
	case V_SLICE:
		buf_adds(out, "slice(");
		if (val_repr(h, v.u.slice->start, out))
			return -1;
		buf_adds(out, ", ");
		if (val_repr(h, v.u.slice->stop, out))
			return -1;
		buf_adds(out, ", ");
		if (val_repr(h, v.u.slice->step, out))
			return -1;
		buf_addc(out, ')');
		return 0;
	case V_VIEW: return view_repr(h, v, out);
	default: buf_addf(out, "<%s>", val_type_name(h, v)); break;
	}
	/* With an address in it, or a path. */
	return host_varies(h, "the text of a function or module");
}

/* repr(v), appended to out. The text so far is charged for a moment, so that a growing repr
 * meets the memory limit; a float costs more fuel because of its digits. */
int val_repr(struct host *h, struct val v, struct buf *out)
{
	int rc;

	if (scalar_is(v))
		return scalar_repr(h, v, out);
	if (host_deep(h) || host_burn(h, v.kind == V_FLOAT ? 16 : 2) || host_charge(h, out->n))
		return -1;
	host_uncharge(h, out->n);
	if (V_IS_HEAP(v) && v.kind != V_OBJECT && v.u.o->cls && !v.u.o->cls->native && v.kind != V_CLASS) {
		rc = special_text(h, v, NM___repr__, out);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	if (v.kind != V_TUPLE && v.kind != V_LIST && v.kind != V_DICT && v.kind != V_SET &&
	    v.kind != V_OBJECT && v.kind != V_TENSOR)
		return simple_repr(h, v, out);
	if (host_enter(h))
		return -1;
	if (is_type_form(v))
		rc = host_varies(h, "the text of a type");
	else if (v.kind == V_TUPLE || v.kind == V_LIST)
		rc = seq_repr(h, v, out);
	else if (v.kind == V_DICT || v.kind == V_SET)
		rc = dict_repr(h, v, out);
	else
		rc = object_repr(h, v, out);
	host_leave(h);
	return rc;
}

/* str(v): __str__, else an exception's text, else repr(). */
int val_to_str(struct host *h, struct val v, struct buf *out)
{
	if (host_deep(h))
		return -1;
	if (v.kind == V_STR) {
		buf_addstr(out, val_text(v));
		return 0;
	}
	if (v.kind == V_DEVICE) {
		device_text(v, 0, out);
		return 0;
	}
	if (scalar_is(v) && v.aux == SCALAR_WIDE)
		v.aux = 0;
	if (v.kind == V_TL && tl_type(v)) {
		buf_adds(out, tl_type(v));
		return 0;
	}
	if (v.kind == V_OBJECT || v.kind == V_TENSOR || (V_IS_HEAP(v) && v.u.o->cls && !v.u.o->cls->native)) {
		int found = v.kind == V_CLASS ? 0 : special_text(h, v, NM___str__, out);
		if (found)
			return found < 0 ? -1 : 0;
		if (v.kind == V_OBJECT && class_is_sub(v.u.o->cls, h->type.exc_class[EXC_BaseException]) &&
		    !has_special(h, v, NM___repr__)) {
			int rc;

			if (host_enter(h))               /* it may be one of its own arguments */
				return -1;
			rc = exc_text(h, v, 0, out);
			host_leave(h);
			return rc;
		}
	}
	return val_repr(h, v, out);
}
