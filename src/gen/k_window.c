/* Windows over space: convolutions and their transposes as products over channels and taps, depthwise
 * convolutions and pools directly. One to three dimensions of space; the last varies fastest. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/kern.h"

/* Names of dimension i of nd: "z", "h", "w" (and D, H, W as sizes). */
static char letter(int nd, int i)
{
	return "zhw"[3 - nd + i];
}

static char capital(int nd, int i)
{
	return "DHW"[3 - nd + i];
}

/* "OD * OH * OW": the product of a letter's dimensions from i on. */
static const char *all_of(const char *prefix, int nd, int i, char *out, size_t n)
{
	out[0] = 0;
	for (; i < nd; i++)
		snprintf(out + strlen(out), n - strlen(out), "%s%s%c", *out ? " * " : "", prefix, capital(nd, i));
	return out;
}

/* The host's expression of an output's side. */
static void side_expr(const struct gen_step *s, int i, const char *in, char *out, size_t n)
{
	int reach = s->dilation[i] * (s->window[i] - 1), add, stride = s->stride[i];

	if (s->op == GEN_OP_conv_transpose) {
		add = reach + s->out_pad[i] + 1 - stride - 2 * s->pad[i];
		snprintf(out, n, stride == 1 ? "%s" : "%s * %d", in, stride);
		if (add)
			snprintf(out + strlen(out), n - strlen(out), " %c %d", add < 0 ? '-' : '+', add < 0 ? -add : add);
		return;
	}
	add = 2 * s->pad[i] - reach;
	if (stride == 1 && add)
		snprintf(out, n, "%s %c %d", in, add < 0 ? '-' : '+', add < 0 ? -add : add);
	else if (stride == 1)
		snprintf(out, n, "%s", in);
	else if (add - 1)
		snprintf(out, n, "(%s %c %d) // %d + 1", in, add - 1 < 0 ? '-' : '+', add - 1 < 0 ? 1 - add : add - 1, stride);
	else
		snprintf(out, n, "%s // %d + 1", in, stride);
}

/* A varied solution holds for any numbers of the window: its host lines read them from the module, as KH, KW = m.stride, so
 * that nothing has to be worked out from the task's text. A pool keeps numbers as they were given, one or several, and the
 * line takes both. Those of a function's call stand in the line. */
static int any_window(const struct gen_kern *kn)
{
	return !kn->em->p->plain;
}

/* Whether a transposed convolution goes by phases: all that hold for any numbers. */
static int is_phased(const struct gen_kern *kn, const struct gen_step *s)
{
	return any_window(kn) && s->op == GEN_OP_conv_transpose;
}

/* Whether its taps may lie apart: where the task speaks of dilation. */
static int is_spread(const struct gen_kern *kn)
{
	return strstr(kn->em->name[kn->k->head].ctor, "dilation") != NULL;
}

/* "KH, KW = m.kernel_size", or the numbers where there is no module that has them all. */
static void host_numbers(struct gen_kern *kn, const struct gen_step *s, char kind, const char *attribute, const int *v)
{
	struct buf b = BUF_INIT;

	for (int i = 0; i < s->nd; i++)
		buf_addf(&b, "%s%c%c", i ? ", " : "", kind, capital(s->nd, i));
	buf_adds(&b, " = ");
	if (!kn->em->name[kn->k->head].module[0])
		for (int i = 0; i < s->nd; i++)
			buf_addf(&b, "%s%d", i ? ", " : "", v[i]);
	else if (gen_op(s->op)->family == GEN_CONV)
		buf_addf(&b, "m.%s%s", attribute, s->nd == 1 ? "[0]" : "");
	else if (s->nd == 1)
		buf_addf(&b, "m.%s if isinstance(m.%s, int) else m.%s[0]", attribute, attribute, attribute);
	else
		buf_addf(&b, "(m.%s,) * %d if isinstance(m.%s, int) else m.%s", attribute, s->nd, attribute, attribute);
	gen_host(kn->sol, "%s", buf_cstr(&b));
	buf_release(&b);
}

