/* Training stages and the run folder: see run.h.
 *
 * Puts the options of several tables together, opens the folder, and prints one line of result. The
 * training itself is in src/train and src/rl. Invariant: only the first process writes to the
 * folder. */
#include "run/run.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/safeguard.h"
#include "train/checkpoint.h"
#include "web/report.h"
#include "web/wandb.h"

/* Locks the folder by a record lock. Judging processes, which may outlive this one for a moment, do
 * not inherit a record lock. */
static int lock_folder(struct run_env *v, struct err *e)
{
	struct buf path = BUF_INIT;
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int rc = 0;

	path_join(&path, v->out, "lock");
	v->lock = open(buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (v->lock < 0)
		rc = err_errno(e, "cannot open '%s'", buf_cstr(&path));
	else if (fcntl(v->lock, F_SETLK, &l))
		rc = err_set(e, ERR_STATE, "'%s' is in use by another process", v->out);
	buf_release(&path);
	return rc;
}

/* A device with a number, or "auto", is opened as it is named. */
struct dev *run_device(struct par *par, const char *name, int64_t threads, struct err *e)
{
	char own[32];

	if (par && !strcmp(name, "cuda")) {
		snprintf(own, sizeof own, "cuda:%d", par_local_rank(par));
		name = own;
	}
	return dev_open(name, (int)threads, e);
}

/* Opens the folder and its store, and removes temporary files of a killed process. */
static int open_folder(struct run_env *v, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = file_mkdirs(v->out, e) || lock_folder(v, e) || file_sweep(v->out, e) ? -1 : 0;

	if (!rc)
		rc = log_copy(path_join(&path, v->out, "training.log"), e);
	path_join(&path, v->out, "run.db");
	if (!rc)
		rc = store_open(&v->store, buf_cstr(&path), e);
	buf_release(&path);
	return rc;
}

/* Connects the GPUs of several processes. Ranks may have devices of different kinds, by mistake or
 * by "auto"; then none uses NCCL. */
static int open_nccl(struct run_env *v, struct err *e)
{
	double cpu = v->dev->kind == DEV_CPU;

	if (!v->par)
		return 0;
	if (par_max(v->par, &cpu, e))
		return -1;
	return cpu > 0 ? 0 : nccl_open(&v->nccl, v->par, dev_library("libnccl.so.2"), e);
}

/* Opens the folder in the first process and the device in each. NCCL comes last: all ranks must
 * reach it together. */
int run_open(struct run_env *v, struct par *par, const char *out, uint64_t seed, const struct policy_opts *p,
	     struct err *e)
{
	int rc = 0;

	*v = (struct run_env){ .out = out, .seed = seed, .par = par, .lock = -1 };
	if (par_first(par))
		rc = open_folder(v, e);
	if (!rc && !(v->dev = run_device(par, p->device, p->threads, e)))
		rc = -1;
	if (!rc)
		v->dev->exact = p->exact;
	if (!rc)
		rc = open_nccl(v, e);
	if (rc)
		run_close(v);
	return rc;
}

void run_close(struct run_env *v)
{
	log_copy(NULL, NULL);
	nccl_close(v->nccl);
	dev_close(v->dev);
	store_close(v->store);
	if (v->lock >= 0)
		close(v->lock);
	*v = (struct run_env)RUN_ENV_INIT;
}

/* Compares a key of a file with an option's name; `_` and `-` are equal. */
static int same_key(void *key, const struct opt *row, size_t base, const char *group)
{
	const struct str *k = key;

	(void)base, (void)group;
	if (!row->name || strlen(row->name) != k->n)
		return 0;
	for (size_t i = 0; i < k->n; i++)
		if (k->p[i] != (row->name[i] == '-' ? '_' : row->name[i]))
			return 0;
	return 1;
}

/* Tells whether a line of the configuration may differ when a run is continued: options of the machine, of
 * output, and of the safeguards. Example: another number of threads continues the same run. Another
 * `out` of `train` means that the folder was moved. The lines of `run` are indented: their `out` is
 * another folder. */
static int may_differ(struct str line)
{
	static const char *const keys[] = { "threads", "workers", "timeout", "slots", "title", "megabytes",
					    "device", "quiet", "json" };
	int moved = str_starts(line, "out:");
	struct str key = str_trim(str_cut(&line, ':'));

	if (moved)
		return 1;
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (str_is(key, keys[i]))
			return 1;
	return opt_visit(safeguard_args_table, same_key, &key);
}

/* Compares two configurations line by line. */
static int same_config(const char *out, struct str was, struct str is, struct err *e)
{
	while (was.n || is.n) {
		struct str a = str_cut(&was, '\n'), b = str_cut(&is, '\n');

		if (!str_eq(a, b) && !(may_differ(a) && may_differ(b)))
			return err_set(e, ERR_USAGE,
				       "'%s' was started with '%.*s', not '%.*s': use another --out, or the "
				       "same options as before", out,
				       STR_ARG(str_trim(a)), STR_ARG(str_trim(b)));
	}
	return 0;
}

/* The first run writes the file; later ones must have the same options. */
int run_keep_config(const char *out, const char *name, struct str text, struct buf *kept, struct err *e)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, out, name) ? 0 : err_nomem(e);

	buf_clear(kept);
	if (!rc && file_exists(path.p)) {
		rc = file_read(path.p, 1 << 20, kept, e) || same_config(out, buf_str(kept), text, e) ? -1 : 0;
	} else if (!rc) {
		buf_addstr(kept, text);
		rc = file_replace(path.p, text, e);
	}
	buf_release(&path);
	return rc;
}

