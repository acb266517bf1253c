/* Pieces of HTML: see html.h. */
#include "web/html.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"

const char html_head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>tritonrl report</title>\n<style>\n"
	"body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2em auto;padding:0 1em;color:#1b1f24;background:#fff}\n"
	"h1{font-size:1.7em;margin:0 0 .2em}h2{font-size:1.25em;margin:2em 0 .5em;border-bottom:1px solid #d8dee4;padding-bottom:.2em}\n"
	"table{border-collapse:collapse;margin:.6em 0}td,th{padding:.25em .7em;text-align:right;border-bottom:1px solid #eaeef2}\n"
	"th{font-weight:600;background:#f6f8fa}td:first-child,th:first-child{text-align:left}\n"
	".muted{color:#656d76}.good{color:#1a7f37}.bad{color:#cf222e}svg{max-width:100%;height:auto;margin:.5em 1em .5em 0}\n"
	"details{border:1px solid #d8dee4;border-radius:6px;margin:.35em 0;padding:.3em .7em}summary{cursor:pointer}\n"
	"pre{background:#f6f8fa;padding:.7em;border-radius:6px;overflow:auto;font:12.5px/1.45 ui-monospace,monospace;margin:.5em 0}\n"
	".k{color:#cf222e}.s{color:#0a3069}.c{color:#6e7781}.d{color:#8250df}.n{color:#0550ae}.l{color:#afb8c1;user-select:none}\n"
	"@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}th,pre{background:#161b22}td,th,h2,details{border-color:#30363d}"
	".k{color:#ff7b72}.s{color:#a5d6ff}.c{color:#8b949e}.d{color:#d2a8ff}.n{color:#79c0ff}.good{color:#3fb950}.bad{color:#f85149}"
	"svg text{fill:#e6edf3}}\n"
	"</style></head><body>\n";

void html_text(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		switch (s.p[i]) {
		case '&': buf_adds(out, "&amp;"); break;
		case '<': buf_adds(out, "&lt;"); break;
		case '>': buf_adds(out, "&gt;"); break;
		case '"': buf_adds(out, "&quot;"); break;
		default: buf_addc(out, s.p[i]);
		}
	}
}

/* --- source ------------------------------------------------------------------------------------ */

