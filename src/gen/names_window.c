/* Names and arguments of windows: convolutions and pools. A window's numbers are arguments of __init__, one for all sides or one
 * each, with defaults or without, or stand in the constructor's call. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/names.h"

/* "3", "(3, 3)" or "(3, 5)". */
static void tuple_text(const struct gen_emit *em, const struct gen_step *s, const int *v, char *out, size_t n)
{
	if (s->square && (s->nd == 1 || gen_choice(em->p, 40, 5)))
		snprintf(out, n, "%d", v[0]);
	else if (s->nd == 1)
		snprintf(out, n, "(%d,)", v[0]);
	else if (s->nd == 2)
		snprintf(out, n, "(%d, %d)", v[0], v[1]);
	else
		snprintf(out, n, "(%d, %d, %d)", v[0], v[1], v[2]);
}

static int all_equal(const struct gen_step *s, const int *v, int to)
{
	for (int i = 0; i < s->nd; i++)
		if (v[i] != to)
			return 0;
	return 1;
}

/* Whether __init__ takes every argument of the window, with the library's defaults. */
static int all_arguments(const struct gen_emit *em)
{
	return em->p->level == 1 && em->p->n == 1 && !em->p->plain && gen_form(&em->p->step[0])[0] == '@' &&
	       gen_choice(em->p, 45, 2) == 0;
}

/* The same number for all dimensions, written as the window's other numbers are. */
static void same_text(const struct gen_emit *em, const struct gen_step *s, int number, char *out, size_t n)
{
	tuple_text(em, s, (const int[]){ number, number, number }, out, n);
}

/* The name of a window's argument in __init__, where it may have a default. */
static const char *window_param(struct gen_emit *em, int i, const char *stem, const char *text, int unless)
{
	char preset[GEN_NAME];

	if (unless >= 0 && all_arguments(em)) {
		same_text(em, &em->p->step[i], unless, preset, sizeof preset);
		return gen_add_preset(em, stem, text, preset);
	}
	if (unless >= 0 && em->p->level > 1 && !em->p->plain && gen_choice(em->p, 47, 6) == 0)
		return gen_add_preset(em, stem, text, text);
	return gen_add_param(em, stem, 1, text);
}

/* Whether each side of the window is an argument of its own. */
static int sides_apart(const struct gen_emit *em, const struct gen_step *s)
{
	return s->nd > 1 && em->p->level == 1 && gen_style(em, 49, 8, 1) == 0;
}

/* "(kernel_size_h, kernel_size_w)". */
static void sides_arg(struct gen_emit *em, const struct gen_step *s, const char *stem, const int *v, int unless, char *out, size_t n)
{
	for (int i = 0; i < s->nd; i++) {
		char name[GEN_NAME], value[12], preset[12];

		snprintf(name, sizeof name, "%.30s_%c", stem, "dhw"[3 - s->nd + i]);
		snprintf(value, sizeof value, "%d", v[i]);
		snprintf(preset, sizeof preset, "%d", unless);
		snprintf(out + strlen(out), n - strlen(out), "%s%s", i ? ", " : "(", unless < 0 ? gen_add_param(em, name, 1, value) : gen_add_preset(em, name, value, preset));
	}
	snprintf(out + strlen(out), n - strlen(out), ")");
}

/* A number for all sides may be written once for each: "(kernel_size, kernel_size)". */
static void name_arg(const struct gen_emit *em, const struct gen_step *s, const char *name, const char *text, char *out, size_t n)
{
	if (text[0] == '(' || !s->square || s->nd < 2 || gen_style(em, 69, 4, 1)) {
		snprintf(out + strlen(out), n - strlen(out), "%s", name);
		return;
	}
	for (int i = 0; i < s->nd; i++)
		snprintf(out + strlen(out), n - strlen(out), "%s%s", i ? ", " : "(", name);
	snprintf(out + strlen(out), n - strlen(out), ")");
}

/* One argument of a window: a constant of the module, or the number itself (always in a functional
 * call, which __init__'s arguments do not reach); none where it is the default. */
static void window_arg(struct gen_emit *em, int i, const char *keyword, const char *stem, const int *v, int unless, char *out, size_t n)
{
	const struct gen_step *s = &em->p->step[i];
	char text[GEN_NAME];
	size_t used = strlen(out);
	int module = gen_form(s)[0] == '@';

	if (all_equal(s, v, unless) && !all_arguments(em) && !(em->p->level == 1 && unless >= 0 && gen_choice(em->p, 41, 3) == 0))
		return;
	tuple_text(em, s, v, text, sizeof text);
	snprintf(out + used, n - used, "%s%s%s", used ? ", " : "", keyword, *keyword ? "=" : "");
	if (module && sides_apart(em, s))
		sides_arg(em, s, stem, v, unless, out, n);
	else if (module && (em->p->level == 1 || gen_choice(em->p, 42 + (unsigned)i, 3)))
		name_arg(em, s, window_param(em, i, stem, text, unless), text, out, n);
	else
		snprintf(out + strlen(out), n - strlen(out), "%s", text);
}

