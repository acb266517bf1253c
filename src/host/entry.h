/* Every run of program code from outside stands between these two (host.c). */
#ifndef HOST_ENTRY_H
#define HOST_ENTRY_H

#include "host/host.h"

struct host_frame;
struct host_entry { size_t mark; int depth; struct host_frame *frame; };
void host_begin(struct host *h, struct host_entry *en);
int host_end(struct host *h, struct host_entry *en, int rc, struct val *out, struct err *e);

#endif
