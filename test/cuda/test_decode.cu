/* Attention over pages: decode and prefill against fp64, against the pack's bits, with and without groups,
 * and what is written to the pages. */
#include <cuda_fp8.h>

#include <algorithm>

#include "attn_reference.h"
#include "check.cuh"

struct shape { int H, HKV, D; };

static struct cuda *gpu;

static float code_value(float x)
{
	__nv_fp8_storage_t c = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);

	return __half2float(__half(__nv_cvt_fp8_to_halfraw(c, __NV_E4M3)));
}

/* Sequences and their pages. Sequences of a group have their first pages in common. */
struct cache {
	shape s;
	int fp8, pages, table_ld;
	std::vector<int> length;                        /* with the newest position */
	std::vector<int32_t> start, table;
	std::vector<int32_t> group, group_pages, member;
	std::vector<__nv_bfloat16> rows;                /* of all sequences, [T][H + 2 HKV][D] */

	size_t ld(void) const { return (size_t)(s.H + 2 * s.HKV) * s.D; }
	size_t page_elements(void) const { return (size_t)2 * s.HKV * 64 * s.D; }
	size_t element(int page, int kv, int head, int key) const { return page * page_elements() + (((size_t)kv * s.HKV + head) * 64 + key % 64) * s.D; }
};

static void share_rows(cache *c, int from, int to, int positions)
{
	size_t skip = (size_t)c->s.H * c->s.D;

	for (int t = 0; t < positions; t++)
		std::copy_n(c->rows.begin() + (long)((c->start[from] + t) * c->ld() + skip), c->ld() - skip,
			    c->rows.begin() + (long)((c->start[to] + t) * c->ld() + skip));
}

/* `groups` are numbers of sequences; each shares `shared` pages. */
static cache make_cache(const shape &s, const std::vector<int> &length, const std::vector<int> &groups, int shared, int fp8)
{
	cache c = { s, fp8, 0, 0, length, { 0 } };
	int runs = (int)length.size(), next = 0;

	for (int n : length)
		c.start.push_back(c.start.back() + n);
	c.table_ld = (*std::max_element(length.begin(), length.end()) + 63) / 64 + 1;
	c.table.assign((size_t)runs * c.table_ld, 0);
	c.rows = random_bf16(c.start.back() * c.ld(), 1);
	if (fp8)
		for (auto &x : c.rows)
			x = __float2bfloat16_rn(code_value(__bfloat162float(x)));
	c.group.push_back(0);
	for (int n : groups) {
		c.group.push_back(c.group.back() + n);
		c.group_pages.push_back(n > 1 ? shared : 0);
	}
	for (int i = 0; i < runs; i++)
		c.member.push_back((i * 7 + 3) % runs);      /* any order; runs is no multiple of 7 */
	for (int r = 0; r < runs; r++) {
		for (int p = 0; p < c.table_ld; p++)
			c.table[(size_t)r * c.table_ld + p] = next++;
	}
	for (size_t g = 0; g < groups.size(); g++)
		for (int i = c.group[g] + 1; i < c.group[g + 1]; i++) {
			int from = c.member[c.group[g]], to = c.member[i];

			share_rows(&c, from, to, c.group_pages[g] * 64);
			std::copy_n(c.table.begin() + (long)from * c.table_ld, c.group_pages[g], c.table.begin() + (long)to * c.table_ld);
		}
	c.pages = next;
	return c;
}

/* Pages with the first `known[r]` positions of each sequence, as bytes. */
static std::vector<char> fill_pages(const cache &c, const std::vector<int> &known)
{
	std::vector<char> v(c.pages * c.page_elements() * (c.fp8 ? 1 : 2));

	for (size_t r = 0; r < known.size(); r++)
		for (int key = 0; key < known[r]; key++)
			for (int kv = 0; kv < 2; kv++)
				for (int h = 0; h < c.s.HKV; h++) {
					const __nv_bfloat16 *from = &c.rows[(c.start[r] + key) * c.ld() + (size_t)(c.s.H + kv * c.s.HKV + h) * c.s.D];
					size_t to = c.element(c.table[r * c.table_ld + key / 64], kv, h, key);

					for (int d = 0; d < c.s.D; d++)
						if (c.fp8)
							v[to + d] = (char)__nv_cvt_float_to_fp8(__bfloat162float(from[d]), __NV_SATFINITE, __NV_E4M3);
						else
							((__nv_bfloat16 *)v.data())[to + d] = from[d];
				}
	return v;
}

