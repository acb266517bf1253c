/* Plain functions as tasks and candidates: a reference function and a kernel's wrapper function, with
 * inputs described by shape and dtype, become the pair Model and ModelNew that the judge takes. */
#ifndef DATA_FUNCTION_TASK_H
#define DATA_FUNCTION_TASK_H

#include "base/err.h"
#include "base/opt.h"
#include "base/str.h"

/* Appends the task. `ref` is a dotted name ("torch.softmax"), an expression of the inputs x, y, z, x3, ...
 * ("torch.softmax(x, dim=0)"), or FILE.py:NAME. A function that is called without a dim that it needs gets
 * dim=-1. Each of `inputs` is SHAPE[:DTYPE] ("4096x3000:f32"; DTYPE f32 by default, f16, bf16, f64, i32, i64 or
 * bool), or "=VALUE" for a number, a string or None. */
int function_task(const char *ref, const struct opt_list *inputs, struct buf *out, struct err *e);

/* Appends get_inputs and get_init_inputs. `init` (NULL: none) are the arguments of the constructor: Python
 * expressions in order, or NAME=VALUE. */
int function_task_inputs(const struct opt_list *inputs, const struct opt_list *init, struct buf *out, struct err *e);

/* Appends a class ModelNew that calls the function `fn` of the candidate's text with `inputs` inputs. The lines
 * of the candidate stay where they are. */
int function_candidate(const char *fn, size_t inputs, struct buf *text, struct err *e);

#endif
