/* A task from a file that people wrote: KernelBench's form, KernelBook's form, or any file with an nn.Module
 * whose inputs the caller describes. The class becomes Model; the rest of the text stays as it is. */
#ifndef DATA_MODULE_TASK_H
#define DATA_MODULE_TASK_H

#include "base/err.h"
#include "base/opt.h"
#include "base/str.h"

enum { MODULE_NAME = 96 };

struct module_source {
	const char *class;           /* name of the class; NULL: Model, else the last class that no other one uses */
	struct opt_list inputs;      /* as function_task takes them; none: the file has get_inputs */
	struct opt_list init;        /* arguments of the constructor: VALUE or NAME=VALUE */
};

/* Appends the task. `name` gets the name of the class that was taken. */
int module_task(struct str text, const struct module_source *s, struct buf *out, char name[MODULE_NAME],
		struct err *e);

#endif