static void host_window(struct gen_kern *kn, const struct gen_step *s)
{
	int first = s->in.rank - s->nd;

	if (kn->em->name[kn->k->head].module[0])
		gen_host(kn->sol, "m = self.%s", kn->em->name[kn->k->head].module);
	host_numbers(kn, s, 'K', "kernel_size", s->window);
	host_numbers(kn, s, 'S', "stride", s->stride);
	host_numbers(kn, s, 'P', "padding", s->pad);
	if (s->op != GEN_OP_avg_pool && (!is_phased(kn, s) || is_spread(kn)))
		host_numbers(kn, s, 'L', "dilation", s->dilation);
	if (s->op == GEN_OP_conv_transpose)
		host_numbers(kn, s, 'Q', "output_padding", s->out_pad);
	for (int i = 0; i < s->nd; i++) {
		char c = capital(s->nd, i);

		if (is_phased(kn, s) && !is_spread(kn))
			gen_host(kn->sol, "O%c = (%s.shape[%d] - 1) * S%c - 2 * P%c + K%c + Q%c", c, kn->from, first + i, c, c, c, c);
		else if (s->op == GEN_OP_conv_transpose)
			gen_host(kn->sol, "O%c = (%s.shape[%d] - 1) * S%c - 2 * P%c + L%c * (K%c - 1) + Q%c + 1", c, kn->from, first + i, c, c, c, c, c);
		else if (s->op == GEN_OP_avg_pool)
			gen_host(kn->sol, "O%c = (%s.shape[%d] + 2 * P%c - K%c) // S%c + 1", c, kn->from, first + i, c, c, c);
		else
			gen_host(kn->sol, "O%c = (%s.shape[%d] + 2 * P%c - L%c * (K%c - 1) - 1) // S%c + 1", c, kn->from, first + i, c, c, c, c);
	}
}

/* Host lines that compute the output's sides OD, OH, OW and allocate `to`. */
static void alloc_windows(struct gen_kern *kn, const struct gen_step *s, const char *channels)
{
	struct buf b = BUF_INIT;
	char in[GEN_NAME + 16], side[GEN_ARG];
	int first = s->in.rank - s->nd;

	if (any_window(kn))
		host_window(kn, s);

	for (int i = 0; i < first; i++)
		if (i == 1 && *channels)
			buf_addf(&b, "%s, ", channels);
		else
			buf_addf(&b, "%s.shape[%d], ", kn->from, i);
	for (int i = 0; i < s->nd; i++) {
		snprintf(in, sizeof in, "%s.shape[%d]", kn->from, first + i);
		side_expr(s, i, in, side, sizeof side);
		if (!any_window(kn))
			gen_host(kn->sol, "O%c = %s", capital(s->nd, i), side);
		buf_addf(&b, "%sO%c", i ? ", " : "", capital(s->nd, i));
	}
	gen_host(kn->sol, "%s = torch.empty((%s), device=%s.device, dtype=%s.dtype)", kn->to, buf_cstr(&b), kn->from, kn->from);
	buf_release(&b);
}

/* Sizes of both sides, then the window's numbers; in plain solutions strides, paddings and dilations only where
 * they are not the default. */
static void window_args(struct gen_kern *kn, const struct gen_step *s)
{
	static const char *const kinds[] = { "K", "S", "P", "L" };
	const int *const numbers[] = { s->window, s->stride, s->pad, s->dilation };
	static const int defaults[] = { -1, 1, 0, 1 };
	int first = s->in.rank - s->nd;
	char name[8];

	for (int i = 0; i < s->nd; i++) {
		snprintf(name, sizeof name, "%c", capital(s->nd, i));
		gen_size(kn, name, "%s.shape[%d]", kn->from, first + i);
	}
	for (int i = 0; i < s->nd; i++) {
		snprintf(name, sizeof name, "O%c", capital(s->nd, i));
		gen_size(kn, name, "O%c", capital(s->nd, i));
	}
	for (int k = 0; k < 4; k++)
		for (int i = 0; i < s->nd; i++) {
			snprintf(name, sizeof name, "%s%c", kinds[k], capital(s->nd, i));
			if (any_window(kn) && !(k == 3 && (s->op == GEN_OP_avg_pool || (is_phased(kn, s) && !is_spread(kn)))))
				gen_meta(kn, name, "%s", name);
			else if (!any_window(kn) && numbers[k][i] != defaults[k])
				gen_meta(kn, name, "%d", numbers[k][i]);
		}
}

/* The input's coordinate that output coordinate `o` sees through tap `t`, and when it is inside. What is the default
 * in a plain solution is left away. */
static void coordinate(const struct gen_kern *kn, const struct gen_step *s, int i, const char *o, const char *t, struct buf *lines, struct buf *inside)
{
	char c = letter(s->nd, i), C = capital(s->nd, i);
	char scaled[24] = "", pad[8] = "", dilated[24];
	int any = any_window(kn), strides = any || s->stride[i] > 1, pads = any || s->pad[i];

	snprintf(dilated, sizeof dilated, s->op == GEN_OP_avg_pool || (!any && s->dilation[i] == 1) ? "%s" : "%s * L%c", t, C);
	if (s->op == GEN_OP_conv_transpose) {
		snprintf(pad, sizeof pad, pads ? " + P%c" : "", C);
		buf_addf(lines, "%c%c = %s%s - %s\n", strides ? 't' : 'i', c, o, pad, dilated);
		if (strides) {
			buf_addf(lines, "i%c = t%c // S%c\n", c, c, C);
			buf_addf(inside, " & (t%c >= 0) & (t%c %% S%c == 0) & (i%c < %c)", c, c, C, c, C);
		} else {
			buf_addf(inside, " & (i%c >= 0) & (i%c < %c)", c, c, C);
		}
		return;
	}
	snprintf(scaled, sizeof scaled, strides ? "%s * S%c" : "%s", o, C);
	snprintf(pad, sizeof pad, pads ? " - P%c" : "", C);
	buf_addf(lines, "i%c = %s%s + %s\n", c, scaled, pad, dilated);
	if (pads)
		buf_addf(inside, " & (i%c >= 0) & (i%c < %c)", c, c, C);
}