static void conv_groups_and_bias(struct gen_emit *em, const struct gen_step *s, const char *channels, char *w, size_t n)
{
	char groups[GEN_NAME];

	snprintf(groups, sizeof groups, "%d", s->groups);
	if (s->op == GEN_OP_conv_depthwise && all_arguments(em) && gen_style(em, 93, 2, 0))
		gen_add_preset(em, "groups", "1", "1");      /* people take it and use the channels */
	if (s->op == GEN_OP_conv_depthwise)
		snprintf(w + strlen(w), n - strlen(w), ", groups=%s", channels);
	else if (all_arguments(em))
		snprintf(w + strlen(w), n - strlen(w), ", groups=%s", gen_add_preset(em, "groups", groups, "1"));
	else if (s->groups > 1)
		snprintf(w + strlen(w), n - strlen(w), ", groups=%s", gen_add_param(em, "groups", 1, groups));
	if (all_arguments(em))
		snprintf(w + strlen(w), n - strlen(w), ", bias=%s",
			 gen_add_preset(em, "bias", s->bias ? "True" : "False", gen_choice(em->p, 48, 3) ? "False" : "True"));
	else if (gen_style(em, 39, 5, 1) == 0)
		snprintf(w + strlen(w), n - strlen(w), ", bias=%s", gen_flag_param(em, "bias", s->bias ? "True" : "False"));
	else if (!s->bias)
		snprintf(w + strlen(w), n - strlen(w), ", bias=False");
}

/* An argument by its place, as long as those before it are there; else by its keyword. Whether the next may go by its place. */
static int in_place_arg(struct gen_emit *em, int i, int in_place, const char *keyword, const int *v, int unless, char *w, size_t n)
{
	size_t before = strlen(w);

	window_arg(em, i, in_place ? "" : keyword, keyword, v, unless, w, n);
	return in_place && strlen(w) > before;
}

void gen_conv_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	char *w = em->name[i].window, channels[GEN_NAME];
	size_t n = sizeof em->name[i].window;
	int named = gen_style(em, 66, 5, 1) == 0, keyword = named || gen_style(em, 68, 4, 1) == 0, in_place = !keyword && gen_style(em, 38, 5, 1) == 0;
	int same = s->op == GEN_OP_conv_depthwise && gen_style(em, 67, 3, 1);
	const char *out = same ? em->sym[i][1] : s->op == GEN_OP_conv_depthwise ? gen_add_param(em, "out_channels", 1, em->sym[i][1]) :
		gen_add_size(em, "out_channels", 1, s->out);

	memcpy(em->sym[i + 1][1], out, GEN_NAME);
	gen_in_init(em, em->sym[i][1]);
	snprintf(w, n, named ? "in_channels=%s, out_channels=%s" : "%s, %s", em->sym[i][1], out);
	window_arg(em, i, keyword ? "kernel_size" : "", "kernel_size", s->window, -1, w, n);
	in_place = in_place_arg(em, i, in_place, "stride", s->stride, 1, w, n);
	in_place = in_place_arg(em, i, in_place, "padding", s->pad, 0, w, n);
	if (s->op == GEN_OP_conv_transpose && (all_arguments(em) || !all_equal(s, s->out_pad, 0)))
		in_place_arg(em, i, in_place, "output_padding", s->out_pad, 0, w, n);
	if (all_arguments(em) || !all_equal(s, s->dilation, 1))
		window_arg(em, i, "dilation", "dilation", s->dilation, 1, w, n);
	memcpy(channels, em->sym[i][1], GEN_NAME);
	conv_groups_and_bias(em, s, channels, w, n);
}

/* A pool's stride is its window where it is not given. */
static void pool_stride(struct gen_emit *em, const struct gen_step *s, int same, char *w, size_t n)
{
	char text[GEN_NAME] = "None";

	if (!same)
		tuple_text(em, s, s->stride, text, sizeof text);
	snprintf(w + strlen(w), n - strlen(w), ", stride=%s", gen_add_preset(em, "stride", text, "None"));
}

void gen_pool_names(struct gen_emit *em, int i)
{
	const struct gen_step *s = &em->p->step[i];
	char *w = em->name[i].window;
	size_t n = sizeof em->name[i].window;
	int same = 1;

	for (int k = 0; k < s->nd; k++)
		same &= s->stride[k] == s->window[k];
	window_arg(em, i, gen_choice(em->p, 43, 2) ? "kernel_size" : "", em->p->level == 1 ? "kernel_size" : "pool_kernel_size", s->window, -1, w, n);
	if (all_arguments(em))
		pool_stride(em, s, same, w, n);
	else if (!same)
		window_arg(em, i, "stride", "stride", s->stride, -1, w, n);
	window_arg(em, i, "padding", "padding", s->pad, 0, w, n);
	if (s->op == GEN_OP_max_pool && (all_arguments(em) || !all_equal(s, s->dilation, 1)))
		window_arg(em, i, "dilation", "dilation", s->dilation, 1, w, n);
}
