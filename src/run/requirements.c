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
int requirements_missing(const struct requirements *n, struct buf *out)
{
	int missing = 0;

	for (size_t i = 0; n->prepare && !is_prepared(n->prepare) && i < n->prepare->input.n; i++)
		missing += add_missing(out, "input of prepare", n->prepare->input.v[i],
				       "put the data there, or set `input: FILE` in section prepare");
	if (n->policy) {
		missing += add_missing(out, "model", n->policy->model,
				       "put its Hugging Face folder there (config.json, safetensors, "
				       "tokenizer.json), or set `model: DIR`");
		missing += find_device(n->policy->device, out);
	}
	if (n->eval)
		missing += add_missing(out, "tasks of eval", n->eval->tasks,
				       "put them there, or set `tasks: FILE_OR_FOLDER` in section eval");
	return missing;
}