/* "(((n * C + c) * H + ih) * W + iw": the offset of an element behind `plane`. */
static void offset_of(const struct gen_step *s, const char *plane, struct buf *out)
{
	for (int i = 0; i < s->nd; i++)
		buf_addc(out, '(');
	buf_adds(out, plane);
	for (int i = 0; i < s->nd; i++)
		buf_addf(out, " * %c + i%c)", capital(s->nd, i), letter(s->nd, i));
}

/* Lines that take index `of` apart into coordinates with the sizes of `prefix` (O: outputs, K: taps),
 * and what is left into `rest`, unless that is NULL. */
static void take_apart(const struct gen_step *s, const char *of, const char *prefix, char var, const char *rest, struct buf *out)
{
	char below[32];

	for (int i = s->nd - 1; i >= 0; i--) {
		all_of(prefix, s->nd, i + 1, below, sizeof below);
		if (!*below)
			buf_addf(out, "%c%c = %s %% %s%c\n", var, letter(s->nd, i), of, prefix, capital(s->nd, i));
		else
			buf_addf(out, "%c%c = %s // %s%s%s %% %s%c\n", var, letter(s->nd, i), of, strchr(below, '*') ? "(" : "", below,
				 strchr(below, '*') ? ")" : "", prefix, capital(s->nd, i));
	}
	all_of(prefix, s->nd, 0, below, sizeof below);
	if (rest)
		buf_addf(out, "%s = %s // %s%s%s\n", rest, of, strchr(below, '*') ? "(" : "", below, strchr(below, '*') ? ")" : "");
}

/* --- convolutions as products ---------------------------------------------------------------------- */

static const char *const conv_body =
	"    offs_m = tl.program_id(0)$wide * BM + tl.arange(0, BM)\n"
	"    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)\n"
	"?grouped|    g = tl.program_id(2)\n"
	"    $outputs\n"
	"    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
	"    for k in range(0, K, BK):\n"
	"        offs_k = k + tl.arange(0, BK)\n"
	"        $taps\n"
	"        $coordinates\n"
	"        inside = (offs_m[:, None] < M) & (offs_k[None, :] < K)$inside\n"
	"        a = tl.load(x_ptr + $x_at, mask=inside, other=0.0)\n"
	"        b = tl.load(w_ptr + $w_at, mask=(offs_k[:, None] < K) & (offs_n[None, :] < $width), other=0.0)\n"
	"        acc += tl.dot(a, b$exact)\n"
	"?grouped|    oc = g * OCG + offs_n\n"
	"?bias|    acc += tl.load(b_ptr + $oc, mask=offs_n < $width, other=0.0)[None, :]\n"
	"?asked|    if HAS_BIAS:\n"
	"?asked|        acc += tl.load(b_ptr + $oc, mask=offs_n < $width, other=0.0)[None, :]\n"
	"    mask = (offs_m[:, None] < M) & (offs_n[None, :] < $width)\n"
	"    at = (n[:, None] * OC + $oc[None, :]) * ($area) + (offs_m % ($area))[:, None]\n"
	"    $post\n"
	"    tl.store(out_ptr + at, acc, mask=mask)\n";

/* Whether the kernel knows of groups: where there are any, or the task's text speaks of them. */
static int is_grouped(const struct gen_kern *kn, const struct gen_step *s)
{
	return s->groups > 1 || (!kn->em->p->plain && strstr(kn->em->name[kn->k->head].ctor, "groups="));
}

