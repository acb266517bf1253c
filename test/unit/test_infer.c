/* The sampler's cuts and the engine's laws on a small random model: a sample depends on its
 * seed and number alone, everything asked for comes back once, limits and interruptions. */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/log.h"
#include "base/rng.h"
#include "infer/infer.h"
#include "infer/text.h"

/* --- one token ---------------------------------------------------------------------------------- */

/* Which tokens of x can be drawn: by a sweep of u. */
static unsigned support(const struct sample_opts *o, const float *x, int n)
{
	struct sample_work w;
	unsigned set = 0;
	float logprob;

	assert_int_equal(sample_work_init(&w, n, NULL), 0);
	for (int i = 0; i < 5000; i++)
		set |= 1u << sample_token(o, x, NULL, i / 5000.0, &w, &logprob);
	sample_work_release(&w);
	return set;
}

static void test_cuts(void **state)
{
	/* probabilities .4 .3 .2 .05 .05 in another order */
	const float x[5] = { logf(.05f), logf(.4f), logf(.2f), logf(.3f), logf(.05f) };

	(void)state;
	assert_int_equal(support(&(struct sample_opts){ .temperature = 0 }, x, 5), 1 << 1);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1 }, x, 5), 31);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_k = 2 }, x, 5), 1 << 1 | 1 << 3);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_p = .65f }, x, 5), 1 << 1 | 1 << 3);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_p = .75f }, x, 5), 1 << 1 | 1 << 3 | 1 << 2);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_p = .001f }, x, 5), 1 << 1);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .min_p = .45f }, x, 5), 1 << 1 | 1 << 3 | 1 << 2);
	/* Renormalised after top-k: .4/.9 < .5 keeps two, .4/.7 > .5 keeps one. */
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_k = 3, .top_p = .5f }, x, 5), 1 << 1 | 1 << 3);
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_k = 2, .top_p = .5f }, x, 5), 1 << 1);
	/* Equal logits at the k-th place all stay. */
	assert_int_equal(support(&(struct sample_opts){ .temperature = 1, .top_k = 4 }, x, 5), 31);
}

static void test_shares(void **state)
{
	enum { V = 300, N = 20000 };
	struct sample_work w;
	float x[V], logprob;
	int count[V] = { 0 };
	double total = 0;
	struct rng r;

	(void)state;
	rng_init(&r, 4, "test_infer");
	for (int i = 0; i < V; i++)
		x[i] = (float)rng_normal(&r) * 2;
	for (int i = 0; i < V; i++)
		total += exp(x[i]);
	assert_int_equal(sample_work_init(&w, V, NULL), 0);
	for (int i = 0; i < N; i++) {
		int32_t id = sample_token(&(struct sample_opts){ .temperature = 1 }, x, NULL, (i + 0.5) / N, &w, &logprob);

		count[id]++;
		assert_true(fabs(logprob - (x[id] - log(total))) < 1e-4);
	}
	/* An even sweep of u gives each token its share to within one. */
	for (int i = 0; i < V; i++)
		assert_true(fabs(count[i] - N * exp(x[i]) / total) < 1.5);
	sample_work_release(&w);
}

static void test_penalty(void **state)
{
	const float x[3] = { 1, 2, -1 };
	const uint32_t seen[1] = { 1 << 1 };
	struct sample_work w;
	float logprob;

	(void)state;
	assert_int_equal(sample_work_init(&w, 3, NULL), 0);
	assert_int_equal(sample_token(&(struct sample_opts){ .repetition = 3 }, x, seen, 0, &w, &logprob), 0);
	/* The log-probability is the model's own. */
	assert_true(fabs(logprob - (1 - log(exp(1) + exp(2) + exp(-1)))) < 1e-6);
	sample_work_release(&w);
}

/* --- the engine ------------------------------------------------------------------------------------- */

struct fixture {
	struct dev *d;
	struct model *m;
};

static int set_up(void **state)
{
	static struct fixture f;
	struct err e = ERR_INIT;
	const struct model_config c = {
		.arch = ARCH_QWEN2, .V = 97, .C = 32, .L = 2, .H = 4, .HKV = 2, .D = 8, .F = 48, .max_position = 400,
		.eps = 1e-6f, .rope_theta = 10000, .tied = 1, .qkv_bias = 1, .bos = -1, .eos = 5,
	};

	log_set_level(LOG_OFF);
	f.d = dev_open("cpu", 2, &e);
	f.m = f.d ? model_new(f.d, &c, &(struct model_opts){ .seed = 1, .init_std = 0.3f }, &e) : NULL;
	*state = &f;
	return f.m ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	model_free(f->m);
	dev_close(f->d);
	return 0;
}

