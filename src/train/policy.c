/* A policy: model, adapter, tokenizer and trainer as one thing that opens, saves and resumes.
 * policy.h is the manual. */
#include "train/policy.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "train/checkpoint.h"

static const char state_file[] = "trainer.state", style_file[] = "tritonrl.json", tokenizer_file[] = "tokenizer.json";

/* A new model with random weights; only its config.json is read. */
static struct model *new_model(struct policy *p, const struct policy_opts *o, struct err *e)
{
	struct model_config c;
	struct json *j = json_parse_file(o->init, e);
	struct model *m = NULL;

	if (!j)
		return NULL;
	if (!model_config_parse(&c, j, e))
		m = model_new(p->dev, &c, &(struct model_opts){ .store = o->store, .trainable = 1,
								.seed = o->seed }, e);
	json_free(j);
	return m;
}

/* Opens the model and its adapter. Resuming reads the trained part from the checkpoint: the whole
 * model with --full, else the adapter. */
static int open_model(struct policy *p, const struct policy_opts *o, const char *resume, struct err *e)
{
	struct model_opts mo = { .store = o->store, .trainable = o->full, .seed = o->seed };

	if (o->full && resume)
		p->model = model_open(p->dev, resume, &mo, e);
	else if (o->init)
		p->model = new_model(p, o, e);
	else
		p->model = model_open(p->dev, o->model, &mo, e);
	if (!p->model || o->full)
		return p->model ? 0 : -1;
	if (resume || o->adapter)
		p->adapter = adapter_open(p->model, resume ? resume : o->adapter, e);
	else
		p->adapter = adapter_new(p->model, &o->lora, e);
	/* Dropout belongs to the stage, not to the adapter: its folder may name another. */
	if (p->adapter)
		adapter_set_dropout(p->adapter, o->lora.dropout);
	return p->adapter ? 0 : -1;
}

/* Rejects combinations of options that cannot work, before anything is loaded. */
int policy_check(const struct policy_opts *o, struct err *e)
{
	if (o->init && !o->full)
		return err_set(e, ERR_USAGE, "a new model must be trained whole: add --full to --init");
	if (!(o->tokenizer || o->model) || (!o->model && !o->init))
		return err_set(e, ERR_USAGE, "say which model to train: --model DIR, or --init CONFIG --tokenizer DIR");
	if (o->full && o->adapter)
		return err_set(e, ERR_USAGE,
			       "--full trains the model itself: merge the adapter '%s' into it first, or "
			       "leave --full out", o->adapter);
	return 0;
}

/* Reads tokenizer.json of a folder; *out stays empty if the folder has no tokenizer. */
static int read_tokenizer(const char *dir, struct buf *out, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = !path_join(&path, dir, tokenizer_file) ? err_nomem(e) : file_exists(path.p) ?
		file_read(path.p, SIZE_MAX, out, e) : 0;

	buf_release(&path);
	return rc;
}

/* Weights that were trained with one tokenizer are useless with another: refuses to resume if the
 * file has changed. */
static int check_tokenizer(const char *tok_dir, const char *resume, struct err *e)
{
	struct buf now = BUF_INIT, then = BUF_INIT;
	int rc = read_tokenizer(tok_dir, &now, e) || read_tokenizer(resume, &then, e) ? -1 : 0;

	if (!rc && then.n && !str_eq(buf_str(&now), buf_str(&then)))
		rc = err_set(e, ERR_USAGE,
			     "the tokenizer in '%s' is not the one that '%s' was trained with: put that "
			     "back, or say another --out", tok_dir, resume);
	buf_release(&now);
	buf_release(&then);
	return rc;
}

int policy_open(struct policy *p, struct dev *dev, const struct policy_opts *o, const char *resume, struct err *e)
{
	const char *tok_dir = o->tokenizer ? o->tokenizer : o->model;

	*p = (struct policy){ .dev = dev };
	if (policy_check(o, e) || (resume && check_tokenizer(tok_dir, resume, e)))
		return -1;
	p->tok_dir = mem_strdup(tok_dir);
	p->base = mem_strdup(o->model ? o->model : tok_dir);
	p->prompt_style = o->prompt_style ? mem_strdup(o->prompt_style) : NULL;
	if (!p->tok_dir || !p->base || (o->prompt_style && !p->prompt_style)) {
		err_nomem(e);
		goto fail;
	}
	p->tok = tok_open(tok_dir, e);
	if (!p->tok || open_model(p, o, resume, e))
		goto fail;
	p->trainer = trainer_new(p->model, p->adapter, &o->trainer, e);
	if (!p->trainer)
		goto fail;
	if (resume) {
		struct buf path = BUF_INIT;
		int rc = !path_join(&path, resume, state_file) ? err_nomem(e) : trainer_load(p->trainer, path.p, e);

		buf_release(&path);
		if (rc)
			goto fail;
	}
	return 0;
fail:
	policy_close(p);
	return -1;
}

