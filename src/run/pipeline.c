/* Options of a whole run: see pipeline.h.
 *
 * Owns the way from a configuration and --set to the options of each stage, and the paths that
 * stages pass on. pipeline_run.c runs the stages. Invariant: a key that no stage understands is an
 * error. */
#include "run/pipeline.h"

#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/sections.h"

const char *pipeline_stage_name(enum pipeline_stage s)
{
	static const char *const names[] = {
#define S(id) #id,
		PIPELINE_STAGES(S)
#undef S
	};

	return names[s];
}

/* --- from a configuration to the options of each stage -------------------------------------------- */

/* How a stage's options are parsed: the command's table, the struct that gets the values, the value
 * of --stage. */
struct reading {
	const struct opt *table;
	void *into;
	const char *stage;             /* value of --stage, or NULL */
};

/* The table and the struct of a stage. Both training stages use the options of `train`. */
static struct reading reading_of(struct pipeline *p, enum pipeline_stage s)
{
	switch (s) {
	case PIPELINE_prepare: return (struct reading){ .table = prepare_opts, .into = &p->prepare };
	case PIPELINE_sft: return (struct reading){ .table = train_opts, .into = &p->sft, .stage = "sft" };
	case PIPELINE_rl: return (struct reading){ .table = train_opts, .into = &p->rl, .stage = "rl" };
	case PIPELINE_eval: return (struct reading){ .table = eval_opts, .into = &p->eval };
	default: return (struct reading){ .table = report_opts, .into = &p->report };
	}
}

/* Compares a key with an option's name; `_` and `-` are equal. */
static int same_name(struct str a, const char *b)
{
	if (a.n != strlen(b))
		return 0;
	for (size_t i = 0; i < a.n; i++)
		if ((a.p[i] == '_' ? '-' : a.p[i]) != b[i])
			return 0;
	return 1;
}

static int is_option(void *name, const struct opt *o, size_t base, const char *group)
{
	(void)base;
	(void)group;
	return same_name(*(struct str *)name, o->name);
}

/* Writes the option that `key` means in a stage, or returns NULL if the stage has none. As in a
 * file, the section's name is tried as a prefix first: `lr` in section rl means --rl-lr. */
static const char *option_word(struct arena *a, const struct opt *table, const char *section, struct str key,
			       struct str value)
{
	char *joined = arena_printf(a, "%s-%.*s", section, STR_ARG(key));
	struct str name = joined ? str_of(joined) : STR("");

	if (!opt_visit(table, is_option, &name))
		name = key;
	return opt_visit(table, is_option, &name) ? arena_printf(a, "--%.*s=%.*s", STR_ARG(name),
								 STR_ARG(value)) : NULL;
}

/* The stage of this name, or -1. */
static int stage_by_name(struct str name)
{
	for (int s = 0; s < PIPELINE_COUNT; s++)
		if (str_is(name, pipeline_stage_name(s)))
			return s;
	return -1;
}

/* Adds one --set to the words of a stage if it concerns that stage. Returns 1 if it does. *used
 * counts the stages that took it. */
static int add_set(struct pipeline *p, enum pipeline_stage s, const char *set, char **word, int *used, struct err *e)
{
	struct str value = str_of(set), key = str_cut(&value, '='), rest = key, section = str_cut(&rest, '.');
	struct reading r = reading_of(p, s);
	const char *w;

	if (!strchr(set, '='))
		return err_set(e, ERR_USAGE, "--set needs KEY=VALUE or STAGE.KEY=VALUE, but got '%s'", set);
	if (rest.n && stage_by_name(section) < 0)
		return err_set(e, ERR_USAGE, "--set '%s': unknown stage '%.*s'", set, STR_ARG(section));
	if (rest.n && stage_by_name(section) != (int)s)
		return 0;
	w = option_word(&p->arena, r.table, pipeline_stage_name(s), rest.n ? rest : key, value);
	if (!w)
		return 0;
	++*used;
	*word = (char *)w;
	return 1;
}

/* Parses the options of one stage: the configuration first, then --set. */
static int parse_stage(struct pipeline *p, enum pipeline_stage s, const struct pipeline_source *src,
		       int *used, struct err *e)
{
	struct reading r = reading_of(p, s);
	struct opt_scope scope = { .own = pipeline_stage_name(s), .all = run_sections };
	char **words = arena_array(&p->arena, src->set->n + 4, sizeof *words);
	int n = 0, rc;

	if (!words)
		return err_nomem(e);
	if (src->config) {
		words[n++] = "--config";
		words[n++] = (char *)src->config;
	}
	if (r.stage)
		words[n++] = arena_printf(&p->arena, "--stage=%s", r.stage);
	for (size_t i = 0; i < src->set->n; i++) {
		rc = add_set(p, s, src->set->v[i], &words[n], &used[i], e);
		if (rc < 0)
			return -1;
		n += rc;
	}
	return opt_parse_in(r.table, &scope, r.into, n, words, &p->parsed[s], e);
}

