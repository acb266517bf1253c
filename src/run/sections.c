/* The sections of a configuration: see sections.h. The table comes from sections.def, the only list
 * of sections. */
#include "run/sections.h"

#include <stddef.h>

#include "data/prepare_args.h"
#include "run/safeguard.h"
#include "run/plan_args.h"
#include "run/stage_args.h"

const struct opt_section run_sections[] = {
#define SECTION(id, opts) { .name = #id, .table = opts },
#include "run/sections.def"
#undef SECTION
	{ .name = NULL }
};
