/* A sample as it waits in the store for its step to finish. */
#ifndef RL_PENDING_H
#define RL_PENDING_H

#include "infer/infer.h"

/* Names everything a sample of this request depends on but its number; `policy` identifies the
 * weights. */
uint64_t pending_key(const struct infer_request *q, uint64_t policy);
void pending_pack(const struct infer_result *r, uint64_t key, struct buf *out);
/* 1 and tokens, logprobs, text and finish of *r set (borrowed from `blob`, which is aligned as
 * malloc does); 0: made under another key, or damaged. */
int pending_unpack(struct str blob, uint64_t key, struct infer_result *r);

#endif
