/* tritonrl ablate: the same short run with each extension switched off in turn, and one table.
 *
 * Data and the supervised stage are computed once per seed. Each variant then trains against its
 * own judge, and the full judge evaluates every trained model, so the numbers of the variants can
 * be compared. The row of a variant is written to OUT/VARIANT-seedN.json when it is complete;
 * running the command again continues with the missing rows. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cmd/cmd.h"
#include "run/ablate_judge.h"
#include "run/pipeline.h"

struct args {
	const char *out, *cheats;
	struct opt_list set, only;
	int64_t seeds;
	int dry_run;
};

static const struct opt opts[] = {
	OPT_STR(struct args, out, "out", "DIR", "runs/ablate",
		"output folder of all runs; finished runs in it are not repeated"),
	OPT_LIST(struct args, set, "set", "[STAGE.]KEY=VALUE", 0,
		 "set an option of a stage, over the configuration; may be repeated"),
	OPT_LIST(struct args, only, "only", "LIST", 1,
		 "switch off only these extensions (default: each one in turn)"),
	OPT_STR(struct args, cheats, "cheats", "DIR", NULL,
		"also judge the cheats of this folder (in the form of test/cheats) with each "
		"variant"),
	OPT_INT(struct args, seeds, "seeds", 1, 100, 1, "runs per variant, each with its own seed"),
	OPT_FLAG(struct args, dry_run, "dry-run", 0,
		 "use only a few rows, steps and tokens per run"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[CONFIG]",
	.about = "Measure what each extension of the judge is worth. The reinforcement stage of a "
		 "configuration runs once unchanged and once without each extension. Each trained "
		 "model is evaluated with the full judge; each variant of the judge reports the "
		 "cheats it accepts and its time per candidate. The table is also written to "
		 "OUT/ablation.json.",
	.opts = opts,
};

/* A way to run the reinforcement stage. `set` is the option that switches an extension off (NULL:
 * everything on), `add` the one that switches it on if the configuration leaves it off. `method` is the
 * only RL method that has the extension (NULL: all). `text` says what the extension adds. */
struct variant { const char *name, *set, *add, *method, *text; };

static const struct variant variants[] = {
	{ "everything on", NULL, NULL, NULL, "as configured" },   /* first: the others are compared with it */
#define EXT(id, option, text) { option, "rl." option "=false", NULL, NULL, text },
#include "verify/config/ext.def"
#undef EXT
#define ABLATE(id, option, method, text) { option, "rl." option "=false", NULL, method, text },
#define ABLATE_ADD(id, option, method, text) { option, "rl." option "=false", "rl." option "=true", method, text },
#include "cmd/ablate.def"
#undef ABLATE
#undef ABLATE_ADD
};

/* One line of the table: means over the seeds; the judge is measured with the first seed only. */
struct row {
	const struct variant *v;
	int added;                     /* the run with the extension; else without it */
	double correct, level[3];      /* percent, means over seeds; level[0] is level 1 */
	double reward;                 /* mean over samples */
	struct cheat_count cheats;     /* accepted cheats, refused honest candidates */
	int64_t timed;                 /* candidates behind `ms` */
	double ms;                     /* per candidate, one process */
};

/* The state of one call. `done` becomes 0 if a stop was requested before the work was finished. */
struct ablation {
	const struct args *a;
	const char *config;            /* file of the configuration, or NULL for defaults */
	struct { struct row *v; size_t n, cap; } rows;
	struct arena arena;            /* names of folders and options */
	char *resolved;                /* options of stage rl as configured, "rank_speed: true" a line each */
	int done;                      /* 0: stopped before the end */
	struct err *e;
};

/* --- one run ------------------------------------------------------------------------------------------- */

