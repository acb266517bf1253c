/* The runner of a slot: owns the context of a GPU and executes orders. See gpu_slot.h.
 *
 * It interprets no text of a candidate but the launch plan, which gpu_plan.c checks. Hostile code
 * runs on the GPU only, within this process's context. */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "verify/gpu/gpu_profiler.h"
#include "verify/gpu/slot_frame.h"

struct slot_runner {
	int fd;
	struct gpu_device g;
	char *memory;               /* shared: results */
	/* the plan that is loaded: */
	int loaded;
	struct buf text, codes;
	struct gpu_plan plan;
	struct gpu_call call;
	struct file_map data;
	struct st_file *tensors;
	uint64_t checked[GPU_PLACES];       /* digests of the results that were compared */
	struct gpu_profiler profiler;
	struct slot_answer a;
};

/* Notes why an order failed. */
static void say(struct slot_runner *r, enum slot_end end, const char *text)
{
	r->a.end = (int)end;
	snprintf(r->a.text, sizeof r->a.text, "%s", text);
}

static void say_fault(struct slot_runner *r, const struct gpu_fault *f)
{
	r->a.code = f->code;
	r->a.end = f->red_zone ? SLOT_RED_ZONE : SLOT_FAULT;
	if (f->red_zone)
		snprintf(r->a.text, sizeof r->a.text, "a kernel wrote outside of a tensor (number %d of the call)",
			 f->red_zone);
	else
		snprintf(r->a.text, sizeof r->a.text, "%s while %s%s%s", cuda_driver_error(&r->g.d, f->code), f->doing,
			 f->kernel[0] ? " kernel " : "", f->kernel);
}

/* --- loading -------------------------------------------------------------------------------- */

static void drop(struct slot_runner *r)
{
	if (!r->loaded)
		return;
	gpu_call_close(&r->call);
	gpu_plan_release(&r->plan);
	buf_release(&r->text);
	buf_release(&r->codes);
	st_close(r->tensors);
	if (r->data.p)
		munmap((void *)r->data.p, r->data.n);
	r->tensors = NULL;
	r->data = (struct file_map){ .p = NULL };
	r->loaded = 0;
}

/* Receives a descriptor that comes with one byte. */
static int take_fd(int fd)
{
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof (int))];
	char byte;
	struct iovec io = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space };
	struct cmsghdr *c;
	int got;

	if (recvmsg(fd, &m, MSG_CMSG_CLOEXEC) != 1 || !(c = CMSG_FIRSTHDR(&m)) || c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&got, CMSG_DATA(c), sizeof got);
	return got;
}

