/* A copy of a run folder in a bucket: see mirror.h.
 *
 * Owns the choice of files and the background thread; net/depot.c owns the bucket's layout.
 * Invariant: the files of a state do not change while they are uploaded, because they are links to
 * finished files or copies. */
#include "run/mirror.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress.h"
#include "store/store.h"
#include "train/checkpoint.h"

const struct opt mirror_args_table[] = {
	OPT_STR(struct mirror_args, bucket, "bucket", "s3://BUCKET/PREFIX", NULL,
		"keep a copy of the run in this bucket, and continue a run that is already there"),
	OPT_STR(struct mirror_args, endpoint, "endpoint", "URL", NULL,
		"S3 service other than Amazon's (default: AWS_ENDPOINT_URL_S3)"),
	OPT_STR(struct mirror_args, region, "region", "NAME", NULL,
		"region of the bucket (default: AWS_REGION, the profile, us-east-1)"),
	OPT_STR(struct mirror_args, profile, "profile", "NAME", NULL,
		"profile in ~/.aws/credentials (default: AWS_PROFILE)"),
	OPT_CHOICE(struct mirror_args, style, "s3-style", "auto|path|virtual", "auto",
		   "whether the bucket name goes into the host name or the path of URLs"),
	OPT_STR(struct mirror_args, ca_file, "ca-file", "FILE", NULL,
		"certificates to trust instead of the system's"),
	OPT_STR(struct mirror_args, metadata, "metadata", "URL", NULL,
		"instance metadata service (default: AWS_EC2_METADATA_SERVICE_ENDPOINT, Amazon's)"),
	OPT_REAL(struct mirror_args, every, "sync-every", 1, 1e6, 600,
		 "seconds between uploads of the run's state"),
	OPT_REAL(struct mirror_args, mb_per_second, "sync-mb", 0, 1e6, 0,
		 "upload limit in megabytes per second; 0: no limit"),
	OPT_INT(struct mirror_args, keep, "sync-keep", 1, 100000, 5,
		"states to keep in the bucket"),
	OPT_INT(struct mirror_args, parallel, "sync-parallel", 1, 64, 4,
		"parts of a file to upload at the same time"),
	OPT_INT(struct mirror_args, attempts, "sync-attempts", 1, 100, 8, "attempts per request"),
	OPT_END
};

struct s3 *mirror_bucket(const struct mirror_args *a, const atomic_int *stop, struct err *e)
{
	struct s3_options o = { .endpoint = a->endpoint, .region = a->region, .profile = a->profile,
				.metadata = a->metadata, .style = a->style,
				.ca_file = a->ca_file, .attempts = (int)a->attempts, .parallel = (int)a->parallel,
				.bytes_per_second = (int64_t)(a->mb_per_second * 1e6), .stop = stop };

	if (!a->bucket) {
		err_set(e, ERR_USAGE, "no bucket was given; use --bucket s3://BUCKET/PREFIX");
		return NULL;
	}
	return s3_open(a->bucket, &o, e);
}

/* The first key is enough. */
static int stop_listing(void *ctx, struct str key, int64_t bytes)
{
	(void)ctx, (void)key, (void)bytes;
	return 1;
}

int mirror_check(const struct mirror_args *a, struct err *e)
{
	static const char probe[] = "dry-run";
	struct s3 *s = mirror_bucket(a, NULL, e);
	int rc = s && s3_list(s, "", stop_listing, NULL, e) >= 0 && s3_put(s, probe, STR("a dry run wrote this"),
									 S3_ALWAYS, e) >= 0 &&
		s3_delete(s, probe, e) >= 0 ? 0 : -1;

	s3_close(s);
	return rc ? err_wrap(e, "bucket '%s'", a->bucket) : 0;
}

/* --- taking a state ------------------------------------------------------------------------------- */

/* The folder in which a state is assembled. It is inside the run folder, because links need the same file
 * system. */
static const char aside_name[] = ".mirror";

/* A state being assembled. */
struct taking {
	const char *run;
	struct buf aside;             /* the folder of links and copies */
	struct depot_files files;
	struct err *e;
};

/* Adds a file to the state's list. */
static int add_file(struct taking *t, const char *name)
{
	char *path = mem_strdup(name);

	if (!path || vec_push(&t->files, ((struct depot_file){ .path = path }))) {
		mem_free(path);
		return err_nomem(t->e);
	}
	return 0;
}