/* The last `rows[r]` rows of each sequence, one after another. */
template <class T> static std::vector<T> last_rows(const cache &c, const std::vector<T> &v, size_t width, const std::vector<int> &rows)
{
	std::vector<T> out;

	for (size_t r = 0; r < rows.size(); r++)
		out.insert(out.end(), v.begin() + (long)((c.start[r + 1] - rows[r]) * width), v.begin() + (long)(c.start[r + 1] * width));
	return out;
}

/* The pack's result by the own kernel: [T][H][D]. */
static std::vector<__nv_bfloat16> as_pack(const cache &c)
{
	device<__nv_bfloat16> qkv(c.rows), out((size_t)c.start.back() * c.s.H * c.s.D);
	device<int32_t> start(c.start);
	struct cuda_attention a = { .H = c.s.H, .HKV = c.s.HKV, .D = c.s.D, .T = c.start.back(), .sequences = (int)c.length.size(),
				    .longest = *std::max_element(c.length.begin(), c.length.end()), .start = start.p, .qkv = qkv.p, .out = out.p,
				    .variant = CUDA_ATTN_OWN, .exact = 1 };

	MUST(cuda_attention(gpu, &a));
	return out.get();
}

/* New rows through the pages; gives their results, and checks the pages behind. */
static std::vector<__nv_bfloat16> by_pages(const cache &c, const std::vector<int> &rows, bool grouped, const char *name)
{
	std::vector<int32_t> row = { 0 }, before;
	std::vector<int> known;
	int longest_rows = 0, runs = (int)rows.size();

	for (int r = 0; r < runs; r++) {
		row.push_back(row.back() + rows[r]);
		before.push_back(c.length[r] - rows[r]);
		known.push_back(before[r]);
		longest_rows = std::max(longest_rows, rows[r]);
	}
	device<char> kv(fill_pages(c, known));
	device<__nv_bfloat16> qkv(last_rows(c, c.rows, c.ld(), rows)), out((size_t)row.back() * c.s.H * c.s.D);
	device<int32_t> drow(row), length(before), table(c.table), group(c.group), group_pages(c.group_pages), member(c.member);
	struct cuda_paged p = { .H = c.s.H, .HKV = c.s.HKV, .D = c.s.D, .rows = row.back(), .runs = runs, .longest_rows = longest_rows,
				.longest = *std::max_element(c.length.begin(), c.length.end()), .row = drow.p, .length = length.p, .table = table.p,
				.table_ld = c.table_ld, .groups = grouped ? (int)c.group_pages.size() : 0, .group = group.p,
				.group_pages = group_pages.p, .member = member.p, .qkv = qkv.p, .out = out.p, .kv = kv.p,
				.stride = c.page_elements() * (c.fp8 ? 1 : 2), .kv_dt = c.fp8 ? DT_F8E4M3 : DT_BF16 };

	MUST(cuda_paged_work(gpu, &p, &p.work_bytes));
	device<char> work(p.work_bytes, 0);

	p.work = work.p;
	MUST(cuda_paged(gpu, &p));
	std::vector<__nv_bfloat16> o = out.get();
	same_bits(name, kv.get(), fill_pages(c, c.length));
	out.poison();
	MUST(cuda_paged(gpu, &p));
	same_bits("  again", out.get(), o);
	return o;
}

/* The last row of each sequence. */
static std::vector<double> last_reference(const cache &c)
{
	reference r = { c.s.H, c.s.HKV, c.s.D, c.start, {} };
	std::vector<int> ones(c.length.size(), 1);

	for (__nv_bfloat16 x : c.rows)
		r.qkv.push_back(number(x));
	r.out.assign((size_t)r.T() * r.H * r.D, 0);
	r.lse.assign((size_t)r.T() * r.H, 0);
	for (size_t s = 0; s < ones.size(); s++)
		for (int h = 0; h < r.H; h++)
			r.forward_row(c.start[s + 1] - 1, h, r.seen((int)s, c.start[s + 1] - 1));
	return last_rows(c, r.out, (size_t)r.H * r.D, ones);
}