/* Reads --stages. No names mean all stages. */
static int parse_stages(struct pipeline *p, const struct opt_list *names, struct err *e)
{
	for (size_t i = 0; i < names->n; i++) {
		int s = stage_by_name(str_of(names->v[i]));

		if (s < 0)
			return err_set(e, ERR_USAGE, "unknown stage '%s'", names->v[i]);
		p->stages |= 1u << s;
	}
	if (!names->n)
		p->stages = (1u << PIPELINE_COUNT) - 1;
	return 0;
}

/* --- paths that stages pass on ----------------------------------------------------------------------- */

/* The path of a file that prepare writes. */
static const char *in_data(struct pipeline *p, const char *name)
{
	return arena_printf(&p->arena, "%s/%s", p->prepare.out, name);
}

int pipeline_has(const struct pipeline *p, enum pipeline_stage s)
{
	return (int)(p->stages >> s & 1);
}

/* Appends to a list of options, which is copied because the parser owns it. */
static int add_word(struct pipeline *p, struct opt_list *l, const char *word, struct err *e)
{
	const char **v = arena_array(&p->arena, l->n + 1, sizeof *v);

	if (!v || !word)
		return err_nomem(e);
	if (l->n)
		memcpy(v, l->v, l->n * sizeof *v);
	v[l->n] = word;
	*l = (struct opt_list){ .v = v, .n = l->n + 1, .cap = l->n + 1 };
	return 0;
}

/* Evaluations during training use the rows and tasks that prepare held back for validation. */
static void connect_looks(struct pipeline *p)
{
	int held = pipeline_has(p, PIPELINE_prepare) && p->prepare.validation > 0;

	for (int i = 0; i < 2 && held; i++) {
		struct train_args *t = i ? &p->rl : &p->sft;

		if (t->look.every && !t->look.tasks)
			t->look.tasks = in_data(p, "tasks_validation.jsonl");
		if (t->look.every && !t->sft.validation)
			t->sft.validation = in_data(p, "sft_validation.jsonl");
	}
}

/* Tasks of the evaluation are removed from the training data. A run without stage eval may be on a machine
 * that does not have them. */
static int connect_held_out(struct pipeline *p, struct err *e)
{
	const char *tasks = p->eval.eval.tasks;

	if (!tasks)
		return 0;
	if (!pipeline_has(p, PIPELINE_eval) && !file_exists(tasks)) {
		if (pipeline_has(p, PIPELINE_prepare))
			log_warn("'%s' of section eval is missing: the training data is prepared without "
				 "removing these tasks from it", tasks);
		return 0;
	}
	return add_word(p, &p->prepare.decontaminate, tasks, e);
}

/* Sets paths that the configuration leaves open: a stage reads what prepare writes. Tasks of the
 * evaluation are removed from the training data (decontamination). */
static int connect(struct pipeline *p, struct err *e)
{
	if (!p->prepare.out)
		p->prepare.out = arena_printf(&p->arena, "%s/data/processed", p->out);
	if (!p->prepare.out)
		return err_nomem(e);
	if (!p->sft.sft.data.n && !p->sft.draws.levels.n && pipeline_has(p, PIPELINE_prepare) &&
	    add_word(p, &p->sft.sft.data, in_data(p, "sft_train.jsonl"), e))
		return -1;
	if (p->sft.draws.levels.n && !p->sft.draws.modules && p->prepare.solve && pipeline_has(p, PIPELINE_prepare))
		p->sft.draws.modules = in_data(p, "modules_train.jsonl");
	if (connect_held_out(p, e))
		return -1;
	if (!p->rl.rl.tasks && pipeline_has(p, PIPELINE_prepare))
		p->rl.rl.tasks = in_data(p, "tasks_train.jsonl");
	if (!p->eval.eval.tasks && pipeline_has(p, PIPELINE_prepare))
		p->eval.eval.tasks = in_data(p, p->prepare.test > 0 ? "tasks_test.jsonl" : "tasks_validation.jsonl");
	connect_looks(p);
	p->sft.out = p->rl.out = p->eval.run = p->out;
	return 0;
}

/* Options without effect are found before the first stage. If rl continues the adapter of stage sft, its
 * section cannot choose another shape. */
