/* Speed of the tokenizer, single-threaded: encoding of code, prose and CJK text, the cutter
 * alone, decoding, and beside it Hugging Face `tokenizers` on the same tokenizer and text where
 * a Python with it is found.
 *
 *   bench_tok [FILE]      (a text of its own makes a row more)
 *
 * Each figure is the best of several repetitions over one text with one encoder, as a data
 * loader has it. Time is this process's CPU time, and theirs is: a busy machine changes little. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tok/tok.h"
#include "tok/tok_impl.h"

enum { REPEAT = 5, TEXT = 8 << 20, VOCAB = 16000 };

static struct err e;

static void die(void)
{
	fprintf(stderr, "bench_tok: %s\n", e.text);
	exit(1);
}

/* --- texts ------------------------------------------------------------------------------------ */

/* The sources of this tree, again and again. */
static void add_code(struct buf *b)
{
	static const char *const dirs[] = { "src/base", "src/tok", "src/py", "src/tile", "src/interp", "src/torch", "src/model" };
	struct buf path = BUF_INIT;

	while (b->n < TEXT)
		for (size_t d = 0; d < COUNT_OF(dirs); d++) {
			struct file_list l;

			if (file_list_open(&l, dirs[d], &e))
				die();
			for (size_t i = 0; i < l.n; i++)
				if (str_ends(str_of(l.v[i]), ".c") && path_join(&path, dirs[d], l.v[i]) && file_read(path.p, 0, b, &e))
					die();
			file_list_close(&l);
		}
	buf_release(&path);
}

/* Words with the frequencies of a natural text (Zipf), from a made-up vocabulary. */
static void add_prose(struct buf *b, struct rng *r, uint32_t first, uint32_t letters, int spaces)
{
	enum { WORDS = 20000 };
	char (*word)[40] = mem_array(WORDS, sizeof *word);

	for (int i = 0; i < WORDS; i++) {
		size_t n = 0, k = 1 + rng_below(r, spaces ? 10 : 3);

		for (size_t c = 0; c < k; c++) {
			uint32_t cp = first + (uint32_t)rng_below(r, letters);

			if (cp < 0x80) {
				word[i][n++] = (char)cp;
			} else {
				word[i][n++] = (char)(0xE0 | cp >> 12);
				word[i][n++] = (char)(0x80 | (cp >> 6 & 63));
				word[i][n++] = (char)(0x80 | (cp & 63));
			}
		}
	}
	while (b->n < TEXT) {
		size_t rank = (size_t)(WORDS * rng_f64(r) * rng_f64(r) * rng_f64(r));

		buf_adds(b, word[rank]);
		buf_adds(b, rng_below(r, 12) ? (spaces ? " " : "") : spaces ? ". " : "\xE3\x80\x82");
	}
	mem_free(word);
}

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- measuring ---------------------------------------------------------------------------------- */

static double best_encode(struct tok_enc *x, struct str text, struct tok_ids *ids)
{
	double best = 0;

	for (int i = 0; i < REPEAT; i++) {
		int64_t start = cpu_ns();

		ids->n = 0;
		if (tok_encode(x, text, 0, ids, &e))
			die();
		best = MAX(best, (double)text.n * 1e3 / (double)(cpu_ns() - start));
	}
	return best;
}

static double best_cut(struct str text)
{
	double best = 0;

	for (int i = 0; i < REPEAT; i++) {
		int64_t start = cpu_ns();
		size_t at = 0;

		while (at < text.n)
			at = pre_llm_next((const unsigned char *)text.p, text.n, at, 1);
		best = MAX(best, (double)text.n * 1e3 / (double)(cpu_ns() - start));
	}
	return best;
}

static double best_decode(const struct tok *t, const struct tok_ids *ids)
{
	double best = 0;

	for (int i = 0; i < REPEAT; i++) {
		struct buf b = BUF_INIT;
		int64_t start = cpu_ns();

		tok_decode(t, ids->v, ids->n, 0, &b);
		best = MAX(best, (double)ids->n * 1e3 / (double)(cpu_ns() - start));
		buf_release(&b);
	}
	return best;
}

