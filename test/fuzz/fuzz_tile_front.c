/* Any source, as kernels: parse, read the top level, compile every jit function under guessed
 * types. Whatever the text is, the answer is accepted or refused, never a crash, and accepted
 * code passes the verifier (compile_kernel reports code that does not as an error). */
#include <stdlib.h>

#include "tile/lint/check_kernel.h"
#include "tile/front/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tile_engine *g;
	struct err e = ERR_INIT;
	struct py_module m;
	struct check_env env;
	struct buf src = BUF_INIT;
	if (!g && !(g = tile_engine_new(&(struct tile_options){ .triton_version = 306, .capability = 90 }, &e)))
		abort();
	buf_adds(&src, head);
	buf_add(&src, data, size);
	if (!py_parse(&m, buf_str(&src), "fuzz.py", 64u << 20, &e)) {
		if (!check_env_init(&env, &m, NULL, &e)) {
			for (size_t i = 0; i < env.n_fns && i < 4; i++) {
				struct diag d = { 0 };
				int unsure;
				err_clear(&e);
				if (check_kernel_inferred(g, &env, &env.fns[i], &d, &unsure, &e) < 0 && e.code == ERR_STATE)
					bug_at("fuzz", 0, "%s", e.text);
			}
			check_env_release(&env);
		}
		py_release(&m);
	}
	buf_release(&src);
	return 0;
}
