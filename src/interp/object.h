/* Objects that only the engine looks into: functions and classes. The others are in value.h. */
#ifndef INTERP_OBJECT_H
#define INTERP_OBJECT_H

#include "interp/scope.h"
#include "interp/value.h"

struct func_obj {
	struct obj h;
	const struct py_node *node;    /* FunctionDef or Lambda */
	struct scope *scope;
	struct unit *unit;
	struct module_obj *mod;
	struct str_obj *name, *qualname;
	struct val *defaults;          /* of the last positional parameters */
	size_t n_defaults;
	struct val *kw_defaults;       /* one per keyword-only parameter, V_UNSET without */
	size_t n_kw;
	struct val *cells;             /* V_CELL each, as scope->captures */
	size_t n_cells;
	struct val class_cell;         /* for super() */
};

struct class_obj {
	struct obj h;                  /* attrs: the class's namespace */
	struct str_obj *name;
	const char *native;            /* dotted name of a built-in type, or NULL */
	enum val_kind kind;            /* of instances: V_OBJECT unless derived from a built-in type */
	struct class_obj **bases;
	size_t n_bases;
	struct class_obj **mro;        /* itself first */
	size_t n_mro;
	int is_exc;                    /* enum host_exc + 1 of a built-in exception */
	struct module_obj *mod;
};

#define CELL_VALUE(v) ((v).u.m->self)       /* of a V_CELL */

#endif
