/* A whole run: see whole_run.h.
 *
 * Puts the pipeline between the opening and the closing of its safeguards. Invariant: the last
 * state reaches the bucket however the stages end. */
#include "run/whole_run.h"

#include "base/file.h"
#include "base/progress.h"
#include "run/train_run.h"

/* Writes the path of the configuration with which the folder's run was started. */
static int own_config(const char *out, struct buf *path, struct err *e)
{
	if (!path_join(path, out, "config.yaml"))
		return err_nomem(e);
	return file_exists(path->p) ? 0 : err_set(e, ERR_NOT_FOUND, "'%s' holds no run: there is no config.yaml", out);
}

/* Opens the configuration and runs the stages. A dry run starts in an empty folder each time. A folder
 * of `train` continues with its own stages. */
static int run_stages(const struct whole_run *g, int *done, struct err *e)
{
	struct pipeline_source src = g->source;
	struct buf config = BUF_INIT;
	struct pipeline p;
	int rc = 0;

	if (g->again && !src.config && train_run_owns(src.out))
		return train_run_resume(src.out, g->par, done, e);
	if (g->again && !src.config) {
		rc = own_config(src.out, &config, e);
		src.config = buf_cstr(&config);
	}
	rc = rc || pipeline_open(&p, &src, e) ? -1 : 0;
	if (!rc) {
		if (g->dry)
			pipeline_shrink(&p);
		rc = (g->dry && par_first(g->par) && file_remove_tree(p.out, e)) ||
			pipeline_run(&p, g->par, done, e) ? -1 : 0;
		pipeline_close(&p);
	}
	buf_release(&config);
	return rc;
}

/* A stop on request is no error: *done says that there is more to do. A dry run uploads nothing, but finds
 * out whether the bucket could be used. */
int whole_run(const struct whole_run *g, int *done, struct err *e)
{
	struct safeguard k = SAFEGUARD_INIT;
	int rc = 0;

	*done = 0;
	if (!g->dry)
		rc = safeguard_open(&k, g->keep, g->source.out, g->par, e);
	else if (g->keep->mirror.bucket && par_first(g->par))
		rc = mirror_check(&g->keep->mirror, e);
	if (!rc && !stop_requested())
		rc = run_stages(g, done, e);
	if (rc && e->code == ERR_INTERRUPTED) {
		err_clear(e);
		rc = 0;
	}
	safeguard_close(&k);
	return rc;
}
