/* The GPU's memory, stream, events and graphs: see dev/cuda.def. Nothing numeric is here. */
#include "dev/cuda/context.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE = 32 << 20 };

static int describe(int device, struct cuda_info *info)
{
	cudaDeviceProp p;

	CUDA_TRY(cudaGetDeviceProperties(&p, device));
	snprintf(info->name, sizeof info->name, "%s", p.name);
	info->major = p.major;
	info->minor = p.minor;
	info->sms = p.multiProcessorCount;
	info->memory = p.totalGlobalMem;
	CUDA_TRY(cudaDriverGetVersion(&info->driver));
	return (int)cudaRuntimeGetVersion(&info->runtime);
}

static int start(struct cuda *c, int device)
{
	c->device = device;
	CUDA_TRY(cudaSetDevice(device));
	CUDA_TRY(describe(device, &c->info));
	CUDA_TRY(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
	c->workspace_bytes = WORKSPACE;
	return (int)cudaMalloc(&c->workspace, c->workspace_bytes + CUDA_BIAS_BYTES);
}

int cuda_open(int device, struct cuda **out, struct cuda_info *info)
{
	struct cuda *c = (struct cuda *)calloc(1, sizeof *c);
	int rc;

	if (!c)
		return cudaErrorMemoryAllocation;
	rc = start(c, device);
	if (rc) {
		cuda_close(c);
		return rc;
	}
	*info = c->info;
	*out = c;
	return 0;
}

int cuda_close(struct cuda *c)
{
	if (!c)
		return 0;
	if (c->stream)
		cudaStreamSynchronize(c->stream);
	if (c->blas)
		c->blas_free(c->blas);
	if (c->cudnn)
		c->cudnn_free(c->cudnn);
	cudaFree(c->workspace);
	if (c->stream)
		cudaStreamDestroy(c->stream);
	free(c);
	return 0;
}

int cuda_explain(int code, char *text, size_t n)
{
	if (code < CUDA_FROM_BLAS)
		snprintf(text, n, "%s", cudaGetErrorString((cudaError_t)code));
	else if (code < CUDA_FROM_CUDNN)
		snprintf(text, n, "cuBLASLt status %d", code - CUDA_FROM_BLAS);
	else if (code < CUDA_OWN)
		snprintf(text, n, "cuDNN status %d", code - CUDA_FROM_CUDNN);
	else if (code == CUDA_OWN_SHAPE)
		snprintf(text, n, "no kernel for this shape");
	else if (code == CUDA_OWN_WORK)
		snprintf(text, n, "too little working memory was given");
	else
		snprintf(text, n, "a file could not be read or written");
	return 0;
}

int cuda_memory(struct cuda *c, size_t *free, size_t *all)
{
	(void)c;
	return (int)cudaMemGetInfo(free, all);
}

/* A failed allocation leaves its error behind, which the next launch would take for its own. */
int cuda_alloc(struct cuda *c, void **p, size_t n)
{
	int rc = (int)cudaMalloc(p, n);

	if (rc) {
		cudaGetLastError();
		return rc;
	}
	return cuda_zero(c, *p, n);
}

int cuda_free(struct cuda *c, void *p)
{
	CUDA_TRY(cudaStreamSynchronize(c->stream));
	return (int)cudaFree(p);
}

int cuda_host_alloc(struct cuda *c, void **p, size_t n)
{
	int rc = (int)cudaMallocHost(p, n);

	(void)c;
	if (rc)
		cudaGetLastError();
	return rc;
}

int cuda_host_free(struct cuda *c, void *p)
{
	(void)c;
	return (int)cudaFreeHost(p);
}

int cuda_copy(struct cuda *c, void *to, const void *from, size_t n)
{
	return (int)cudaMemcpyAsync(to, from, n, cudaMemcpyDefault, c->stream);
}

int cuda_zero(struct cuda *c, void *p, size_t n)
{
	return (int)cudaMemsetAsync(p, 0, n, c->stream);
}

int cuda_wait(struct cuda *c)
{
	return (int)cudaStreamSynchronize(c->stream);
}

int cuda_idle(struct cuda *c, int *idle)
{
	cudaError_t rc = cudaStreamQuery(c->stream);

	*idle = rc != cudaErrorNotReady;
	return rc == cudaErrorNotReady ? 0 : (int)rc;
}

int cuda_stream(struct cuda *c, void **stream)
{
	*stream = c->stream;
	return 0;
}

/* --- events ---- */

int cuda_event_new(struct cuda *c, void **event)
{
	(void)c;
	return (int)cudaEventCreate((cudaEvent_t *)event);
}

int cuda_event_free(struct cuda *c, void *event)
{
	(void)c;
	return (int)cudaEventDestroy((cudaEvent_t)event);
}

int cuda_event_put(struct cuda *c, void *event)
{
	return (int)cudaEventRecord((cudaEvent_t)event, c->stream);
}

int cuda_event_wait(struct cuda *c, void *event)
{
	(void)c;
	return (int)cudaEventSynchronize((cudaEvent_t)event);
}

int cuda_event_ms(struct cuda *c, void *from, void *to, float *ms)
{
	(void)c;
	CUDA_TRY(cudaEventSynchronize((cudaEvent_t)to));
	return (int)cudaEventElapsedTime(ms, (cudaEvent_t)from, (cudaEvent_t)to);
}

/* --- graphs ---- */

int cuda_graph_begin(struct cuda *c)
{
	return (int)cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal);
}

int cuda_graph_end(struct cuda *c, void **graph)
{
	cudaGraph_t g = NULL;
	int rc;

	CUDA_TRY(cudaStreamEndCapture(c->stream, &g));
	rc = (int)cudaGraphInstantiate((cudaGraphExec_t *)graph, g, 0);
	cudaGraphDestroy(g);
	return rc;
}

int cuda_graph_run(struct cuda *c, void *graph)
{
	return (int)cudaGraphLaunch((cudaGraphExec_t)graph, c->stream);
}

int cuda_graph_free(struct cuda *c, void *graph)
{
	CUDA_TRY(cudaStreamSynchronize(c->stream));
	return (int)cudaGraphExecDestroy((cudaGraphExec_t)graph);
}
