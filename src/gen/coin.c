/* Names as people coin them: affixes, abbreviations, other spellings, and words that stand in no dictionary. A model
 * that knows the usual names by heart must still copy these. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "gen/impl.h"

/* What Python, nn.Module or the texts around a name own. */
static int is_reserved(const char *name)
{
	static const char *const words[] = {
		"and", "as", "def", "del", "elif", "else", "for", "from", "if", "in", "is", "not", "or", "pass", "try", "with", "self", "nn", "F", "math",
		"torch", "triton", "tl", "Model", "ModelNew", "x", "out", "fn", "compute", "reference", "to", "cpu", "half", "float", "double", "type",
		"apply", "train", "eval", "forward", "register", "int", "max", "min", "sum", "abs", "len",
	};

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (!strcmp(name, words[i]))
			return 1;
	return !name[0] || isdigit((unsigned char)name[0]);
}

/* Two or three syllables: "tavoru", "mel_kadi". */
static void syllables(const struct gen_plan *p, unsigned what, char *out, size_t n)
{
	static const char *const onsets[] = { "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "st", "tr", "qu", "ch", "w" };
	static const char *const ends[] = { "a", "e", "i", "o", "u", "an", "el", "or", "us", "ix" };
	unsigned count = 2 + gen_choice(p, what, 2), cut = gen_choice(p, what + 1, 5);

	out[0] = 0;
	for (unsigned i = 0; i < count; i++)
		snprintf(out + strlen(out), n - strlen(out), "%s%s%s", i && i == cut ? "_" : "", onsets[gen_choice(p, what + 2 + 2 * i, COUNT_OF(onsets))],
			 ends[gen_choice(p, what + 3 + 2 * i, COUNT_OF(ends))]);
}

/* Letters of the stem: without vowels, the first three of each word, or the first alone. */
static void shorten(const char *stem, int how, char *out, size_t n)
{
	size_t used = 0, in_word = 0;

	for (const char *c = stem; *c && used + 1 < n; c++) {
		if (*c == '_') {
			in_word = 0;
			if (how == 2)
				continue;
		} else if (in_word++ && (how == 0 ? strchr("aeiou", *c) != NULL : how == 1 ? in_word > 3 && !isdigit((unsigned char)*c) : !isdigit((unsigned char)*c))) {
			continue;
		}
		out[used++] = *c;
	}
	out[used] = 0;
}

static void camel(const char *stem, char *out, size_t n)
{
	size_t used = 0;

	for (const char *c = stem; *c && used + 1 < n; c++)
		if (*c == '_' && c[1])
			out[used++] = (char)toupper((unsigned char)*++c);
		else
			out[used++] = *c;
	out[used] = 0;
}

void gen_coin(const struct gen_plan *p, unsigned what, const char *stem, char out[GEN_NAME])
{
	static const char *const before[] = { "n_", "num_", "my_", "base_", "model_", "the_", "init_", "layer_", "op_", "cfg_", "first_", "main_", "in_", "use_" };
	static const char *const behind[] = { "_", "_size", "_val", "_value", "0", "1", "_arg", "_num", "_param", "_init", "_in", "_a", "_cfg", "_x", "_dim" };

	switch (gen_choice(p, what, 10)) {
	case 0: case 1: snprintf(out, GEN_NAME, "%s%.36s", before[gen_choice(p, what + 1, COUNT_OF(before))], stem); break;
	case 2: case 3: snprintf(out, GEN_NAME, "%.38s%s", stem, behind[gen_choice(p, what + 1, COUNT_OF(behind))]); break;
	case 4: shorten(stem, 0, out, GEN_NAME); break;
	case 5: shorten(stem, 1, out, GEN_NAME); break;
	case 6: shorten(stem, 2, out, GEN_NAME); break;
	case 7: camel(stem, out, GEN_NAME); break;
	default: syllables(p, what + 1, out, GEN_NAME); break;
	}
	if (is_reserved(out))
		snprintf(out, GEN_NAME, "%.38s_", stem);
}

void gen_remark(const struct gen_plan *p, unsigned what, struct buf *out)
{
	static const char *const words[] = {
		"the", "bias", "per", "channel", "layer", "learnable", "scale", "kept", "for", "forward", "used", "later", "shape", "of", "output", "weights",
		"main", "step", "see", "above", "broadcast", "over", "dims", "init", "value", "number", "same", "as", "input", "factor", "first", "second",
		"pool", "norm", "const", "small", "large", "default", "not", "trained", "along", "axis", "features", "a", "one", "each", "sample", "(B, C, H, W)",
	};
	unsigned n = 1 + gen_choice(p, what, 5);
	char coined[GEN_NAME];

	for (unsigned i = 0; i < n; i++) {
		syllables(p, what + 10, coined, sizeof coined);
		buf_addf(out, "%s%s", i ? " " : "", gen_choice(p, what + 1 + i, 12) ? words[gen_choice(p, what + 6 + i, COUNT_OF(words))] : coined);
	}
}

static int starts_name(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static int in_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void gen_rename(const struct gen_emit *em, enum gen_side side, const char *text, struct buf *out)
{
	for (const char *c = text; *c;) {
		const char *end = c;
		int member = c > text && (c[-1] == '.' || in_name(c[-1])), hit = -1;

		while (in_name(*end))
			end++;
		if (!starts_name(*c) || member) {
			buf_addc(out, *c++);
			continue;
		}
		for (int i = 0; i < em->params && !(*end == '=' && end[1] != '='); i++)
			if (strlen(em->param[i].name) == (size_t)(end - c) && !strncmp(em->param[i].name, c, (size_t)(end - c)))
				hit = i;
		if (hit < 0)
			buf_add(out, c, (size_t)(end - c));
		else
			buf_adds(out, side == GEN_ARGUMENTS ? em->param[hit].arg : em->param[hit].label);
		c = end;
	}
}
