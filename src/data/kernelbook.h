/* From KernelBook's form to KernelBench's, by small edits of the text: what is not touched
 * keeps its formatting and comments.
 *
 * Task: class ENTRY becomes Model. If get_init_inputs or get_inputs returns [[args], {kwargs}], it
 * returns a flat list if the signature allows it (the judge reads both forms of get_init_inputs).
 * The import of _paritybench_helpers._mock_config becomes a class in the file.
 * Solution: class ENTRYNew becomes ModelNew (a class ModelNew stays); args.clear() is deleted.
 * Unused imports are deleted from both. */
#ifndef DATA_KERNELBOOK_H
#define DATA_KERNELBOOK_H

#include "base/err.h"
#include "base/str.h"
#include "data/prep.h"
#include "py/ast.h"

/* Appends the text in KernelBench's form. *drop is set when it cannot be (PREP_KEPT otherwise);
 * -1 only when memory ended. `entry` is the name of the task's class. */
int kernelbook_task(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop, struct err *e);
/* Does get_init_inputs or get_inputs return [[args], {kwargs}]? */
int kernelbook_is_nested(const struct py_module *m);
int kernelbook_solution(const struct py_module *m, struct str entry, struct buf *out, enum prep_drop *drop,
			struct err *e);

#endif
