/* Objects that only the engine looks into: functions and classes. All others are in value.h. */
#ifndef INTERP_OBJECT_H
#define INTERP_OBJECT_H

#include "interp/scope.h"
#include "interp/value.h"

/* A function of the program or the prelude. */
struct func_obj {
	struct obj h;
	const struct py_node *node;    /* FunctionDef or Lambda */
	struct scope *scope;           /* its variables; owned by the unit */
	struct unit *unit;               /* the source it was defined in */
	struct module_obj *mod;          /* its module: where globals are looked up */
	struct str_obj *name, *qualname; /* "f"; "C.f" or "g.<locals>.f" */
	struct val *defaults;          /* of the last n_defaults positional parameters */
	size_t n_defaults;
	struct val *kw_defaults;       /* one per keyword-only parameter; V_UNSET: none */
	size_t n_kw;
	struct val *cells;             /* V_CELL each, in the order of scope->captures */
	size_t n_cells;
	struct val class_cell;         /* holds the class that super() needs */
};

/* A class. Lives as long as the host, so classes are borrowed everywhere. */
struct class_obj {
	struct obj h;                  /* attrs: the class's namespace */
	struct str_obj *name;
	const char *native;            /* dotted name of a built-in type, or NULL */
	enum val_kind kind;            /* kind of instances; V_OBJECT unless a built-in type is a base */
	struct class_obj **bases;      /* as written in the class statement */
	size_t n_bases;
	struct class_obj **mro;        /* method resolution order, the class itself first */
	size_t n_mro;
	int is_exc;                    /* enum host_exc + 1 for a built-in exception, else 0 */
	struct module_obj *mod;        /* module that defines it */
	int absent;                    /* represents a name that this engine lacks (import.c) */
};

#define CELL_VALUE(v) ((v).u.m->self)       /* the value in a V_CELL */

#endif