/* A checkpoint counts only if its manifest agrees with its files. */
int run_final(const char *out, const char *name, struct buf *path)
{
	buf_clear(path);
	buf_addf(path, "%s/checkpoints/%s", out, name);
	return file_exists(buf_cstr(path)) && !checkpoint_verify(buf_cstr(path), NULL, NULL);
}

int run_is_trained(const struct run_env *v, const char *stage, struct err *e)
{
	struct buf path = BUF_INIT;
	char final[32];
	int64_t there;

	snprintf(final, sizeof final, "%s_final", stage);
	there = par_first(v->par) && run_final(v->out, final, &path);
	buf_release(&path);
	if (par_agree(v->par, &there, e))
		return -1;
	if (there)
		log_info("%s: already done", stage);
	return (int)there;
}

/* Rows come from a file or from the generator. The generator never ends, so it needs a number of
 * steps. */
int run_sft_check(const struct train_args *a, struct err *e)
{
	int drawn = a->draws.levels.n > 0;

	if (!a->sft.data.n && !drawn)
		return err_set(e, ERR_USAGE, "no training data: use --data FILE.jsonl or --stream 1,2,3");
	if (a->sft.data.n && drawn)
		return err_set(e, ERR_USAGE, "--data and --stream exclude each other");
	return drawn && !a->sft.steps ? err_set(e, ERR_USAGE, "--stream has no end; set --steps") : 0;
}

/* Uses rows of the generator if the options say so. `rows` must be released then. */
static int choose_rows(const struct train_args *a, struct sft_opts *o, struct draws_rows *rows, struct err *e)
{
	if (!a->draws.levels.n)
		return 0;
	rows->style = prompt_style_choose(a->sample.style, a->policy.adapter, a->policy.model);
	if (draws_rows_init(rows, &a->draws, o->seed, (uint64_t)o->steps * (uint64_t)o->batch *
			    (uint64_t)MAX(o->accumulate, 1), e))
		return -1;
	rows->draws.hybrid = a->judge.judge.track == TRACK_HYBRID;
	o->row = draws_row;
	o->row_ctx = rows;
	return 0;
}

/* Completes the options of the supervised stage and runs it. The prompt style of the data becomes
 * that of the policy, so that later stages ask in the same form. */
static int sft_stage(const struct run_env *v, const struct train_args *a, struct draws_rows *rows,
		     struct sft_result *r, struct err *e)
{
	struct sft_opts o = a->sft;
	struct rollout_opts sample = a->sample;
	struct periodic_eval look = { .pool = NULL };
	int style, rc;

	o.out = v->out;
	o.seed = v->seed;
	o.policy = a->policy;
	if (run_sft_check(a, e) || choose_rows(a, &o, rows, e) || policy_settle(&o.policy, o.seed, e))
		return -1;
	style = a->draws.levels.n ? (int)rows->style : prompt_style_of_data(o.data.v[0]);
	o.policy.prompt_style = style < 0 ? NULL : prompt_style_name((enum prompt_style)style);
	sample.seed = v->seed;
	sample.style = style < 0 ? prompt_style_choose(sample.style, a->policy.adapter, a->policy.model) :
		(enum prompt_style)style;
	o.policy.trainer.apart = !o.pack;
	o.policy.trainer.par = v->par;
	o.policy.trainer.nccl = v->nccl;
	if (!o.policy.trainer.tape.max_tokens)
		o.policy.trainer.tape.max_tokens = o.max_length * (o.pack ? 2 : 1);
	rc = v->store && periodic_eval_open(&look, v->store, &a->look, &a->judge, &sample, &o.look, e) ? -1 :
		sft_run(v->dev, v->store, &o, r, e);
	return periodic_eval_close(&look, !rc && r->done, e) ? -1 : rc;
}

