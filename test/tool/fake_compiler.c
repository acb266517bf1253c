/* A compiler for the stand-in driver, with the protocol of python/tritonrl/compile_worker.py: the
 * machine code of a request is the request itself.
 *
 *     fake_compiler FD CAPABILITY FOLDER SECONDS
 *
 * A kernel whose name contains compile_refuse, compile_crash, compile_hang or compile_malformed gets
 * that answer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

enum { REQUEST = 0x54525131, ANSWER = 0x54525231 };

static int answer(int fd, uint32_t status, struct str meta, struct str code)
{
	uint32_t head[4] = { ANSWER, status, (uint32_t)meta.n, (uint32_t)code.n };

	return file_write_all(fd, head, sizeof head, NULL) || file_write_all(fd, meta.p, meta.n, NULL) ||
	       file_write_all(fd, code.p, code.n, NULL);
}

static int compile(int fd, const struct buf *text)
{
	struct json *j = json_parse(buf_str(text), NULL);
	struct str name = json_str(json_get(json_at(json_get(j, "functions"), 0), "name"), "");
	struct buf meta = BUF_INIT;
	int rc;

	if (str_find(name, STR("compile_crash")) >= 0)
		abort();
	while (str_find(name, STR("compile_hang")) >= 0)
		pause();
	if (str_find(name, STR("compile_malformed")) >= 0)
		return file_write_all(fd, "no frame of any kind", 20, NULL);
	if (str_find(name, STR("compile_refuse")) >= 0) {
		rc = answer(fd, 1, STR("{\"message\":\"the stand-in refuses this kernel\"}"), STR(""));
	} else {
		buf_addf(&meta, "{\"name\":\"%.*s\",\"num_warps\":%d,\"num_ctas\":%d,\"shared\":0,\"scratch_params\":2,"
			 "\"scratch_bytes\":0}", STR_ARG(name), (int)json_int(json_get(j, "num_warps"), 4),
			 (int)json_int(json_get(j, "num_ctas"), 1));
		rc = answer(fd, 0, buf_str(&meta), (struct str){ .p = text->p, .n = text->n + 1 });
	}
	buf_release(&meta);
	json_free(j);
	return rc;
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? atoi(argv[1]) : -1;
	uint32_t head[2];

	if (fd < 0 || answer(fd, 0, STR("{\"triton\":\"stand-in\"}"), STR("")))
		return 2;
	while (!file_read_all(fd, head, sizeof head, NULL) && head[0] == REQUEST) {
		struct buf text = BUF_INIT;

		buf_pad(&text, 0, head[1]);
		if (text.failed || file_read_all(fd, text.p, head[1], NULL) || compile(fd, &text))
			return 2;
		buf_release(&text);
	}
	return 0;
}
