/* The things that programs can import: tables of bound names, and Python sources that are part of
 * this program (the prelude). The interpreter finds names here; torch/prelude.h provides the
 * tables and sources. */
#ifndef INTERP_LIB_H
#define INTERP_LIB_H

#include "base/err.h"
#include "base/str.h"
#include "interp/ptrmap.h"

struct bind_row;
struct host;
struct unit;

/* A Python source. The names it defines at its left margin belong to `module`. */
struct lib_file { const char *module, *file, *text, *end; };

struct lib_source {
	const struct bind_row *const *tables;    /* each ends with a row without a name */
	size_t n_tables;
	const struct lib_file *files;
	size_t n_files;
	/* names in the real libraries, in the format of tools/gen_known.py */
	const char *known, *known_end;
};

/* The index of a source, shared by all hosts of a thread. */
struct host_lib {
	const struct lib_source *source;
	struct map rows;               /* dotted name -> struct bind_row */
	struct map modules;            /* prefixes of dotted names */
	struct map prelude;            /* "module.name" -> struct unit that defines it */
	struct map known;              /* owner -> its line of source->known, after the name */
	struct ptr_map sigs;           /* row -> struct sig */
	struct unit *units;            /* prelude files, by index in source->files; parsed on use */
	struct arena arena;
};

struct host_lib *lib_new(const struct lib_source *source, struct err *e);   /* the source must outlive it */
void lib_free(struct host_lib *lib);
/* Do the real torch, triton or standard library have this dotted name, or could they? */
int lib_knows(const struct host_lib *lib, struct str dotted);
/* Do they have a module of this name? LIB_HIDDEN: it can be imported, but its package has
 * another value under the name. */
enum { LIB_MODULE = 1, LIB_HIDDEN };
int lib_knows_module(const struct host_lib *lib, struct str dotted);
/* The names of the real module, for lib_line_has. Empty: it is not listed. Names such as
 * __file__ are in no list; lib_line_has accepts them all. */
struct str lib_line(const struct host_lib *lib, struct str module);
int lib_line_has(struct str line, struct str name);
struct unit *lib_unit(struct host *h, struct str dotted);   /* unit that defines it, parsed; NULL: none */

#endif