static int is_keyword(struct str w)
{
	static const char *const words[] = { "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "except",
					     "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "None", "not", "or",
					     "pass", "raise", "return", "True", "False", "try", "while", "with", "yield" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (str_is(w, words[i]))
			return 1;
	return 0;
}

static void span(struct buf *out, char class, struct str s)
{
	buf_addf(out, "<span class=\"%c\">", class);
	html_text(out, s);
	buf_adds(out, "</span>");
}

static size_t string_end(struct str s, size_t at)
{
	char q = s.p[at];
	size_t triple = at + 2 < s.n && s.p[at + 1] == q && s.p[at + 2] == q ? 3 : 1, i = at + triple;

	for (; i < s.n; i++) {
		if (s.p[i] == '\\') {
			i++;
			continue;
		}
		if (triple == 1 && s.p[i] == '\n')
			return i;
		if (s.p[i] == q && (triple == 1 || (i + 2 < s.n && s.p[i + 1] == q && s.p[i + 2] == q)))
			return MIN(i + triple, s.n);
	}
	return s.n;
}

static int word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* One token at `at`: writes it and returns where the next begins. */
static size_t write_token(struct buf *out, struct str s, size_t at)
{
	size_t end = at + 1;
	char class = 0;

	if (s.p[at] == '#') {
		while (end < s.n && s.p[end] != '\n')
			end++;
		class = 'c';
	} else if (s.p[at] == '"' || s.p[at] == '\'') {
		end = string_end(s, at);
		class = 's';
	} else if (word_char(s.p[at]) || s.p[at] == '@') {
		while (end < s.n && (word_char(s.p[end]) || (s.p[at] == '@' && s.p[end] == '.') ||
				     (isdigit((unsigned char)s.p[at]) && s.p[end] == '.')))
			end++;
		class = s.p[at] == '@' ? 'd' : isdigit((unsigned char)s.p[at]) ? 'n' :
			is_keyword((struct str){ .p = s.p + at, .n = end - at }) ? 'k' : 0;
	}
	if (class)
		span(out, class, (struct str){ .p = s.p + at, .n = end - at });
	else
		html_text(out, (struct str){ .p = s.p + at, .n = end - at });
	return end;
}

void html_python(struct buf *out, struct str source)
{
	int line = 1;

	buf_adds(out, "<pre>");
	for (size_t at = 0; at < source.n;) {
		if (at == 0 || source.p[at - 1] == '\n')
			buf_addf(out, "<span class=\"l\">%3d  </span>", line++);
		at = write_token(out, source, at);
	}
	buf_adds(out, "</pre>\n");
}

/* --- charts --------------------------------------------------------------------------------------- */

enum { WIDE = 500, HIGH = 240, LEFT = 52, RIGHT = 12, TOP = 30, BOTTOM = 28 };

struct frame { double x0, x1, y0, y1; };

static struct frame frame_of(const struct series *s, size_t n)
{
	struct frame f = { .x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s[i].n; k++) {
			if (!isfinite(s[i].y[k]))
				continue;
			f.x0 = fmin(f.x0, s[i].x[k]);
			f.x1 = fmax(f.x1, s[i].x[k]);
			f.y0 = fmin(f.y0, s[i].y[k]);
			f.y1 = fmax(f.y1, s[i].y[k]);
		}
	if (!(f.x1 > f.x0))
		f.x1 = f.x0 + 1;
	if (!(f.y1 > f.y0))
		f.y1 = f.y0 + 1;
	return f;
}

static double place_x(const struct frame *f, double x)
{
	return LEFT + (x - f->x0) / (f->x1 - f->x0) * (WIDE - LEFT - RIGHT);
}

static double place_y(const struct frame *f, double y)
{
	return HIGH - BOTTOM - (y - f->y0) / (f->y1 - f->y0) * (HIGH - TOP - BOTTOM);
}

static void axes(struct buf *out, const struct frame *f, const char *title)
{
	buf_addf(out, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\"><text x=\"%d\" y=\"16\" font-size=\"13\" font-weight=\"600\">",
		 WIDE, HIGH, WIDE, LEFT);
	html_text(out, str_of(title));
	buf_adds(out, "</text>");
	for (int i = 0; i <= 4; i++) {
		double v = f->y0 + (f->y1 - f->y0) * i / 4, y = place_y(f, v);

		buf_addf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#8c959f\" stroke-opacity=\".25\"/>", LEFT, WIDE - RIGHT, y, y);
		buf_addf(out, "<text x=\"%d\" y=\"%.1f\" font-size=\"10\" text-anchor=\"end\">%.3g</text>", LEFT - 6, y + 3, v);
	}
	buf_addf(out, "<text x=\"%d\" y=\"%d\" font-size=\"10\">%g</text><text x=\"%d\" y=\"%d\" font-size=\"10\" text-anchor=\"end\">%g</text>",
		 LEFT, HIGH - 10, f->x0, WIDE - RIGHT, HIGH - 10, f->x1);
}

void html_lines(struct buf *out, const char *title, const struct series *s, size_t n)
{
	struct frame f = frame_of(s, n);

	if (!isfinite(f.x0))
		return;
	axes(out, &f, title);
	for (size_t i = 0; i < n; i++) {
		int open = 0;

		buf_addf(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" d=\"", s[i].colour);
		for (size_t k = 0; k < s[i].n; k++) {
			if (!isfinite(s[i].y[k])) {
				open = 0;
				continue;
			}
			buf_addf(out, "%c%.1f %.1f", open ? 'L' : 'M', place_x(&f, s[i].x[k]), place_y(&f, s[i].y[k]));
			open = 1;
		}
		buf_addf(out, "\"/><text x=\"%d\" y=\"%zu\" font-size=\"11\" text-anchor=\"end\" style=\"fill:%s\">", WIDE - RIGHT, 16 + 13 * i, s[i].colour);
		html_text(out, str_of(s[i].name));
		buf_adds(out, "</text>");
	}
	buf_adds(out, "</svg>\n");
}

void html_bars(struct buf *out, const char *title, const struct bar *b, size_t n, const char *colour)
{
	double most = 0.0;
	int high = 30 + 20 * (int)n;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, b[i].value);
	buf_addf(out, "<svg viewBox=\"0 0 640 %d\" width=\"640\" role=\"img\"><text x=\"0\" y=\"16\" font-size=\"13\" font-weight=\"600\">", high);
	html_text(out, str_of(title));
	buf_adds(out, "</text>");
	for (size_t i = 0; i < n; i++) {
		double w = most > 0 ? b[i].value / most * 330 : 0;
		int y = 28 + 20 * (int)i;

		buf_addf(out, "<text x=\"168\" y=\"%d\" font-size=\"11\" text-anchor=\"end\">", y + 11);
		html_text(out, str_of(b[i].name));
		buf_addf(out, "</text><rect x=\"175\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"2\" fill=\"%s\"/>", y, fmax(w, 0.5), colour);
		buf_addf(out, "<text x=\"%.1f\" y=\"%d\" font-size=\"11\">", 181 + w, y + 11);
		html_text(out, str_of(b[i].note ? b[i].note : ""));
		buf_adds(out, "</text>");
	}
	buf_adds(out, "</svg>\n");
}
