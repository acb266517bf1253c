/* The requirements of a run: see requirements.h. Everything missing is reported at once, because
 * users give up if each message takes an hour. */
#include "run/requirements.h"

#include "base/file.h"
#include "dev/dev.h"

/* Appends a line if the file is missing. Returns 1 if it is. */
static int add_missing(struct buf *out, const char *what, const char *path, const char *help)
{
	if (!path || file_exists(path))
		return 0;
	buf_addf(out, "%s '%s' is missing: %s\n", what, path, help);
	return 1;
}

/* Only a GPU that was named can be missing: `auto` takes what the machine has. */
static int find_device(const char *name, struct buf *out)
{
	struct err e = ERR_INIT;
	struct dev *d;

	if (!name || !str_starts(str_of(name), "cuda"))
		return 0;
	d = dev_open(name, 1, &e);
	if (!d)
		buf_addf(out, "device '%s': %s; `device: auto` runs on the CPU\n", name, e.text);
	dev_close(d);
	return !d;
}

/* Data that was prepared before is not read again, so its inputs may be missing. */
static int is_prepared(const struct prepare_args *p)
{
	struct buf path = BUF_INIT;
	int yes = p->out && path_join(&path, p->out, "prepare.json") && file_exists(path.p);

	buf_release(&path);
	return yes;
}

/* Checks inputs of prepare, the model, the device and the tasks of eval, in the order of the
 * stages. */
int requirements_missing(const struct pipeline *p, struct buf *out)
{
	int evaluates = pipeline_has(p, PIPELINE_eval);
	int trains = pipeline_has(p, PIPELINE_sft) || pipeline_has(p, PIPELINE_rl);
	int prepares = pipeline_has(p, PIPELINE_prepare), missing = 0;
	const char *tasks = p->eval.eval.tasks;

	for (size_t i = 0; prepares && !is_prepared(&p->prepare) && i < p->prepare.input.n; i++)
		missing += add_missing(out, "input of prepare", p->prepare.input.v[i],
				       "put the data there, or set `input: FILE` in section prepare");
	if (trains || evaluates) {
		missing += add_missing(out, "model", p->sft.policy.model,
				       "put its Hugging Face folder there (config.json, safetensors, "
				       "tokenizer.json), or set `model: DIR`");
		missing += find_device(p->sft.policy.device, out);
	}
	if (evaluates && tasks && !(prepares && str_starts(str_of(tasks), p->prepare.out)))
		missing += add_missing(out, "tasks of eval", tasks,
				       "put them there, or set `tasks: FILE_OR_FOLDER` in section eval");
	return missing;
}
