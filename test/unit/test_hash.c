/* XXH64 and SHA-256 against published values. */
#include "check.h"

#include "base/hash.h"

static void test_xxh64(void **state)
{
	static const struct {
		const char *text;
		uint64_t seed, want;
	} rows[] = {
		{ "", 0, 0xef46db3751d8e999 },
		{ "a", 0, 0xd24ec4f1a98c6e5b },
		{ "as", 0, 0x1c330fb2d66be179 },
		{ "asd", 0, 0x631c37ce72a97393 },
		{ "asdf", 0, 0x415872f599cea71e },
		{ "xxhash", 20141025, 0xb559b98d844e0635 },
		{ "Call me Ishmael. Some years ago--never mind how long precisely-", 0, 0x02a2e85470d6fd96 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_true(hash_xxh64(rows[i].text, strlen(rows[i].text), rows[i].seed) == rows[i].want);
}

/* The lengths around the padding rules. */
static void test_sha256(void **state)
{
	static const struct {
		size_t n;
		const char *want;
	} rows[] = {
		{ 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ 1, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d" },
		{ 55, "463eb28e72f82e0a96c0a4cc53690c571281131f672aa229e0d45ae59b598b59" },
		{ 56, "da2ae4d6b36748f2a318f23e7ab1dfdf45acdc9d049bd80e59de82a60895f562" },
		{ 63, "29af2686fd53374a36b0846694cc342177e428d1647515f078784d69cdb9e488" },
		{ 64, "fdeab9acf3710362bd2658cdc9a29e8f9c757fcf9811603a8c447cd1d9151108" },
		{ 65, "4bfd2c8b6f1eec7a2afeb48b934ee4b2694182027e6d0fc075074f2fabb31781" },
		{ 119, "da18797ed7c3a777f0847f429724a2d8cd5138e6ed2895c3fa1a6d39d18f7ec6" },
		{ 120, "f52b23db1fbb6ded89ef42a23ce0c8922c45f25c50b568a93bf1c075420bbb7c" },
		{ 128, "471fb943aa23c511f6f72f8d1652d9c880cfa392ad80503120547703e56a2be5" },
	};
	unsigned char in[128];
	char got[65];

	(void)state;
	for (size_t i = 0; i < sizeof in; i++)
		in[i] = (unsigned char)i;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		sha256_hex(in, rows[i].n, got);
		assert_string_equal(got, rows[i].want);
	}
}

/* A million 'a', fed in pieces of changing size, is the same as at once. */
static void test_sha256_pieces(void **state)
{
	static char text[1000000];
	unsigned char digest[32];
	struct sha256 s;
	char got[65];

	(void)state;
	memset(text, 'a', sizeof text);
	sha256_init(&s);
	for (size_t at = 0, k = 1; at < sizeof text; at += k, k = k * 3 % 1009 + 1) {
		if (k > sizeof text - at)
			k = sizeof text - at;
		sha256_add(&s, text + at, k);
	}
	sha256_end(&s, digest);
	hash_hex(digest, sizeof digest, got);
	assert_string_equal(got, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, cases 2 and 6 (a key longer than a block), and a digest in base64. */
static void test_hmac(void **state)
{
	static const char long_text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
	unsigned char key[131], mac[32] = "Jefe";
	char got[65];

	(void)state;
	hash_hmac(mac, 4, "what do ya want for nothing?", 28, mac);
	hash_hex(mac, sizeof mac, got);
	assert_string_equal(got, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof key);
	hash_hmac(key, sizeof key, long_text, sizeof long_text - 1, mac);
	hash_hex(mac, sizeof mac, got);
	assert_string_equal(got, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	hash_base64((const unsigned char *)"ab", 2, got);
	assert_string_equal(got, "YWI=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xxh64), cmocka_unit_test(test_sha256), cmocka_unit_test(test_sha256_pieces),
		cmocka_unit_test(test_hmac),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
