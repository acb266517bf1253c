/* A stand-in for CUPTI (verify/gpu/cupti_abi.h), in the same shared object as the driver: it counts the
 * launches of that driver, and refuses calls that come in a wrong order. The environment variable
 * STANDIN_CUPTI asks for a fault:
 *   denied     counters are for administrators only
 *   lacking    the chip has no counter of tensor cores
 *   passes     the counters need three passes
 *   endless    there is always one more pass
 *   stranger   the records hold a kernel that nobody launched
 *   twice      the records hold the last kernel once more
 *   lost       the records lack a kernel
 *   dropped    the counts of the range are lost */
#include <stdlib.h>
#include <string.h>

#include "standin.h"
#include "verify/gpu/gpu_profiler.h"

enum { NAMES = 256, CODE_INVALID = 1, CODE_ORDER = 7, CODE_END = 12, IMAGE_BYTES = 64, DATA_BYTES = 128 };

static struct {
	int started, hosts, enabled, configured, running, pushed, passes, counted, recording;
	double instances;           /* of the launches in the range */
	cupti_give_fn give;
	cupti_take_fn take;
	const char *name[NAMES];
	int n;
} prof;

#define API __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static int fault(const char *name)
{
	const char *asked = getenv("STANDIN_CUPTI");

	return asked && !strcmp(asked, name);
}

void standin_launched(const char *name, double instances)
{
	if (prof.pushed)
		prof.instances += instances;
	if (prof.recording && prof.n < NAMES)
		prof.name[prof.n++] = name;
}

/* --- counters ------------------------------------------------------------------------------- */

API int cuptiGetResultString(int code, const char **name)
{
	*name = code == CODE_ORDER ? "CUPTI_ERROR_INVALID_OPERATION" : "CUPTI_ERROR_UNKNOWN";
	return 0;
}
API int cuptiProfilerInitialize(struct cupti_init *p)
{
	prof.started = p->size == 16;
	return fault("denied") ? CUPTI_DENIED : !prof.started;
}
API int cuptiDeviceGetChipName(struct cupti_chip *p)
{
	p->name = "STANDIN";
	return prof.started ? 0 : CODE_ORDER;
}
API int cuptiProfilerHostInitialize(struct cupti_host_open *p)
{
	if (p->size != 48 || strcmp(p->chip, "STANDIN"))
		return CODE_INVALID;
	p->host = &prof;
	prof.hosts++;
	return 0;
}
API int cuptiProfilerHostDeinitialize(struct cupti_host_close *p)
{
	return p->host == &prof && prof.hosts-- > 0 ? 0 : CODE_INVALID;
}
API int cuptiProfilerHostConfigAddMetrics(struct cupti_host_add *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (fault("lacking") && strstr(p->metrics[i], "tensor"))
			return CODE_INVALID;
	return p->host == &prof ? 0 : CODE_INVALID;
}
API int cuptiProfilerHostGetConfigImageSize(struct cupti_host_image_size *p)
{
	p->bytes = IMAGE_BYTES;
	return 0;
}
API int cuptiProfilerHostGetConfigImage(struct cupti_host_image *p)
{
	memset(p->image, 1, p->bytes);
	return p->bytes == IMAGE_BYTES ? 0 : CODE_INVALID;
}
API int cuptiProfilerHostEvaluateToGpuValues(struct cupti_host_values *p)
{
	if (!prof.counted || p->data_bytes != DATA_BYTES || p->range)
		return CODE_ORDER;
	for (size_t i = 0; i < p->n; i++)
		p->values[i] = strstr(p->metrics[i], "read") ? 4096.0 * prof.instances :
			strstr(p->metrics[i], "write") ? 1024.0 * prof.instances : strstr(p->metrics[i], "tensor") ? 12.5 : 50.0;
	return 0;
}

