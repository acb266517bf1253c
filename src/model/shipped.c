/* The model that ships with the program: see shipped.h. */
#include "model/shipped.h"

#include <unistd.h>

#include "base/file.h"

/* Folders that may hold `models`, relative to the program's own: a source tree (./tritonrl), another build of
 * it (build/asan/tritonrl), a wheel (tritonrl/bin/tritonrl), an installation (bin/tritonrl). */
static const char *const places[] = { "", "../../", "../", "../share/tritonrl/" };

int model_shipped(struct buf *path)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self);
	struct str base;
	struct buf config = BUF_INIT;
	int found = 0;

	if (n <= 0 || n == sizeof self)
		return 0;
	self[n] = 0;
	base = path_base(self);
	for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
		buf_clear(path);
		buf_addf(path, "%.*s%smodels/writer", (int)(base.p - self), self, places[i]);
		found = !path->failed && file_exists(path_join(&config, buf_cstr(path), "config.json"));
	}
	buf_release(&config);
	return found;
}
