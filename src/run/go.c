/* A whole run: see go.h. */
#include "run/go.h"

#include "base/file.h"
#include "base/progress.h"

/* The configuration that a folder was begun with. */
static int own_config(const char *out, struct buf *path, struct err *e)
{
	if (!path_join(path, out, "config.yaml"))
		return err_nomem(e);
	return file_exists(path->p) ? 0 : err_set(e, ERR_NOT_FOUND, "'%s' holds no run: it has no config.yaml", out);
}

static int go_stages(const struct go *g, int *done, struct err *e)
{
	struct pipeline_source src = g->source;
	struct buf config = BUF_INIT;
	struct pipeline p;
	int rc = 0;

	if (g->again && !src.config) {
		rc = own_config(src.out, &config, e);
		src.config = buf_cstr(&config);
	}
	rc = rc || pipeline_open(&p, &src, e) ? -1 : 0;
	if (!rc) {
		if (g->dry)
			pipeline_shrink(&p);
		rc = (g->dry && par_first(g->par) && file_remove_tree(p.out, e)) || pipeline_run(&p, g->par, done, e) ? -1 : 0;
		pipeline_close(&p);
	}
	buf_release(&config);
	return rc;
}

/* The first process keeps the run; one a machine listens for notices. */
static int open_keep(const struct go *g, struct keep *k, struct err *e)
{
	if (g->dry)
		return 0;
	if (par_first(g->par))
		return keep_open(k, g->keep, g->source.out, e);
	return par_local_rank(g->par) ? 0 : keep_open_other(k, g->keep, e);
}

int go_run(const struct go *g, int *done, struct err *e)
{
	struct keep k = KEEP_INIT;
	int rc = open_keep(g, &k, e);

	*done = 0;
	/* A budget that was spent before this began stops it here. The others wait until the folder is filled. */
	if (!rc && !stop_requested())
		rc = par_barrier(g->par, e) || go_stages(g, done, e) ? -1 : 0;
	if (rc && e->code == ERR_INTERRUPTED) {
		err_clear(e);
		rc = 0;
	}
	keep_close(&k);
	return rc;
}
