/* Adapters in PEFT's format: adapter_config.json and adapter_model.safetensors, with tensors
 * named base_model.model.model.layers.N.self_attn.q_proj.lora_A.weight and so on.
 *
 * This file owns the format; adapter.c owns the parameters. A folder written here loads in PEFT,
 * and PEFT's folders load here unless they use a feature that refuse() lists. */
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/model_impl.h"

/* PEFT wraps the model twice, which shows in the names. */
#define PREFIX "base_model.model."

/* The fields that PEFT needs to load the adapter, with its own defaults for the rest. */
static void write_config(const struct adapter *a, const char *base_model, struct buf *out)
{
	static const char *const nulls[] = { "auto_mapping", "layers_pattern", "layers_to_transform",
					     "megatron_config", "modules_to_save", "revision" };
	static const char *const falses[] = { "fan_in_fan_out", "use_dora", "use_rslora" };
	struct jw w = { .out = out, .indent = 2 };

	jw_begin(&w, '{');
	jw_key(&w, "peft_type"), jw_cstr(&w, "LORA");
	jw_key(&w, "task_type"), jw_cstr(&w, "CAUSAL_LM");
	jw_key(&w, "base_model_name_or_path"), jw_cstr(&w, base_model);
	jw_key(&w, "inference_mode"), jw_bool(&w, 1);
	jw_key(&w, "bias"), jw_cstr(&w, "none");
	jw_key(&w, "init_lora_weights"), jw_bool(&w, 1);
	jw_key(&w, "r"), jw_int(&w, a->o.r);
	jw_key(&w, "lora_alpha"), jw_real(&w, (double)a->o.alpha);
	jw_key(&w, "lora_dropout"), jw_real(&w, rint((double)a->o.dropout * 1e7) / 1e7);
	jw_key(&w, "target_modules");
	jw_begin(&w, '[');
	for (int t = 0; t < LORA_TARGETS; t++)
		if (a->o.targets >> t & 1)
			jw_cstr(&w, strchr(lora_target_info[t].module, '.') + 1);
	jw_end(&w, ']');
	jw_key(&w, "rank_pattern"), jw_begin(&w, '{'), jw_end(&w, '}');
	jw_key(&w, "alpha_pattern"), jw_begin(&w, '{'), jw_end(&w, '}');
	for (size_t i = 0; i < COUNT_OF(nulls); i++)
		jw_key(&w, nulls[i]), jw_null(&w);
	for (size_t i = 0; i < COUNT_OF(falses); i++)
		jw_key(&w, falses[i]), jw_bool(&w, 0);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* The current parameters. */
int adapter_save(const struct adapter *a, const char *dir, const char *base_model, struct err *e)
{
	return adapter_save_copy(a, &a->params, dir, base_model, e);
}

/* The configuration comes last: a folder that has it is complete. */
int adapter_save_copy(const struct adapter *a, const struct slab *params, const char *dir,
		      const char *base_model, struct err *e)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc = -1;

	write_config(a, base_model, &text);
	if (!file_mkdirs(dir, e) && !buf_check(&text, e) &&
	    !slab_save(params, path_join(&path, dir, "adapter_model.safetensors"), PREFIX, e) &&
	    !file_replace(path_join(&path, dir, "adapter_config.json"), buf_str(&text), e))
		rc = 0;
	if (rc)
		err_wrap(e, "saving adapter '%s'", dir);
	buf_release(&path);
	buf_release(&text);
	return rc;
}

/* target_modules is a string or a list; an entry may be a full path, and then its last part
 * counts. */
static int read_targets(const struct json *j, unsigned *bits, struct err *e)
{
	const struct json *t = json_get(j, "target_modules");
	unsigned one;

	*bits = 0;
	if (t && json_kind(t) == JSON_STRING)
		return lora_targets_parse(json_str(t, ""), bits, e);
	for (size_t i = 0; t && i < json_count(t); i++) {
		struct str s = json_str(json_at(t, i), "");
		const char *dot = s.n ? memrchr(s.p, '.', s.n) : NULL;

		if (dot)
			s = (struct str){ .p = dot + 1, .n = s.n - (size_t)(dot + 1 - s.p) };
		if (lora_targets_parse(s, &one, e))
			return -1;
		*bits |= one;
	}
	return *bits ? 0 : err_set(e, ERR_FORMAT, "no target_modules");
}

