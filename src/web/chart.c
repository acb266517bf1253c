/* Charts as inline SVG: see html.h. Each is a figure with a caption and, where there are several
 * series, a key. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "web/html.h"

enum { WIDE = 500, HIGH = 230, LEFT = 44, RIGHT = 12, TOP = 12, BOTTOM = 24 };

struct axes { double x0, x1, y0, y1, step; };

/* A round step that cuts `range` into about `parts`. */
static double round_step(double range, int parts)
{
	double raw = range / parts, power = pow(10, floor(log10(raw))), lead = raw / power;

	return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

static struct axes frame_of(const struct series *s, size_t n, double top)
{
	struct axes f = { .x0 = INFINITY, .x1 = -INFINITY, .y0 = INFINITY, .y1 = -INFINITY };

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s[i].n; k++) {
			if (!isfinite(s[i].y[k]))
				continue;
			f.x0 = fmin(f.x0, s[i].x[k]);
			f.x1 = fmax(f.x1, s[i].x[k]);
			f.y0 = fmin(f.y0, s[i].y[k]);
			f.y1 = fmax(f.y1, s[i].y[k]);
		}
	if (!isfinite(f.x0))
		return f;
	if (f.y0 >= 0)
		f.y0 = 0;
	if (isfinite(top))
		f.y1 = fmax(f.y1, top);
	if (!(f.x1 > f.x0))
		f.x1 = f.x0 + 1;
	if (!(f.y1 > f.y0))
		f.y1 = f.y0 + 1;
	f.step = round_step(f.y1 - f.y0, 4);
	f.y0 = floor(f.y0 / f.step) * f.step;
	f.y1 = ceil(f.y1 / f.step - 1e-9) * f.step;
	return f;
}

static double place_x(const struct axes *f, double x)
{
	return LEFT + (x - f->x0) / (f->x1 - f->x0) * (WIDE - LEFT - RIGHT);
}

static double place_y(const struct axes *f, double y)
{
	return HIGH - BOTTOM - (y - f->y0) / (f->y1 - f->y0) * (HIGH - TOP - BOTTOM);
}

static void begin(struct buf *out, const char *title, int wide, int high)
{
	buf_adds(out, "<figure><figcaption>");
	html_text(out, str_of(title));
	buf_addf(out, "</figcaption><svg viewBox=\"0 0 %d %d\" role=\"img\">", wide, high);
}

static void key(struct buf *out, const char *const *names, size_t n)
{
	buf_adds(out, "<div class=\"key\">");
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "<span><i class=\"b%zu\"></i>", i % HTML_COLOURS);
		html_text(out, str_of(names[i]));
		buf_adds(out, "</span>");
	}
	buf_adds(out, "</div>");
}

static void rows(struct buf *out, const struct axes *f)
{
	for (double v = f->y0; v <= f->y1 + f->step / 2; v += f->step) {
		double y = place_y(f, v);

		buf_addf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", LEFT, WIDE - RIGHT, y, y);
		buf_addf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>", LEFT - 6, y + 4, fabs(v) < f->step / 1e6 ? 0.0 : v);
	}
}

static void steps(struct buf *out, const struct axes *f)
{
	double by = fmax(1, round_step(f->x1 - f->x0, 6));

	for (double x = ceil(f->x0 / by) * by; x <= f->x1; x += by)
		buf_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>", place_x(f, x), HIGH - 8, x);
}

static void line(struct buf *out, const struct axes *f, const struct series *s, size_t number)
{
	int open = 0;

	buf_addf(out, "<path fill=\"none\" class=\"s%zu\" stroke-width=\"1.8\" stroke-linejoin=\"round\" d=\"", number % HTML_COLOURS);
	for (size_t k = 0; k < s->n; k++) {
		if (!isfinite(s->y[k])) {
			open = 0;
			continue;
		}
		buf_addf(out, "%c%.1f %.1f", open ? 'L' : 'M', place_x(f, s->x[k]), place_y(f, s->y[k]));
		open = 1;
	}
	buf_adds(out, "\"/>");
	for (size_t k = 0; k < s->n && s->n <= 40; k++)
		if (isfinite(s->y[k]))
			buf_addf(out, "<circle class=\"f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\"><title>%g: %.4g</title></circle>", number % HTML_COLOURS,
				 place_x(f, s->x[k]), place_y(f, s->y[k]), s->x[k], s->y[k]);
}

void html_lines(struct buf *out, const char *title, const struct series *s, size_t n, double top)
{
	const char *names[HTML_COLOURS];
	struct axes f = frame_of(s, n, top);

	if (!isfinite(f.x0))
		return;
	begin(out, title, WIDE, HIGH);
	rows(out, &f);
	steps(out, &f);
	for (size_t i = 0; i < n && i < HTML_COLOURS; i++) {
		line(out, &f, &s[i], i);
		names[i] = s[i].name;
	}
	buf_adds(out, "</svg>");
	if (n > 1)
		key(out, names, MIN(n, (size_t)HTML_COLOURS));
	buf_adds(out, "</figure>\n");
}