static void set_conv_text(struct gen_kern *kn, const struct gen_step *s)
{
	int grouped = is_grouped(kn, s);
	struct buf outputs = BUF_INIT, taps = BUF_INIT, lines = BUF_INIT, inside = BUF_INIT, x_at = BUF_INIT;
	char area[32], window[32], o[16], t[16];

	take_apart(s, "offs_m", "O", 'o', "n", &outputs);
	take_apart(s, "offs_k", "K", 'k', "c", &taps);
	for (int i = 0; i < s->nd; i++) {
		snprintf(o, sizeof o, "o%c[:, None]", letter(s->nd, i));
		snprintf(t, sizeof t, "k%c[None, :]", letter(s->nd, i));
		coordinate(kn, s, i, o, t, &lines, &inside);
	}
	offset_of(s, grouped ? "(n[:, None] * C + g * CG + c[None, :])" : "(n[:, None] * C + c[None, :])", &x_at);
	all_of("K", s->nd, 0, window, sizeof window);
	gen_set(&kn->v, "outputs", "%s", buf_cstr(&outputs));
	gen_set(&kn->v, "taps", "%s", buf_cstr(&taps));
	gen_set(&kn->v, "coordinates", "%s", buf_cstr(&lines));
	gen_set(&kn->v, "inside", "%s", buf_cstr(&inside));
	gen_set(&kn->v, "x_at", "%s", buf_cstr(&x_at));
	gen_set(&kn->v, "area", "%s", all_of("O", s->nd, 0, area, sizeof area));
	if (s->op == GEN_OP_conv_transpose)
		gen_set(&kn->v, "w_at", "(%sc[:, None]%s * %s + offs_n[None, :]) * (%s) + (offs_k %% (%s))[:, None]", grouped ? "(g * CG + " : "",
			grouped ? ")" : "", grouped ? "OCG" : "OC", window, window);
	else
		gen_set(&kn->v, "w_at", grouped ? "(g * OCG + offs_n[None, :]) * K + offs_k[:, None]" : "offs_n[None, :] * K + offs_k[:, None]");
	buf_release(&outputs), buf_release(&taps), buf_release(&lines), buf_release(&inside), buf_release(&x_at);
}

/* --- transposed convolutions by phases ---------------------------------------------------------------
 * Of the taps of a transposed convolution an output sees every S-th alone, which ones its coordinate modulo S says. All
 * outputs of a program have the same phase, so that no tap is multiplied in vain. With taps L apart it sees every G-th, G being S over
 * the greatest divisor that S and L share, from the first one on that falls on an input; there may be none. */

static const char *const phased_body =
	"    offs_m = tl.program_id(0)$wide * BM + tl.arange(0, BM)\n"
	"    offs_n = tl.program_id(1) * BN + tl.arange(0, BN)\n"
	"    phase = tl.program_id(2)\n"
	"    $phases\n"
	"    $outputs\n"
	"    rows = (offs_m < M)$rows\n"
	"    acc = tl.zeros((BM, BN), dtype=tl.float32)\n"
	"    for k in range(0, K, BK):\n"
	"        offs_k = k + tl.arange(0, BK)\n"
	"        $taps\n"
	"        valid = (offs_k < K)$valid\n"
	"        $coordinates\n"
	"        inside = rows[:, None] & valid[None, :]$inside\n"
	"        a = tl.load(x_ptr + $x_at, mask=inside, other=0.0)\n"
	"        b = tl.load(w_ptr + $w_at, mask=valid[:, None] & (offs_n[None, :] < $width), other=0.0)\n"
	"        acc += tl.dot(a, b$exact)\n"
	"?grouped|    oc = g * OCG + offs_n\n"
	"?bias|    acc += tl.load(b_ptr + $oc, mask=offs_n < $width, other=0.0)[None, :]\n"
	"?asked|    if HAS_BIAS:\n"
	"?asked|        acc += tl.load(b_ptr + $oc, mask=offs_n < $width, other=0.0)[None, :]\n"
	"    mask = rows[:, None] & (offs_n[None, :] < $width)\n"
	"    at = (n[:, None] * OC + $oc[None, :]) * ($area) + ($pixel)[:, None]\n"
	"    $post\n"
	"    tl.store(out_ptr + at, acc, mask=mask)\n";

/* "(kz * KH + kh) * KW + kw": coordinates of `var` among the sizes of `prefix`, as one number. */
static void together(const struct gen_step *s, char var, const char *prefix, struct buf *out)
{
	for (int i = 2; i < s->nd; i++)
		buf_addc(out, '(');
	buf_addf(out, "%c%c", var, letter(s->nd, 0));
	for (int i = 1; i < s->nd; i++)
		buf_addf(out, " * %s%c + %c%c%s", prefix, capital(s->nd, i), var, letter(s->nd, i), i < s->nd - 1 ? ")" : "");
}

