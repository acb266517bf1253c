/* tritonrl export: writes a model as one folder: an adapter merged, the weights in another form, and the card of
 * the run that trained it. */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "model/model.h"
#include "run/card.h"
#include "run/run.h"

struct args {
	const char *model, *adapter, *run, *out, *form;
};

static const struct opt opts[] = {
	OPT_STR(struct args, model, "model", "DIR", NULL,
		"model folder (Hugging Face form), or an adapter folder that names its model"),
	OPT_STR(struct args, adapter, "adapter", "DIR", NULL, "merge this LoRA adapter (PEFT form) into the weights"),
	OPT_STR(struct args, run, "run", "RUN", NULL,
		"the model that this run ended with (rl_final, else sft_final), with its configuration and a card: "
		"data, training, figures"),
	OPT_CHOICE(struct args, form, "form", "f32|bf16|int8", "bf16",
		   "weights in the file; int8: 8 bits, a scale for each 64 columns, half the size of bf16, read by "
		   "this program only"),
	OPT_STR(struct args, out, "out", "DIR", NULL, "folder to write"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "",
	.about = "Write a model as one folder: with an adapter merged into it, in fp32, bf16 or 8 bits. The "
		 "tokenizer's files and the prompt style are copied.",
	.opts = opts,
};

/* Files of the folder that are not weights. An adapter's own come before those of its model. */
static int copy_files(const char *model, const char *adapter, const char *out, struct err *e)
{
	static const char *const names[] = { "tokenizer.json", "tokenizer_config.json", "chat_template.jinja",
					     "generation_config.json", "special_tokens_map.json", "tritonrl.json" };
	struct buf from = BUF_INIT, to = BUF_INIT;
	int rc = 0;

	for (size_t i = 0; i < COUNT_OF(names) && !rc; i++) {
		if (adapter)
			path_join(&from, adapter, names[i]);
		if (!adapter || !file_exists(buf_cstr(&from)))
			path_join(&from, model, names[i]);
		if (file_exists(buf_cstr(&from)))
			rc = file_copy(buf_cstr(&from), path_join(&to, out, names[i]), e);
	}
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* Weights are read as the file has them; only an adapter is added in fp32. */
static int export(const struct args *a, struct err *e)
{
	enum dtype dt = !strcmp(a->form, "f32") ? DT_F32 : !strcmp(a->form, "int8") ? DT_I8 : DT_BF16;
	struct dev *d = dev_open("cpu", 0, e);
	struct model *m = d ? model_open(d, a->model, &(struct model_opts){ .store = STORE_BF16 }, e) : NULL;
	struct adapter *ad = m && a->adapter ? adapter_open(m, a->adapter, e) : NULL;
	int rc = !m || (a->adapter && !ad) || model_save(m, ad, a->out, dt, e) ||
		copy_files(a->model, a->adapter, a->out, e) ? -1 : 0;

	adapter_free(ad);
	model_free(m);
	dev_close(d);
	return rc;
}

/* The result of a run: of stage rl, or of stage sft if it has no other. */
static int find_result(const char *run, struct buf *path, struct err *e)
{
	if (run_final(run, "rl_final", path) || run_final(run, "sft_final", path))
		return 0;
	return err_set(e, ERR_STATE, "'%s' has no finished model: neither checkpoints/rl_final nor sft_final", run);
}

/* Writes the card of the run, and copies its configuration. */
static int add_card(const struct args *a, struct err *e)
{
	struct buf card = BUF_INIT, from = BUF_INIT, to = BUF_INIT;
	int rc = card_write(a->run, &card, e) || file_replace(path_join(&to, a->out, "README.md"), buf_str(&card), e) ?
		-1 : 0;

	if (!rc && file_exists(path_join(&from, a->run, "config.yaml")))
		rc = file_copy(buf_cstr(&from), path_join(&to, a->out, "config.yaml"), e);
	buf_release(&card);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* The sum of the sizes of a folder's files. */
static double megabytes(const char *dir)
{
	struct buf path = BUF_INIT;
	struct file_list files;
	double sum = 0;

	if (file_list_open(&files, dir, NULL))
		return 0;
	for (size_t i = 0; i < files.n; i++)
		sum += (double)MAX(0, file_size(path_join(&path, dir, files.v[i]), NULL));
	file_list_close(&files);
	buf_release(&path);
	return sum / 1e6;
}

int cmd_export(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct buf base = BUF_INIT;          /* path of the model that an adapter names */
	struct buf result = BUF_INIT;        /* of --run */
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	if (!a.model == !a.run || !a.out || (a.run && a.adapter))
		rc = err_set(&e, ERR_USAGE, "--out and either --model or --run are needed");
	else
		rc = a.run ? find_result(a.run, &result, &e) : 0;
	if (!rc && a.run)
		a.model = buf_cstr(&result);
	if (!rc)
		rc = adapter_split(&a.model, &a.adapter, &base, &e) || export(&a, &e) || (a.run && add_card(&a, &e)) ?
			-1 : 0;
	if (!rc)
		log_info("%s: %.1f MB", a.out, megabytes(a.out));
	rc = rc ? cmd_fail("export", &e) : CMD_OK;
	buf_release(&base);
	buf_release(&result);
	opt_release(&p);
	return rc;
}
