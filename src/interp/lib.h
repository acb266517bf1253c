/* What programs can import: tables of bound names, and Python sources that are part of this
 * program (the prelude). The interpreter knows how to find a name there; what there is, the
 * owner of the tables says (torch/prelude.h). */
#ifndef INTERP_LIB_H
#define INTERP_LIB_H

#include "base/err.h"
#include "base/str.h"
#include "interp/ptrmap.h"

struct bind_row;
struct host;
struct unit;

/* A Python source: the names it defines at its left margin belong to `module`. */
struct lib_file { const char *module, *file, *text, *end; };

struct lib_source {
	const struct bind_row *const *tables;    /* each ended by a row without a name */
	size_t n_tables;
	const struct lib_file *files;
	size_t n_files;
	/* what is in the real libraries: tools/gen_known.py says how it is written */
	const char *known, *known_end;
};

/* The index of a source, shared by the hosts of a thread. */
struct host_lib {
	const struct lib_source *source;
	struct map rows;               /* dotted name -> struct bind_row */
	struct map modules;            /* names that are modules because something is in them */
	struct map prelude;            /* "module.name" -> struct unit that defines it */
	struct map known;              /* owner -> its line of source->known, behind the name */
	struct ptr_map sigs;           /* row -> struct sig */
	struct unit *units;            /* parsed prelude, by index in source->files */
	struct arena arena;
};

struct host_lib *lib_new(const struct lib_source *source, struct err *e);   /* the source outlives it */
void lib_free(struct host_lib *lib);
/* Flags of a binding by its dotted name; -1: no such name. */
int lib_flags(const struct host_lib *lib, const char *dotted);
/* Do the real torch, triton or standard library have this dotted name, or may they? */
int lib_knows(const struct host_lib *lib, struct str dotted);
/* Have they a module of this name? LIB_HIDDEN: it can be imported, but its package has something else under the name. */
enum { LIB_MODULE = 1, LIB_HIDDEN };
int lib_knows_module(const struct host_lib *lib, struct str dotted);
/* What the real module has, as lib_line_has reads it; empty: it is not listed. Names as __file__
 * are in no list: lines have them all. */
struct str lib_line(const struct host_lib *lib, struct str module);
int lib_line_has(struct str line, struct str name);
struct unit *lib_unit(struct host *h, struct str dotted);   /* that defines it, parsed; NULL: none */

#endif