static void phased_lines(struct gen_kern *kn, const struct gen_step *s)
{
	struct buf phases = BUF_INIT, outputs = BUF_INIT, taps = BUF_INIT, lines = BUF_INIT, rows = BUF_INIT, valid = BUF_INIT, inside = BUF_INIT;
	int spread = is_spread(kn);

	take_apart(s, "phase", "S", 'p', is_grouped(kn, s) ? "g" : NULL, &phases);
	take_apart(s, "offs_m", "N", 'q', "n", &outputs);
	take_apart(s, "offs_k", "T", 'j', "c", &taps);
	for (int i = 0; i < s->nd; i++) {
		char c = letter(s->nd, i), C = capital(s->nd, i);

		if (spread) {
			buf_addf(&phases, "f%c = K%c\nfor r in range(S%c):\n", c, C, C);
			buf_addf(&phases, "    f%c = tl.where((p%c + P%c - (S%c - 1 - r) * L%c) %% S%c == 0, S%c - 1 - r, f%c)\n", c, c, C, C, C, C, C, c);
		}
		buf_addf(&outputs, "o%c = q%c * S%c + p%c\n", c, c, C, c);
		buf_addf(&rows, " & (o%c < O%c)", c, C);
		if (spread)
			buf_addf(&taps, "k%c = j%c * G%c + f%c\n", c, c, C, c);
		else
			buf_addf(&taps, "k%c = j%c * S%c + (p%c + P%c) %% S%c\n", c, c, C, c, C, C);
		buf_addf(&valid, " & (k%c < K%c)", c, C);
		buf_addf(&lines, "i%c = (o%c[:, None] + P%c - k%c[None, :]", c, c, C, c);
		if (spread)
			buf_addf(&lines, " * L%c", C);
		buf_addf(&lines, ") // S%c\n", C);
		buf_addf(&inside, " & (i%c >= 0) & (i%c < %c)", c, c, C);
	}
	gen_set(&kn->v, "phases", "%s", buf_cstr(&phases));
	gen_set(&kn->v, "outputs", "%s", buf_cstr(&outputs));
	gen_set(&kn->v, "taps", "%s", buf_cstr(&taps));
	gen_set(&kn->v, "coordinates", "%s", buf_cstr(&lines));
	gen_set(&kn->v, "rows", "%s", buf_cstr(&rows));
	gen_set(&kn->v, "valid", "%s", buf_cstr(&valid));
	gen_set(&kn->v, "inside", "%s", buf_cstr(&inside));
	buf_release(&phases), buf_release(&outputs), buf_release(&taps), buf_release(&lines), buf_release(&rows), buf_release(&valid), buf_release(&inside);
}

static void set_phased_text(struct gen_kern *kn, const struct gen_step *s)
{
	struct buf x_at = BUF_INIT, tap = BUF_INIT, pixel = BUF_INIT;
	int grouped = is_grouped(kn, s);
	char window[32], area[32];

	phased_lines(kn, s);
	offset_of(s, grouped ? "(n[:, None] * C + g * CG + c[None, :])" : "(n[:, None] * C + c[None, :])", &x_at);
	together(s, 'k', "K", &tap);
	together(s, 'o', "O", &pixel);
	gen_set(&kn->v, "x_at", "%s", buf_cstr(&x_at));
	gen_set(&kn->v, "w_at", "(%sc[:, None]%s * %s + offs_n[None, :]) * (%s) + (%s)[:, None]", grouped ? "(g * CG + " : "", grouped ? ")" : "",
		grouped ? "OCG" : "OC", all_of("K", s->nd, 0, window, sizeof window), buf_cstr(&tap));
	gen_set(&kn->v, "area", "%s", all_of("O", s->nd, 0, area, sizeof area));
	gen_set(&kn->v, "pixel", "%s", buf_cstr(&pixel));
	buf_release(&x_at), buf_release(&tap), buf_release(&pixel);
}

/* Sizes of a phase: outputs along each side as NH, taps as TH. */
static void phase_args(struct gen_kern *kn, const struct gen_step *s)
{
	char name[8];

	for (int i = 0; i < s->nd; i++) {
		snprintf(name, sizeof name, "N%c", capital(s->nd, i));
		gen_size(kn, name, "N%c", capital(s->nd, i));
	}
	for (int k = 0; k < 1 + is_spread(kn); k++)
		for (int i = 0; i < s->nd; i++) {
			snprintf(name, sizeof name, "%c%c", "TG"[k], capital(s->nd, i));
			gen_meta(kn, name, "%s", name);
		}
}

static void host_phases(struct gen_kern *kn, const struct gen_step *s)
{
	for (int i = 0; i < s->nd; i++) {
		char c = capital(s->nd, i);

		gen_host(kn->sol, "N%c = triton.cdiv(O%c, S%c)", c, c, c);
		if (is_spread(kn))
			gen_host(kn->sol, "G%c = S%c // math.gcd(S%c, L%c)", c, c, c, c);
		gen_host(kn->sol, "T%c = triton.cdiv(K%c, %c%c)", c, c, is_spread(kn) ? 'G' : 'S', c);
	}
}

