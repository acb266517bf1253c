/* Joins the solutions of ranges of forward's statements to one ModelNew. */
#ifndef WRITE_JOIN_H
#define WRITE_JOIN_H

#include "write/body.h"

/* A range of statements and its solution; `solution` is empty: the statements stay. */
struct forward_piece {
	size_t from, to;
	struct buf solution;
};

/* Appends the joined candidate. Returns 1 if a solution has no form that can be joined. */
int join_pieces(const struct body *b, const struct forward_piece *v, size_t n, struct buf *out, struct err *e);

#endif