/* Tells whether the row of a variant is the run with the extension: the configuration leaves it off. */
static int is_added(const struct ablation *s, const struct variant *v)
{
	struct buf line = BUF_INIT;
	int off;

	if (!v->add)
		return 0;
	for (const char *c = v->name; *c; c++)
		buf_addc(&line, *c == '-' ? '_' : *c);
	buf_adds(&line, ": false\n");
	off = strstr(s->resolved, buf_cstr(&line)) != NULL;
	buf_release(&line);
	return off;
}

/* Opens the pipeline of the configuration in folder `out`, with the options of --set, a seed
 * (unless it is negative) and the option of the variant. With --dry-run the stages are
 * shortened. */
static int open_run(struct ablation *s, struct pipeline *p, const struct variant *v, int64_t seed, const char *out)
{
	struct opt_list set = { .v = arena_array(&s->arena, s->a->set.n + 2, sizeof *set.v), .n = s->a->set.n },
		stages = { .v = NULL };
	struct pipeline_source src = { .config = s->config, .set = &set, .stages = &stages, .out = out,
				       .variant = v && v->set };

	if (!set.v)
		return err_nomem(s->e);
	if (set.n)
		memcpy(set.v, s->a->set.v, set.n * sizeof *set.v);
	/* Order matters: later assignments win, so the variant cannot be undone by --set. */
	if (seed >= 0)
		set.v[set.n++] = arena_printf(&s->arena, "seed=%lld", (long long)seed);
	if (v && v->set)
		set.v[set.n++] = is_added(s, v) ? v->add : v->set;
	if (pipeline_open(p, &src, s->e))
		return -1;
	if (s->a->dry_run)
		pipeline_shrink(p);
	return 0;
}

/* OUT/NAME-seedN; blanks in the name become '-', because 'everything on' is a folder too. */
static char *folder(struct ablation *s, const char *name, int64_t seed)
{
	char *f = arena_printf(&s->arena, "%s/%s-seed%lld", s->a->out, name, (long long)seed);
	char *at = f ? strrchr(f, '/') : NULL;

	if (!f)
		BUG("no memory for a name");
	for (; *at; at++)
		*at = *at == ' ' ? '-' : *at;
	return f;
}

/* Runs the pipeline stages of the bit mask `stages`; s->done says whether they were finished. */
static int run_stages(struct ablation *s, struct pipeline *p, unsigned stages)
{
	p->stages = stages;
	return pipeline_run(p, NULL, &s->done, s->e);
}

/* Data and supervised stage: the same for all variants of a seed. */
static int run_common(struct ablation *s, int64_t seed)
{
	struct pipeline p;
	int rc = open_run(s, &p, NULL, seed, folder(s, "common", seed));

	if (rc)
		return -1;
	rc = run_stages(s, &p, 1u << PIPELINE_prepare | 1u << PIPELINE_sft);
	pipeline_close(&p);
	return rc;
}

/* Trains and evaluates a variant from the supervised model of its seed. On success with s->done
 * set, *p is open and the caller closes it. */
static int run_variant(struct ablation *s, struct pipeline *p, const struct variant *v, int64_t seed)
{
	struct pipeline common;
	int rc = open_run(s, &common, NULL, seed, folder(s, "common", seed));

	if (rc)
		return -1;
	rc = open_run(s, p, v, seed, folder(s, v->name, seed));
	if (!rc) {
		/* All variants share the tasks and the supervised model of `common`. */
		p->rl.rl.tasks = arena_printf(&p->arena, "%s", common.rl.rl.tasks);
		p->eval.eval.tasks = arena_printf(&p->arena, "%s", common.eval.eval.tasks);
		p->sft_run = arena_printf(&p->arena, "%s", common.out);
		rc = run_stages(s, p, 1u << PIPELINE_rl | 1u << PIPELINE_eval);
		if (rc || !s->done)
			pipeline_close(p);
	}
	pipeline_close(&common);
	return rc;
}

/* --- what it came to -------------------------------------------------------------------------------------- */

