/* device_assert and device_print. */
#include "tile/machine/machine.h"

/* Faults at the first active lane whose condition is false. Without a mask every lane is active. */
int exec_assert(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	struct mval *c = mval_src(m, in, 0), *mask = in->n_src > 1 ? mval_src(m, in, 1) : NULL;
	const unsigned char *ok, *on;

	(void)p;
	if (c->kind == MVAL_UNIFORM && c->u.raw[0])
		return 0;
	ok = mval_dense(c);
	on = mask ? mval_dense(mask) : NULL;
	for (int32_t i = 0; i < c->n; i++)
		if ((!on || on[i]) && !ok[i])
			return fault_at(m, in->loc, REASON_device_assert,
					"device_assert failed at lane %d: %.*s", i, STR_ARG(in->text));
	return 0;
}

/* One lane as Triton prints it: pointers and hex=True as 0x..., floats with six decimals. */
static void print_lane(struct buf *out, const struct mval *v, const char *x, int hex)
{
	enum dtype dt = (enum dtype)v->dt;
	unsigned long long bits = 0;
	if (hex || v->ptr) {
		memcpy(&bits, x, v->esize);
		buf_addf(out, "0x%0*llx", 2 * v->esize, bits);
	} else if (dtype_is_float(dt)) {
		buf_addf(out, "%f", dtype_load(dt, x));
	} else if (dt == DT_U64) {
		memcpy(&bits, x, 8);
		buf_addf(out, "%llu", bits);
	} else {
		buf_addf(out, "%lld", (long long)dtype_load_int(dt, x));
	}
}

/* Bytes of output that a launch may print; the rest is dropped. */
enum { PRINT_LIMIT = 1 << 20 };

/* Prints a line per lane: "pid (x, y, z) idx (i) prefix: value", as the GPU does. */
int exec_print(struct machine *m, const struct tile_insn *in, const struct decoded_insn *p)
{
	(void)p;
	if (!m->prints || m->prints->n > PRINT_LIMIT)
		return 0;
	if (!in->n_src)
		buf_addf(m->prints, "pid (%lld, %lld, %lld) %.*s\n", (long long)m->pid[0],
			 (long long)m->pid[1], (long long)m->pid[2], STR_ARG(in->text));
	for (int k = 0; k < in->n_src; k++) {
		struct mval *v = mval_src(m, in, k);
		const char *x = mval_dense(v);
		for (int32_t i = 0; i < v->n && m->prints->n < PRINT_LIMIT; i++) {
			buf_addf(m->prints, "pid (%lld, %lld, %lld) idx (%d) %.*s", (long long)m->pid[0],
				 (long long)m->pid[1],
				(long long)m->pid[2], i, STR_ARG(in->text));
			print_lane(m->prints, v, x + (size_t)i * v->esize, in->attr[0]);
			buf_addc(m->prints, '\n');
		}
	}
	return 0;
}
