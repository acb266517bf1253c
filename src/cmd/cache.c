/* tritonrl cache: shows what is in the cache folder, and cleans it. The work is in base/cache_folder.h. */
#include <stdio.h>

#include "base/cache_folder.h"
#include "base/json.h"
#include "cmd/cmd.h"

struct args {
	int all, json;
	double days;
	int64_t limit_mb;
};

static const struct opt opts[] = {
	OPT_FLAG(struct args, all, "all", 0, "clean: delete every entry, not only prepared tasks"),
	OPT_REAL(struct args, days, "older-than", 0, 1e5, 0,
		 "clean: delete only files that were not used for this many days; 0: any"),
	OPT_INT(struct args, limit_mb, "limit-mb", -1, 1 << 30, -1,
		"clean: delete the least recently used files until this many MiB are left; -1: "
		"all"),
	OPT_FLAG(struct args, json, "json", 0, "print JSON"),
	OPT_END
};

static const struct cmd_usage usage = {
	.args = "[show|clean]",
	.about = "Show what is in the cache folder ($XDG_CACHE_HOME/tritonrl or ~/.cache/tritonrl), how large it "
		 "is and when it was last used, or clean it. Everything in it can be made again: prepared tasks "
		 "cost time when they are next judged.",
	.opts = opts,
};

/* One line per entry, and the sum. */
static void show_table(const char *folder, const struct cache_contents *c)
{
	int64_t files = 0, bytes = 0;

	printf("%-16s %10s %8s  %-10s  %s\n", "entry", "MiB", "files", "last used", "purpose");
	for (size_t i = 0; i < c->n; i++) {
		const struct cache_entry *x = &c->v[i];
		char day[16] = "-";
		struct tm tm;

		if (x->used && localtime_r(&x->used, &tm))
			strftime(day, sizeof day, "%Y-%m-%d", &tm);
		printf("%-16s %10.1f %8lld  %-10s  %s\n", x->name, (double)x->bytes / 1048576, (long long)x->files, day,
		       x->text);
		files += x->files;
		bytes += x->bytes;
	}
	printf("%-16s %10.1f %8lld  in '%s'\n", "together", (double)bytes / 1048576, (long long)files, folder);
}

static void show_json(const char *folder, const struct cache_contents *c)
{
	struct buf b = BUF_INIT;
	struct jw w = { .out = &b };

	jw_begin(&w, '{');
	jw_key(&w, "folder"), jw_cstr(&w, folder);
	jw_key(&w, "entries");
	jw_begin(&w, '[');
	for (size_t i = 0; i < c->n; i++) {
		jw_begin(&w, '{');
		jw_key(&w, "name"), jw_cstr(&w, c->v[i].name);
		jw_key(&w, "bytes"), jw_int(&w, c->v[i].bytes);
		jw_key(&w, "files"), jw_int(&w, c->v[i].files);
		jw_key(&w, "used"), jw_int(&w, (int64_t)c->v[i].used);
		jw_end(&w, '}');
	}
	jw_end(&w, ']');
	jw_end(&w, '}');
	puts(buf_cstr(&b));
	buf_release(&b);
}

/* Deletes and says how much. */
static int clean(const struct args *a, const char *folder, struct err *e)
{
	struct cache_clean c = { .all = a->all, .most = a->limit_mb < 0 ? -1 : a->limit_mb << 20,
				 .before = a->days > 0 ? time(NULL) - (time_t)(a->days * 86400) : 0 };
	int64_t files, bytes;

	if (cache_delete(folder, &c, &files, &bytes, e))
		return -1;
	if (a->json)
		printf("{\"deleted_files\": %lld, \"deleted_bytes\": %lld}\n", (long long)files, (long long)bytes);
	else
		printf("deleted %lld files, %.1f MiB\n", (long long)files, (double)bytes / 1048576);
	return 0;
}

/* Options of `clean` without it would change nothing, so they are refused. */
static int run(const struct args *a, const struct opt_parsed *p, struct err *e)
{
	int cleans = p->n == 1 && !strcmp(p->args[0], "clean"), shows = !p->n || !strcmp(p->args[0], "show");
	struct cache_contents c;
	struct buf folder = BUF_INIT;
	int rc = 0;

	if (p->n > 1 || (!cleans && !shows))
		rc = err_set(e, ERR_USAGE, "say `cache show` or `cache clean`");
	else if (shows && (a->all || a->days > 0 || a->limit_mb >= 0))
		rc = err_set(e, ERR_USAGE, "--all, --older-than and --limit-mb belong to `cache clean`");
	else if (cache_folder(&folder))
		rc = err_set(e, ERR_NOT_FOUND, "neither XDG_CACHE_HOME nor HOME names a folder");
	else if (cleans)
		rc = clean(a, buf_cstr(&folder), e);
	else
		rc = cache_read(buf_cstr(&folder), &c, e);
	if (!rc && shows && a->json)
		show_json(buf_cstr(&folder), &c);
	else if (!rc && shows)
		show_table(buf_cstr(&folder), &c);
	buf_release(&folder);
	return rc;
}

int cmd_cache(int argc, char **argv)
{
	struct opt_parsed p;
	struct args a;
	struct err e = ERR_INIT;
	int rc = cmd_parse(&usage, &a, argc, argv, &p);

	if (rc >= 0)
		return rc;
	rc = run(&a, &p, &e);
	opt_release(&p);
	return rc ? cmd_fail("cache", &e) : CMD_OK;
}