enum { SAMPLES = 24, LONGEST = 64 };

struct seen {
	int count[2][SAMPLES];
	int n[2][SAMPLES];
	int32_t tokens[2][SAMPLES][LONGEST];
	float logprobs[2][SAMPLES][LONGEST];
	enum infer_finish finish[2][SAMPLES];
	int asked;                       /* calls of stop */
	int stop_at;
};

static void done(void *ctx, const struct infer_result *r)
{
	struct seen *s = ctx;
	int q = (int)r->request->number, i = r->sample;

	s->count[q][i]++;
	s->n[q][i] = r->n;
	s->finish[q][i] = r->finish;
	if (r->n) {
		memcpy(s->tokens[q][i], r->tokens, (size_t)r->n * sizeof *r->tokens);
		memcpy(s->logprobs[q][i], r->logprobs, (size_t)r->n * sizeof *r->logprobs);
	}
}

static int stop(void *ctx)
{
	struct seen *s = ctx;

	return s->stop_at && ++s->asked >= s->stop_at;
}

static const int32_t prompt[70] = { 1, 2, 3, 50, 60, 70, 80, 90, 11, 12 };

/* Two prompts, one longer than a block of the cache, SAMPLES samples each. */
static struct seen *run(const struct fixture *f, int slots, int64_t length, int stop_at, struct infer_stats *st)
{
	const int32_t stops[1] = { 5 };
	struct infer_request q[2];
	struct seen *s = mem_zalloc(sizeof *s);
	struct err e = ERR_INIT;
	struct infer *x = infer_new(f->m, NULL, NULL, &(struct infer_opts){ .slots = slots, .length = length }, &e);

	assert_non_null(x);
	for (int i = 0; i < 2; i++)
		q[i] = (struct infer_request){ .prompt = prompt, .prompt_n = i ? 70 : 10, .n = SAMPLES, .seed = 3, .number = (uint64_t)i,
			.sample = { .temperature = 0.9f, .top_p = 0.95f }, .max_new_tokens = LONGEST, .stop_tokens = stops, .nstop_tokens = 1 };
	s->stop_at = stop_at;
	if (infer_run_list(x, q, 2, &(struct infer_calls){ .done = done, .stop = stop, .ctx = s }, st, &e))
		fail_msg("%s", e.text);
	infer_free(x);
	return s;
}

static void test_samples_do_not_depend_on_the_batch(void **state)
{
	struct infer_stats st = { .prompts = 0 };
	struct seen *a = run(*state, 1, 200, 0, NULL), *b = run(*state, 5, 200, 0, &st), *c = run(*state, 48, 200, 0, NULL);
	int different = 0, ended = 0;

	for (int q = 0; q < 2; q++)
		for (int i = 0; i < SAMPLES; i++) {
			int end = a->n[q][i] && a->tokens[q][i][a->n[q][i] - 1] == 5;

			assert_int_equal(a->count[q][i], 1);
			assert_true(a->n[q][i] >= 1 && a->n[q][i] <= LONGEST);
			assert_int_equal(a->finish[q][i], end ? INFER_STOP : INFER_LENGTH);
			for (int k = 0; k < a->n[q][i] - 1; k++)
				assert_int_not_equal(a->tokens[q][i][k], 5);
			different += memcmp(a->tokens[q][i], a->tokens[q][0], sizeof a->tokens[q][i]) != 0;
			ended += end;
		}
	assert_memory_equal(a->tokens, b->tokens, sizeof a->tokens);
	assert_memory_equal(a->tokens, c->tokens, sizeof a->tokens);
	assert_memory_equal(a->logprobs, b->logprobs, sizeof a->logprobs);
	assert_memory_equal(a->logprobs, c->logprobs, sizeof a->logprobs);
	assert_true(different > SAMPLES);
	assert_true(ended > 0 && ended < 2 * SAMPLES);
	assert_int_equal(st.prompts, 2);         /* each prompt computed once */
	assert_int_equal(st.prompt_tokens, 80);
	assert_int_equal(st.samples, 2 * SAMPLES);
	mem_free(a);
	mem_free(b);
	mem_free(c);
}

