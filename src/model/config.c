/* config.json: reading, checking, writing. See config.h.
 *
 * Invariant: a configuration that parses has sizes whose products fit the types that later code
 * computes them in. */
#include "model/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/int8_block.h"

/* By enum model_arch, from arch.def. */
static const struct {
	const char *type, *class;
	int qkv_bias, qk_norm;
} arches[ARCHES] = {
#define ARCH(id, type, class, bias, norm) { type, class, bias, norm },
#include "model/arch.def"
#undef ARCH
};

/* The family by model_type; it decides the defaults of biases and norms. */
static int find_arch(struct model_config *c, const struct json *j, struct err *e)
{
	struct str type;

	if (json_need_str(j, "model_type", &type, e))
		return -1;
	for (int i = 0; i < ARCHES; i++)
		if (str_is(type, arches[i].type)) {
			c->arch = (enum model_arch)i;
			return 0;
		}
	return err_set(e, ERR_UNSUPPORTED, "model_type '%.*s' is not one of qwen2, qwen3, llama", STR_ARG(type));
}

/* A size that must be there, from 1 to 2^24. */
static int need_count(const struct json *j, const char *key, int *out, struct err *e)
{
	int64_t v;

	if (json_need_int(j, key, &v, e))
		return -1;
	if (v < 1 || v > 1 << 24)
		return err_set(e, ERR_RANGE, "'%s' is %lld, which is outside 1 to %d", key, (long long)v, 1 << 24);
	*out = (int)v;
	return 0;
}

/* A size that may be missing or null. */
static int get_count(const struct json *j, const char *key, int otherwise, int *out, struct err *e)
{
	const struct json *v = json_get(j, key);

	if (!v || json_kind(v) == JSON_NULL) {
		*out = otherwise;
		return 0;
	}
	return need_count(j, key, out, e);
}

/* Newer files keep everything in rope_parameters. Older ones have rope_theta and rope_scaling,
 * whose kind is called rope_type or type. */
static int parse_rope(struct model_config *c, const struct json *j, struct err *e)
{
	const struct json *p = json_get(j, "rope_parameters"), *s = p ? p : json_get(j, "rope_scaling");
	struct str kind = STR("default");

	c->rope_theta = json_real(json_get(j, "rope_theta"), 10000.0);
	if (!s || json_kind(s) != JSON_OBJECT)
		return 0;
	c->rope_theta = json_real(json_get(s, "rope_theta"), c->rope_theta);
	kind = json_str(json_get(s, "type"), "default");
	if (json_get(s, "rope_type"))
		kind = json_str(json_get(s, "rope_type"), "default");
	if (str_is(kind, "linear"))
		c->rope = ROPE_LINEAR;
	else if (str_is(kind, "llama3")) {
		c->rope = ROPE_LLAMA3;
		c->rope_low = json_real(json_get(s, "low_freq_factor"), 1.0);
		c->rope_high = json_real(json_get(s, "high_freq_factor"), 4.0);
		c->rope_original = (int)json_int(json_get(s, "original_max_position_embeddings"), c->max_position);
	}
	if (c->rope)
		c->rope_factor = json_real(json_get(s, "factor"), 1.0);
	else if (!str_is(kind, "default"))
		return err_set(e, ERR_UNSUPPORTED, "RoPE scaling '%.*s' is not one of default, linear, llama3",
			       STR_ARG(kind));
	return 0;
}

/* Some files list several ids; the first one counts. */
static int token_id(const struct json *v)
{
	if (v && json_kind(v) == JSON_ARRAY)
		v = json_at(v, 0);
	return (int)json_int(v, -1);
}

/* The form of the weights in the files. Floats and int8 in blocks are known. */
static int parse_quantization(struct model_config *c, const struct json *j, struct err *e)
{
	const struct json *q = json_get(j, "quantization_config");
	struct str method = json_str(json_get(q, "quant_method"), "");

	if (!q || json_kind(q) == JSON_NULL)
		return 0;
	if (!str_is(method, INT8_BLOCK_METHOD))
		return err_set(e, ERR_UNSUPPORTED, "quant_method '%.*s' is not " INT8_BLOCK_METHOD, STR_ARG(method));
	return need_count(q, "block", &c->block, e);
}