/* Refuses features that change the numbers and that this program does not have. */
static int refuse(const struct json *j, struct err *e)
{
	static const char *const flags[] = { "use_dora", "fan_in_fan_out", "lora_bias" };

	for (size_t i = 0; i < COUNT_OF(flags); i++)
		if (json_bool(json_get(j, flags[i]), 0))
			return err_set(e, ERR_UNSUPPORTED, "an adapter with %s", flags[i]);
	if (!str_is(json_str(json_get(j, "peft_type"), "LORA"), "LORA"))
		return err_set(e, ERR_UNSUPPORTED, "peft_type '%.*s'", STR_ARG(json_str(json_get(j, "peft_type"), "")));
	if (json_get(j, "rank_pattern") && json_count(json_get(j, "rank_pattern")))
		return err_set(e, ERR_UNSUPPORTED, "an adapter with a rank_pattern");
	if (json_get(j, "alpha_pattern") && json_count(json_get(j, "alpha_pattern")))
		return err_set(e, ERR_UNSUPPORTED, "an adapter with an alpha_pattern");
	return 0;
}

/* rslora scales by alpha / sqrt(r), which equals a larger alpha here. */
static int read_config(struct adapter_opts *o, const char *path, struct err *e)
{
	struct json *j = json_parse_file(path, e);
	int64_t r;
	int rc = -1;

	*o = (struct adapter_opts){ .r = 0 };
	if (!j || refuse(j, e) || json_need_int(j, "r", &r, e) || read_targets(j, &o->targets, e))
		goto out;
	/* adapter_new refuses a rank that is out of range. */
	o->r = (int)MIN(r, 1 << 20);
	o->alpha = (float)json_real(json_get(j, "lora_alpha"), (double)r);
	if (json_bool(json_get(j, "use_rslora"), 0))
		o->alpha *= sqrtf((float)r);
	o->dropout = (float)json_real(json_get(j, "lora_dropout"), 0);
	rc = 0;
out:
	json_free(j);
	return rc;
}

int adapter_read_opts(struct adapter_opts *o, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, dir, "adapter_config.json") ? read_config(o, path.p, e) : err_nomem(e);

	buf_release(&path);
	return rc ? err_wrap(e, "adapter '%s'", dir) : 0;
}

/* Is this the folder of an adapter? A whole model has config.json. */
static int is_adapter(const char *dir)
{
	struct buf path = BUF_INIT;
	int yes = path_join(&path, dir, "adapter_config.json") && file_exists(path.p) &&
		path_join(&path, dir, "config.json") && !file_exists(path.p);

	buf_release(&path);
	return yes;
}

int adapter_split(const char **model, const char **adapter, struct buf *base, struct err *e)
{
	struct buf path = BUF_INIT;
	struct json *j;

	if (*adapter || !is_adapter(*model))
		return 0;
	j = path_join(&path, *model, "adapter_config.json") ? json_parse_file(path.p, e) : NULL;
	buf_release(&path);
	if (!j)
		return -1;
	buf_clear(base);
	buf_addstr(base, json_str(json_get(j, "base_model_name_or_path"), ""));
	json_free(j);
	if (!base->n || !file_is_dir(buf_cstr(base)))
		return err_set(e, ERR_NOT_FOUND, "'%s' is an adapter, and its base model '%s' is not here: use "
			       "--model BASE --adapter %s", *model, buf_cstr(base), *model);
	*adapter = *model;
	*model = buf_cstr(base);
	return buf_check(base, e);
}

/* The adapter is made with random values first; loading replaces all of them. */
struct adapter *adapter_open(const struct model *m, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	struct adapter_opts o;
	struct adapter *a = NULL;

	if (read_config(&o, path_join(&path, dir, "adapter_config.json"), e) || !(a = adapter_new(m, &o, e)))
		goto fail;
	if (slab_load(&a->params, path_join(&path, dir, "adapter_model.safetensors"), PREFIX, e))
		goto fail;
	adapter_updated(a);
	buf_release(&path);
	return a;
fail:
	err_wrap(e, "adapter '%s'", dir);
	buf_release(&path);
	adapter_free(a);
	return NULL;
}