static int conv_side(int64_t n, int most)
{
	return n <= 16 ? 16 : n <= 32 ? 32 : most;
}

/* The products' inner length: channels of a group times taps. */
static void inner_length(struct gen_kern *kn, const struct gen_step *s, int taps)
{
	char window[32];

	if (any_window(kn))
		gen_size(kn, "K", "%s.shape[1]%s * %s", kn->from, is_grouped(kn, s) ? " // m.groups" : "",
			 all_of(is_phased(kn, s) ? "T" : "K", s->nd, 0, window, sizeof window));
	else if (s->groups > 1)
		gen_size(kn, "K", "%s.shape[1] // %d * %d", kn->from, s->groups, taps);
	else if (taps > 1)
		gen_size(kn, "K", "%s.shape[1] * %d", kn->from, taps);
	else
		gen_size(kn, "K", "%s.shape[1]", kn->from);
}

/* What a varied solution calls the module while it works on it. */
static const char *host_module(const struct gen_kern *kn, char *out, size_t n)
{
	snprintf(out, n, any_window(kn) ? "m" : "self.%s", kn->em->name[kn->k->head].module);
	return out;
}

/* The rows of the product: outputs of a channel, or those of one phase. */
static const char *outputs_text(const struct gen_kern *kn, const struct gen_step *s, char *out, size_t n)
{
	char m[GEN_NAME + 8], sides[32];

	if (is_phased(kn, s))
		snprintf(out, n, "%s.shape[0] * %s", kn->from, all_of("N", s->nd, 0, sides, sizeof sides));
	else
		snprintf(out, n, "%s.numel() // %s.out_channels", kn->to, host_module(kn, m, sizeof m));
	return out;
}

/* Tiles of many outputs where there are many, and of many channels too. */
static void conv_tiles(struct gen_kern *kn, const struct gen_step *s, int64_t inner)
{
	int64_t pixels = s->shape.d[0] * gen_product(&s->shape, 2, s->shape.rank), channels = s->out / s->groups;
	int wide = any_window(kn) && pixels >= 1 << 16 && channels >= 128;

	gen_meta(kn, "BM", "%d", pixels >= 1 << 16 ? 128 : 64);
	gen_meta(kn, "BN", "%d", conv_side(channels, wide ? 128 : 64));
	gen_meta(kn, "BK", "%d", inner <= 16 ? 16 : 32);
	kn->warps = wide ? 8 : 0;
}

static void conv_args(struct gen_kern *kn, const struct gen_step *s)
{
	char m[GEN_NAME + 8], groups[GEN_NAME], outputs[GEN_ARG];
	int taps = 1;

	host_module(kn, m, sizeof m);
	snprintf(groups, sizeof groups, any_window(kn) ? "m.groups" : "%d", s->groups);
	for (int i = 0; i < s->nd; i++)
		taps *= s->window[i];
	gen_ptr(kn, "x_ptr", "%s", kn->from);
	gen_ptr(kn, "w_ptr", "%s.weight", m);
	gen_bias(kn, m, s->bias);
	gen_size(kn, "M", "%s", outputs_text(kn, s, outputs, sizeof outputs));
	inner_length(kn, s, taps);
	gen_size(kn, "C", "%s.shape[1]", kn->from);
	gen_size(kn, "OC", "%s.out_channels", m);
	if (is_grouped(kn, s)) {
		gen_size(kn, "CG", "%s.shape[1] // %s", kn->from, groups);
		gen_size(kn, "OCG", "%s.out_channels // %s", m, groups);
	}
	window_args(kn, s);
	if (is_phased(kn, s))
		phase_args(kn, s);
	conv_tiles(kn, s, s->in.d[1] / s->groups * taps);
}

/* PyTorch's own convolutions may round to tf32 on a GPU, so most of the kernels do: they are faster. */
static const char *precision_of(const struct gen_plan *p)
{
	static const char *const words[] = { ", input_precision=\"ieee\"", ", allow_tf32=False", "", ", input_precision=\"tf32\"" };

	return p->plain || gen_has_jump(p) ? words[gen_solution_choice(p, 232, 2)] : words[gen_choice(p, 232, 12) == 0 ? 0 : 2 + gen_choice(p, 235, 2)];
}