void html_bars(struct buf *out, const char *title, const struct bar *b, size_t n)
{
	enum { ROW = 22, NAME = 76, BAR = 270 };
	double most = 0.0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, b[i].value);
	begin(out, title, WIDE, ROW * (int)n + 8);
	for (size_t i = 0; i < n; i++) {
		double w = most > 0 ? b[i].value / most * BAR : 0, part = b[i].value > 0 ? w * b[i].part / b[i].value : 0;
		int y = 6 + ROW * (int)i;

		buf_addf(out, "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"end\">", NAME - 8, y + 12);
		html_text(out, str_of(b[i].name));
		buf_addf(out, "</text><rect class=\"f0\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"15\" rx=\"2\"/>", NAME, y, fmax(w, 1));
		if (part > 0)
			buf_addf(out, "<rect class=\"fp\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"15\" rx=\"2\"/>", NAME + w - part, y, part);
		buf_addf(out, "<text x=\"%.1f\" y=\"%d\">", NAME + w + 7, y + 12);
		html_text(out, str_of(b[i].note ? b[i].note : ""));
		buf_adds(out, "</text>");
	}
	buf_adds(out, "</svg></figure>\n");
}

void html_histogram(struct buf *out, const char *title, const double *count, size_t n, double low, double high)
{
	struct axes f = { .x0 = low, .x1 = high, .y0 = 0, .y1 = 1 };
	double wide = (WIDE - LEFT - RIGHT) / (double)n;

	for (size_t i = 0; i < n; i++)
		f.y1 = fmax(f.y1, count[i]);
	f.step = fmax(1, round_step(f.y1, 4));
	f.y1 = ceil(f.y1 / f.step) * f.step;
	begin(out, title, WIDE, HIGH);
	rows(out, &f);
	for (size_t i = 0; i < n; i++) {
		double y = place_y(&f, count[i]), x = LEFT + wide * (double)i;

		if (count[i] > 0)
			buf_addf(out, "<rect class=\"f0\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>%.0f</title></rect>", x + 1, y, wide - 2,
				 HIGH - BOTTOM - y, count[i]);
	}
	for (int i = 0; i <= 5; i++)
		buf_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.2g</text>", LEFT + (WIDE - LEFT - RIGHT) * i / 5.0, HIGH - 8,
			 low + (high - low) * i / 5.0);
	buf_adds(out, "</svg></figure>\n");
}

static void whisker(struct buf *out, const struct axes *f, double x, const struct interval *v)
{
	double low = place_y(f, v->low), high = place_y(f, v->high);

	if (v->high > v->low)
		buf_addf(out, "<path class=\"whisker\" fill=\"none\" d=\"M%.1f %.1fH%.1fM%.1f %.1fV%.1fM%.1f %.1fH%.1f\"/>", x - 4, high, x + 4, x, high, low,
			 x - 4, low, x + 4);
}

void html_groups(struct buf *out, const char *title, const char *const *groups, size_t n_groups, const char *const *series,
		 size_t n_series, const struct interval *value)
{
	struct axes f = { .x0 = 0, .x1 = 1, .y0 = 0, .y1 = 100, .step = 25 };
	double group = (WIDE - LEFT - RIGHT) / (double)MAX(n_groups, (size_t)1), bar = group * 0.8 / (double)MAX(n_series, (size_t)1);

	bar = fmin(bar, 56);
	begin(out, title, WIDE, HIGH);
	rows(out, &f);
	for (size_t g = 0; g < n_groups; g++) {
		double left = LEFT + group * ((double)g + 0.5) - bar * (double)n_series / 2;

		for (size_t s = 0; s < n_series; s++) {
			const struct interval *v = &value[g * n_series + s];
			double y = place_y(&f, v->value), x = left + bar * (double)s;

			buf_addf(out, "<rect class=\"f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"2\"><title>%.1f (%.1f to %.1f)</title></rect>",
				 s % HTML_COLOURS, x + 2, fmin(y, HIGH - BOTTOM - 1), bar - 4, fmax(HIGH - BOTTOM - y, 1), v->value, v->low, v->high);
			whisker(out, &f, x + bar / 2, v);
		}
		buf_addf(out, "<text class=\"name\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", LEFT + group * ((double)g + 0.5), HIGH - 8);
		html_text(out, str_of(groups[g]));
		buf_adds(out, "</text>");
	}
	buf_adds(out, "</svg>");
	key(out, series, n_series);
	buf_adds(out, "</figure>\n");
}