/* Reads the evaluation that the pipeline wrote for the trained model. */
static int load_eval(struct ablation *s, const char *out, struct json **j)
{
	struct buf path = BUF_INIT;

	buf_addf(&path, "%s/outputs/eval_rl.json", out);
	*j = json_parse_file(buf_cstr(&path), s->e);
	buf_release(&path);
	return *j ? 0 : -1;
}

/* Adds the rates of one evaluation, weighted: with three seeds each counts a third. Groups are
 * named "level 1" to "level 3"; other groups (operators) are ignored. */
static void add_rates(struct row *r, const struct json *j, double weight)
{
	const struct json *groups = json_get(j, "groups");

	r->correct += weight * json_real(json_get(json_get(j, "metrics"), "correct_rate"), 0);
	r->reward += weight * json_real(json_get(json_get(j, "metrics"), "reward"), 0);
	for (size_t i = 0; i < json_count(groups); i++) {
		struct str name = json_str(json_get(json_at(groups, i), "name"), "");

		for (int level = 1; level <= 3; level++)
			if (name.n == 7 && str_starts(name, "level ") && name.p[6] == '0' + level)
				r->level[level - 1] += weight * json_real(json_get(json_at(groups, i),
						"correct_rate"), 0);
	}
}

/* Runs the judge of this variant on the cheats, and times it on the answers of the model that had
 * everything on. The same answers for every variant make the times comparable. */
static int measure_judge(struct ablation *s, struct row *r, const struct pipeline *p, int64_t seed)
{
	struct eval_cmd_args ev = p->eval;
	struct taskset tasks;
	struct store *store = NULL;
	struct buf path = BUF_INIT;
	int rc = s->a->cheats ? ablate_cheats(&p->rl.judge, s->a->cheats, &r->cheats, s->e) : 0;

	buf_addf(&path, "%s/run.db", folder(s, variants[0].name, seed));
	if (!rc)
		rc = taskset_open(&tasks, ev.eval.tasks, s->e);
	if (!rc) {
		rc = store_open(&store, buf_cstr(&path), s->e) ||
		     ablate_time(&p->rl.judge, &tasks, store, "eval_rl", &r->timed, &r->ms, s->e) ? -1 : 0;
		taskset_close(&tasks);
	}
	store_close(store);
	buf_release(&path);
	return rc;
}

/* The row as JSON; row_from_json reads it back, so every field of the table must be in it. */
static void json_row(struct jw *w, const struct row *r)
{
	static const char *const levels[] = { "level1", "level2", "level3" };

	jw_begin(w, '{');
	jw_key(w, r->added ? "with" : "without"), jw_cstr(w, r->v->name);
	jw_key(w, "what"), jw_cstr(w, r->v->text);
	jw_key(w, "correct"), jw_real(w, r->correct);
	for (int i = 0; i < 3; i++)
		jw_key(w, levels[i]), jw_real(w, r->level[i]);
	jw_key(w, "reward"), jw_real(w, r->reward);
	jw_key(w, "cheats"), jw_int(w, r->cheats.cheats);
	jw_key(w, "cheats_accepted"), jw_int(w, r->cheats.accepted);
	jw_key(w, "first_accepted"), jw_cstr(w, r->cheats.first);
	jw_key(w, "honest"), jw_int(w, r->cheats.honest);
	jw_key(w, "honest_refused"), jw_int(w, r->cheats.refused);
	jw_key(w, "timed"), jw_int(w, r->timed);
	jw_key(w, "ms_per_candidate"), jw_real(w, r->ms);
	jw_end(w, '}');
}

