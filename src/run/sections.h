/* Configuration files: common keys at the top, then a section for each stage.
 *
 *     model: models/base              # common: every command takes the keys that it has
 *     seed: 1
 *     prepare: {source: builtin, count: 400}
 *     sft: {lr: 4e-4, batch: 8}       # train --stage sft
 *     rl: {method: grpo, lr: 1e-4}    # train --stage rl; lr is --rl-lr here
 *     eval: {tasks: tasks/plain/test_level2.jsonl}
 *     machine: {gpu: H100, count: 8, price_per_hour: 2.5}     # plan
 *
 * sections.def lists the sections and the options that each may contain. */
#ifndef RUN_SECTIONS_H
#define RUN_SECTIONS_H

#include "base/opt.h"

extern const struct opt_section run_sections[];     /* the last row has no name */

#endif
