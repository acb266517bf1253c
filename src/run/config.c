/* The sections of a configuration: see config.h. */
#include "run/config.h"

#include <stddef.h>

#include "run/plan_args.h"
#include "run/prepare_args.h"
#include "run/stage_args.h"

const struct opt_section config_sections[] = {
#define SECTION(id, opts) { .name = #id, .table = opts },
#include "run/config.def"
#undef SECTION
	{ .name = NULL }
};