API int cuptiRangeProfilerEnable(struct cupti_range_enable *p)
{
	p->range = &prof;
	return prof.started && p->ctx && !prof.enabled++ ? 0 : CODE_ORDER;
}
API int cuptiRangeProfilerDisable(struct cupti_range *p) { (void)p; prof.enabled = 0; return 0; }
API int cuptiRangeProfilerGetCounterDataSize(struct cupti_range_data_size *p)
{
	p->bytes = DATA_BYTES;
	return prof.enabled ? 0 : CODE_ORDER;
}
API int cuptiRangeProfilerCounterDataImageInitialize(struct cupti_range_data_init *p)
{
	memset(p->data, 0, p->bytes);
	prof.counted = prof.passes = 0;
	return 0;
}
API int cuptiRangeProfilerSetConfig(struct cupti_range_config *p)
{
	prof.configured = p->image_bytes == IMAGE_BYTES && p->data_bytes == DATA_BYTES && p->kind == CUPTI_USER_RANGE &&
			  p->replay == CUPTI_USER_REPLAY && p->nesting_levels == 1 && p->size == 90;
	return prof.enabled && prof.configured ? 0 : CODE_INVALID;
}
API int cuptiRangeProfilerStart(struct cupti_range *p)
{
	(void)p;
	return prof.configured && !prof.running++ ? 0 : CODE_ORDER;
}
API int cuptiRangeProfilerPushRange(struct cupti_range_push *p)
{
	prof.instances = 0;
	return p->name && prof.running && !prof.pushed++ ? 0 : CODE_ORDER;
}
API int cuptiRangeProfilerPopRange(struct cupti_range *p) { (void)p; return prof.pushed-- == 1 ? 0 : CODE_ORDER; }
API int cuptiRangeProfilerStop(struct cupti_range_stop *p)
{
	prof.passes++;
	p->all_passes = fault("endless") ? 0 : prof.passes >= (fault("passes") ? 3 : 1);
	return !prof.pushed && prof.running-- == 1 ? 0 : CODE_ORDER;
}
API int cuptiRangeProfilerDecodeData(struct cupti_range_decode *p)
{
	p->dropped = fault("dropped");
	prof.counted = !prof.running;
	return prof.counted ? 0 : CODE_ORDER;
}

/* --- records of kernels --------------------------------------------------------------------- */

API int cuptiActivityRegisterCallbacks(cupti_give_fn give, cupti_take_fn take)
{
	prof.give = give;
	prof.take = take;
	return 0;
}
API int cuptiActivityEnable(int kind)
{
	prof.recording = kind == CUPTI_KIND_KERNEL && prof.give;
	prof.n = 0;
	return prof.recording ? 0 : CODE_ORDER;
}
API int cuptiActivityDisable(int kind) { (void)kind; prof.recording = 0; return 0; }
API int cuptiActivityFlushAll(uint32_t flags)
{
	struct cupti_kernel_record r = { .kind = CUPTI_KIND_KERNEL };
	uint8_t *buffer;
	size_t bytes, most, used = 0;

	(void)flags;
	if (fault("stranger") && prof.n < NAMES)
		prof.name[prof.n++] = "nobody_launched_me";
	if (fault("twice") && prof.n && prof.n < NAMES) {
		prof.name[prof.n] = prof.name[prof.n - 1];
		prof.n++;
	}
	prof.n -= fault("lost") && prof.n;
	prof.give(&buffer, &bytes, &most);
	for (int i = 0; i < prof.n && used + sizeof r <= bytes; i++, used += sizeof r) {
		r.name = prof.name[i];
		memcpy(buffer + used, &r, sizeof r);
	}
	prof.take(NULL, 0, buffer, bytes, used);
	return 0;
}
API int cuptiActivityGetNextRecord(uint8_t *buffer, size_t bytes, void **record)
{
	uint8_t *at = *record ? (uint8_t *)*record + sizeof (struct cupti_kernel_record) : buffer;

	if (at + sizeof (struct cupti_kernel_record) > buffer + bytes)
		return CODE_END;
	*record = at;
	return 0;
}
