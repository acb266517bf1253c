/* The sections of a configuration: see config.h. */
#include "cmd/config.h"

#include <stddef.h>

#include "cmd/plan_args.h"
#include "cmd/prepare_args.h"
#include "cmd/stage_args.h"

const struct opt_section config_sections[] = {
#define SECTION(id, opts) { .name = #id, .table = opts },
#include "cmd/config.def"
#undef SECTION
	{ .name = NULL }
};
