/* A training run of its own: see train_run.h.
 *
 * Owns the configuration files of the folder: config.yaml belongs to the first stage that was
 * trained there, config_STAGE.yaml to another one. Invariant: a folder can be moved or restored
 * elsewhere; nothing in it depends on its path. */
#include "run/train_run.h"

#include <stdio.h>

#include "base/file.h"
#include "base/progress.h"
#include "run/sections.h"

const struct opt train_run_opts[] = {
	OPT_INCLUDE(struct train_run_args, train, train_opts, NULL),
	OPT_INCLUDE(struct train_run_args, keep, safeguard_args_table, NULL),
	OPT_END
};

static const char config_first[] = "config.yaml";

/* Does the configuration file say that it belongs to this stage? NULL: to any stage of `train`. The
 * files of `run` have no stage at the top. */
static int config_is_of(const char *path, const char *stage)
{
	struct buf text = BUF_INIT;
	struct str rest, line = STR("");
	char want[32];
	int found = 0;

	snprintf(want, sizeof want, "stage: \"%s\"", stage ? stage : "");
	if (file_exists(path) && !file_read(path, 1 << 20, &text, NULL))
		for (rest = buf_str(&text); rest.n && !found;) {
			line = str_cut(&rest, '\n');
			found = stage ? str_is(line, want) : str_starts(line, "stage: ");
		}
	buf_release(&text);
	return found;
}

int train_run_check(const struct train_args *a, const struct opt_parsed *p, struct err *e)
{
	struct policy_opts policy = a->policy;

	if (!a->out)
		return err_set(e, ERR_USAGE, "name the run folder: --out DIR");
	if (policy_settle(&policy, 0, e))
		return -1;
	if (strcmp(a->stage, "rl") && run_sft_check(a, e))
		return -1;
	return strcmp(a->stage, "sft") ? run_rl_check(a, p, e) : 0;
}

/* With --stage all, rl starts from the supervised model of the same folder. */
static int train_stages(const struct train_args *a, const struct run_env *v, int *done, struct err *e)
{
	struct run_rl_args rl = { .policy = &a->policy, .sft = &a->sft, .rl = &a->rl, .sample = &a->sample,
				  .judge = &a->judge, .look = &a->look,
				    .sft_run = strcmp(a->stage, "all") ? NULL : a->out };
	int rc = 0;

	*done = 1;
	if (strcmp(a->stage, "rl")) {
		rc = run_is_trained(v, "sft", e);
		rc = rc ? rc : run_sft(v, a, done, e);
	}
	if (rc >= 0 && *done && strcmp(a->stage, "sft") && !stop_requested()) {
		rc = run_is_trained(v, "rl", e);
		rc = rc ? rc : run_rl(v, &rl, done, e);
	}
	return rc < 0 ? -1 : 0;
}

/* Writes the resolved options as config.yaml. If that file belongs to another stage of the same
 * folder, the options go to config_STAGE.yaml, so that no stage overwrites the record of the
 * other. */
static int keep_config(const struct train_args *a, struct str text, struct err *e)
{
	struct buf path = BUF_INIT, kept = BUF_INIT;
	char name[32];
	int rc = path_join(&path, a->out, config_first) ? 0 : err_nomem(e);

	snprintf(name, sizeof name, "%s", config_first);
	if (!rc && file_exists(path.p) && !config_is_of(path.p, a->stage))
		snprintf(name, sizeof name, "config_%s.yaml", a->stage);
	if (!rc)
		rc = run_keep_config(a->out, name, text, &kept, e);
	buf_release(&path);
	buf_release(&kept);
	return rc;
}

/* Only the first rank writes the configuration; all ranks run the stages. */
int train_run(const struct train_args *a, const struct opt_parsed *p, struct par *par, int *done, struct err *e)
{
	struct run_env v = RUN_ENV_INIT;
	int rc = run_open(&v, par, a->out, (uint64_t)a->seed, &a->policy, e);

	*done = 0;
	if (!rc)
		rc = (par_first(par) && keep_config(a, buf_str(&p->resolved), e)) ||
			train_stages(a, &v, done, e) ? -1 : 0;
	run_close(&v);
	return rc;
}

/* --- continuing ---------------------------------------------------------------------------------- */

int train_run_owns(const char *out)
{
	struct buf path = BUF_INIT;
	int owns = path_join(&path, out, config_first) && config_is_of(path.p, NULL);

	buf_release(&path);
	return owns;
}

/* Continues the training of one configuration file. The folder's present path replaces the one in
 * the file. */
static int resume_one(const char *out, const char *config, struct par *par, int *done, struct err *e)
{
	const struct opt_scope scope = { .own = TRAIN_RUN_SECTIONS, .select = TRAIN_RUN_SELECT, .all = run_sections };
	const char *words[] = { "--config", config, "--out", out };
	struct train_run_args a;
	struct opt_parsed p;
	int rc;

	if (opt_parse_in(train_run_opts, &scope, &a, COUNT_OF(words), (char *const *)words, &p, e))
		return -1;
	rc = train_run_check(&a.train, &p, e) || train_run(&a.train, &p, par, done, e) ? -1 : 0;
	opt_release(&p);
	return rc;
}

/* The stage of config.yaml was trained first. */
int train_run_resume(const char *out, struct par *par, int *done, struct err *e)
{
	static const char *const names[] = { config_first, "config_sft.yaml", "config_rl.yaml", "config_all.yaml" };
	struct buf path = BUF_INIT;
	int rc = 0;

	*done = 1;
	for (size_t i = 0; i < COUNT_OF(names) && !rc && *done; i++) {
		rc = path_join(&path, out, names[i]) ? 0 : err_nomem(e);
		if (!rc && config_is_of(path.p, NULL))
			rc = resume_one(out, path.p, par, done, e);
	}
	buf_release(&path);
	return rc;
}
