/* doctor: the libraries. Each test lets its library do a small piece of real work and prints its
 * version, because a wrong or broken shared object can still be loaded. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include <cblas.h>
#include <curl/curl.h>
#include <expat.h>
#include <microhttpd.h>
#define ERR_STATE openssl_err_state   /* a name of base/err.h as well */
#include <openssl/crypto.h>
#include <openssl/evp.h>
#undef ERR_STATE
#include <pcre2.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/yaml.h"
#include "cmd/doctor.h"

extern const char *jansson_version_str(void);
extern const char *yaml_get_version_string(void);

/* `good` is the outcome of the test, `package` the Debian package to reinstall if it failed. */
static void result(struct doctor_part *p, int good, const char *version, const char *package)
{
	doctor_say(p, good ? DOCTOR_OK : DOCTOR_MISSING, "%s%s", version, good ? "" : ", but it does not work");
	if (!good)
		buf_addf(&p->fix, "sudo apt-get install --reinstall %s", package);
}

void doctor_jansson(struct doctor_part *p)
{
	struct json *j = json_parse(STR("{\"a\": [1, 2.5, \"x\"]}"), NULL);

	result(p, j && json_real(json_at(json_get(j, "a"), 1), 0) == 2.5, jansson_version_str(), "libjansson4");
	json_free(j);
}

void doctor_yaml(struct doctor_part *p)
{
	struct arena a = ARENA_INIT;
	struct yaml *y = yaml_parse(STR("a: {b: c}"), &a, NULL);
	const struct yaml *inner = y ? yaml_get(y, "a") : NULL;

	result(p, inner && yaml_get(inner, "b"), yaml_get_version_string(), "libyaml-0-2");
	arena_release(&a);
}

/* The pattern needs Unicode classes, which some builds of PCRE2 omit. The JIT is optional: the
 * tokenizer is slower without it. */
void doctor_pcre2(struct doctor_part *p)
{
	char version[64] = "";
	int error;
	size_t at;
	uint32_t jit = 0;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR) "\\p{L}+", 6, PCRE2_UTF | PCRE2_UCP, &error, &at, NULL);
	pcre2_match_data *m = re ? pcre2_match_data_create_from_pattern(re, NULL) : NULL;
	int good = m && pcre2_match(re, (PCRE2_SPTR) "1\xC3\xA9t", 4, 0, 0, m, NULL) == 1 &&
		   pcre2_get_ovector_pointer(m)[1] == 4;

	pcre2_config(PCRE2_CONFIG_VERSION, version);
	pcre2_config(PCRE2_CONFIG_JIT, &jit);
	result(p, good, version, "libpcre2-8-0");
	doctor_say(p, p->status, jit ? ", JIT" : ", no JIT");
	pcre2_match_data_free(m);
	pcre2_code_free(re);
}

/* The run store uses SQLite's JSON functions, so the test does too. */
void doctor_sqlite(struct doctor_part *p)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int good = sqlite3_open(":memory:", &db) == SQLITE_OK &&
		   sqlite3_prepare_v2(db, "select sum(value) from json_each('[1,2,3]')", -1, &s, NULL) == SQLITE_OK &&
		   sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == 6;

	sqlite3_finalize(s);
	sqlite3_close(db);
	result(p, good, sqlite3_libversion(), "libsqlite3-0");
}

/* A build without TLS is useless for S3. */
void doctor_curl(struct doctor_part *p)
{
	const curl_version_info_data *v = curl_version_info(CURLVERSION_NOW);
	CURL *c = curl_easy_init();

	result(p, c && v->features & CURL_VERSION_SSL, v->version, "libcurl4");
	doctor_say(p, p->status, ", %s", v->ssl_version ? v->ssl_version : "no TLS");
	curl_easy_cleanup(c);
}

/* Our own SHA-256 (base/hash.c) may use processor instructions; it must agree with OpenSSL's. */
void doctor_openssl(struct doctor_part *p)
{
	unsigned char d[EVP_MAX_MD_SIZE];
	unsigned n = 0;
	char theirs[2 * EVP_MAX_MD_SIZE + 1] = "", ours[65];

	sha256_hex("abc", 3, ours);
	if (EVP_Digest("abc", 3, d, &n, EVP_sha256(), NULL) == 1)
		hash_hex(d, n, theirs);
	result(p, !strcmp(ours, theirs), OpenSSL_version(OPENSSL_VERSION_STRING), "libssl3");
}

void doctor_expat(struct doctor_part *p)
{
	XML_Parser x = XML_ParserCreate(NULL);

	result(p, x && XML_Parse(x, "<a><b/></a>", 11, 1) == XML_STATUS_OK, XML_ExpatVersion(), "libexpat1");
	XML_ParserFree(x);
}

/* Compresses and decompresses 256 bytes; cached verdicts depend on both directions. */
void doctor_zlib(struct doctor_part *p)
{
	unsigned char in[256] = "tritonrl", packed[512], out[256];
	uLongf np = sizeof packed, no = sizeof out;
	int good = compress(packed, &np, in, sizeof in) == Z_OK && uncompress(out, &no, packed, np) == Z_OK &&
		   no == sizeof in && !memcmp(in, out, sizeof in);

	result(p, good, zlibVersion(), "zlib1g");
}

/* The server uses epoll, which is a compile-time option of the library. */
void doctor_microhttpd(struct doctor_part *p)
{
	result(p, MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES, MHD_get_version(), "libmicrohttpd12");
}

/* Multiplies by the identity matrix: every element must be exact. A miscompiled kernel for this
 * processor would change the values. */
void doctor_openblas(struct doctor_part *p)
{
	enum { N = 16 };
	float a[N * N], b[N * N], c[N * N];
	int good = 1;

	for (int i = 0; i < N * N; i++) {
		a[i] = (float)(i % 7);
		b[i] = i / N == i % N;       /* the identity */
		c[i] = -1;
	}
	cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, a, N, b, N, 0, c, N);
	for (int i = 0; i < N * N; i++)
		good &= a[i] == c[i];
	result(p, good, openblas_get_config(), "libopenblas0-pthread");
}