/* Programs: blocks of outputs, blocks of channels, then groups and phases. */
static void conv_grid(const struct gen_kern *kn, const struct gen_step *s, char *grid, size_t n)
{
	char m[GEN_NAME + 8], outputs[GEN_ARG], groups[GEN_NAME], strides[32];
	int grouped = is_grouped(kn, s), phased = is_phased(kn, s);

	host_module(kn, m, sizeof m);
	snprintf(groups, sizeof groups, any_window(kn) ? "m.groups" : "%d", s->groups);
	snprintf(grid, n, "(triton.cdiv(%s, @BM), triton.cdiv(%s.out_channels%s%s, @BN)", outputs_text(kn, s, outputs, sizeof outputs), m,
		 grouped ? " // " : "", grouped ? groups : "");
	if (grouped || phased)
		snprintf(grid + strlen(grid), n - strlen(grid), ", %s%s%s", grouped ? groups : "", grouped && phased ? " * " : "",
			 phased ? all_of("S", s->nd, 0, strides, sizeof strides) : "");
	snprintf(grid + strlen(grid), n - strlen(grid), ")");
}

static void write_conv_product(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct gen_place pl = { .val = "acc", .at = "at", .mask = "mask", .shape_of = to, .axis = 1, .axis_expand = "[None, :]" };
	struct gen_kern kn;
	char channels[2 * GEN_NAME], m[GEN_NAME + 8], grid[4 * GEN_ARG];
	int grouped;

	gen_kern_init(&kn, sol, k, from, to, "");
	grouped = is_grouped(&kn, s);
	conv_args(&kn, s);
	pl.axis_at = grouped ? "oc" : "offs_n";
	pl.axis_mask = grouped ? "offs_n < OCG" : "offs_n < OC";
	gen_set(&kn.v, "grouped", grouped ? "yes" : "");
	gen_set(&kn.v, "oc", grouped ? "oc" : "offs_n");
	gen_set(&kn.v, "width", grouped ? "OCG" : "OC");
	gen_set(&kn.v, "exact", "%s", precision_of(sol->em->p));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	(is_phased(&kn, s) ? set_phased_text : set_conv_text)(&kn, s);
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	snprintf(channels, sizeof channels, "%s.out_channels", host_module(&kn, m, sizeof m));
	alloc_windows(&kn, s, channels);
	if (is_phased(&kn, s))
		host_phases(&kn, s);
	conv_grid(&kn, s, grid, sizeof grid);
	gen_kern_write(&kn, is_phased(&kn, s) ? phased_body : conv_body, grid);
}

/* --- one plane at a time: depthwise convolutions --------------------------------------------------------- */

static const char *const depthwise_body =
	"    plane = tl.program_id(0)$wide\n"
	"    c = plane % C\n"
	"    offs = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < $area\n"
	"    $outputs\n"
	"    x = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    $walk\n"
	"?bias|    x += tl.load(b_ptr + c)\n"
	"?asked|    if HAS_BIAS:\n"
	"?asked|        x += tl.load(b_ptr + c)\n"
	"    $post\n"
	"    tl.store(out_ptr + plane * ($area) + offs, x, mask=mask)\n";

/* Nested loops over the taps with `body` lines inside. */
static void walk_taps(const struct gen_step *s, const char *body, struct buf *out)
{
	for (int i = 0; i < s->nd; i++) {
		buf_pad(out, ' ', (size_t)i * 4);
		buf_addf(out, "for k%c in range(K%c):\n", letter(s->nd, i), capital(s->nd, i));
	}
	while (*body) {
		const char *end = strchr(body, '\n');

		buf_pad(out, ' ', (size_t)s->nd * 4);
		buf_add(out, body, (size_t)(end - body) + 1);
		body = end + 1;
	}
}

/* The loads of a window: $lines, then `use` of the loaded p. No plane: the place `base` is its own. */
static void window_walk(struct gen_kern *kn, const struct gen_step *s, const char *plane, const char *pad, const char *use)
{
	struct buf lines = BUF_INIT, inside = BUF_INIT, at = BUF_INIT, walk = BUF_INIT;
	char o[4], t[4];

	for (int i = 0; i < s->nd; i++) {
		snprintf(o, sizeof o, "o%c", letter(s->nd, i));
		snprintf(t, sizeof t, "k%c", letter(s->nd, i));
		coordinate(kn, s, i, o, t, &lines, &inside);
	}
	if (*plane)
		offset_of(s, plane, &at);
	else
		together(s, 'i', "", &at);
	buf_addf(&lines, *plane ? "p = tl.load(x_ptr + %s, mask=mask%s, other=%s)\n%s\n" : "p = tl.load(base + (%s), mask=mask%s, other=%s)\n%s\n", buf_cstr(&at),
		 buf_cstr(&inside), pad, use);
	walk_taps(s, buf_cstr(&lines), &walk);
	gen_set(&kn->v, "walk", "%s", buf_cstr(&walk));
	buf_release(&lines), buf_release(&inside), buf_release(&at), buf_release(&walk);
}

