/* safetensors: what is written comes back, what is wrong in a header is refused by name. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "tensor/safetensors.h"

static char folder[] = "/tmp/test_safetensors_XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	return file_remove_tree(folder, NULL);
}

static const char *path(const char *name)
{
	static char p[256];

	snprintf(p, sizeof p, "%s/%s", folder, name);
	return p;
}

/* An image with this header and `data` bytes behind it. */
static struct st_file *open_image(const char *header, size_t data, struct buf *image, struct err *e)
{
	uint64_t n = strlen(header);

	buf_add(image, &n, 8);
	buf_adds(image, header);
	buf_pad(image, 1, data);
	return st_open_bytes(buf_str(image), "image", e);
}

static void test_round_trip(void **state)
{
	const float a[6] = { 1, 2, 3, 4, 5, 6 };
	const int64_t b[1] = { -7 };
	const struct st_entry entries[] = {
		{ .name = "z.weight", .dt = DT_F32, .ndim = 2, .shape = { 2, 3 }, .data = a },
		{ .name = "count", .dt = DT_I64, .ndim = 0, .data = b },
		{ .name = "a.weight", .dt = DT_F32, .ndim = 1, .shape = { 6 }, .data = a },
		{ .name = "empty", .dt = DT_BF16, .ndim = 2, .shape = { 0, 4 }, .data = a },
	};
	const char *const meta[] = { "format", "pt", "step", "12", NULL };
	struct err e = ERR_INIT;
	const struct st_tensor *t;
	struct st_file *f;

	(void)state;
	assert_int_equal(st_write_file(path("x.safetensors"), &(struct st_write){ .entries = entries, .n = 4, .metadata = meta }, &e), 0);
	f = st_open(path("x.safetensors"), &e);
	assert_non_null(f);
	assert_int_equal(st_count(f), 4);
	assert_string_equal(st_at(f, 0)->name, "a.weight");
	t = st_find(f, "z.weight");
	assert_non_null(t);
	assert_int_equal(t->ndim, 2);
	assert_int_equal(t->shape[1], 3);
	assert_memory_equal(t->data, a, sizeof a);
	assert_int_equal(*(const int64_t *)st_find(f, "count")->data, -7);
	assert_int_equal(st_find(f, "empty")->bytes, 0);
	assert_null(st_find(f, "weight"));
	assert_string_equal(st_metadata(f, "step"), "12");
	assert_null(st_metadata(f, "stop"));
	assert_int_equal(st_bytes(f), 2 * sizeof a + 8);
	/* int64 before float32, then by name: data stays aligned. */
	assert_true(st_find(f, "count")->data < st_find(f, "a.weight")->data);
	assert_true(st_find(f, "a.weight")->data < st_find(f, "z.weight")->data);
	assert_non_null(st_need(f, "z.weight", 2, (int64_t[]){ 2, 3 }, &e));
	assert_null(st_need(f, "z.weight", 2, (int64_t[]){ 3, 2 }, &e));
	assert_contains(e.text, "[2, 3], expected [3, 2]");
	st_close(f);
}

static void test_shards(void **state)
{
	float a[100] = { 1 };
	const struct st_entry entries[] = {
		{ .name = "l0", .dt = DT_F32, .ndim = 1, .shape = { 100 }, .data = a },
		{ .name = "l1", .dt = DT_F32, .ndim = 1, .shape = { 100 }, .data = a },
		{ .name = "l2", .dt = DT_F32, .ndim = 1, .shape = { 100 }, .data = a },
	};
	struct st_write w = { .entries = entries, .n = 3, .shard_bytes = 800 };
	struct err e = ERR_INIT;
	struct st_file *f;

	(void)state;
	assert_int_equal(st_write_folder(path("m"), &w, &e), 0);
	assert_true(file_exists(path("m/model-00002-of-00002.safetensors")));
	f = st_open(path("m"), &e);
	assert_non_null(f);
	assert_int_equal(st_count(f), 3);
	st_close(f);
	/* A smaller model over it must not be read through the old index. */
	w.shard_bytes = 0;
	assert_int_equal(st_write_folder(path("m"), &w, &e), 0);
	assert_false(file_exists(path("m/model.safetensors.index.json")));
	/* An index that leads out of the folder, or to a tensor that is not there. */
	assert_int_equal(file_replace(path("m/model.safetensors.index.json"), STR("{\"weight_map\": {\"l0\": \"../x\"}}"), &e), 0);
	assert_null(st_open(path("m"), &e));
	assert_contains(e.text, "bad shard name");
	err_clear(&e);
	assert_int_equal(file_replace(path("m/model.safetensors.index.json"), STR("{\"weight_map\": {\"l9\": \"model.safetensors\"}}"), &e), 0);
	assert_null(st_open(path("m"), &e));
	assert_contains(e.text, "'l9' is not in its shard");
}

