/* Modules that a checked file imports from the tree around it. Each is parsed once and kept until
 * the end. They are looked up at the paths that Python would try from the folders above the file.
 * Nothing is run. */
#ifndef VERIFY_LINT_CHECK_IMPORT_H
#define VERIFY_LINT_CHECK_IMPORT_H

#include "tile/lint/check_kernel.h"

struct check_module;
struct check_imports {
	struct check_importer importer;
	struct map modules;             /* path -> struct check_module * */
	struct map found;               /* "folder level name" of an import -> its module; NULL: no module */
};

void check_imports_init(struct check_imports *im);
void check_imports_release(struct check_imports *im);

#endif
