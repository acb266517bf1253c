/* Classes of program instances: those for which everything that a kernel tests gives the same answers.
 *
 * A kernel may treat some instances in another way than the rest: a comparison of the program id that chooses
 * a value, a number made of the program id that is a factor. The answers of all such instructions are the
 * signature of an instance. Instances of one signature form a class, and a sample takes some of every class.
 * Example: y * (pid // 1000 % 100 != 57) has two classes; one per cent of the instances is in the second.
 * Masks of accesses do not count: the sets of elements (cover.h) show what they do. */
#ifndef TILE_SLICE_SLICE_CLASS_H
#define TILE_SLICE_SLICE_CLASS_H

#include "tile/slice/closed_form.h"

enum { SLICE_CLASSES = 64, SLICE_PICKS = 24 };

struct slice_class {
	uint64_t signature;
	int64_t first, last, some;      /* instances of the class; `some` is drawn */
	int64_t n;                      /* how many there are */
};

/* The classes of one launch. */
struct slice_classes {
	struct slice_class v[SLICE_CLASSES];
	int n;
	int64_t left_out;               /* instances of classes beyond SLICE_CLASSES */
};

/* Marks the instructions of the kernel whose answers are part of the signature. */
int class_find(const struct tile_code *code, uint8_t *marked, struct err *e);
/* Whether the value of a marked instruction may differ between instances, in a batch of the whole grid. */
int class_differs(const struct form *f);
/* Adds the answers of a marked instruction to the signatures of the batch. */
void class_note(const struct form_batch *b, const struct form *f, uint64_t *signature);
/* Adds the instances of a batch, which begins with instance number `first`. */
void class_add(struct slice_classes *c, const uint64_t *signature, int64_t first, int n);
/* Instances that represent the classes, rare classes first. Returns their number. */
int class_picks(const struct slice_classes *c, int64_t v[SLICE_PICKS]);

#endif