/* A cache for a few samples only: they wait for one another, and nothing changes. */
static void test_little_memory(void **state)
{
	struct seen *a = run(*state, 16, 200, 0, NULL), *b = run(*state, 16, 64, 0, NULL);

	assert_memory_equal(a->tokens, b->tokens, sizeof a->tokens);
	mem_free(a);
	mem_free(b);
}

/* The model's own log-probabilities of a finished sample, computed in one pass. */
static void test_logprobs_are_the_models(void **state)
{
	const struct fixture *f = *state;
	struct seen *a = run(f, 8, 200, 0, NULL);
	struct err e = ERR_INIT;
	struct model_session *s = model_session_new(f->m, NULL, &(struct model_session_opts){ .slots = 1, .kv_tokens = 256 }, &e);

	for (int i = 0; i < SAMPLES; i++) {
		int32_t all[10 + LONGEST];
		float logprobs[10 + LONGEST];
		int n = a->n[0][i];

		memcpy(all, prompt, 10 * sizeof *all);
		memcpy(all + 10, a->tokens[0][i], (size_t)n * sizeof *all);
		assert_int_equal(model_prefill(s, 0, all, 10 + n, NULL, logprobs, &e), 0);
		model_drop(s, 0);
		for (int k = 0; k < n; k++)
			assert_true(logprobs[10 + k] == a->logprobs[0][i][k]);
	}
	model_session_free(s);
	mem_free(a);
}

static void test_interruption(void **state)
{
	struct seen *s = run(*state, 5, 200, 7, NULL);
	int interrupted = 0;

	for (int q = 0; q < 2; q++)
		for (int i = 0; i < SAMPLES; i++) {
			/* Every sample of a request that was begun is answered once; others never. */
			assert_int_equal(s->count[q][i], s->count[q][0]);
			interrupted += s->count[q][i] && s->finish[q][i] == INFER_INTERRUPTED;
		}
	assert_int_equal(s->count[0][0], 1);
	assert_true(interrupted > 5);
	mem_free(s);
}

static void test_prompt_that_does_not_fit(void **state)
{
	const struct fixture *f = *state;
	struct err e = ERR_INIT;
	struct infer *x = infer_new(f->m, NULL, NULL, &(struct infer_opts){ .slots = 2, .length = 100 }, &e);
	int32_t *long_prompt = mem_array(400, sizeof *long_prompt);
	struct infer_request q[2] = {
		{ .prompt = long_prompt, .prompt_n = 400, .n = 3, .max_new_tokens = 4 },
		{ .prompt = prompt, .prompt_n = 10, .n = 2, .number = 1, .max_new_tokens = 4 },
	};
	struct seen *s = mem_zalloc(sizeof *s);

	assert_int_equal(infer_run_list(x, q, 2, &(struct infer_calls){ .done = done, .ctx = s }, NULL, &e), 0);
	assert_int_equal(s->count[0][2], 1);
	assert_int_equal(s->finish[0][2], INFER_REFUSED);
	assert_int_equal(s->n[1][1], 4);
	/* Greedy: both samples are the same. */
	assert_memory_equal(s->tokens[1][0], s->tokens[1][1], sizeof s->tokens[1][0]);
	infer_free(x);
	mem_free(long_prompt);
	mem_free(s);
}

static void test_bad_token_is_an_error(void **state)
{
	const struct fixture *f = *state;
	const int32_t bad[2] = { 1, 97 };
	struct err e = ERR_INIT;
	struct infer *x = infer_new(f->m, NULL, NULL, &(struct infer_opts){ .slots = 2 }, &e);
	struct infer_request q = { .prompt = bad, .prompt_n = 2, .n = 3, .max_new_tokens = 4 };
	struct seen *s = mem_zalloc(sizeof *s);

	assert_int_equal(infer_run_list(x, &q, 1, &(struct infer_calls){ .done = done, .ctx = s }, NULL, &e), -1);
	assert_contains(e.text, "token 97");
	/* The engine is usable after an error. */
	err_clear(&e);
	q.prompt = prompt;
	assert_int_equal(infer_run_list(x, &q, 1, &(struct infer_calls){ .done = done, .ctx = s }, NULL, &e), 0);
	assert_int_equal(s->n[0][0], 4);
	infer_free(x);
	mem_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_penalty),
		cmocka_unit_test(test_samples_do_not_depend_on_the_batch),
		cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_logprobs_are_the_models),
		cmocka_unit_test(test_interruption),
		cmocka_unit_test(test_prompt_that_does_not_fit),
		cmocka_unit_test(test_bad_token_is_an_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