/* Runs the supervised stage and prints its result in one line. */
int run_sft(const struct run_env *v, const struct train_args *a, int *done, struct err *e)
{
	struct draws_rows rows = { .style = PROMPT_COMPACT };
	struct sft_result r;
	int rc = sft_stage(v, a, &rows, &r, e);

	draws_rows_release(&rows);
	if (rc)
		return -1;
	*done = r.done;
	log_note("sft: %s at step %lld, loss %.4f", r.done ? "finished" : "stopped", (long long)r.steps, r.loss);
	if (r.done)
		printf("sft: %lld steps, loss %.4f, %s/checkpoints/sft_final\n", (long long)r.steps, r.loss, v->out);
	else
		printf("sft: stopped at step %lld; the same command continues\n", (long long)r.steps);
	return 0;
}

/* Makes the result of stage sft the start of stage rl: a whole model, or an adapter. */
static void start_from(struct rl_opts *o, const struct policy_opts *p, const char *sft_final)
{
	if (p->full)
		o->policy.model = sft_final;
	else
		o->policy.adapter = sft_final;
	o->policy.init = NULL;
}

/* Prints the result of stage rl in one line. */
static void print_rl(const struct run_env *v, const struct rl_result *r)
{
	log_note("rl: %s at step %lld, reward %.3f, %.1f%% correct, %lld of %lld groups without signal",
		 r->done ? "finished" : "stopped", (long long)r->steps, r->reward, 100.0 * r->correct,
		 (long long)r->skipped_groups, (long long)r->groups);
	if (r->done)
		printf("rl: %lld steps, reward %.3f, %.1f%% correct, %lld of %lld groups without signal, "
		       "log p of sampling and training "
		       "within %.1e, %s/checkpoints/rl_final\n", (long long)r->steps, r->reward,
		       100.0 * r->correct, (long long)r->skipped_groups,
		       (long long)r->groups, r->mismatch, v->out);
	else
		printf("rl: stopped at step %lld; the same command continues\n", (long long)r->steps);
}

/* Completes the options of stage rl from the tables of several commands. */
static int rl_options(struct rl_opts *o, const struct run_env *v, const struct run_rl_args *a, struct err *e)
{
	*o = *a->rl;
	o->out = v->out;
	o->seed = v->seed;
	o->rollout = *a->sample;
	o->rollout.texts = a->rl->rollout.texts;
	o->rollout.seed = v->seed;
	o->max_length = a->sft->max_length;
	o->save_every = a->sft->save_every;
	o->save_keep = a->sft->save_keep;
	o->policy = *a->policy;
	if (!o->tasks)
		return err_set(e, ERR_USAGE, "no tasks to learn from; use --tasks FILE_OR_FOLDER");
	if (judge_args_options(a->judge, &o->judge, &o->pool, e))
		return -1;
	/* With dropout the log-probabilities of training would differ from those of sampling. */
	if (o->policy.lora.dropout < 0)
		o->policy.lora.dropout = 0;
	o->judge.skip_general = 1;              /* the reward depends only on the task's contract */
	o->rollout.strict = o->judge.track == TRACK_STRICT;
	o->rollout.tf32 = o->judge.precision == PRECISION_TF32;
	o->policy.trainer.optim.lr = o->lr;
	o->policy.trainer.par = v->par;
	o->policy.trainer.nccl = v->nccl;
	if (!o->policy.trainer.tape.max_tokens)
		o->policy.trainer.tape.max_tokens = o->max_length;
	return 0;
}