static void set_plane_outputs(struct gen_kern *kn, const struct gen_step *s)
{
	struct buf b = BUF_INIT;
	char area[32];

	take_apart(s, "offs", "O", 'o', "nc", &b);
	if (any_window(kn) && gen_op(s->op)->family == GEN_POOL)      /* the input may be far larger than the result */
		buf_addf(&b, "base = x_ptr + nc.to(tl.int64) * (%s)\n", all_of("", s->nd, 0, area, sizeof area));
	gen_set(&kn->v, "outputs", "%s", buf_cstr(&b));
	gen_set(&kn->v, "area", "%s", all_of("O", s->nd, 0, area, sizeof area));
	buf_release(&b);
}

static void write_depthwise(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct gen_place pl = { .val = "x", .at = "plane * area + offs", .mask = "mask", .shape_of = to, .axis = 1, .axis_at = "c" };
	struct gen_kern kn;
	struct buf tap = BUF_INIT;
	char m[GEN_NAME + 8], at[64], area[32], grid[2 * GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_ptr(&kn, "w_ptr", "%s.weight", host_module(&kn, m, sizeof m));
	gen_bias(&kn, m, s->bias);
	gen_size(&kn, "C", "%s.shape[1]", from);
	window_args(&kn, s);
	gen_meta(&kn, "BLOCK", "%lld", (long long)MIN(gen_pow2(gen_product(&s->shape, 2, s->shape.rank)), 1024));
	set_plane_outputs(&kn, s);
	buf_adds(&tap, "c");
	for (int i = 0; i < s->nd; i++)
		buf_addf(&tap, " * K%c + k%c%s", capital(s->nd, i), letter(s->nd, i), i < s->nd - 1 ? ")" : "");
	snprintf(at, sizeof at, "%.*s%.56s", s->nd - 1, "((", buf_cstr(&tap));
	buf_clear(&tap);
	buf_addf(&tap, "x += p * tl.load(w_ptr + %s)", at);
	window_walk(&kn, s, "plane", "0.0", buf_cstr(&tap));
	buf_release(&tap);
	snprintf(at, sizeof at, "plane * (%s) + offs", all_of("O", s->nd, 0, area, sizeof area));
	pl.at = at;
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	alloc_windows(&kn, s, "");
	snprintf(grid, sizeof grid, "(%s.shape[0] * %s.shape[1], triton.cdiv(%s, @BLOCK))", from, from, area);
	gen_kern_write(&kn, depthwise_body, grid);
}

void gen_write_conv(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	(sol->em->p->step[k->head].op == GEN_OP_conv_depthwise ? write_depthwise : write_conv_product)(sol, k, from, to);
}

/* --- pools ----------------------------------------------------------------------------------------------------- */

static const char *const pool_body =
	"    offs = tl.program_id(0)$wide * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < n\n"
	"    $outputs\n"
	"?max|    x = tl.full((BLOCK,), float('-inf'), dtype=tl.float32)\n"
	"!max|    x = tl.zeros((BLOCK,), dtype=tl.float32)\n"
	"    $walk\n"
	"!max|    x = x / ($taps)\n"
	"    $post\n"
	"    tl.store(out_ptr + offs, x, mask=mask)\n";

void gen_write_pool(struct gen_solution *sol, const struct gen_kernel *k, const char *from, const char *to)
{
	const struct gen_step *s = &sol->em->p->step[k->head];
	struct gen_place pl = { .val = "x", .at = "offs", .mask = "mask", .shape_of = to };
	int max = s->op == GEN_OP_max_pool;
	struct gen_kern kn;
	char taps[32], grid[GEN_ARG];

	gen_kern_init(&kn, sol, k, from, to, "");
	gen_ptr(&kn, "x_ptr", "%s", from);
	gen_size(&kn, "n", "%s.numel()", to);
	window_args(&kn, s);
	gen_meta(&kn, "BLOCK", "%s", gen_solution_choice(sol->em->p, 241, 2) ? "512" : "1024");
	set_plane_outputs(&kn, s);
	window_walk(&kn, s, any_window(&kn) ? "" : "nc", max ? "float('-inf')" : "0.0", max ? "x = tl.maximum(x, p)" : "x += p");
	gen_set(&kn.v, "max", max ? "yes" : "");
	gen_set(&kn.v, "taps", "%s", all_of("K", s->nd, 0, taps, sizeof taps));
	gen_set(&kn.v, "wide", "%s", gen_wide(&kn));
	gen_set_points(&kn, "post", k->head + 1, k->end, &pl);
	gen_ptr(&kn, "out_ptr", "%s", to);
	alloc_windows(&kn, s, "");
	snprintf(grid, sizeof grid, "(triton.cdiv(%s.numel(), @BLOCK),)", to);
	gen_kern_write(&kn, pool_body, grid);
}
