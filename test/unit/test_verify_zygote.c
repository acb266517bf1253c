/* Nothing that one runner left in the socket, answers or questions, is taken for the next runner's. */
#include "check.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "verify/funnel/judgement.h"
#include "verify/pool/zygote.h"

#define TASK "import torch\nimport torch.nn as nn\nclass Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" \
	"    def forward(self, x):\n        return torch.relu(x)\nn = 40\n" \
	"def get_inputs():\n    return [torch.randn(4, n)]\ndef get_init_inputs():\n    return []\n"
#define CANDIDATE "import torch\nimport torch.nn as nn\nimport triton\nimport triton.language as tl\n@triton.jit\n" \
	"def k(x_ptr, y_ptr, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n" \
	"    x = tl.load(x_ptr + i, mask=i < n)\n    tl.store(y_ptr + i, tl.maximum(x, 0.0), mask=i < n)\n" \
	"class ModelNew(nn.Module):\n    def __init__(self):\n        super().__init__()\n    def forward(self, x):\n" \
	"        y = torch.empty_like(x)\n        k[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), B=64)\n        return y\n"

static void drained(void **state)
{
	int pair[2];
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(send(pair[1], "", 0, 0), 0);
	assert_int_equal(send(pair[1], "x", 1, 0), 1);
	zygote_drain(pair[0]);
	assert_int_equal(recv(pair[0], &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	/* A closed socket is not a message. */
	close(pair[1]);
	zygote_drain(pair[0]);
	close(pair[0]);
}

/* A runner that ends before it reads a question leaves that question in the socket. The next runner must skip it. */
static void asked_of_another(void **state)
{
	static struct zygote z;
	struct judge_options o = JUDGE_DEFAULTS;
	struct err e = ERR_INIT;
	struct judge *j = judge_new(&o, &e);
	struct task *t;
	static struct verdict v;
	uint64_t stale = 0;
	struct pollfd answer;
	int files;

	(void)state;
	assert_non_null(j);
	assert_int_equal(zygote_open(&z, j, 20.0, 0, &files, &e), 0);
	t = task_open(j, STR(TASK), "task", &e);
	assert_non_null(t);
	assert_int_equal(send(z.run_fd, &stale, sizeof stale, 0), sizeof stale);
	shmem_set_text(z.link.shmem, STR(CANDIDATE));
	assert_int_equal(z.link.start(&z.link, &t->image, &e), 0);
	answer = (struct pollfd){ .fd = z.run_fd, .events = POLLIN };
	assert_int_equal(poll(&answer, 1, 500), 0);
	z.link.end(&z.link);
	judge_set_link(j, &z.link);
	assert_int_equal(judge_candidate(j, t, STR(CANDIDATE), &v, &e), 0);
	assert_int_equal(v.correct, 1);
	task_free(t);
	judge_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(drained), cmocka_unit_test(asked_of_another) };

	return cmocka_run_group_tests_name("zygote", tests, NULL, NULL);
}
