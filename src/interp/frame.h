/* A frame: one active function call, class body or module. */
#ifndef INTERP_FRAME_H
#define INTERP_FRAME_H

#include "interp/object.h"
#include "interp/program.h"

/* An exception taken by an except clause, with all that belongs to it. */
struct host_caught {
	struct val exc;
	enum reason reason;
	int line, col, sure; /* position; exc_sure of the failure */
};

/* Frames are on the C stack; h->frame is the innermost. */
struct host_frame {
	struct host_frame *up;         /* the calling frame */
	struct scope *scope;           /* NULL for a prelude definition */
	struct unit *unit;
	struct module_obj *mod;
	struct val *slots;             /* local variables; owned by the frame */
	struct val *cells;             /* free variables; borrowed from the function */
	struct dict_obj *names;        /* namespace of a module or class body, else NULL */
	struct func_obj *fn;           /* the function, borrowed; NULL: module */
	struct val class_cell;         /* for super() */
	const struct py_node *node;    /* expression being evaluated, for messages */
	struct val ret;                /* value of `return`; holds a reference */
	struct host_caught handled;    /* exception that an except clause handles */
	struct val yields;             /* list of values that a generator yielded */
	const struct host_override *ov; /* constants to replace while a module loads */
	size_t n_ov;
};

/* How execution continues after a statement. */
enum flow { FLOW_FAIL = -1, FLOW_NEXT, FLOW_RETURN, FLOW_BREAK, FLOW_CONTINUE };

#endif