/* Adds a file of the run to the state: linked if it will never change, else copied. */
static int take_file(struct taking *t, const char *name, int link_it)
{
	struct buf from = BUF_INIT, to = BUF_INIT, parent = BUF_INIT;
	struct str base;
	int rc = path_join(&from, t->run, name) && path_join(&to, t->aside.p, name) ? 0 : err_nomem(t->e);

	if (!rc) {
		base = path_base(to.p);
		buf_add(&parent, to.p, (size_t)(base.p - to.p));
		rc = buf_check(&parent, t->e) ? -1 : file_mkdirs(parent.p, t->e);
	}
	/* File systems without links need a copy. */
	if (!rc && (!link_it || (link(from.p, to.p) && errno != EEXIST)))
		rc = file_copy(from.p, to.p, t->e);
	if (!rc)
		rc = add_file(t, name);
	buf_release(&from);
	buf_release(&to);
	buf_release(&parent);
	return rc;
}

/* Adds every file below a folder of the run. A missing folder has none. */
static int take_folder(struct taking *t, const char *name, int link_it)
{
	struct buf path = BUF_INIT, inner = BUF_INIT;
	struct file_list l = { .n = 0 };
	int rc = path_join(&path, t->run, name) ? 0 : err_nomem(t->e), open = 0;

	if (!rc && file_is_dir(path.p)) {
		rc = file_list_open(&l, path.p, t->e);
		open = !rc;
	}
	for (size_t i = 0; open && i < l.n && !rc; i++) {
		if (str_starts(str_of(l.v[i]), ".tmp"))
			continue;
		if (!path_join(&inner, name, l.v[i]) || !path_join(&path, t->run, inner.p))
			rc = err_nomem(t->e);
		else
			rc = file_is_dir(path.p) ? take_folder(t, inner.p, link_it) : take_file(t, inner.p, link_it);
	}
	if (open)
		file_list_close(&l);
	buf_release(&path);
	buf_release(&inner);
	return rc;
}

/* Adds the checkpoints, the newest of each kind first. A checkpoint that is incomplete, or is
 * deleted meanwhile, is left out of the state. */
static int take_checkpoints(struct taking *t)
{
	struct buf dir = BUF_INIT, path = BUF_INIT, name = BUF_INIT;
	struct file_list l;
	int rc = path_join(&dir, t->run, "checkpoints") ? 0 : err_nomem(t->e);

	if (rc || !file_is_dir(dir.p) || file_list_open(&l, dir.p, t->e)) {
		rc = rc || file_is_dir(buf_cstr(&dir)) ? -1 : 0;
		buf_release(&dir);
		return rc;
	}
	for (size_t i = l.n; i-- > 0 && !rc; ) {
		size_t before = t->files.n;
		struct err why = ERR_INIT, *e = t->e;

		if (str_starts(str_of(l.v[i]), ".tmp") || !path_join(&path, dir.p, l.v[i]) ||
		    !path_join(&name, "checkpoints", l.v[i]))
			continue;
		t->e = &why;
		if (checkpoint_verify(path.p, NULL, &why) || take_folder(t, name.p, 1)) {
			log_debug("not in this state of the mirror: %s", why.text);
			while (t->files.n > before)
				mem_free(t->files.v[--t->files.n].path);
		}
		t->e = e;
	}
	file_list_close(&l);
	buf_release(&dir);
	buf_release(&path);
	buf_release(&name);
	return rc;
}

/* Adds a consistent copy of the store. */
static int take_store(struct taking *t)
{
	struct buf from = BUF_INIT, to = BUF_INIT;
	int rc = path_join(&from, t->run, "run.db") && path_join(&to, t->aside.p, "run.db") ? 0 : err_nomem(t->e);

	if (!rc && file_exists(from.p))
		rc = store_copy(from.p, to.p, t->e) || add_file(t, "run.db") ? -1 : 0;
	buf_release(&from);
	buf_release(&to);
	return rc;
}

/* Adds a copy of a file if it exists. */
static int take_if_there(struct taking *t, const char *name)
{
	struct buf path = BUF_INIT;
	int rc = path_join(&path, t->run, name) ? file_exists(path.p) : err_nomem(t->e);

	buf_release(&path);
	return rc > 0 ? take_file(t, name, 0) : rc;
}