static void check_decode(const shape &s, const std::vector<int> &length, const std::vector<int> &groups, int shared, int fp8)
{
	cache c = make_cache(s, length, groups, shared, fp8);
	std::vector<int> ones(length.size(), 1);
	size_t width = (size_t)s.H * s.D;
	char what[100];

	snprintf(what, sizeof what, "decode %d/%d/%d %s runs=%zu", s.H, s.HKV, s.D, fp8 ? "fp8" : "bf16", length.size());
	std::vector<__nv_bfloat16> plain = by_pages(c, ones, false, what), grouped = by_pages(c, ones, true, what);

	compare(what, plain, last_reference(c), 4e-3, 5e-2);
	if (fp8) {
		compare("  in groups", grouped, last_reference(c), 4e-3, 5e-2);
		return;
	}
	same_bits("  as in a pack", plain, last_rows(c, as_pack(c), width, ones));
	same_bits("  in groups", grouped, plain);
}

static void check_prefill(const shape &s, const std::vector<int> &length, const std::vector<int> &rows, int fp8 = 0)
{
	cache c = make_cache(s, length, std::vector<int>(length.size(), 1), 0, fp8);
	std::vector<__nv_bfloat16> got = by_pages(c, rows, false, "prefill");

	same_bits("  as in a pack", got, last_rows(c, as_pack(c), (size_t)s.H * s.D, rows));
}

/* A run that is not computed leaves its row and page as they are, and others' bits too. */
static void check_skipped(void)
{
	cache c = make_cache({ 28, 4, 128 }, { 700, 600, 10 }, { 1, 1, 1 }, 0, 0);
	std::vector<int> known = { 699, 600, 9 };
	device<char> kv(fill_pages(c, known));
	device<__nv_bfloat16> qkv(last_rows(c, c.rows, c.ld(), { 1, 1, 1 })), out((size_t)3 * 28 * 128);
	device<int32_t> row(std::vector<int32_t>{ 0, 1, 2, 3 }), length(std::vector<int32_t>{ 699, -1, 9 }), table(c.table);
	struct cuda_paged p = { .H = 28, .HKV = 4, .D = 128, .rows = 3, .runs = 3, .longest_rows = 1, .longest = 700, .row = row.p,
				.length = length.p, .table = table.p, .table_ld = c.table_ld, .qkv = qkv.p, .out = out.p, .kv = kv.p,
				.stride = c.page_elements() * 2, .kv_dt = DT_BF16 };

	MUST(cuda_paged_work(gpu, &p, &p.work_bytes));
	device<char> work(p.work_bytes, 0);
	std::vector<__nv_bfloat16> want = last_rows(c, as_pack(c), 28 * 128, { 1, 1, 1 });

	memset((void *)&want[28 * 128], 0xff, 28 * 128 * 2);
	p.work = work.p;
	MUST(cuda_paged(gpu, &p));
	same_bits("a skipped run", out.get(), want);
	same_bits("its page", kv.get(), fill_pages(c, { 700, 600, 10 }));
}

int main(void)
{
	static const shape shapes[] = { { 28, 4, 128 }, { 8, 4, 64 }, { 12, 4, 64 }, { 32, 4, 128 } };
	struct cuda_info info;

	MUST(cuda_open(0, &gpu, &info));
	for (const shape &s : shapes)
		for (int fp8 = 0; fp8 < 2; fp8++) {
			check_decode(s, { 1, 2, 63, 64, 65, 511, 512, 513, 700 }, { 9 }, 0, fp8);
			check_decode(s, { 1030, 1025, 1600, 1100, 1101, 1099, 600, 1102, 1025, 1026, 1027, 5 }, { 1, 10, 1 }, 0, fp8);
		}
	for (int fp8 = 0; fp8 < 2; fp8++) {
		check_decode(shapes[0], std::vector<int>(13, 1100), { 2, 1, 10 }, 16, fp8);
		check_decode(shapes[1], std::vector<int>(13, 1100), { 2, 1, 10 }, 9, fp8);
		check_decode(shapes[3], { 1024, 1023, 900, 1025, 1026 }, { 5 }, 8, fp8);
	}
	check_prefill({ 28, 4, 128 }, { 700, 65, 64, 1 }, { 700, 65, 64, 1 });
	check_prefill({ 28, 4, 128 }, { 700, 650, 64, 130 }, { 200, 2, 63, 129 });
	check_prefill({ 8, 4, 64 }, { 700, 650, 64, 130 }, { 200, 2, 63, 129 });
	check_prefill({ 8, 4, 64 }, { 700, 650, 64, 130 }, { 200, 2, 63, 129 }, 1);
	check_prefill({ 28, 4, 128 }, { 700, 650, 64, 130 }, { 200, 2, 63, 129 }, 1);
	check_skipped();
	cuda_close(gpu);
	return summary();
}
