/* Extraction of code: the shapes of answers that broke the first attempt at this. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "data/extract.h"

#define CODE "import triton\nclass ModelNew:\n    pass\n"

static const struct {
	const char *what, *answer, *code;
	enum extract_how how;
} cases[] = {
	{ "tagged fence", "Plan.\n```python\n" CODE "```\nDone.", CODE, EXTRACT_FENCE },
	{ "no tag", "```\n" CODE "```", CODE, EXTRACT_FENCE },
	{ "odd tag", "```Python3 title=x\n" CODE "```", CODE, EXTRACT_FENCE },
	{ "tildes", "~~~py\n" CODE "~~~\n", CODE, EXTRACT_FENCE },
	{ "four backticks hold three", "````\nx = '''\n```\n'''\nclass ModelNew: pass\n````\n", "x = '''\n```\n'''\nclass ModelNew: pass\n", EXTRACT_FENCE },
	{ "last ModelNew wins", "```python\nclass ModelNew: a\n```\nbetter:\n```python\n" CODE "```\n", CODE, EXTRACT_FENCE },
	{ "a later block without ModelNew does not", "```python\n" CODE "```\nuse:\n```python\nm = ModelNew()\n```\n", CODE, EXTRACT_FENCE },
	{ "unclosed", "Here:\n```python\n" CODE, CODE, EXTRACT_OPEN_FENCE },
	{ "think block is skipped", "<think>\n```python\nclass ModelNew: draft\n```\n</think>\n```python\n" CODE "```", CODE, EXTRACT_FENCE },
	{ "unclosed think", "<think> hm\n```python\n" CODE "```", CODE, EXTRACT_FENCE },
	{ "chat residue", "```python\n" CODE "<|im_end|>\n<|im_start|>user", CODE, EXTRACT_OPEN_FENCE },
	{ "no fence", CODE, CODE, EXTRACT_BARE },
	{ "no fence, leading prose", "Sure, here it is.\n\n" CODE, CODE, EXTRACT_BARE },
	{ "windows newlines", "```python\r\nimport triton\r\nclass ModelNew:\r\n    pass\r\n```\r\n", CODE, EXTRACT_FENCE },
	{ "indented fence", "1. first\n   ```python\n" CODE "   ```\n", CODE, EXTRACT_FENCE },
	{ "code indented with its fence", "1. first\n   ```python\n   import triton\n   class ModelNew:\n       pass\n   ```\n", CODE, EXTRACT_FENCE },
	{ "in pieces", "First\n```python\nimport triton\n@triton.jit\ndef k(): pass\n```\nthen\n```python\nclass ModelNew:\n    pass\n```\nUse:\n```\nm = ModelNew()\n```",
	  "import triton\n@triton.jit\ndef k(): pass\nclass ModelNew:\n    pass\n", EXTRACT_FENCE },
	{ "the task again is no piece", "```python\nclass Model(nn.Module): pass\n```\n```\nimport triton\n@triton.jit\ndef k(): pass\n```\n```python\nclass ModelNew: pass\n```",
	  "import triton\n@triton.jit\ndef k(): pass\nclass ModelNew: pass\n", EXTRACT_FENCE },
	{ "thinking that was cut off", "<think> maybe\n```python\n" CODE, "", EXTRACT_NONE },
	{ "thinking without a fence", "<think>\n" CODE, "", EXTRACT_NONE },
	{ "kernel without class", "```\n@triton.jit\ndef k(): pass\n```", "@triton.jit\ndef k(): pass\n", EXTRACT_FENCE },
	{ "transcript", "<|im_start|>system\nYou write kernels.<|im_end|>\n<|im_start|>user\nRewrite:\n```python\nclass Model(nn.Module): pass\n```\n<|im_end|>\n"
	  "<|im_start|>assistant\nPlan.\n```python\n" CODE "```\nDone.<|im_end|>\n", CODE, EXTRACT_FENCE },
	{ "transcript with an example", "<|im_start|>user\nA<|im_end|>\n<|im_start|>assistant\n```\nclass ModelNew: example\n```<|im_end|>\n<|im_start|>user\nB<|im_end|>\n"
	  "<|im_start|>assistant\n<think>x</think>\n```python\n" CODE "```<|im_end|>\n<|im_start|>assistant\n", CODE, EXTRACT_FENCE },
	{ "transcript of another family", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nGo<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n```python\n"
	  CODE "```<|eot_id|>", CODE, EXTRACT_FENCE },
	{ "transcript without an answer", "<|im_start|>user\n```\nclass ModelNew: no\n```<|im_end|>\n<|im_start|>assistant\n", "", EXTRACT_NONE },
	{ "an answer and a made-up turn", "```python\n" CODE "```<|im_end|>\n<|im_start|>user\nmore<|im_end|>\n<|im_start|>assistant\n```\nclass ModelNew: other\n```", CODE,
	  EXTRACT_FENCE },
	{ "prose behind the closing fence", "```python\n" CODE "``` This kernel fuses both steps.\nIt is fast.", CODE, EXTRACT_FENCE },
	{ "one word behind the closing fence", "```python\n" CODE "```Done.\nIt is fast.", CODE, EXTRACT_FENCE },
	{ "closing fence behind the code", "```python\nimport triton\nclass ModelNew:\n    pass```\nIt is fast.", "import triton\nclass ModelNew:\n    pass", EXTRACT_FENCE },
	{ "only the closing fence", CODE "```\nThis kernel is fast.\n", CODE, EXTRACT_BARE },
	{ "only the closing fence, with a usage", CODE "```\nUse it so:\n```python\nm = ModelNew()\n```\n", CODE, EXTRACT_BARE },
	{ "a fence in a docstring", "```python\nclass ModelNew:\n    \"\"\"Use\n    ```python x\"\"\"\n```\n", "class ModelNew:\n    \"\"\"Use\n    ```python x\"\"\"\n", EXTRACT_FENCE },
	{ "empty", "", "", EXTRACT_NONE },
	{ "prose only", "I cannot do that.", "", EXTRACT_NONE },
	{ "prose that imports trust", "import duties are high\nand so on", "", EXTRACT_NONE },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf code = BUF_INIT;
		struct extract x;

		assert_int_equal(extract_code(str_of(cases[i].answer), &x, &code, NULL), 0);
		print_message("  %s\n", cases[i].what);
		assert_string_equal(buf_cstr(&code), cases[i].code);
		assert_int_equal(x.how, cases[i].how);
		buf_release(&code);
	}
}

static void test_classes(void **state)
{
	struct str answer = STR("ab\n```\nclass ModelNew: pass\n```");
	size_t ends[] = { 2, 3, 7, 12, 31 };
	unsigned char classes[5];
	struct buf code = BUF_INIT;
	struct extract x;

	(void)state;
	assert_int_equal(extract_code(answer, &x, &code, NULL), 0);
	extract_classes(&x, ends, 5, classes);
	assert_int_equal(classes[0], EXTRACT_PLAN);
	assert_int_equal(classes[1], EXTRACT_PLAN);
	assert_int_equal(classes[2], EXTRACT_CODE);
	assert_int_equal(classes[4], EXTRACT_CODE);
	assert_memory_equal(answer.p + x.code_begin, "class", 5);
	buf_release(&code);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases), cmocka_unit_test(test_classes) };

	return cmocka_run_group_tests_name("extract", tests, NULL, NULL);
}