static int check_effects(const struct pipeline *p, struct err *e)
{
	const struct policy_opts *rl = &p->rl.policy;
	struct policy_opts sft = p->sft.policy;

	if (!pipeline_has(p, PIPELINE_rl))
		return 0;
	if (policy_settle(&sft, 0, e))
		return -1;
	if (pipeline_has(p, PIPELINE_sft) && !sft.full &&
	    ((rl->lora.r && rl->lora.r != sft.lora.r) || (rl->lora.alpha > 0 && rl->lora.alpha != sft.lora.alpha)))
		return err_set(e, ERR_USAGE, "section rl continues the adapter of stage sft: set lora_r and lora_alpha "
			       "in section sft, or above the sections");
	return run_rl_check(&p->rl, &p->parsed[PIPELINE_rl], e);
}

/* A run that trains or evaluates needs a model. `init` makes a new one, which exists only after
 * stage sft. */
static int check(const struct pipeline *p, struct err *e)
{
	int model = p->sft.policy.model || (p->sft.policy.init && pipeline_has(p, PIPELINE_sft));

	if (!model && (pipeline_has(p, PIPELINE_sft) || pipeline_has(p, PIPELINE_rl) || pipeline_has(p, PIPELINE_eval)))
		return err_set(e, ERR_USAGE,
			       "which model? Set `model: DIR` in the configuration or --set model=DIR; "
			       "`init: CONFIG` with stage sft makes a new one");
	return 0;
}

/* Every stage parses all words of --set and takes those that it knows. A word that none took is an
 * error, so that a misspelt option is found. */
int pipeline_open(struct pipeline *p, const struct pipeline_source *s, struct err *e)
{
	int *used = mem_array(s->set->n + 1, sizeof *used), rc;

	*p = (struct pipeline){ .out = s->out };
	rc = used ? parse_stages(p, s->stages, e) : err_nomem(e);
	for (int i = 0; i < PIPELINE_COUNT && !rc; i++)
		rc = parse_stage(p, i, s, used, e);
	for (size_t i = 0; i < s->set->n && !rc; i++)
		if (!used[i])
			rc = err_set(e, ERR_USAGE, "--set '%s': no stage has such an option", s->set->v[i]);
	if (!rc)
		rc = connect(p, e) || check(p, e) || (!s->variant && check_effects(p, e)) ? -1 : 0;
	mem_free(used);
	if (rc)
		pipeline_close(p);
	return rc;
}

void pipeline_close(struct pipeline *p)
{
	for (int i = 0; i < PIPELINE_COUNT; i++)
		opt_release(&p->parsed[i]);
	arena_release(&p->arena);
}

/* --- dry runs ----------------------------------------------------------------------------------------- */

/* Lowers v to `most`; 0 means unlimited and becomes `most`. */
#define AT_MOST(v, most) ((v) = (v) == 0 || (v) > (most) ? (most) : (v))

/* Two samples of 48 tokens: enough to run the sampler and the judge. */
static void shrink_sampling(struct rollout_opts *s)
{
	AT_MOST(s->n, 2);
	AT_MOST(s->max_new_tokens, 48);
	AT_MOST(s->slots, 4);
}

/* All stages keep their kind of work: two steps of training save a checkpoint, and an evaluation
 * judges two tasks. So a dry run finds the errors of a long one. */
void pipeline_shrink(struct pipeline *p)
{
	AT_MOST(p->prepare.count, 8);
	AT_MOST(p->prepare.rl_count, 4);
	AT_MOST(p->prepare.limit, p->prepare.solve ? 24 : 8);
	if (p->prepare.solve && p->prepare.validation > 0)      /* some are solved, and some are held back */
		p->prepare.validation = MAX(p->prepare.validation, 0.25);
	for (int i = 0; i < 2; i++) {
		struct train_args *t = i ? &p->rl : &p->sft;

		AT_MOST(t->sft.steps, 2);
		AT_MOST(t->sft.batch, 2);
		AT_MOST(t->sft.accumulate, 1);
		AT_MOST(t->sft.max_length, 2048);
		AT_MOST(t->sft.save_every, 1);
		AT_MOST(t->policy.trainer.tape.max_tokens, 2048);
	}
	AT_MOST(p->rl.rl.steps, 2);
	AT_MOST(p->rl.rl.tasks_per_step, 2);
	AT_MOST(p->rl.rl.inner, 1);
	shrink_sampling(&p->rl.sample);
	shrink_sampling(&p->eval.sample);
	AT_MOST(p->eval.eval.limit, 2);
	p->eval.eval.k.n = 0;
}

/* --- the resolved configuration ------------------------------------------------------------------------- */

/* Indents the resolved options of each stage below its name. */
int pipeline_config(const struct pipeline *p, struct buf *out, struct err *e)
{
	for (int i = 0; i < PIPELINE_COUNT; i++) {
		struct str rest = buf_str(&p->parsed[i].resolved);

		buf_addf(out, "%s:\n", pipeline_stage_name(i));
		while (rest.n) {
			struct str line = str_cut(&rest, '\n');

			buf_addf(out, "  %.*s\n", STR_ARG(line));
		}
	}
	return buf_check(out, e);
}
