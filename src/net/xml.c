/* XML over Expat: elements by their path. xml.h is the manual. Documents come from a server that
 * we do not control: nesting is limited and document types, which could define entities, are
 * refused. */
#include "net/xml.h"

#include <expat.h>

enum { DEPTH_MOST = 32 };

/* The state while a document is read. */
struct reader {
	XML_Parser p;
	xml_fn *fn;
	void *ctx;
	struct buf path, text;
	size_t ends[DEPTH_MOST];      /* length of the path around each open element */
	int depth;
	int stopped, refused;
};

/* An element begins: its name is appended to the path. Paths begin below the root. */
static void XMLCALL on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
	struct reader *r = ctx;

	(void)attributes;
	if (r->depth == DEPTH_MOST) {
		r->refused = 1;
		XML_StopParser(r->p, XML_FALSE);
		return;
	}
	r->ends[r->depth++] = r->path.n;
	/* Paths begin below the root; the path of the root is its own name. */
	if (r->depth == 2)
		buf_clear(&r->path);
	else if (r->depth > 2)
		buf_addc(&r->path, '/');
	buf_adds(&r->path, name);
	buf_clear(&r->text);
}

/* An element ends: the caller gets its path and text. */
static void XMLCALL on_end(void *ctx, const XML_Char *name)
{
	struct reader *r = ctx;
	size_t back;

	(void)name;
	if (r->fn(r->ctx, buf_str(&r->path), buf_str(&r->text))) {
		r->stopped = 1;
		XML_StopParser(r->p, XML_FALSE);
	}
	back = r->ends[--r->depth];
	if (r->depth == 1)
		buf_clear(&r->path);
	else if (r->path.n > back) {
		r->path.n = back;
		r->path.p[back] = '\0';
	}
	buf_clear(&r->text);
}

/* Collects the text of the innermost element; expat may deliver it in several pieces. */
static void XMLCALL on_text(void *ctx, const XML_Char *s, int n)
{
	buf_add(&((struct reader *)ctx)->text, s, (size_t)n);
}

/* A document type is refused. */
static void XMLCALL on_doctype(void *ctx, const XML_Char *name, const XML_Char *sys_id, const XML_Char *pub_id,
			       int internal)
{
	struct reader *r = ctx;

	(void)name, (void)sys_id, (void)pub_id, (void)internal;
	r->refused = 1;
	XML_StopParser(r->p, XML_FALSE);
}

/* Reads a document and calls fn at the end of each element, with its path below the root
 * ("Contents/Key") and its text. Types and entities are refused: a small document could expand to
 * gigabytes. */
int xml_read(struct str document, xml_fn *fn, void *ctx, struct err *e)
{
	struct reader r = { .fn = fn, .ctx = ctx };
	int rc = 0;

	if (document.n > INT32_MAX)
		return err_set(e, ERR_RANGE, "the XML document is too long: %zu bytes", document.n);
	r.p = XML_ParserCreate(NULL);
	if (!r.p)
		return err_nomem(e);
	XML_SetUserData(r.p, &r);
	XML_SetElementHandler(r.p, on_start, on_end);
	XML_SetCharacterDataHandler(r.p, on_text);
	XML_SetStartDoctypeDeclHandler(r.p, on_doctype);
	if (XML_Parse(r.p, document.p, (int)document.n, 1) == XML_STATUS_ERROR && !r.stopped)
		rc = r.refused ? err_set(e, ERR_FORMAT, "the XML is nested too deeply or declares a document type") :
			err_set_at(e, ERR_FORMAT, (int)XML_GetCurrentLineNumber(r.p),
				   (int)XML_GetCurrentColumnNumber(r.p), "not XML: %s",
				   XML_ErrorString(XML_GetErrorCode(r.p)));
	XML_ParserFree(r.p);
	if (!rc)
		rc = buf_check(&r.path, e) || buf_check(&r.text, e) ? -1 : 0;
	buf_release(&r.path);
	buf_release(&r.text);
	return rc;
}

/* The first element of a path. */
struct find { const char *path; struct buf *out; };

/* Takes the text of the first match and ends the walk. */
static int take_first(void *ctx, struct str path, struct str text)
{
	struct find *f = ctx;

	if (!str_is(path, f->path))
		return 0;
	buf_addstr(f->out, str_trim(text));
	return 1;
}

/* The text of the first element at a path. Empty if it is missing or the document is no XML. */
void xml_find(struct str document, const char *path, struct buf *out)
{
	struct find f = { .path = path, .out = out };

	buf_clear(out);
	xml_read(document, take_first, &f, NULL);
}

/* Writes a text with XML's escapes. */
void xml_text(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		switch (s.p[i]) {
		case '&': buf_adds(out, "&amp;"); break;
		case '<': buf_adds(out, "&lt;"); break;
		case '>': buf_adds(out, "&gt;"); break;
		default: buf_addc(out, s.p[i]);
		}
}
