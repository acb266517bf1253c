/* tiny_model DIR TEXT_FILE: a random model of a few thousand weights with a tokenizer learned
 * from the file, in Hugging Face's layout, for tests of commands that need a model. */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "model/model.h"
#include "tok/tok.h"

static const char template[] =
	"{%- for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{%- endfor %}"
	"{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}";

static int make(const char *dir, const char *text, struct err *e)
{
	static const char *const specials[] = { "<|im_end|>", "<|im_start|>", NULL };
	const struct tok_train job = { .files = &text, .nfiles = 1, .vocab = 320, .specials = specials, .digits = 1, .chat_template = template };
	const struct model_config c = {
		.arch = ARCH_QWEN2, .V = 320, .C = 32, .L = 2, .H = 4, .HKV = 2, .D = 8, .F = 64, .max_position = 512,
		.eps = 1e-6f, .rope_theta = 10000, .tied = 1, .qkv_bias = 1, .bos = -1, .eos = 318,
	};
	struct dev *d = dev_open("cpu", 1, e);
	struct model *m = d ? model_new(d, &c, &(struct model_opts){ .seed = 7, .init_std = 0.2f }, e) : NULL;
	int rc = m && !file_mkdirs(dir, e) && !model_save(m, NULL, dir, DT_F32, e) && !tok_train(dir, &job, e) ? 0 : -1;

	model_free(m);
	dev_close(d);
	return rc;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;

	if (argc != 3)
		err_set(&e, ERR_USAGE, "usage: tiny_model DIR TEXT_FILE");
	if (argc != 3 || make(argv[1], argv[2], &e)) {
		fprintf(stderr, "tiny_model: %s\n", e.text);
		return 2;
	}
	return 0;
}