/* Options that only some methods read, as bits of enum rl_method. */
static int check_method(const struct train_args *a, const struct opt_parsed *p, struct err *e)
{
	enum { BEST = 1 << RL_best_of_n, RWSFT = 1 << RL_rwsft, REINFORCE = 1 << RL_reinforce, GRPO = 1 << RL_grpo };
	static const struct { const char *option; int methods; } of[] = {
		{ "keep", BEST }, { "threshold", BEST | RWSFT }, { "ratio-clip", REINFORCE | GRPO }, { "alpha", GRPO },
		{ "alpha-decay", GRPO }, { "token-classes", GRPO }, { "normalise", GRPO },
	};
	static const char *const of_curriculum[] = { "share-first", "share-last", "share-rise", "share-wanted" };
	const char *method = rl_method_name(a->rl.advantage.method);

	for (size_t i = 0; i < COUNT_OF(of); i++)
		if (opt_is_set(p, of[i].option) && !(of[i].methods >> a->rl.advantage.method & 1))
			return err_set(e, ERR_USAGE, "--%s has no effect with --method %s: leave it out", of[i].option,
				       method);
	for (size_t i = 0; i < COUNT_OF(of_curriculum) && !a->rl.curriculum; i++)
		if (opt_is_set(p, of_curriculum[i]))
			return err_set(e, ERR_USAGE, "--%s has no effect with --no-curriculum: leave it out",
				       of_curriculum[i]);
	return 0;
}

/* The token classes of grpo have rewards of their own, and --beta is a reward of its own. */
int run_rl_check(const struct train_args *a, const struct opt_parsed *p, struct err *e)
{
	int classes = a->rl.advantage.method == RL_grpo && a->rl.advantage.classes;

	if (!a->judge.ext[EXT_metamorphic] && a->judge.judge.contract == CONTRACT_TASK)
		return err_set(e, ERR_USAGE, "--no-metamorphic has no effect in training: relations belong to the "
			       "general contract; add --contract general or leave it out");
	if (check_method(a, p, e))
		return -1;
	if (!opt_is_set(p, "reward"))
		return 0;
	if (a->rl.beta >= 0)
		return err_set(e, ERR_USAGE, "--reward has no effect with --beta, which is a reward of its own: "
			       "leave one of them out");
	return classes ? err_set(e, ERR_USAGE, "--reward has no effect with --method grpo and token classes, which "
				 "have rewards of their own: add --no-token-classes or leave --reward out") : 0;
}

/* Completes the options with the start of the stage: the result of stage sft, if there is one. The
 * adapter's options and the prompt style are chosen after that, because the start's folder names
 * them. */
static int choose_start(struct rl_opts *o, const struct run_rl_args *a, struct buf *from, struct err *e)
{
	if (a->sft_run && !run_final(a->sft_run, "sft_final", from))
		return err_set(e, ERR_STATE, "'%s' is missing or incomplete; run stage sft first", buf_cstr(from));
	if (a->sft_run)
		start_from(o, a->policy, buf_cstr(from));
	if (policy_settle(&o->policy, o->seed, e))
		return -1;
	o->rollout.style = prompt_style_choose(o->rollout.style, o->policy.adapter, o->policy.model);
	o->policy.prompt_style = prompt_style_name(o->rollout.style);
	return 0;
}

/* Runs stage rl and prints its result in one line. */
int run_rl(const struct run_env *v, const struct run_rl_args *a, int *done, struct err *e)
{
	struct buf from = BUF_INIT;
	struct rl_opts o;
	struct rl_result r;
	struct periodic_eval look = { .pool = NULL };
	int rc = rl_options(&o, v, a, e) || choose_start(&o, a, &from, e) ? -1 : 0;

	if (!rc) {
		rc = v->store && periodic_eval_open(&look, v->store, a->look, a->judge, &o.rollout, &o.look, e) ?
			-1 : rl_run(v->dev, v->store, &o, &r, e);
		rc = periodic_eval_close(&look, !rc && r.done, e) ? -1 : rc;
	}
	if (!rc) {
		*done = r.done;
		print_rl(v, &r);
	}
	buf_release(&from);
	return rc;
}

/* The page of one or several runs. The title is the first folder unless one was given. */
int run_report(const struct report_run *runs, size_t n, const struct report_opts *a, const char *file,
	       struct buf *path, struct err *e)
{
	struct report_opts o = { .title = a->title ? a->title : runs[0].dir, .megabytes = a->megabytes };
	struct buf page = BUF_INIT, folder = BUF_INIT;
	int rc = 0;

	if (file) {
		buf_clear(path);
		buf_adds(path, file);
	} else {
		path_join(path, runs[0].dir, "report.html");
	}
	if (a->wandb && !(rc = wandb_write(runs[0].store, runs[0].dir, &folder, e)))
		log_info("for Weights & Biases: wandb sync %s", buf_cstr(&folder));
	rc = rc || report_write(runs, n, &o, &page, e) || buf_check(path, e) || file_replace(path->p,
			buf_str(&page), e) ? -1 : 0;
	buf_release(&page);
	buf_release(&folder);
	return rc;
}
