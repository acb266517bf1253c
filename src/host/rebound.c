/* Buffers that are bound to new tensors: see rebound.h. */
#include "host/rebound.h"

#include "interp/dict.h"
#include "interp/heap.h"
#include "interp/state.h"

/* Modules nested deeper are not searched. */
enum { DEEPEST = 64 };

/* The dictionary _buffers or _modules of a module; NULL: it is none. */
static struct dict_obj *table(struct host *h, struct val m, enum name_id name)
{
	struct val *v = m.kind == V_OBJECT && m.u.o->attrs ? attrs_get(m.u.o->attrs, h->nm[name]) : NULL;

	return v && v->kind == V_DICT ? v->u.d : NULL;
}

/* Takes references, so that the old tensor survives the call. */
static int note_one(struct rebound *r, struct dict_obj *of, const struct dict_entry *en, struct err *e)
{
	if (vec_grow(r, 1))
		return err_nomem(e);
	val_keep(val_obj(&of->h));
	val_keep(en->key);
	val_keep(en->val);
	r->v[r->n].of = of;
	r->v[r->n].key = en->key;
	r->v[r->n].t = en->val.u.t->t;
	tensor_retain(&r->v[r->n].t);
	r->v[r->n++].old = en->val;
	return 0;
}

/* The buffers of a module and of its parts. */
static int note_module(struct rebound *r, struct host *h, struct val m, int depth, struct err *e)
{
	struct dict_obj *buffers = table(h, m, NM__buffers), *parts = table(h, m, NM__modules);
	int rc = 0;

	for (size_t i = 0; buffers && i < buffers->n && !rc; i++)
		if (buffers->e[i].key.kind == V_STR && buffers->e[i].val.kind == V_TENSOR)
			rc = note_one(r, buffers, &buffers->e[i], e);
	for (size_t i = 0; parts && depth < DEEPEST && i < parts->n && !rc; i++)
		rc = note_module(r, h, parts->e[i].val, depth + 1, e);
	return rc;
}

int rebound_note(struct rebound *r, struct host *h, struct val model, struct err *e)
{
	return note_module(r, h, model, 0, e);
}

/* Whether a tensor could replace the old one without a visible difference. */
static int same_form(const struct tensor_obj *now, const struct tensor_obj *old, const struct tensor *t)
{
	return now->device == old->device && now->t.dt == t->dt && tensor_same_shape(&now->t, t) &&
		now->is_param == old->is_param;
}

/* x.data = y: the same tensor with other memory. Restores the old memory if nothing else uses it:
 * its only reference is ours. */
static int settle_memory(struct host *h, struct tensor_obj *x, const struct tensor *t, struct err *e)
{
	if (x->t.st == t->st || t->st->refs != 1 || !same_form(x, x, t))
		return 0;
	if (tensor_copy(t, &x->t, e))
		return -1;
	if (x->t.st->refs == 1)
		h->lim.tensor_bytes -= MIN(x->t.st->bytes, h->lim.tensor_bytes);
	tensor_release(&x->t);
	x->t = *t;
	tensor_retain(&x->t);
	return 0;
}

/* Another tensor is bound to the name. Restores the old tensor if only our note refers to it, and
 * only these two to its memory. */
static int settle_tensor(struct host *h, struct val *now, struct val old, const struct tensor *t, struct err *e)
{
	if (old.u.t->h.refs != 1 || old.u.t->t.st != t->st || t->st->refs != 2 || !same_form(now->u.t, old.u.t, t))
		return 0;
	if (tensor_copy(t, &now->u.t->t, e))
		return -1;
	val_assign(h, now, old);
	return 0;
}

/* A buffer that was deleted, or is no tensor any more, stays as it is. */
int rebound_settle(struct rebound *r, struct host *h, struct err *e)
{
	for (size_t i = 0; i < r->n; i++) {
		struct val *now = dict_find(val_obj(&r->v[i].of->h), r->v[i].key.u.s->p), old = r->v[i].old;

		if (!now || now->kind != V_TENSOR)
			continue;
		if (now->u.t == old.u.t ? settle_memory(h, old.u.t, &r->v[i].t, e)
		    : settle_tensor(h, now, old, &r->v[i].t, e))
			return -1;
	}
	return 0;
}

/* Drops the references of the notes. */
void rebound_release(struct rebound *r, struct host *h)
{
	for (size_t i = 0; i < r->n; i++) {
		val_drop(h, val_obj(&r->v[i].of->h));
		val_drop(h, r->v[i].key);
		tensor_release(&r->v[i].t);
		val_drop(h, r->v[i].old);
	}
	vec_free(r);
}
