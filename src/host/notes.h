/* Annotations are not evaluated here: a program in which that can be told from CPython is refused. */
#ifndef HOST_NOTES_H
#define HOST_NOTES_H

#include "host/host.h"
#include "py/ast.h"

/* 0, -1: an annotation computes something, and the program ends. */
int notes_refuse(struct host *h, const struct py_module *m);

#endif
