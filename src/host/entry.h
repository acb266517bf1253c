/* Every run of program code from outside is between these two functions (host.c). */
#ifndef HOST_ENTRY_H
#define HOST_ENTRY_H

#include "host/host.h"

struct host_frame;
/* The state that host_end returns to. */
struct host_entry { size_t mark; int depth; struct host_frame *frame; };
void host_begin(struct host *h, struct host_entry *en);
/* `rc` is the interpreter's result; *out, if given, is kept for the caller. Returns 0, 1 or -1 as
 * in host.h. */
int host_end(struct host *h, struct host_entry *en, int rc, struct val *out, struct err *e);

#endif
