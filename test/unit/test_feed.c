/* Rows of a source: the same sequences whatever the threads do and wherever a run begins, several steps made ahead
 * of the caller, the first failed row as the error. */
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "train/feed.h"

enum { PER_STEP = 4, STEPS = 6, AHEAD_AT_LEAST = 5 };

/* A source whose row k is the text "row k". */
struct source {
	_Atomic int made;
	uint64_t bad;                  /* this row and those after it fail; 0: none */
	uint64_t slow;                 /* this row waits until `go`; 0: none */
	_Atomic int go;
};

static int row(void *ctx, uint64_t k, struct buf *line, struct err *e)
{
	struct source *s = ctx;

	for (int i = 0; s->slow && k == s->slow && !atomic_load(&s->go) && i < 2000; i++)
		usleep(5000);
	if (s->bad && k >= s->bad)
		return err_set(e, ERR_RANGE, "row %d is bad", (int)k);
	buf_addf(line, "{\"text\": \"row %d\"}", (int)k);
	atomic_fetch_add(&s->made, 1);
	return buf_check(line, e);
}

static struct tok *tok;

static struct feed *open_feed(struct source *s)
{
	struct feed_opts o = { .row = row, .ctx = s, .max_length = 64, .per_step = PER_STEP };
	struct err e = ERR_INIT;
	struct feed *f;

	if (!tok)
		tok = tok_open("models/base", &e);
	assert_non_null(tok);
	f = feed_open(&o, tok, &e);
	assert_non_null(f);
	return f;
}

/* The sequences of a step are rows step * PER_STEP, ... in this order. */
static void check_step(struct feed *f, int64_t step)
{
	struct train_seq seq[PER_STEP];
	struct err e = ERR_INIT;

	assert_int_equal(feed_step(f, step, seq, &e), 0);
	for (int i = 0; i < PER_STEP; i++) {
		struct buf text = BUF_INIT;
		char expected[32];

		tok_decode(tok, seq[i].tokens, (size_t)seq[i].n, 1, &text);
		snprintf(expected, sizeof expected, "row %d", (int)step * PER_STEP + i);
		assert_string_equal(buf_cstr(&text), expected);
		buf_release(&text);
	}
}

static void test_rows(void **state)
{
	struct source s = { .made = 0 };
	struct feed *f = open_feed(&s);

	(void)state;
	for (int64_t k = 0; k < STEPS; k++)
		check_step(f, k);
	check_step(f, 3);                      /* restarts there */
	check_step(f, 4);
	check_step(f, 40);
	check_step(f, 41);
	feed_close(f);
}

/* Waits until the source has made n rows; ten seconds are enough. */
static int wait_for(struct source *s, int n)
{
	for (int i = 0; i < 2000 && atomic_load(&s->made) < n; i++)
		usleep(5000);
	return atomic_load(&s->made);
}

/* While the caller computes one step, the rows of several later ones are made, so that a few slow rows in one step
 * do not hold up training. */
static void test_ahead(void **state)
{
	struct source s = { .made = 0 };
	struct feed *f = open_feed(&s);

	(void)state;
	check_step(f, 0);
	assert_true(wait_for(&s, PER_STEP * (1 + AHEAD_AT_LEAST)) >= PER_STEP * (1 + AHEAD_AT_LEAST));
	usleep(50000);
	assert_true(atomic_load(&s.made) <= PER_STEP * 16);      /* and not without an end */
	feed_close(f);
}

static void test_error(void **state)
{
	struct source s = { .bad = PER_STEP * 2 + 1 };
	struct feed *f = open_feed(&s);
	struct train_seq seq[PER_STEP];
	struct err e = ERR_INIT;

	(void)state;
	check_step(f, 0);
	check_step(f, 1);
	assert_int_equal(feed_step(f, 2, seq, &e), -1);
	assert_string_equal(e.text, "row 9 is bad");
	check_step(f, 1);
	feed_close(f);
}

/* A row that takes long stops only the step that needs it, and only the thread that makes it. */
static void test_slow(void **state)
{
	struct source s = { .slow = PER_STEP * 3 };
	struct feed *f = open_feed(&s);

	(void)state;
	check_step(f, 0);
	check_step(f, 1);
	check_step(f, 2);
	atomic_store(&s.go, 1);
	check_step(f, 3);
	feed_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_ahead),
		cmocka_unit_test(test_error), cmocka_unit_test(test_slow),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	tok_free(tok);
	return rc;
}