void policy_close(struct policy *p)
{
	trainer_free(p->trainer);
	adapter_free(p->adapter);
	model_free(p->model);
	tok_free(p->tok);
	mem_free(p->base);
	mem_free(p->tok_dir);
	mem_free(p->prompt_style);
	*p = (struct policy){ .dev = p->dev };
}

/* Checks that all ranks have the same weights and optimizer state, by hash. A rank that read
 * another file would train something else without any error. */
int policy_same(const struct policy *p, struct par *par, struct err *e)
{
	const struct slab *state = optim_slab(trainer_optim(p->trainer));
	uint64_t mine = slab_hash(tape_params(trainer_tape(p->trainer))) ^ slab_hash(state) * 31;
	int64_t first = (int64_t)mine;

	if (par_agree(par, &first, e))
		return -1;
	if (first != (int64_t)mine)
		return err_set(e, ERR_STATE,
			       "rank %d has read other weights than rank 0: does every machine see the same "
				       "'%s'?", par_rank(par), p->base);
	return 0;
}

/* Copies a file if the source has it and the target does not. */
static int copy_file(const char *from_dir, const char *to_dir, const char *name, struct err *e)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int rc = 0;

	path_join(&from, from_dir, name);
	path_join(&to, to_dir, name);
	if (file_exists(buf_cstr(&from)) && !file_exists(buf_cstr(&to)))
		rc = file_copy(buf_cstr(&from), buf_cstr(&to), e);
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* Copies the tokenizer's files, so that the checkpoint is a folder that others can load. */
static int save_tokenizer(const struct policy *p, const char *dir, struct err *e)
{
	static const char *const names[] = { tokenizer_file, "tokenizer_config.json", "chat_template.jinja",
					     "generation_config.json",
					     "special_tokens_map.json", style_file };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (copy_file(p->tok_dir, dir, names[i], e))
			return -1;
	return 0;
}

/* Notes which prompt style the model was trained with; `eval` and `generate` use it. */
static int save_style(const struct policy *p, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc = 0;

	if (p->prompt_style) {
		buf_addf(&text, "{\"prompt_style\": \"%s\"}\n", p->prompt_style);
		rc = !path_join(&path, dir, style_file) || buf_check(&text, e) ? err_nomem(e) :
			file_replace(path.p, buf_str(&text), e);
	}
	buf_release(&path);
	buf_release(&text);
	return rc;
}

void policy_freeze(const struct policy *p)
{
	dev_keep_choices(p->dev);
	optim_put_counters(trainer_optim(p->trainer));
}

int policy_shares_memory(const struct policy *p)
{
	return p->dev->kind == DEV_CPU;
}

int policy_copy(const struct policy *p, struct policy_copy *c, struct err *e)
{
	if (!c->host && !(c->host = dev_open("cpu", 1, e)))
		return -1;
	return slab_copy(&c->params, tape_params(trainer_tape(p->trainer)), c->host, e) ||
	       slab_copy(&c->state, optim_slab(trainer_optim(p->trainer)), c->host, e) ? -1 : 0;
}

void policy_copy_release(struct policy_copy *c)
{
	slab_release(&c->params);
	slab_release(&c->state);
	dev_close(c->host);
	*c = (struct policy_copy)POLICY_COPY_INIT;
}

/* Writes the present weights: the adapter, or the whole model. */
static int write_weights(const struct policy *p, const char *dir, struct err *e)
{
	return p->adapter ? adapter_save(p->adapter, dir, p->base, e) : model_save(p->model, NULL, dir, DT_F32, e);
}

/* Writes the weights and optimizer state of an earlier moment, from a copy. */
static int write_copy(const struct policy *p, const struct policy_copy *c, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = p->adapter ? adapter_save_copy(p->adapter, &c->params, dir, p->base, e) :
		model_save_copy(p->model, &c->params, dir, DT_F32, e);

	if (!rc)
		rc = !path_join(&path, dir, state_file) ? err_nomem(e) : slab_save(&c->state, path.p, "", e);
	buf_release(&path);
	return rc;
}

/* Writes a checkpoint: weights, prompt style, tokenizer, manifest. With `c` NULL the present
 * weights are written, without optimizer state. */
static int save(const struct policy *p, const struct policy_copy *c, const char *parent, const char *name,
		struct str state, struct err *e)
{
	char *dir;
	int rc;

	if (checkpoint_begin(parent, name, &dir, e))
		return -1;
	rc = (c ? write_copy(p, c, dir, e) : write_weights(p, dir, e)) || save_style(p, dir, e) ||
		save_tokenizer(p, dir, e) ||
	     checkpoint_commit(parent, name, dir, state, e) ? -1 : 0;
	if (rc)
		file_remove_tree(dir, NULL);
	mem_free(dir);
	return rc;
}

int policy_save(const struct policy *p, const char *parent, const char *name, struct str state, struct err *e)
{
	return save(p, NULL, parent, name, state, e);
}

int policy_save_copy(const struct policy *p, const struct policy_copy *c, const char *parent,
		     const char *name, struct str state,
		     struct err *e)
{
	return save(p, c, parent, name, state, e);
}
