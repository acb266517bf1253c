/* A bucket made fit for checkpoints: encrypted, versioned, with rules that clean up. See s3.h.
 *
 * Each setting is a row: what is asked, what is put, and how one sees that it is so. A server that
 * does not have a setting says so (501, NotImplemented and the like); that is reported, not
 * hidden. */
#include <stdio.h>

#include "base/mem.h"
#include "net/s3_impl.h"
#include "net/xml.h"

enum { ANSWER_MOST = 1 << 20 };

/* A setting of a bucket: what is put, and how one sees that it is so. */
struct setting {
	const char *name, *query;
	/* Writes the document to put. */
	void (*write)(const struct s3_bucket_options *o, struct buf *out);
	/* Is the existing document as it should be? */
	int (*fits)(const struct s3_bucket_options *o, struct str document);
};

/* Does the document have this text at this path? */
static int has(struct str document, const char *path, const char *text)
{
	struct buf found = BUF_INIT;
	int same;

	xml_find(document, path, &found);
	same = !strcmp(buf_cstr(&found), text);
	buf_release(&found);
	return same;
}

/* Encryption by default, with a key of KMS if one was named. */
static void write_encryption(const struct s3_bucket_options *o, struct buf *out)
{
	buf_adds(out, "<ServerSideEncryptionConfiguration "
		      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Rule><ApplyServerSideEncryptionByDefault>");
	buf_addf(out, "<SSEAlgorithm>%s</SSEAlgorithm>", o->kms_key ? "aws:kms" : "AES256");
	if (o->kms_key) {
		buf_adds(out, "<KMSMasterKeyID>");
		xml_text(out, str_of(o->kms_key));
		buf_adds(out, "</KMSMasterKeyID>");
	}
	buf_adds(out, "</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>");
}

/* Without a key of ours either algorithm is accepted: AES256 is S3's default, and an administrator
 * may have chosen KMS. */
static int fits_encryption(const struct s3_bucket_options *o, struct str d)
{
	if (o->kms_key)
		return has(d, "Rule/ApplyServerSideEncryptionByDefault/KMSMasterKeyID", o->kms_key);
	return has(d, "Rule/ApplyServerSideEncryptionByDefault/SSEAlgorithm", "AES256") ||
		has(d, "Rule/ApplyServerSideEncryptionByDefault/SSEAlgorithm", "aws:kms");
}

/* Versions are kept: an overwritten object can be restored. */
static void write_versioning(const struct s3_bucket_options *o, struct buf *out)
{
	(void)o;
	buf_adds(out, "<VersioningConfiguration "
		      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status>"
			      "</VersioningConfiguration>");
}

/* Suspended versioning does not fit: overwritten objects would be lost. */
static int fits_versioning(const struct s3_bucket_options *o, struct str d)
{
	(void)o;
	return has(d, "Status", "Enabled");
}

/* Old versions and abandoned uploads are deleted after some days. */
static void write_lifecycle(const struct s3_bucket_options *o, struct buf *out)
{
	buf_addf(out, "<LifecycleConfiguration "
		      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Rule><ID>tritonrl</ID><Filter><Prefix>"
			      "</Prefix></Filter>"
		 "<Status>Enabled</Status><NoncurrentVersionExpiration><NoncurrentDays>%d</NoncurrentDays>"
			 "</NoncurrentVersionExpiration>"
		 "<AbortIncompleteMultipartUpload><DaysAfterInitiation>%d</DaysAfterInitiation>"
			 "</AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>",
		 o->keep_days, o->abort_days);
}

/* Fits if both periods are ours and the rule is enabled. The rule's name does not matter. */
static int fits_lifecycle(const struct s3_bucket_options *o, struct str d)
{
	char keep[16], end[16];

	snprintf(keep, sizeof keep, "%d", o->keep_days);
	snprintf(end, sizeof end, "%d", o->abort_days);
	return has(d, "Rule/NoncurrentVersionExpiration/NoncurrentDays", keep) &&
		has(d, "Rule/AbortIncompleteMultipartUpload/DaysAfterInitiation", end) &&
	       has(d, "Rule/Status", "Enabled");
}

static const struct setting settings[] = {
	{ .name = "encryption", .query = "encryption=", .write = write_encryption, .fits = fits_encryption },
	{ .name = "versioning", .query = "versioning=", .write = write_versioning, .fits = fits_versioning },
	{ .name = "lifecycle", .query = "lifecycle=", .write = write_lifecycle, .fits = fits_lifecycle },
};

/* The options with defaults filled in: old versions for 7 days, uploads for 1. */
static struct s3_bucket_options with_defaults(const struct s3_bucket_options *o)
{
	struct s3_bucket_options d = o ? *o : (struct s3_bucket_options){ .keep_days = 0 };

	d.keep_days = d.keep_days > 0 ? d.keep_days : 7;
	d.abort_days = d.abort_days > 0 ? d.abort_days : 1;
	return d;
}

/* Is the setting as it should be? Returns 1 or 0, or -1 if we may not ask. A setting that the
 * server does not know is one that is not set. */
static int is_set(struct s3 *s, const struct setting *x, const struct s3_bucket_options *o, struct err *e)
{
	struct s3_call c = { .method = "GET", .query = x->query, .most = ANSWER_MOST };
	struct s3_answer a;
	struct err why = ERR_INIT;
	int rc = s3_do(s, &c, &a, &why);

	/* A setting that the server does not know is one that is not set; who may not ask, cannot
	 * tell. */
	if (rc && why.code == ERR_DENIED)
		rc = err_set(e, why.code, "%s", why.text);
	else
		rc = !rc && a.r.status == 200 && x->fits(o, buf_str(&a.r.body));
	s3_answer_release(&a);
	return rc;
}

/* Sets it. A server that does not have the setting is reported and is no failure. */
static int put_setting(struct s3 *s, const struct setting *x, const struct s3_bucket_options *o,
		       struct buf *said, struct err *e)
{
	struct buf body = BUF_INIT;
	struct s3_call c = { .method = "PUT", .query = x->query, .body_checked = 1 };
	struct s3_answer a = { .lost = 0 };
	struct err why = ERR_INIT;
	int rc;

	x->write(o, &body);
	c.body = buf_str(&body);
	rc = buf_check(&body, e) ? -1 : s3_do(s, &c, &a, &why);
	if (!rc && a.r.status < 300)
		buf_addf(said, "%s: set\n", x->name);
	else if (why.code == ERR_DENIED)
		rc = err_set(e, ERR_DENIED, "%s: %s", x->name, why.text);
	else {
		buf_addf(said, "%s: this server does not take it (%s)\n", x->name, why.code ? why.text : a.code);
		rc = 0;
	}
	s3_answer_release(&a);
	buf_release(&body);
	return rc;
}

/* Returns 0 if the bucket is there, S3_ABSENT if not, -1 on failure. It lists instead of using
 * HEAD, whose answers have no body that could say why it was refused. */
static int look_for_bucket(struct s3 *s, struct err *e)
{
	/* Not HEAD: its answers have no body, so that nobody could say why one was refused. */
	struct s3_call c = { .method = "GET", .query = "list-type=2&max-keys=1", .most = ANSWER_MOST };
	struct s3_answer a;
	int rc = s3_do(s, &c, &a, e);

	if (!rc && a.r.status != 200)
		rc = a.r.status == 404 ? S3_ABSENT : s3_refused(&c, &a, e);
	s3_answer_release(&a);
	return rc;
}

/* Creates the bucket. Amazon's first region must not be named. */
static int make_bucket(struct s3 *s, struct err *e)
{
	struct buf body = BUF_INIT;
	struct s3_call c = { .method = "PUT" };
	struct s3_answer a = { .lost = 0 };
	int rc;

	/* Amazon's first region is the one that must not be named. */
	if (strcmp(s->region, "us-east-1"))
		buf_addf(&body, "<CreateBucketConfiguration "
				"xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><LocationConstraint>"
					"%s</LocationConstraint>"
			 "</CreateBucketConfiguration>", s->region);
	c.body = buf_str(&body);
	rc = buf_check(&body, e) ? -1 : s3_do(s, &c, &a, e);
	if (!rc && a.r.status >= 300 && strcmp(a.code, "BucketAlreadyOwnedByYou"))
		rc = s3_refused(&c, &a, e);
	s3_answer_release(&a);
	buf_release(&body);
	return rc;
}

/* See s3.h. Running it again is safe: each setting is read first and written only if it differs. */
int s3_bucket_create(struct s3 *s, const struct s3_bucket_options *given, struct buf *said, struct err *e)
{
	struct s3_bucket_options o = with_defaults(given);
	int rc = look_for_bucket(s, e);

	if (rc == S3_ABSENT) {
		rc = make_bucket(s, e);
		buf_addf(said, "bucket: created\n");
	} else if (!rc) {
		buf_addf(said, "bucket: exists already\n");
	}
	for (size_t i = 0; i < COUNT_OF(settings) && !rc; i++) {
		int set = is_set(s, &settings[i], &o, e);

		if (set > 0)
			buf_addf(said, "%s: already set\n", settings[i].name);
		rc = set < 0 ? -1 : set ? 0 : put_setting(s, &settings[i], &o, said, e);
	}
	return rc ? -1 : buf_check(said, e);
}

int s3_bucket_show(struct s3 *s, struct buf *said, struct err *e)
{
	struct s3_bucket_options o = with_defaults(NULL);
	int rc = look_for_bucket(s, e);

	for (size_t i = 0; i < COUNT_OF(settings) && !rc; i++) {
		int set = is_set(s, &settings[i], &o, e);

		if (set >= 0)
			buf_addf(said, "%s: %s\n", settings[i].name, set ? "as 'bucket create' sets it" :
				 "not set as 'bucket create' does");
		rc = set < 0 ? -1 : 0;
	}
	return rc ? rc : buf_check(said, e);
}
