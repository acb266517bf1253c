/* Launch plans from hostile text are refused, and the compiler of kernels keeps its promises with a
 * compiler process that refuses, crashes, hangs or answers nonsense (fake_compiler). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "verify/gpu/gpu_plan.h"
#include "verify/gpu/kernel_compiler.h"

#define STORAGES "\"storages\":[{\"bytes\":64,\"from\":\"input\",\"name\":\"0\"},{\"bytes\":64,\"from\":\"empty\"}]"
#define VIEW "{\"storage\":1,\"offset\":0,\"dtype\":\"float32\",\"shape\":[4,4],\"stride\":[4,1]}"

static int parse(const char *text, struct gpu_plan *p)
{
	struct err e = ERR_INIT;

	return gpu_plan_parse(p, str_of(text), &e);
}

/* A plan with one launch and one result. */
static void test_good(void **state)
{
	struct gpu_plan p;

	(void)state;
	assert_int_equal(parse("{\"kernels\":[{\"num_warps\":4}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[2,1,1],"
			       "\"args\":[[\"*fp32\",0,16],[\"i32\",\"-7\"],[\"fp32\",\"nan\"],[\"u1\",\"1\"]]},"
			       "{\"copy\":[" VIEW "," VIEW "]}],\"results\":[" VIEW "]}", &p), 0);
	assert_int_equal(p.n_steps, 2);
	assert_int_equal(p.steps[0].args[0].offset, 16);
	assert_int_equal((int32_t)(p.steps[0].args[1].number[0] | (unsigned)p.steps[0].args[1].number[1] << 8 |
				   (unsigned)p.steps[0].args[1].number[2] << 16 |
				   (unsigned)p.steps[0].args[1].number[3] << 24), -7);
	assert_int_equal(p.steps[0].args[3].bytes, 1);
	assert_int_equal(p.bytes, 128);
	assert_true(launch_view_is_dense(&p.results[0]));
	gpu_plan_release(&p);
	assert_int_equal(parse("{\"unavailable\":\"torch.matmul\"}", &p), 0);
	assert_true(str_is(p.unavailable, "torch.matmul"));
	gpu_plan_release(&p);
}

#define OPERATOR(name, args) "{" STORAGES ",\"steps\":[{\"operator\":\"" name "\",\"tf32\":false,\"args\":[" args \
	"],\"kwargs\":{},\"out\":[" VIEW "]}],\"results\":[" VIEW "]}"

/* Operators of our own engine may be called by name, others of PyTorch may not, and their views are
 * checked however deep they lie. */
static void test_operators(void **state)
{
	static const char *const bad[] = {
		OPERATOR("torch.load", "\"x\""), OPERATOR("os.system", "\"x\""), OPERATOR("torch.randn", "4"),
		OPERATOR("torch.compile", "null"), OPERATOR("torch.Tensor.shape", "{\"view\":" VIEW "}"),
		OPERATOR("torch.cat", "{\"list\":[{\"view\":{\"storage\":9,\"offset\":0,\"dtype\":\"float32\","
			 "\"shape\":[1],\"stride\":[1]}}]}"),
		OPERATOR("torch.matmul", "[[[[[[[[[[[1]]]]]]]]]]]"),
	};
	struct gpu_plan p;

	(void)state;
	assert_int_equal(parse(OPERATOR("torch.matmul", "{\"view\":" VIEW "},{\"view\":" VIEW "}"), &p), 0);
	assert_int_equal(p.n_operators, 1);
	assert_int_equal(p.n_kernels, 0);
	assert_true(p.steps[0].is_operator);
	gpu_plan_release(&p);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (!parse(bad[i], &p))
			fail_msg("accepted: %s", bad[i]);
		gpu_plan_release(&p);
	}
}