/* Assembles a state. The order is the invariant of mirror.h: checkpoints before the store. */
static int take_state(struct taking *t)
{
	static const char *const files[] = { "rl_start.safetensors", "config.yaml", "config_sft.yaml",
					     "config_rl.yaml", "config_all.yaml",
					     "metrics.jsonl", "training.log", "spent.json", "report.html" };
	int rc = 0;

	if (!path_join(&t->aside, t->run, aside_name))
		return err_nomem(t->e);
	if (file_remove_tree(t->aside.p, t->e) || file_mkdirs(t->aside.p, t->e) || take_checkpoints(t) || take_store(t))
		return -1;
	for (size_t i = 0; i < COUNT_OF(files) && !rc; i++)
		rc = take_if_there(t, files[i]);
	return rc || take_folder(t, "data", 1) || take_folder(t, "outputs", 0) || take_folder(t, "logs", 0) ? -1 : 0;
}

/* Deletes the assembled state. */
static void drop_state(struct taking *t)
{
	file_remove_tree(buf_cstr(&t->aside), NULL);
	for (size_t i = 0; i < t->files.n; i++)
		mem_free(t->files.v[i].path);
	vec_free(&t->files);
	buf_release(&t->aside);
}

/* Assembles a state and uploads it. */
static int push_state(struct depot *d, const char *run, struct depot_pushed *out, struct err *e)
{
	struct taking t = { .run = run, .e = e };
	int rc = take_state(&t) || depot_push(d, buf_cstr(&t.aside), &t.files, out, e) ? -1 : 0;

	drop_state(&t);
	return rc;
}

/* --- once ------------------------------------------------------------------------------------------- */

/* Registers this process as the run's writer, with its host and pid for messages. An earlier writer
 * then finds that it has lost the run. */
static int claim(struct depot *d, struct err *e)
{
	char host[128] = "", who[200];

	gethostname(host, sizeof host - 1);
	snprintf(who, sizeof who, "%s, process %ld", host, (long)getpid());
	return depot_claim(d, who, e);
}

/* Uploads one state and deletes the oldest ones. For the command `sync`. */
int mirror_push(const struct mirror_args *a, const char *run, struct depot_pushed *out, struct err *e)
{
	struct s3 *s = mirror_bucket(a, NULL, e);
	struct depot *d = s ? depot_open(s, e) : NULL;
	int64_t removed;
	int rc = !d || claim(d, e) || push_state(d, run, out, e) || depot_prune(d, (int)a->keep, &removed, e) ? -1 : 0;

	depot_close(d);
	s3_close(s);
	return rc;
}

int mirror_pull(const struct mirror_args *a, const char *run, struct depot_pulled *out, struct err *e)
{
	struct s3 *s = mirror_bucket(a, NULL, e);
	struct depot *d = s ? depot_open(s, e) : NULL;
	int rc = d ? depot_pull(d, run, out, e) : -1;

	depot_close(d);
	s3_close(s);
	return rc;
}

/* --- in the background --------------------------------------------------------------------------------- */

/* A mirror in the background. The lock guards everything below it; only the thread uses bucket and
 * depot. */
struct mirror {
	struct mirror_args a;
	const char *run;
	struct s3 *s3;
	struct depot *depot;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int finish;
	struct mirror_status st;
	int64_t last_ns;              /* time of the last successful upload; 0: none */
	struct err last;              /* error of the last attempt; code 0: it succeeded */
};

/* Waits until the next upload is due or the end was requested. Returns 1 at the end. */
static int wait_until_due(struct mirror *m)
{
	struct timespec until;
	int finish;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)m->a.every;
	pthread_mutex_lock(&m->lock);
	while (!m->finish && !pthread_cond_timedwait(&m->wake, &m->lock, &until))
		;
	finish = m->finish;
	pthread_mutex_unlock(&m->lock);
	return finish;
}