/* The inverse of json_row, for rows of an earlier call. The variant is known from the file name. */
static void row_from_json(struct row *r, const struct json *j)
{
	static const char *const levels[] = { "level1", "level2", "level3" };

	r->correct = json_real(json_get(j, "correct"), 0);
	for (int i = 0; i < 3; i++)
		r->level[i] = json_real(json_get(j, levels[i]), 0);
	r->reward = json_real(json_get(j, "reward"), 0);
	r->cheats = (struct cheat_count){ .cheats = json_int(json_get(j, "cheats"), 0),
					  .accepted = json_int(json_get(j, "cheats_accepted"), 0),
					  .honest = json_int(json_get(j, "honest"), 0),
					  .refused = json_int(json_get(j, "honest_refused"), 0) };
	snprintf(r->cheats.first, sizeof r->cheats.first, "%.*s", STR_ARG(json_str(json_get(j, "first_accepted"), "")));
	r->timed = json_int(json_get(j, "timed"), 0);
	r->ms = json_real(json_get(j, "ms_per_candidate"), 0);
}

/* Replaces the file atomically: a row that exists is complete. */
static int keep_row(struct ablation *s, const struct row *r, const char *path)
{
	struct buf text = BUF_INIT;
	struct jw w = { .out = &text };
	int rc;

	json_row(&w, r);
	buf_addc(&text, '\n');
	rc = buf_check(&text, s->e) ? -1 : file_replace(path, buf_str(&text), s->e);
	buf_release(&text);
	return rc;
}

/* Trains and evaluates a variant under every seed. Returns early with success if a stop was
 * requested (s->done is 0). */
static int make_row(struct ablation *s, struct row *r, int64_t first_seed)
{
	for (int64_t k = 0; k < s->a->seeds; k++) {
		struct pipeline p;
		struct json *j = NULL;
		int rc = run_variant(s, &p, r->v, first_seed + k);

		if (rc || !s->done)
			return rc;
		rc = load_eval(s, p.out, &j);
		if (!rc)
			add_rates(r, j, 1.0 / (double)s->a->seeds);
		if (!rc && k == 0)
			rc = measure_judge(s, r, &p, first_seed);
		json_free(j);
		pipeline_close(&p);
		if (rc)
			return -1;
	}
	return 0;
}

/* Takes the row from its file if there is one, else makes and stores it. */
static int variant_row(struct ablation *s, const struct variant *v, int64_t seed)
{
	struct row r = { .v = v, .added = is_added(s, v) };
	char *path = arena_printf(&s->arena, "%s.json", folder(s, v->name, seed));
	struct json *j = path && file_exists(path) ? json_parse_file(path, NULL) : NULL;
	int rc = 0;

	if (j) {
		row_from_json(&r, j);
		log_info("%s %s: already done", r.added ? "with" : "without", v->name);
	} else {
		log_info("%s%s", r.added ? "with " : v->set ? "without " : "", v->name);
		rc = !path ? err_nomem(s->e) : make_row(s, &r, seed);
		if (!rc && s->done)
			rc = keep_row(s, &r, path);
	}
	json_free(j);
	return rc || !s->done ? rc : vec_push(&s->rows, r) ? err_nomem(s->e) : 0;
}

/* --- the table -------------------------------------------------------------------------------------------- */

/* `change` is the difference in percentage points to the run with everything on, which is the first
 * row. The last column names the first cheat that the variant accepts. */
static void print_table(const struct ablation *s)
{
	const struct row *all = &s->rows.v[0];

	printf("%-20s %9s %8s %8s %8s %8s %16s %15s %12s\n", "without", "correct", "change", "level 1",
	       "level 2", "reward", "cheats accepted",
	       "honest refused", "ms/candidate");
	for (size_t i = 0; i < s->rows.n; i++) {
		const struct row *r = &s->rows.v[i];

		printf("%s%-*s %8.1f%% %+8.1f %7.1f%% %7.1f%% %8.3f "
		       "%9lld of %-3lld %8lld of %-3lld %12.2f%s%s\n", r->added ? "with " : "", r->added ? 15 : 20,
		       i ? r->v->name : "(everything on)",
		       r->correct, r->correct - all->correct, r->level[0], r->level[1], r->reward,
		       (long long)r->cheats.accepted,
		       (long long)r->cheats.cheats, (long long)r->cheats.refused, (long long)r->cheats.honest,
		       r->ms, r->cheats.first[0] ? "  " : "",
		       r->cheats.first);
	}
}