static void test_hostile_headers(void **state)
{
	static const struct { const char *header; size_t data; const char *why; } cases[] = {
		{ "[]", 0, "not an object" },
		{ "{", 0, "JSON" },
		{ "{\"a\": 3}", 0, "not an object" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [2], \"data_offsets\": [0, 4]}}", 4, "need 8" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 3, "the file has 3" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 5, "the file has 5" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [1], \"data_offsets\": [4, 0]}}", 4, "bad data_offsets" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [-1], \"data_offsets\": [0, 4]}}", 4, "dimension 0" },
		{ "{\"a\": {\"dtype\": \"F32\", \"shape\": [1.5], \"data_offsets\": [0, 4]}}", 4, "dimension 0" },
		{ "{\"a\": {\"dtype\": \"F33\", \"shape\": [1], \"data_offsets\": [0, 4]}}", 4, "'F33'" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [9000000000000000000, 4], \"data_offsets\": [0, 4]}}", 4, "overflows" },
		{ "{\"a\": {\"dtype\": \"F64\", \"shape\": [4611686018427387904], \"data_offsets\": [0, 4]}}", 4, "overflows" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [0, 2]},"
		  " \"b\": {\"dtype\": \"U8\", \"shape\": [2], \"data_offsets\": [1, 3]}}", 3, "overlaps" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]},"
		  " \"b\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [2, 3]}}", 3, "hole of 1" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]},"
		  " \"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0, 1]}}", 1, "duplicate" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1], \"data_offsets\": [0, 1]}}", 1, "13 dimensions" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": [1], \"data_offsets\": [0]}}", 1, "not a pair" },
		{ "{\"a\": {\"dtype\": \"U8\", \"shape\": 1, \"data_offsets\": [0, 1]}}", 1, "not a list" },
		{ "{\"a\": {\"shape\": [1], \"data_offsets\": [0, 1]}}", 1, "dtype" },
		{ "{\"__metadata__\": {\"a\": 1}}", 0, "not a string" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct buf image = BUF_INIT;
		struct err e = ERR_INIT;

		assert_null(open_image(cases[i].header, cases[i].data, &image, &e));
		assert_contains(e.text, cases[i].why);
		buf_release(&image);
	}
}

static void test_lengths(void **state)
{
	struct err e = ERR_INIT;

	(void)state;
	assert_null(st_open_bytes(STR("\1\0\0"), "x", &e));
	assert_contains(e.text, "too few");
	err_clear(&e);
	assert_null(st_open_bytes(STR("\377\377\377\377\377\377\377\377{}"), "x", &e));
	assert_contains(e.text, "the header claims");
	err_clear(&e);
	assert_null(st_open_bytes(STR("\11\0\0\0\0\0\0\0{}"), "x", &e));
	assert_contains(e.text, "truncated");
}

static void test_misaligned_data_is_copied(void **state)
{
	struct buf image = BUF_INIT;
	struct err e = ERR_INIT;
	struct st_file *f = open_image("{\"a\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[0,16]}} ", 16, &image, &e);
	double want;

	(void)state;
	assert_non_null(f);
	memset(&want, 1, sizeof want);
	assert_int_equal((uintptr_t)st_at(f, 0)->data % 8, 0);
	assert_memory_equal(st_at(f, 0)->data, &want, 8);
	st_close(f);
	buf_release(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_shards),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_misaligned_data_is_copied),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
