/* String operations that filters and methods of templates share. */
#ifndef JINJA_JINJA_STR_H
#define JINJA_JINJA_STR_H

#include "jinja/jinja.h"

enum jstr_case { JSTR_UPPER, JSTR_LOWER, JSTR_TITLE, JSTR_CAPITALIZE };

/* Letters of ASCII, Latin-1, Greek and Cyrillic change case; others stay. */
struct jv jstr_case(struct jinja *j, struct str s, enum jstr_case how);
/* `chars` none: white space. */
struct jv jstr_strip(struct jinja *j, struct jv s, struct jv chars, int left, int right);
struct jv jstr_replace(struct jinja *j, struct str s, struct str old, struct str with, int64_t most);
/* Python's split; `sep` none: at white space. */
struct jv jstr_split(struct jinja *j, struct str s, struct jv sep, int64_t most);

#endif