/* Maps the file with inputs and weights. */
static int map_data(struct slot_runner *r, struct err *e)
{
	int fd = take_fd(r->fd);
	off_t n = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *p = n <= 0 ? MAP_FAILED : mmap(NULL, (size_t)n, PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (p == MAP_FAILED)
		return err_set(e, ERR_IO, "the inputs cannot be mapped");
	r->data = (struct file_map){ .p = p, .n = (size_t)n };
	r->tensors = st_open_bytes((struct str){ .p = r->data.p, .n = r->data.n }, "the inputs", e);
	return r->tensors ? 0 : -1;
}

/* Receives and loads the kernels. Returns 1 for a fault. */
static int load_kernels(struct slot_runner *r, struct gpu_kernel *k, int n, struct gpu_fault *f, struct err *e)
{
	struct slot_code code;
	int rc = 0;

	for (int i = 0; i < n; i++) {
		buf_clear(&r->codes);
		if (file_read_all(r->fd, &code, sizeof code, e))
			return -1;
		buf_pad(&r->codes, 0, (size_t)code.n);
		if (buf_check(&r->codes, e) || file_read_all(r->fd, r->codes.p, (size_t)code.n, e))
			return -1;
		if (rc)
			continue;               /* the rest of the order is read, and dropped */
		f->code = gpu_kernel_load(&r->g, &k[i], &code.meta, r->codes.p);
		f->doing = "loading";
		snprintf(f->kernel, sizeof f->kernel, "%s", code.meta.name);
		rc = f->code != 0;
	}
	return rc;
}

/* Reads the whole order before anything can fail, so that the stream stays in step. */
static int load(struct slot_runner *r, const struct slot_order *o, struct gpu_fault *f, struct err *e)
{
	struct gpu_kernel *k;
	int rc;

	drop(r);
	r->loaded = 1;
	r->plan = (struct gpu_plan){ .json = NULL };
	r->call = (struct gpu_call){ .g = NULL };
	if (o->text_n > SLOT_TEXT_MOST || o->n_kernels < 2 || o->n_kernels > SLOT_KERNELS_MOST)
		return -1;
	k = mem_array((size_t)o->n_kernels, sizeof *k);
	if (!k)
		return err_nomem(e);
	r->call = (struct gpu_call){ .g = &r->g, .kernels = k, .n_kernels = o->n_kernels };
	buf_pad(&r->text, 0, o->text_n);
	if (buf_check(&r->text, e) || file_read_all(r->fd, r->text.p, o->text_n, e) || map_data(r, e))
		return -1;
	rc = load_kernels(r, k, o->n_kernels, f, e);
	if (!rc)
		rc = gpu_plan_parse(&r->plan, buf_str(&r->text), e);
	if (!rc)
		rc = gpu_call_open(&r->call, &r->g, &r->plan, k, o->n_kernels, r->tensors, o->sets, f, e);
	return rc;
}

/* --- orders --------------------------------------------------------------------------------- */

static int run(struct slot_runner *r, const struct slot_order *o, struct gpu_fault *f)
{
	if (o->place < 0 || o->place >= r->call.places)
		return -1;
	return gpu_call_run(&r->call, o->place, f) || gpu_call_check(&r->call, o->place, f) ||
	       gpu_call_results(&r->call, o->place, r->memory, f) ||
	       gpu_call_digest(&r->call, o->place, &r->checked[o->place], f);
}

/* Times calls. A result whose digest is not the one of the checked run is handed over, to be
 * compared like the first one. */
static int time_calls(struct slot_runner *r, const struct slot_order *o, struct gpu_fault *f)
{
	size_t bytes = (size_t)gpu_call_result_bytes(&r->call);

	for (int i = 0; i < MIN(o->trials, SLOT_SAMPLES); i++) {
		int place = (o->place + i) % r->call.places;
		uint64_t digest;

		if (gpu_call_time(&r->call, place, &r->a.sample[i], f) || gpu_call_digest(&r->call, place, &digest, f))
			return 1;
		r->a.place[i] = place;
		r->a.n = i + 1;
		if (digest == r->checked[place])
			continue;
		if (gpu_call_results(&r->call, place, r->memory + (size_t)r->a.n_differing * bytes, f))
			return 1;
		r->a.differing[r->a.n_differing++] = i;
	}
	return gpu_call_check(&r->call, 0, f);
}

/* Counts a call, or tries whether that is possible if nothing is loaded. The counters are handed over in the memory
 * for results. */
static int count(struct slot_runner *r, const struct slot_order *o, struct gpu_fault *f, struct err *e)
{
	char path[SLOT_PATH_MOST + 1] = "";
	struct verdict_counters counters;
	int rc;

	if (o->text_n > SLOT_PATH_MOST || file_read_all(r->fd, path, o->text_n, e))
		return err_set(e, ERR_STATE, "a malformed order");
	if (!r->loaded) {
		gpu_profiler_try(&r->profiler, path, &r->g, &counters);
		memcpy(r->memory, &counters, sizeof counters);
		return 0;
	}
	if (!r->call.places)
		return err_set(e, ERR_STATE, "nothing is loaded");
	rc = gpu_profiler_count(&r->profiler, path, &r->call, 0, &counters, f);
	memcpy(r->memory, &counters, sizeof counters);
	return rc;
}

/* Returns 0 on success, 1 for a fault of the candidate, -1 for one of ours. */
static int obey(struct slot_runner *r, const struct slot_order *o, struct gpu_fault *f, struct err *e)
{
	if (o->what == SLOT_LOAD)
		return load(r, o, f, e);
	if (o->what == SLOT_COUNT)
		return count(r, o, f, e);
	if (o->what == SLOT_DROP || o->what == SLOT_INFO) {
		drop(r);
		return 0;
	}
	if (!r->loaded || !r->call.places)
		return err_set(e, ERR_STATE, "nothing is loaded");
	return o->what == SLOT_RUN ? run(r, o, f) : time_calls(r, o, f);
}

static int serve(struct slot_runner *r)
{
	struct slot_order o;
	struct gpu_fault f = { .code = 0 };
	struct err e = ERR_INIT;
	int rc;

	if (file_read_all(r->fd, &o, sizeof o, &e) || o.magic != SLOT_ORDER)
		return -1;
	r->a = (struct slot_answer){ .magic = SLOT_ANSWER, .info = r->g.info };
	rc = obey(r, &o, &f, &e);
	if (rc > 0)
		say_fault(r, &f);
	else if (rc)
		say(r, SLOT_BROKE, e.text);
	r->a.places = r->call.places;
	r->a.result_bytes = r->loaded && !rc ? gpu_call_result_bytes(&r->call) : 0;
	if (file_write_all(r->fd, &r->a, sizeof r->a, &e))
		return -1;
	return rc < 0 || cuda_driver_is_sticky(f.code) ? -1 : 0;
}

void gpu_slot_runner(const char *driver, int ordinal)
{
	static struct slot_runner r;
	struct err e = ERR_INIT;
	int fd = SLOT_LINK_FD;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r.fd = fd;
	r.memory = mmap(NULL, SLOT_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, SLOT_MEMORY_FD, 0);
	if (r.memory == MAP_FAILED)
		_exit(2);
	if (gpu_device_open(&r.g, driver[0] ? driver : NULL, ordinal, &e)) {
		struct slot_order o;

		/* The first order gets the reason; there is nothing else to do here. */
		if (!file_read_all(fd, &o, sizeof o, NULL)) {
			r.a = (struct slot_answer){ .magic = SLOT_ANSWER };
			say(&r, SLOT_BROKE, e.text);
			file_write_all(fd, &r.a, sizeof r.a, NULL);
		}
		_exit(2);
	}
	while (!serve(&r))
		;
	_exit(0);
}
