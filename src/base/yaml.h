/* YAML configurations by libyaml: one document of mappings, sequences and scalars, as a tree
 * with positions in an arena. Aliases, several documents, duplicate keys, nesting beyond 64
 * levels and mappings of more than 4,096 keys are refused. Scalars keep
 * their text; the reader knows the type. */
#ifndef BASE_YAML_H
#define BASE_YAML_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml {
	enum yaml_kind kind;
	int line, column;            /* 1-based */
	struct str text;             /* of a scalar, NUL-terminated */
	int quoted;                  /* the scalar was quoted: "null" is then a text */
	struct str key;              /* if the parent is a mapping; NUL-terminated */
	struct yaml *child, *last;   /* of a sequence or mapping, in file order */
	struct yaml *next;           /* sibling */
	size_t n;                    /* children */
};

/* The document in `a`; an empty one is an empty mapping. NULL on error, with its position.
 * `a` must have no trap. */
struct yaml *yaml_parse(struct str text, struct arena *a, struct err *e);
const struct yaml *yaml_get(const struct yaml *mapping, const char *key);   /* NULL: absent */
int yaml_is_null(const struct yaml *y);
/* A scalar that says yes or no; nonzero when it says neither. */
int yaml_bool(const struct yaml *y, int *out);

#endif
