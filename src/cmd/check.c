/* tritonrl check: diagnostics about the kernels of files, without running anything. */
#include <stdio.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/cmd.h"
#include "tile/check_kernel.h"

struct args {
	int json;
	int64_t capability;
	const char *triton_version;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, json, "json", 0, "one JSON object: files, kernels, diagnostics"),
	OPT_CHOICE(struct args, triton_version, "triton-version", "3.2|3.3|3.4|3.5|3.6|3.7|3.8", "3.6", "whose rules apply"),
	OPT_INT(struct args, capability, "capability", 70, 120, 90, "compute capability: 80 for A100, 89 for L40S, 90 for H100 and H200"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "FILE...",
	.about = "Check the Triton kernels of Python files by Triton's own rules. A kernel is compiled under the types of the "
		 "`# signature: x=*fp32, n=i32, BLOCK=128` comments above it, or, without any, under types guessed from its use. "
		 "Folders are searched for .py files.",
	.opts = opts,
};

struct checker {
	const struct args *a;
	struct tile_engine *g;
	struct jw w;
	int64_t files, kernels, found;
	struct err *e;
};

static void show(struct checker *c, const char *path, const struct diag *d)
{
	c->found++;
	if (!c->a->json) {
		printf("%s:%d:%d: error[%s]: %s\n", path, d->line, d->col, reason_code(d->reason), d->text);
		if (d->hint[0])
			printf("%s:%d:%d: note: %s\n", path, d->line, d->col, d->hint);
		return;
	}
	jw_begin(&c->w, '{');
	jw_key(&c->w, "file");
	jw_cstr(&c->w, path);
	jw_key(&c->w, "line");
	jw_int(&c->w, d->line);
	jw_key(&c->w, "column");
	jw_int(&c->w, d->col);
	jw_key(&c->w, "reason");
	jw_cstr(&c->w, reason_code(d->reason));
	jw_key(&c->w, "message");
	jw_cstr(&c->w, d->text);
	jw_key(&c->w, "hint");
	jw_cstr(&c->w, d->hint[0] ? d->hint : NULL);
	jw_key(&c->w, "kernel");
	jw_cstr(&c->w, d->kernel[0] ? d->kernel : NULL);
	jw_end(&c->w, '}');
}

static int check_kernels(struct checker *c, const char *path, const struct py_module *m)
{
	struct check_env env;
	if (check_env_init(&env, m, c->e))
		return -1;
	int rc = 0;
	for (size_t i = 0; i < env.n_fns && rc >= 0; i++) {
		const struct tile_fn *fn = &env.fns[i];
		struct diag d = { 0 };
		if (!check_signature_comment(&env, fn, 0).n && check_is_helper(&env, fn))
			continue;
		c->kernels++;
		rc = check_kernel_inferred(c->g, &env, fn, &d, c->e);
		if (rc > 0)
			show(c, path, &d);
	}
	check_env_release(&env);
	return rc < 0 ? err_wrap(c->e, "checking '%s'", path) : 0;
}

static int check_file(struct checker *c, const char *path)
{
	struct buf src = BUF_INIT;
	struct py_module m;
	struct err syntax = ERR_INIT;
	int rc = file_read(path, 0, &src, c->e);
	if (rc)
		goto out;
	c->files++;
	if (py_parse(&m, buf_str(&src), path, 0, &syntax)) {
		struct diag d = { .reason = REASON_syntax_error, .line = syntax.line, .col = syntax.column };
		snprintf(d.text, sizeof d.text, "%s", syntax.text);
		show(c, path, &d);
		goto out;
	}
	rc = check_kernels(c, path, &m);
	py_release(&m);
out:
	buf_release(&src);
	return rc;
}

static int check_path(struct checker *c, const char *path);

static int check_folder(struct checker *c, const char *path)
{
	struct file_list l = { 0 };
	struct buf name = BUF_INIT;
	int rc = file_list_open(&l, path, c->e);
	for (size_t i = 0; i < l.n && !rc; i++) {
		if (l.v[i][0] == '.')
			continue;
		path_join(&name, path, l.v[i]);
		if (file_is_dir(buf_cstr(&name)) || str_ends(str_of(l.v[i]), ".py"))
			rc = check_path(c, buf_cstr(&name));
	}
	buf_release(&name);
	file_list_close(&l);
	return rc;
}

static int check_path(struct checker *c, const char *path)
{
	return file_is_dir(path) ? check_folder(c, path) : check_file(c, path);
}

static int check_all(struct checker *c, const struct opt_parsed *p)
{
	if (!p->n)
		return err_set(c->e, ERR_USAGE, "no file given");
	for (size_t i = 0; i < p->n; i++)
		if (check_path(c, p->args[i]))
			return -1;
	return 0;
}

static void finish_json(struct checker *c, struct buf *out)
{
	jw_end(&c->w, ']');
	jw_key(&c->w, "files");
	jw_int(&c->w, c->files);
	jw_key(&c->w, "kernels");
	jw_int(&c->w, c->kernels);
	jw_end(&c->w, '}');
	puts(buf_cstr(out));
}

int cmd_check(int argc, char **argv)
{
	struct args a;
	struct opt_parsed p;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);
	if (rc >= 0)
		return rc;
	struct err e = ERR_INIT;
	struct buf out = BUF_INIT;
	struct checker c = { .a = &a, .w = { .out = &out }, .e = &e };
	struct tile_options o = { .triton_version = 300 + a.triton_version[2] - '0', .capability = (int)a.capability };
	c.g = tile_engine_new(&o, &e);
	if (a.json) {
		jw_begin(&c.w, '{');
		jw_key(&c.w, "diagnostics");
		jw_begin(&c.w, '[');
	}
	rc = c.g ? check_all(&c, &p) : -1;
	if (!rc && a.json)
		finish_json(&c, &out);
	tile_engine_free(c.g);
	buf_release(&out);
	opt_release(&p);
	return rc ? cmd_fail("check", &e) : c.found ? CMD_NO : CMD_OK;
}
