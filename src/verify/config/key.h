/* Keys by content: the same task and candidate under the same options, judged by the same build of
 * this program, have the same key. The verdict cache and the task cache find entries by it. */
#ifndef VERIFY_CONFIG_KEY_H
#define VERIFY_CONFIG_KEY_H

#include "base/str.h"
#include "verify/config/options.h"

/* sha256 of candidate, task, the program's build and every option that a verdict depends on. */
void verdict_key(const struct judge_options *o, struct str task, struct str candidate, char hex[65]);
/* The part of it that is the same for all candidates: build and options. */
void verdict_fingerprint(const struct judge_options *o, char out[17]);

#endif