/* Sizes against each other, and against what the kernels can address. */
static int check(const struct model_config *c, struct err *e)
{
	if (c->H % c->HKV)
		return err_set(e, ERR_RANGE, "%d heads are not a multiple of %d key heads", c->H, c->HKV);
	if (c->D % 2 || c->D > 1024)
		return err_set(e, ERR_RANGE, "the head width %d is odd or above 1024", c->D);
	if (!(c->eps > 0 && c->eps < 1) || !(c->rope_theta > 0) || (c->rope && !(c->rope_factor >= 1)))
		return err_set(e, ERR_RANGE, "eps %g, rope_theta %g or RoPE factor %g is out of range", (double)c->eps,
			       c->rope_theta, c->rope_factor);
	if ((int64_t)c->V * c->C > (int64_t)1 << 34 || (int64_t)c->F * c->C > (int64_t)1 << 34 ||
	    (int64_t)c->H * c->D > 1 << 20 || c->L > 4096)
		return err_set(e, ERR_RANGE, "the model is larger than this program handles");
	if (c->rope == ROPE_LLAMA3 && (!(c->rope_high > c->rope_low) || c->rope_original < 1))
		return err_set(e, ERR_RANGE, "RoPE scaling llama3 has unusable factors %g and %g", c->rope_low,
			       c->rope_high);
	return 0;
}

/* Qwen2 has biases of q, k and v and none of o; other families have both if attention_bias is
 * set. */
int model_config_parse(struct model_config *c, const struct json *j, struct err *e)
{
	const struct json *act;
	int bias;

	*c = (struct model_config){ .rope_factor = 1.0 };
	if (find_arch(c, j, e) || need_count(j, "vocab_size", &c->V, e) || need_count(j, "hidden_size", &c->C, e) ||
	    need_count(j, "num_hidden_layers", &c->L, e) || need_count(j, "num_attention_heads", &c->H, e) ||
	    need_count(j, "intermediate_size", &c->F, e) || get_count(j, "num_key_value_heads", c->H, &c->HKV, e) ||
	    get_count(j, "head_dim", MAX(c->C / c->H, 1), &c->D, e) ||
	    get_count(j, "max_position_embeddings", 32768, &c->max_position, e) || parse_rope(c, j, e) ||
	    parse_quantization(c, j, e))
		return -1;
	if ((act = json_get(j, "hidden_act")) && !str_is(json_str(act, "silu"), "silu"))
		return err_set(e, ERR_UNSUPPORTED, "hidden_act '%.*s': only silu", STR_ARG(json_str(act, "")));
	if (json_bool(json_get(j, "use_sliding_window"), 0))
		return err_set(e, ERR_UNSUPPORTED, "sliding-window attention");
	c->eps = (float)json_real(json_get(j, "rms_norm_eps"), 1e-6);
	c->tied = json_bool(json_get(j, "tie_word_embeddings"), 0);
	bias = json_bool(json_get(j, "attention_bias"), 0);
	c->qkv_bias = arches[c->arch].qkv_bias || bias;
	c->o_bias = bias && !arches[c->arch].qkv_bias;
	c->mlp_bias = c->arch == ARCH_LLAMA && json_bool(json_get(j, "mlp_bias"), 0);
	c->qk_norm = arches[c->arch].qk_norm;
	c->bos = token_id(json_get(j, "bos_token_id"));
	c->eos = token_id(json_get(j, "eos_token_id"));
	return check(c, e);
}

/* An error names the file. */
int model_config_open(struct model_config *c, const char *dir, struct err *e)
{
	struct buf path = BUF_INIT;
	struct json *j = json_parse_file(path_join(&path, dir, "config.json"), e);
	int rc = -1;

	if (j && !(rc = model_config_parse(c, j, e)))
		goto out;
	err_wrap(e, "reading '%s'", buf_cstr(&path));
out:
	json_free(j);
	buf_release(&path);
	return rc;
}

/* rope_theta is written twice: inside rope_parameters for new readers, outside for old ones. */
static void write_rope(const struct model_config *c, struct jw *w)
{
	jw_key(w, "rope_parameters");
	jw_begin(w, '{');
	jw_key(w, "rope_type"), jw_cstr(w, c->rope == ROPE_LINEAR ? "linear" : c->rope ? "llama3" : "default");
	jw_key(w, "rope_theta"), jw_real(w, c->rope_theta);
	if (c->rope)
		jw_key(w, "factor"), jw_real(w, c->rope_factor);
	if (c->rope == ROPE_LLAMA3) {
		jw_key(w, "low_freq_factor"), jw_real(w, c->rope_low);
		jw_key(w, "high_freq_factor"), jw_real(w, c->rope_high);
		jw_key(w, "original_max_position_embeddings"), jw_int(w, c->rope_original);
	}
	jw_end(w, '}');
	jw_key(w, "rope_theta"), jw_real(w, c->rope_theta);
}

