/* Numpy scalars: arithmetic, comparison, text, class. See scalar.h for the representation. */
#include "interp/fail.h"
#include "interp/object.h"
#include "interp/operator.h"
#include "interp/scalar.h"
#include "interp/val_text.h"

/* Refuses arithmetic with a scalar whose width this engine does not model, such as float32. Our
 * own library may compute with it. */
int scalar_may_compute(struct host *h, struct val v)
{
	if (!scalar_is(v) || (v.aux == SCALAR_WIDE && v.kind != V_BOOL) || !host_serves_program(h))
		return 0;
	return host_fatal(h, REASON_unsupported,
			  "arithmetic with a numpy scalar other than float64 and int64 is not supported");
}

/* Numpy wraps around or gives infinity where Python raises or switches to big integers. The
 * result cannot be reproduced, so the program ends. */
static int leaves_range(struct host *h)
{
	host_exc_clear(h);
	return host_fatal(h, REASON_unsupported, "numpy arithmetic that overflows is not supported");
}

/* float64 and int64 arithmetic is that of Python numbers as long as it stays in range. The
 * result is a numpy scalar again. */
int scalar_binary(struct host *h, enum py_op op, struct val a, struct val b, struct val *out)
{
	int rc;

	if (scalar_may_compute(h, a) || scalar_may_compute(h, b))
		return -1;
	rc = pynum_binary(h, op, a, b, out);
	if (host_serves_program(h) && (rc || out->kind == V_BIG || a.kind == V_BIG || b.kind == V_BIG ||
			      (op == PY_OP_Pow && a.kind == V_INT && b.kind == V_INT && b.u.i < 0)))
		return h->fail.fatal ? -1 : leaves_range(h);
	if (!rc && (out->kind == V_INT || out->kind == V_FLOAT))
		out->aux = SCALAR_WIDE;
	return rc;
}

/* *out is a bool; it becomes a numpy bool. Narrow scalars are refused because their rounding is
 * unknown. */
int scalar_compare(struct host *h, struct val a, struct val b, struct val *out)
{
	if (!host_serves_program(h))
		return 0;
	if (a.aux == SCALAR_NARROW || b.aux == SCALAR_NARROW)
		return scalar_may_compute(h, a) || scalar_may_compute(h, b) ? -1 : 0;
	out->aux = SCALAR_WIDE;
	return 0;
}

/* numpy 2 writes np.float64(0.5) where str() gives 0.5. */
int scalar_repr(struct host *h, struct val v, struct buf *out)
{
	if (v.aux == SCALAR_NARROW)
		return host_varies(h, "the text of a numpy scalar other than float64 and int64") ? -1 :
			val_repr(h, (struct val){ .kind = v.kind, .u = v.u }, out);
	if (v.kind == V_BOOL) {
		buf_adds(out, v.u.i ? "np.True_" : "np.False_");
		return 0;
	}
	buf_adds(out, v.kind == V_FLOAT ? "np.float64(" : "np.int64(");
	if (val_repr(h, (struct val){ .kind = v.kind, .u = v.u }, out))
		return -1;
	buf_addc(out, ')');
	return 0;
}

/* isinstance(x, int) is false for np.int64; only np.float64 derives from a Python type. */
int scalar_is_no(struct host *h, struct val v, const struct class_obj *c)
{
	if (!host_serves_program(h) || (v.kind == V_FLOAT && v.aux == SCALAR_WIDE))
		return 0;
	return c == h->type.kind_class[V_INT] || c == h->type.kind_class[V_BOOL] || c == h->type.kind_class[V_FLOAT];
}
