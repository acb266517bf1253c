/* A frame: one run of a function, class body or module. */
#ifndef INTERP_FRAME_H
#define INTERP_FRAME_H

#include "interp/object.h"
#include "interp/program.h"

/* An exception that was pending. */
struct host_caught {
	struct val exc;
	enum reason reason;
	int line, col, sure;
};

struct host_frame {
	struct host_frame *up;
	struct scope *scope;
	struct unit *unit;
	struct module_obj *mod;
	struct val *slots;
	struct val *cells;             /* of the function: its free variables */
	struct dict_obj *names;        /* module or class namespace */
	struct func_obj *fn;
	struct val class_cell;
	const struct py_node *node;    /* what is being evaluated, for messages */
	struct val ret;
	struct host_caught handled;    /* the exception an except clause is handling */
	struct val yields;             /* list of a generator's values */
	const struct host_override *ov;
	size_t n_ov;
};

enum flow { FLOW_FAIL = -1, FLOW_NEXT, FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE };

#endif
