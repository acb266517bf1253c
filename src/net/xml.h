/* Texts of the elements of an XML document, as S3 answers with: no attributes, no namespaces,
 * no entities of its own (a document type is refused). */
#ifndef NET_XML_H
#define NET_XML_H

#include "base/err.h"
#include "base/str.h"

/* Called at the end of every element with its path below the root ("Contents/Key"; the root
 * itself is its name) and its text. Nonzero stops. */
typedef int xml_fn(void *ctx, struct str path, struct str text);
int xml_read(struct str document, xml_fn *fn, void *ctx, struct err *e);
/* The text of the first element of that path; empty: none, or no XML. The caller releases it. */
void xml_find(struct str document, const char *path, struct buf *out);
/* Appends `s` with what XML keeps for itself escaped. */
void xml_text(struct buf *out, struct str s);

#endif
