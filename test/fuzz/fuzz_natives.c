/* Bytes as calls of natives: each call takes a row of the binding tables and arguments from a
 * stock of values, and what it returns joins the stock. So natives meet what other natives make. */
#include "base/str.h"
#include "host/entry.h"
#include "interp/import.h"
#include "interp/sig.h"
#include "interp/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS_MOST = 4096, STOCK = 96, CALLS_MOST = 64 };

static const char stock_source[] =
	"import math, torch, torch.nn as nn\n"
	"import triton, triton.language as tl\n"
	"class C: pass\n"
	"class L(list): pass\n"
	"@triton.jit\n"
	"def k(x, N: tl.constexpr):\n"
	"    tl.store(x, N)\n"
	"stock = [None, ..., True, 0, -1, 3, 2**62, -2**63, 2**80, 1.5, math.inf, math.nan, '', 'abc', 'mean', b'xyz', (), (2, 3), (1, 'a'),\n"
	"    torch.Size([2, 3]), [], [1, 2, 3], [[1.5, 2], [3, 4]], L([2, 1]), {}, {'a': 1}, set(), {1, 'a'}, frozenset((1, 2)), slice(1, None, 2),\n"
	"    range(5), iter([1, 2]), lambda *a, **k: 1, len, [].append, int, list, torch.Size, C, C(), ValueError('x'), math, property(len),\n"
	"    torch.float32, torch.int64, torch.bool, torch.device('cuda'), tl.float32, k, nn.Linear(2, 3), nn.Parameter(torch.ones(3)),\n"
	"    torch.ones(2, 3), torch.zeros(0), torch.tensor(2.0), torch.tensor(5), torch.arange(6).reshape(2, 3), torch.tensor([True, False]),\n"
	"    torch.ones(3, 3, device='cuda'), torch.ones(2, 1, 4, 4), torch.ones(1).expand(4), torch.tensor([-1, 9])]\n";

static const struct bind_row *rows[ROWS_MOST];
static size_t n_rows;

static struct host_lib *open_lib(struct py_module *source)
{
	struct err e = ERR_INIT;
	struct host_lib *lib = host_lib_new(&e);

	if (!lib || py_parse(source, str_of(stock_source), "stock", 0, &e))
		return NULL;
	for (size_t t = 0; t < lib->source->n_tables; t++)
		for (const struct bind_row *r = lib->source->tables[t]; r->name && n_rows < ROWS_MOST; r++)
			if (r->fn && !(r->flags & BIND_CONST))
				rows[n_rows++] = r;
	return lib;
}

struct player { struct host *h; struct val stock; const uint8_t *p, *end; };

static unsigned next_byte(struct player *x) { return x->p < x->end ? *x->p++ : 0; }

static void play(struct player *x)
{
	const struct bind_row *row = rows[(next_byte(x) << 8 | next_byte(x)) % n_rows];
	struct val a[SIG_SLOTS], fn, out = { .kind = V_UNSET };
	struct call_args args = { .a = a, .n = next_byte(x) % 6 };
	struct host_entry en;
	struct err e = ERR_INIT;
	int rc;

	for (size_t i = 0; i < args.n; i++)
		a[i] = x->stock.u.seq->v[next_byte(x) % x->stock.u.seq->n];
	host_begin(x->h, &en);
	rc = builtin_get_row(x->h, row, &fn) || builtin_call(x->h, fn.u.b, &args, &out) ? -1 : 0;
	if (!rc && x->stock.u.seq->n < STOCK)
		rc = list_append(x->h, x->stock, out);
	if (!host_end(x->h, &en, rc, &out, &e))
		val_drop(x->h, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct host_lib *lib;
	static struct py_module source;
	struct player x = { .p = data, .end = data + size };
	struct err e = ERR_INIT;
	struct val ns;
	struct host_options o;

	if (!lib && !(lib = open_lib(&source)))
		return 0;
	o = (struct host_options){ .lib = lib, .fuel = 400000, .memory = (size_t)48 << 20, .recursion = 60 };
	x.h = host_new(&o, &e);
	if (!host_load(x.h, &source, NULL, 0, &ns, &e) && host_get(x.h, ns, "stock", &x.stock) == 1)
		for (int i = 0; i < CALLS_MOST && x.p < x.end && !host_is_lost(x.h); i++)
			play(&x);
	host_free(x.h);
	return 0;
}