/* Every number that leaves its storage, its table or its range is refused. */
static void test_hostile(void **state)
{
	static const char *const bad[] = {
		"", "[]x", "{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":1,\"grid\":[1,1,1],\"args\":[]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":-1,\"grid\":[1,1,1],\"args\":[]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[0,1,1],\"args\":[]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,70000,1],\"args\":[]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,1,1],\"args\":[[\"*fp32\",2,0]]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,1,1],\"args\":[[\"*fp32\",0,65]]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,1,1],\"args\":[[\"*fp32\",0,-1]]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,1,1],\"args\":[[\"odd\",\"1\"]]}]}",
		"{\"kernels\":[{}]," STORAGES ",\"steps\":[{\"kernel\":0,\"grid\":[1,1,1],\"args\":[[\"i32\",\"x\"]]}]}",
		"{\"storages\":[{\"bytes\":-1,\"from\":\"empty\"}]}", "{\"storages\":[{\"bytes\":4,\"from\":\"nowhere\"}]}",
		"{\"storages\":[{\"bytes\":9000000000000000000,\"from\":\"empty\"}]}",
		"{\"storages\":[{\"bytes\":4,\"from\":\"value\",\"hex\":\"zz\"}]}",
		"{\"storages\":[{\"bytes\":4,\"from\":\"bytes\",\"hex\":\"00\"}]}",
		"{\"storages\":[{\"bytes\":4,\"from\":\"value\",\"hex\":\"000000\"}]}",
		"{" STORAGES ",\"results\":[{\"storage\":0,\"offset\":4,\"dtype\":\"float32\",\"shape\":[16],\"stride\":[1]}]}",
		"{" STORAGES ",\"results\":[{\"storage\":0,\"offset\":2,\"dtype\":\"float32\",\"shape\":[1],\"stride\":[1]}]}",
		"{" STORAGES ",\"results\":[{\"storage\":0,\"offset\":0,\"dtype\":\"float32\",\"shape\":[2],\"stride\":[-1]}]}",
		"{" STORAGES ",\"results\":[{\"storage\":0,\"offset\":0,\"dtype\":\"float32\","
		"\"shape\":[4611686018427387904,4611686018427387904],\"stride\":[0,0]}]}",
		"{" STORAGES ",\"results\":[{\"storage\":0,\"offset\":0,\"dtype\":\"float99\",\"shape\":[1],\"stride\":[1]}]}",
	};
	struct gpu_plan p;

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (!parse(bad[i], &p))
			fail_msg("accepted: %s", bad[i]);
		gpu_plan_release(&p);
	}
}

/* A compiler with the fake process of this build; NULL: it was not built. */
static struct kernel_compiler *fake(double seconds)
{
	static char path[512];
	struct kernel_compiler_options o = { .command = path, .workers = 2, .capability = 90, .seconds = seconds,
					     .memory = (size_t)4 << 30, .no_sandbox = MEM_WATCHED };
	const char *build = getenv("BUILD_DIR");
	struct err e = ERR_INIT;
	FILE *f;

	snprintf(path, sizeof path, "%s/tool/fake_compiler", build ? build : "build/release");
	f = fopen(path, "r");
	if (!f)
		return NULL;
	fclose(f);
	/* The address sanitizer reserves terabytes. */
	if (MEM_WATCHED)
		o.memory = SIZE_MAX / 2;
	return kernel_compiler_new(&o, &e);
}

/* The request of a kernel of this name. */
static const struct compiled_kernel *ask(struct kernel_compiler *c, const char *name)
{
	char text[256];

	snprintf(text, sizeof text, "{\"num_warps\":8,\"functions\":[{\"name\":\"%s\"}]}", name);
	return kernel_compiler_ask(c, str_of(text));
}

static void test_compiler(void **state)
{
	struct kernel_compiler *c = fake(0.1);
	const struct compiled_kernel *k, *again;

	(void)state;
	if (!c)
		skip();
	k = ask(c, "good");
	assert_int_equal(k->status, COMPILED_OK);
	assert_int_equal(k->meta.num_warps, 8);
	assert_string_equal(k->meta.name, "good");
	again = ask(c, "good");
	assert_ptr_equal(k, again);
	assert_int_equal(kernel_compiler_stats(c).cached, 1);
	assert_string_equal(kernel_compiler_version(c), "stand-in");
	/* A worker that crashes, hangs or answers nonsense costs one kernel each; the next one compiles. */
	assert_int_equal(ask(c, "compile_refuse")->status, COMPILED_REFUSED);
	assert_int_equal(ask(c, "compile_crash")->status, COMPILED_REFUSED);
	assert_int_equal(ask(c, "good_2")->status, COMPILED_OK);
	assert_int_equal(ask(c, "compile_malformed")->status, COMPILED_REFUSED);
	assert_int_equal(ask(c, "good_3")->status, COMPILED_OK);
	assert_int_equal(ask(c, "compile_hang")->status, COMPILED_REFUSED);
	assert_int_equal(ask(c, "good_4")->status, COMPILED_OK);
	assert_int_equal(kernel_compiler_stats(c).lost, 3);
	kernel_compiler_free(c);
}

/* Without a compiler nothing is compiled, and the reason stays. */
static void test_no_compiler(void **state)
{
	struct kernel_compiler_options o = { .command = "/nonexistent", .workers = 1, .capability = 90, .seconds = 1.0,
					     .memory = SIZE_MAX / 2, .no_sandbox = 1 };
	struct err e = ERR_INIT;
	struct kernel_compiler *c = kernel_compiler_new(&o, &e);

	(void)state;
	assert_int_equal(ask(c, "good")->status, COMPILED_UNAVAILABLE);
	assert_int_equal(ask(c, "good_2")->status, COMPILED_UNAVAILABLE);
	assert_non_null(strstr(ask(c, "good_2")->message, "cannot be started"));
	kernel_compiler_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_good), cmocka_unit_test(test_operators),
					    cmocka_unit_test(test_hostile),
					    cmocka_unit_test(test_compiler), cmocka_unit_test(test_no_compiler) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
