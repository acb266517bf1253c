/* Power cuts: the writer of checkpoints on a disk that forgets what was not synced (disk.h). At every
 * moment of its work, and for every way the disk may then look, the newest checkpoint that it had told of is
 * found, whole; or the one it was writing, whole. Cleaning up after a cut is cut in the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "disk.h"
#include "train/checkpoint.h"

enum { MOST = 3000, MOST_AGAIN = 64, FILES = 2 };

#define NEED(x) do { if (!(x)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)

/* What the work had told of after so many changes. */
struct told { int changes; int step; const char *final; };

static struct told told[16];
static int n_told;
static struct { long cuts, outcomes, different, again; } count;

static void tell(struct disk *d, int step, const char *final)
{
	told[n_told++] = (struct told){ .changes = disk_changes(d), .step = step, .final = final };
}

/* --- the work ---------------------------------------------------------------------------------- */

static void content(char *to, size_t n, const char *name, int file)
{
	snprintf(to, n, "%s, file %d: some bytes that are not the same anywhere else", name, file);
}

static void write_checkpoint(const char *name, int step)
{
	struct buf path = BUF_INIT;
	char *dir, text[120], state[40];

	NEED(!checkpoint_begin("/c", name, &dir, NULL));
	for (int i = 0; i < FILES; i++) {
		buf_clear(&path);
		buf_addf(&path, "%s/file%d", dir, i);
		snprintf(state, sizeof state, "%s %d", name, step);
		content(text, sizeof text, state, i);
		NEED(!file_replace(buf_cstr(&path), str_of(text), NULL));
	}
	snprintf(state, sizeof state, "{\"step\": %d}", step);
	NEED(!checkpoint_commit("/c", name, dir, str_of(state), NULL));
	buf_release(&path);
	mem_free(dir);
}

/* Three steps with room for one, and a final one that is written twice. */
static void work(struct disk *d)
{
	char name[40];

	for (int step = 1; step <= 3; step++) {
		snprintf(name, sizeof name, "s-%06d", step);
		write_checkpoint(name, step);
		tell(d, step, NULL);
		NEED(!checkpoint_prune("/c", "s", 1, NULL));
	}
	write_checkpoint("final", 1);
	tell(d, 3, "final 1");
	write_checkpoint("final", 2);
	tell(d, 3, "final 2");
}

/* --- what must hold --------------------------------------------------------------------------------- */

static void check_files(const char *path, const char *name, int step)
{
	struct buf file = BUF_INIT, text = BUF_INIT;
	char want[120], who[40];

	snprintf(who, sizeof who, "%s %d", name, step);
	for (int i = 0; i < FILES; i++) {
		buf_clear(&file);
		buf_clear(&text);
		buf_addf(&file, "%s/file%d", path, i);
		content(want, sizeof want, who, i);
		NEED(!file_read(buf_cstr(&file), 0, &text, NULL));
		NEED(!strcmp(buf_cstr(&text), want));
	}
	buf_release(&file);
	buf_release(&text);
}

static void recover(int changes)
{
	struct buf path = BUF_INIT;
	int step = 0, found, got;

	for (int i = 0; i < n_told && told[i].changes <= changes; i++)
		step = told[i].step;
	found = checkpoint_latest("/c", "s", &path, NULL);
	NEED(found >= 0 && (found || !step));
	if (found) {
		NEED(sscanf(strrchr(path.p, '/'), "/s-%d", &got) == 1 && got >= step);
		check_files(path.p, path_base(path.p).p, got);
	}
	buf_release(&path);
}

/* A folder with a fixed name is whole, or it is not there at all: then one of that name was being replaced. */
static void check_final(int changes)
{
	struct told *last = NULL;

	for (int i = 0; i < n_told && told[i].changes <= changes; i++)
		if (told[i].final)
			last = &told[i];
	if (!checkpoint_verify("/c/final", NULL, NULL)) {
		struct buf state = BUF_INIT;
		int step = 0;

		NEED(!checkpoint_verify("/c/final", &state, NULL));
		NEED(sscanf(strchr(buf_cstr(&state), ':'), ":%d", &step) == 1);
		check_files("/c/final", "final", step);
		NEED(!last || step >= atoi(last->final + 6));
		buf_release(&state);
	} else {
		NEED(last != &told[n_told - 1]);
	}
}

static int seen_before(uint64_t hash)
{
	static uint64_t *seen;
	static size_t n, cap;

	for (size_t i = 0; i < n; i++)
		if (seen[i] == hash)
			return 1;
	if (n == cap) {
		cap = cap ? 2 * cap : 1024;
		seen = realloc(seen, cap * sizeof *seen);
		NEED(seen);
	}
	seen[n++] = hash;
	return 0;
}

/* One look of the disk after a cut: recovery finds what it must, also after a cut of its own. */
static void after(struct disk *d, int changes)
{
	int before = disk_changes(d);

	disk_use(d);
	recover(changes);
	check_final(changes);
	for (int n = before; n <= disk_changes(d); n++) {
		long ways = disk_outcomes(d, n, MOST_AGAIN);

		for (long w = 0; w < ways; w++) {
			struct disk *again = disk_outcome(d, n, w, MOST_AGAIN);

			disk_use(again);
			recover(changes);
			disk_free(again);
			count.again++;
		}
	}
}

static void cut_at(const struct disk *d, int n)
{
	long ways = disk_outcomes(d, n, MOST);

	count.cuts++;
	for (long w = 0; w < ways; w++) {
		struct disk *out = disk_outcome(d, n, w, MOST);

		count.outcomes++;
		/* What had been told of decides what must be there, so it is part of what makes outcomes differ. */
		if (!seen_before(disk_hash(out) * 31 + (uint64_t)n)) {
			count.different++;
			after(out, n);
		}
		disk_free(out);
	}
}

int main(void)
{
	struct disk *d = disk_new();

	log_set_level(LOG_OFF);
	disk_use(d);
	NEED(!file_mkdirs("/c", NULL) && !file_sync_dir("/", NULL));
	work(d);
	for (int n = 0; n <= disk_changes(d); n++)
		cut_at(d, n);
	disk_use(NULL);
	disk_free(d);
	printf("crash: %ld cuts, %ld outcomes, %ld of them different, %ld cuts of recovery: a whole checkpoint each time\n", count.cuts,
	       count.outcomes, count.different, count.again);
	return 0;
}