/* The shortest decimal that reads back as this float, so that 1e-6f is written 1e-06. */
static double short_real(float x)
{
	char s[32];
	double v = (double)x;

	for (int digits = 1; digits <= 9; digits++) {
		snprintf(s, sizeof s, "%.*g", digits, (double)x);
		if (!str_to_f64(str_of(s), &v) && (float)v == x)
			return v;
	}
	return v;
}

/* A missing token id is null. */
static void write_id(struct jw *w, const char *key, int id)
{
	jw_key(w, key);
	if (id < 0)
		jw_null(w);
	else
		jw_int(w, id);
}

/* Both dtype (new) and torch_dtype (old) are written. Qwen2 has no attention_bias field. */
void model_config_write(const struct model_config *c, const char *dtype, struct buf *out)
{
	const struct { const char *key; int64_t v; } ints[] = {
		{ "vocab_size", c->V }, { "hidden_size", c->C }, { "num_hidden_layers", c->L },
		{ "num_attention_heads", c->H }, { "num_key_value_heads", c->HKV }, { "head_dim", c->D },
		{ "intermediate_size", c->F }, { "max_position_embeddings", c->max_position },
	};
	struct jw w = { .out = out, .indent = 2 };

	jw_begin(&w, '{');
	jw_key(&w, "architectures");
	jw_begin(&w, '['), jw_cstr(&w, arches[c->arch].class), jw_end(&w, ']');
	jw_key(&w, "model_type"), jw_cstr(&w, arches[c->arch].type);
	for (size_t i = 0; i < COUNT_OF(ints); i++)
		jw_key(&w, ints[i].key), jw_int(&w, ints[i].v);
	jw_key(&w, "hidden_act"), jw_cstr(&w, "silu");
	jw_key(&w, "rms_norm_eps"), jw_real(&w, short_real(c->eps));
	write_rope(c, &w);
	jw_key(&w, "tie_word_embeddings"), jw_bool(&w, c->tied);
	if (c->arch != ARCH_QWEN2)
		jw_key(&w, "attention_bias"), jw_bool(&w, c->o_bias);
	if (c->arch == ARCH_LLAMA)
		jw_key(&w, "mlp_bias"), jw_bool(&w, c->mlp_bias);
	write_id(&w, "bos_token_id", c->bos);
	write_id(&w, "eos_token_id", c->eos);
	if (c->block) {
		jw_key(&w, "quantization_config"), jw_begin(&w, '{');
		jw_key(&w, "quant_method"), jw_cstr(&w, INT8_BLOCK_METHOD);
		jw_key(&w, "bits"), jw_int(&w, 8);
		jw_key(&w, "block"), jw_int(&w, c->block);
		jw_end(&w, '}');
	}
	jw_key(&w, "dtype"), jw_cstr(&w, dtype);
	jw_key(&w, "torch_dtype"), jw_cstr(&w, dtype);
	jw_end(&w, '}');
	buf_addc(out, '\n');
}

/* Counted by formula, without listing the tensors. */
int64_t model_config_parameters(const struct model_config *c)
{
	int64_t C = c->C, q = (int64_t)c->H * c->D, kv = (int64_t)c->HKV * c->D, F = c->F;
	int64_t layer = C * (q + 2 * kv) + q * C + 3 * C * F + 2 * C;

	layer += c->qkv_bias ? q + 2 * kv : 0;
	layer += (c->o_bias ? C : 0) + (c->mlp_bias ? 2 * F + C : 0) + (c->qk_norm ? 2 * c->D : 0);
	return c->L * layer + (int64_t)c->V * C * (c->tied ? 1 : 2) + C;
}

/* inv_freq[i] = theta^(-2i/D). Linear scaling divides it by the factor. llama3 divides
 * wavelengths above original / low, keeps those below original / high, and blends between them. */
void model_config_rope(const struct model_config *c, float *inv_freq)
{
	for (int i = 0; i < c->D / 2; i++) {
		double f = 1.0 / pow(c->rope_theta, 2.0 * i / c->D), wave = 6.283185307179586 / f;
		double low = c->rope_original / c->rope_low, high = c->rope_original / c->rope_high;

		if (c->rope == ROPE_LINEAR)
			f /= c->rope_factor;
		if (c->rope == ROPE_LLAMA3 && wave > low)
			f /= c->rope_factor;
		else if (c->rope == ROPE_LLAMA3 && wave > high) {
			double s = (c->rope_original / wave - c->rope_low) / (c->rope_high - c->rope_low);

			f = (1 - s) * f / c->rope_factor + s * f;
		}
		inv_freq[i] = (float)f;
	}
}
