/* Counts of parameters and bytes that memory and time of a plan are made of: see plan.h. */
#include "base/mem.h"
#include "model/tape.h"
#include "run/plan.h"

/* Number of parameters of the layers, without embedding and head. */
double plan_layer_parameters(const struct model_config *c)
{
	return (double)model_config_parameters(c) - (double)c->V * c->C * (c->tied ? 1 : 2);
}

/* Number of trained parameters: all, or those of the adapter. */
double plan_trained_parameters(const struct plan_job *j)
{
	return j->full ? (double)model_config_parameters(&j->c) : (double)adapter_parameters(&j->c, &j->lora);
}

/* Bytes of activations for `tokens` tokens, as the tape itself computes them. */
double plan_activation_bytes(const struct run_plan *p, int64_t tokens, int recompute)
{
	struct tape_opts o = { .max_tokens = (int)MIN(tokens, 1 << 26), .recompute = recompute };

	return (double)tape_measure(&p->job.c, p->job.full ? NULL : &p->job.lora, &o,
				    p->machine.cpu ? DT_F32 : DT_BF16, NULL);
}

/* Bytes of keys and values of one token. */
double plan_kv_bytes(const struct run_plan *p)
{
	return 2.0 * p->job.c.L * p->job.c.HKV * p->job.c.D * (p->machine.cpu ? 4.0 : 2.0);
}
