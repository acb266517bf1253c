/* Kernels of our own: see kernel_library.h. */
#include "verify/gpu/kernel_library.h"

#include <stdio.h>

#include "base/json.h"
#include "tensor/tensor.h"

/* A copy between two views of at most five dimensions: element i of the order of sizes (d0 is not needed) is at the
 * strides t* of one and f* of the other. */
static const char copy_source[] =
	"def tritonrl_copy(to, of, n, d1, d2, d3, d4, t0, t1, t2, t3, t4, f0, f1, f2, f3, f4, BLOCK: tl.constexpr):\n"
	"    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n"
	"    m = i < n\n"
	"    i4 = i % d4\n"
	"    i3 = i // d4 % d3\n"
	"    i2 = i // d4 // d3 % d2\n"
	"    i1 = i // d4 // d3 // d2 % d1\n"
	"    i0 = i // d4 // d3 // d2 // d1\n"
	"    x = tl.load(of + i0 * f0 + i1 * f1 + i2 * f2 + i3 * f3 + i4 * f4, mask=m)\n"
	"    tl.store(to + i0 * t0 + i1 * t1 + i2 * t2 + i3 * t3 + i4 * t4, x, mask=m)\n";

/* Each word is mixed with its position, so that exchanged elements change the sum. */
static const char digest_source[] =
	"def tritonrl_digest(of, to, n, seed, BLOCK: tl.constexpr):\n"
	"    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)\n"
	"    m = i < n\n"
	"    x = tl.load(of + i, mask=m, other=0).to(tl.int64)\n"
	"    h = (x + i * 6364136223846793005 + seed) * 2685821657736338717\n"
	"    h = (h ^ (h >> 29)) * 7046029254386353131\n"
	"    h = h ^ (h >> 32)\n"
	"    tl.atomic_add(to, tl.sum(tl.where(m, h, 0), 0))\n";

static void put_param(struct jw *w, const char *name, const char *type)
{
	jw_begin(w, '[');
	jw_cstr(w, name);
	jw_cstr(w, type);
	jw_end(w, ']');
}

static void put_pointer(struct jw *w, const char *name, enum dtype dt)
{
	char type[24];

	snprintf(type, sizeof type, "*%s", dtype_info(dt)->triton);
	put_param(w, name, type);
}

/* Both kernels have the same launch parameters; the signature is open for more. */
static void begin_request(struct jw *w)
{
	jw_begin(w, '{');
	jw_key(w, "num_warps"), jw_int(w, 4);
	jw_key(w, "num_stages"), jw_int(w, 3);
	jw_key(w, "num_ctas"), jw_int(w, 1);
	jw_key(w, "signature");
	jw_begin(w, '[');
}

static void end_request(struct jw *w, const char *name, const char *source)
{
	jw_raw(w, STR("[\"BLOCK\",\"constexpr\",{\"int\":1024}]"));
	jw_end(w, ']');
	jw_key(w, "functions");
	jw_begin(w, '[');
	jw_begin(w, '{');
	jw_key(w, "name"), jw_cstr(w, name);
	jw_key(w, "source"), jw_cstr(w, source);
	jw_key(w, "noinline"), jw_bool(w, 0);
	jw_key(w, "globals"), jw_raw(w, STR("{\"tl\":{\"module\":\"triton.language\"}}"));
	jw_end(w, '}');
	jw_end(w, ']');
	jw_end(w, '}');
}

void kernel_library_copy(enum dtype to, enum dtype from, struct buf *out)
{
	static const char *const names[] = { "n", "d1", "d2", "d3", "d4", "t0", "t1", "t2", "t3", "t4",
					     "f0", "f1", "f2", "f3", "f4" };
	struct jw w = { .out = out };

	begin_request(&w);
	put_pointer(&w, "to", to);
	put_pointer(&w, "of", from);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		put_param(&w, names[i], "i64");
	end_request(&w, "tritonrl_copy", copy_source);
}

void kernel_library_digest(enum dtype of, struct buf *out)
{
	struct jw w = { .out = out };

	begin_request(&w);
	put_pointer(&w, "of", of);
	put_pointer(&w, "to", DT_I64);
	put_param(&w, "n", "i64");
	put_param(&w, "seed", "i64");
	end_request(&w, "tritonrl_digest", digest_source);
}