/* Appends a line to the run's metrics: how far the bucket is behind the folder. */
static void record(const struct mirror *m, const struct mirror_status *s)
{
	struct buf line = BUF_INIT, path = BUF_INIT;
	struct jw w = { .out = &line };

	jw_begin(&w, '{');
	jw_key(&w, "step"), jw_int(&w, s->tries);
	jw_key(&w, "stage"), jw_cstr(&w, "sync");
	jw_key(&w, "states"), jw_int(&w, s->states);
	jw_key(&w, "failures"), jw_int(&w, s->failures);
	jw_key(&w, "bytes_sent"), jw_int(&w, s->bytes_sent);
	jw_key(&w, "behind_seconds"), jw_real(&w, s->age);
	jw_end(&w, '}');
	buf_addc(&line, '\n');
	if (!path_join(&path, m->run, "metrics.jsonl") || buf_check(&line, NULL) ||
	    file_append(path.p, buf_str(&line), 0, NULL))
		log_debug("the state of the mirror was not added to the metrics");
	buf_release(&line);
	buf_release(&path);
}

/* Records the result of an upload. ERR_STATE means that another machine has claimed the run. */
static void note(struct mirror *m, int rc, const struct depot_pushed *p, const struct err *e)
{
	struct mirror_status s;
	double behind = mirror_status(m).age;

	pthread_mutex_lock(&m->lock);
	m->last = *e;
	m->st.tries++;
	m->st.states += !rc;
	m->st.failures = rc ? m->st.failures + 1 : 0;
	m->st.bytes_sent += p->bytes_sent;
	m->st.lost |= rc && e->code == ERR_STATE;
	if (!rc)
		m->last_ns = clock_ns();
	s = m->st;
	s.age = behind;
	pthread_mutex_unlock(&m->lock);
	record(m, &s);
	if (rc)
		log_warn("the run's state was not uploaded to '%s': %s; training continues", m->a.bucket, e->text);
	else
		log_debug("state in '%s': %lld files, %lld bytes new", m->a.bucket, (long long)p->files,
			  (long long)p->bytes_sent);
}

/* The thread. The last upload happens after `finish` was set, so that it holds the run's last
 * state. */
static void *keep_pushing(void *ctx)
{
	struct mirror *m = ctx;
	int finish;

	do {
		struct depot_pushed p = { .files = 0 };
		struct err e = ERR_INIT;
		int64_t removed;
		int rc;

		finish = wait_until_due(m);
		rc = push_state(m->depot, m->run, &p, &e);
		note(m, rc, &p, &e);
		if (!rc && depot_prune(m->depot, (int)m->a.keep, &removed, &e))
			log_warn("old states in '%s' were not deleted: %s", m->a.bucket, e.text);
	} while (!finish && !m->st.lost);
	return NULL;
}

/* Frees the mirror. The thread must have ended, or never have started. */
static void release(struct mirror *m)
{
	depot_close(m->depot);
	s3_close(m->s3);
	pthread_cond_destroy(&m->wake);
	pthread_mutex_destroy(&m->lock);
	mem_free(m);
}

/* Claims the run before the thread starts: a run that cannot be claimed must not train without a
 * copy. */
struct mirror *mirror_start(const struct mirror_args *a, const char *run, struct err *e)
{
	struct mirror *m = mem_zalloc(sizeof *m);

	if (!m) {
		err_nomem(e);
		return NULL;
	}
	m->a = *a;
	m->run = run;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->wake, NULL);
	m->s3 = mirror_bucket(a, NULL, e);
	m->depot = m->s3 ? depot_open(m->s3, e) : NULL;
	if (!m->depot || claim(m->depot, e) || (pthread_create(&m->thread, NULL, keep_pushing, m) &&
						err_set(e, ERR_IO, "cannot start a thread"))) {
		release(m);
		return NULL;
	}
	return m;
}

/* The error of the last upload is the result: earlier failures do not matter once a later state
 * arrived. */
int mirror_finish(struct mirror *m, struct err *e)
{
	int rc;

	if (!m)
		return 0;
	pthread_mutex_lock(&m->lock);
	m->finish = 1;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	rc = m->last.code ? err_set(e, m->last.code, "%s", m->last.text) : 0;
	release(m);
	return rc;
}

/* The age is computed at the time of the call. */
struct mirror_status mirror_status(struct mirror *m)
{
	struct mirror_status s;

	pthread_mutex_lock(&m->lock);
	s = m->st;
	s.age = m->last_ns ? (double)(clock_ns() - m->last_ns) / 1e9 : -1.0;
	pthread_mutex_unlock(&m->lock);
	return s;
}