/* MB/s of the fastest call of `tokenizers` on the file; 0 where it cannot be had. */
static double theirs(const char *tokenizer, const char *text)
{
	const char *home = getenv("HOME");
	struct buf cmd = BUF_INIT;
	double speed = 0;
	FILE *p;

	buf_addf(&cmd, "RAYON_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false '%s/.cache/tritonrl/venv/bin/python' -c '"
		 "import sys, time\nfrom tokenizers import Tokenizer\nt = Tokenizer.from_file(sys.argv[1])\n"
		 "s = open(sys.argv[2], encoding=\"utf-8\", errors=\"replace\").read(2 << 20)\n"
		 "parts = [s[i:i + 65536] for i in range(0, len(s), 65536)]\nbest = 0\n"
		 "for k in range(2):\n  a = time.process_time()\n  t.encode_batch_fast(parts)\n"
		 "  best = max(best, len(s.encode()) / 1e6 / (time.process_time() - a))\nprint(best)' '%s' '%s' 2>/dev/null",
		 home ? home : "", tokenizer, text);
	p = popen(buf_cstr(&cmd), "r");
	if (p) {
		if (fscanf(p, "%lf", &speed) != 1)
			speed = 0;
		pclose(p);
	}
	buf_release(&cmd);
	return speed;
}

static void row(const char *name, const struct tok *t, const char *dir, struct str text)
{
	struct tok_enc *x = tok_enc_new(t, &e);
	struct tok_ids ids = TOK_IDS_INIT;
	struct buf file = BUF_INIT, json = BUF_INIT;
	double speed, other;

	if (!x || !path_join(&file, dir, "text") || !path_join(&json, dir, "tokenizer.json") || file_replace(file.p, text, &e))
		die();
	speed = best_encode(x, text, &ids);
	other = theirs(json.p, file.p);
	printf("%-8s encode %7.1f MB/s (%.2f bytes a token), cut %7.1f MB/s, decode %6.1f M tokens/s", name, speed,
	       (double)text.n / (double)ids.n, best_cut(text), best_decode(t, &ids));
	if (other > 0)
		printf(", tokenizers %5.1f MB/s: ratio %.1f\n", other, speed / other);
	else
		printf(", tokenizers not found\n");
	fflush(stdout);
	tok_enc_free(x);
	vec_free(&ids);
	buf_release(&file);
	buf_release(&json);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench_tok_XXXXXX";
	struct buf text[4] = { BUF_INIT }, all = BUF_INIT, path = BUF_INIT;
	static const char *const names[] = { "code", "prose", "CJK", "file" };
	const char *files[1];
	struct rng r;
	struct tok *t;

	rng_init(&r, 1, "bench_tok");
	add_code(&text[0]);
	add_prose(&text[1], &r, 'a', 26, 1);
	add_prose(&text[2], &r, 0x4E00, 3000, 0);
	if (!mkdtemp(dir) || (argc > 1 && file_read(argv[1], 0, &text[3], &e)))
		die();
	for (int i = 0; i < 3; i++)
		buf_add(&all, text[i].p, 1 << 20);
	files[0] = path_join(&path, dir, "train");
	if (file_replace(path.p, buf_str(&all), &e) ||
	    tok_train(dir, &(struct tok_train){ .files = files, .nfiles = 1, .vocab = VOCAB, .digits = 1 }, &e) || !(t = tok_open(dir, &e)))
		die();
	for (int i = 0; i < 3 + (argc > 1); i++)
		row(names[i], t, dir, buf_str(&text[i]));
	tok_free(t);
	file_remove_tree(dir, NULL);
	for (int i = 0; i < 4; i++)
		buf_release(&text[i]);
	buf_release(&all);
	buf_release(&path);
	return 0;
}
