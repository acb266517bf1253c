/* TensorBoard event files: TFRecord framing around Event protocol buffers, by hand. */
#ifndef TRAIN_EVENTS_H
#define TRAIN_EVENTS_H

#include <stdint.h>

#include "base/str.h"

void events_header(struct buf *out);                       /* first record of a file */
void events_scalar(struct buf *out, const char *tag, int64_t step, double value);

#endif