/* Writes all rows to OUT/ablation.json and prints its path. */
static int keep_table(struct ablation *s)
{
	struct buf text = BUF_INIT, path = BUF_INIT;
	struct jw w = { .out = &text, .indent = 1 };
	int rc;

	jw_begin(&w, '{');
	jw_key(&w, "seeds"), jw_int(&w, s->a->seeds);
	jw_key(&w, "rows"), jw_begin(&w, '[');
	for (size_t i = 0; i < s->rows.n; i++)
		json_row(&w, &s->rows.v[i]);
	jw_end(&w, ']');
	jw_end(&w, '}');
	buf_addc(&text, '\n');
	path_join(&path, s->a->out, "ablation.json");
	rc = buf_check(&text, s->e) ? -1 : file_replace(buf_cstr(&path), buf_str(&text), s->e);
	if (!rc)
		printf("%s\n", buf_cstr(&path));
	buf_release(&text);
	buf_release(&path);
	return rc;
}

/* --only selects extensions. The run with everything on is always included: it is the baseline. */
static int wanted(const struct args *a, const struct variant *v)
{
	for (size_t i = 0; i < a->only.n; i++)
		if (!strcmp(a->only.v[i], v->name))
			return 1;
	return !a->only.n || !v->set;
}

/* A misspelt extension would silently produce a table without its row. */
static int check_names(const struct ablation *s)
{
	for (size_t i = 0; i < s->a->only.n; i++) {
		int known = 0;

		for (size_t k = 1; k < COUNT_OF(variants); k++)
			known |= !strcmp(s->a->only.v[i], variants[k].name);
		if (!known)
			return err_set(s->e, ERR_USAGE, "there is no extension '%s'", s->a->only.v[i]);
	}
	return 0;
}

/* The seed and method come from the configuration, so it is opened once to read them. */
static int run_all(struct ablation *s)
{
	struct pipeline probe;
	int64_t seed;
	const char *method;
	int rc = check_names(s) || open_run(s, &probe, NULL, -1, s->a->out) ? -1 : 0;

	if (rc)
		return -1;
	seed = probe.sft.seed;
	method = rl_method_name(probe.rl.rl.advantage.method);
	s->resolved = arena_printf(&s->arena, "%s", buf_cstr(&probe.parsed[PIPELINE_rl].resolved));
	rc = s->resolved ? 0 : err_nomem(s->e);
	pipeline_close(&probe);
	/* All seeds first: a failure in data or supervised training shows before any variant runs. */
	for (int64_t k = 0; k < s->a->seeds && !rc && s->done; k++)
		rc = run_common(s, seed + k);
	for (size_t i = 0; i < COUNT_OF(variants) && !rc && s->done; i++) {
		const struct variant *v = &variants[i];

		if (v->method && strcmp(v->method, method))
			log_info("skipping %s: it belongs to method %s, not to %s", v->name, v->method, method);
		else if (wanted(s->a, v))
			rc = variant_row(s, v, seed);
	}
	if (!rc && s->done) {
		print_table(s);
		rc = keep_table(s);
	}
	return rc;
}

int cmd_ablate(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	struct ablation s = { .a = &a, .done = 1, .e = &e };
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	stop_install();
	s.config = p.n ? p.args[0] : NULL;
	rc = p.n > 1 ? err_set(&e, ERR_USAGE, "name at most one configuration") :
	     file_mkdirs(a.out, &e) ? -1 : run_all(&s);
	vec_free(&s.rows);
	arena_release(&s.arena);
	opt_release(&p);
	/* A stop is not an error: finished rows are kept. */
	if (rc && e.code == ERR_INTERRUPTED)
		rc = s.done = 0;
	if (rc)
		return cmd_fail("ablate", &e);
	if (!s.done)
		fprintf(stderr, "stopped; the same command continues\n");
	return s.done ? CMD_OK : CMD_NO;
}
