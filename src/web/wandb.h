/* A run as an offline run of Weights & Biases: the folder that `wandb sync` uploads. */
#ifndef WEB_WANDB_H
#define WEB_WANDB_H

#include "store/store.h"

/* Writes dir/wandb/offline-run-TIME-ID with the configuration, every optimiser step and the figures of the
 * evaluations. The same run gets the same time and ID, so that writing again replaces it. `path` gets the
 * folder's path. */
int wandb_write(struct store *s, const char *dir, struct buf *path, struct err *e);

#endif
