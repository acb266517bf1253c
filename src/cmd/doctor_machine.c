/* doctor: processor, memory, write access, GPU, Python and credentials. Tests that load foreign
 * code (drivers, Python) run in a child process, because a broken driver may crash or hang. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/file.h"
#include "cmd/doctor.h"
#include "dev/dev.h"
#include "tile/estimate/gpu.h"
#include "verify/gpu/gpu_slot.h"
#include "verify/gpu/kernel_library.h"

/* Never fails: every instruction set has its own build of the vector code. */
void doctor_cpu(struct doctor_part *p)
{
	static const char *const level[] = { "baseline vectors", "AVX2", "AVX-512" };
	const struct cpu_info *c = cpu_info();

	doctor_say(p, DOCTOR_OK, "%s, %s%s%s%s, %d core%s", c->arch, level[c->level], c->avx512_bf16 ? ", bf16" : "",
		   c->avx512_vnni ? ", VNNI" : "", c->amx_bf16 ? ", AMX" : "", c->cores, c->cores == 1 ? "" : "s");
}

/* Returns the value of `key` in /proc/meminfo in kB, or 0 if it is missing. */
static int64_t meminfo(const char *key)
{
	struct line_reader r;
	struct str line;
	int64_t kb = 0;

	if (lines_open(&r, "/proc/meminfo", NULL))
		return 0;
	while (!kb && lines_next(&r, &line, NULL) > 0)
		if (str_starts(line, key)) {
			str_cut(&line, ':');
			line = str_trim(line);
			str_to_i64(str_cut(&line, ' '), &kb);
		}
	lines_close(&r);
	return kb;
}

void doctor_memory(struct doctor_part *p)
{
	enum { NEEDED_MB = 1024 };       /* the demo's model, its optimizer, and two judges */
	int64_t total = meminfo("MemTotal:") / 1024, free_mb = meminfo("MemAvailable:") / 1024;

	doctor_say(p, free_mb >= NEEDED_MB ? DOCTOR_OK : DOCTOR_MISSING, "%.1f GiB, %.1f GiB free",
		   (double)total / 1024, (double)free_mb / 1024);
	if (p->status != DOCTOR_OK)
		buf_addf(&p->fix, "free at least %d MiB of memory", NEEDED_MB);
}

/* Writes a small file and removes it: a permission check would not notice a full or read-only disk. */
static void try_folder(struct doctor_part *p, const char *dir)
{
	struct err e = ERR_INIT;
	struct buf path = BUF_INIT;
	struct statvfs fs;

	buf_addf(&path, "%s/.tritonrl-doctor-%ld", dir, (long)getpid());
	if (file_replace(buf_cstr(&path), STR("x"), &e)) {
		doctor_say(p, DOCTOR_MISSING, "%s%s", p->detail.n ? "; " : "", e.text);
		if (!p->fix.n)
			buf_addf(&p->fix, "start tritonrl in a folder you can write to, or: chmod u+w '%s'", dir);
	} else {
		unlink(path.p);
		doctor_say(p, p->status, "%s%s", p->detail.n ? "; " : "", dir);
		if (!statvfs(dir, &fs))
			doctor_say(p, p->status, " (%.1f GB free)", (double)fs.f_bavail * (double)fs.f_frsize / 1e9);
	}
	buf_release(&path);
}

/* Run folders are usually below the current folder; temporary files need TMPDIR. */
void doctor_write(struct doctor_part *p)
{
	const char *tmp = getenv("TMPDIR");

	try_folder(p, ".");
	try_folder(p, tmp && *tmp ? tmp : "/tmp");
}

/* Is an NVIDIA card installed (PCI vendor 0x10de)? Without a card, advice about drivers is useless,
 * so the parts below give none. */
static int has_card(void)
{
	static const char dir[] = "/sys/bus/pci/devices";
	struct file_list l = { 0 };
	struct buf path = BUF_INIT, vendor = BUF_INIT;
	int found = 0;

	if (file_list_open(&l, dir, NULL))
		return 0;
	for (size_t i = 0; i < l.n && !found; i++) {
		buf_clear(&path);
		buf_clear(&vendor);
		buf_addf(&path, "%s/%s/vendor", dir, l.v[i]);
		found = !file_read(buf_cstr(&path), 64, &vendor, NULL) && str_starts(buf_str(&vendor), "0x10de");
	}
	file_list_close(&l);
	buf_release(&path);
	buf_release(&vendor);
	return found;
}

/* --- GPU: asked in a child, because a broken driver may crash or hang ---------------------- */

/* The functions of the CUDA driver that the test needs. The driver is loaded at run time, so that
 * the program also starts on machines without it. */
struct cuda_calls {
	int (*init)(unsigned);                /* cuInit */
	int (*version)(int *);                /* 13000 is CUDA 13.0 */
	int (*count)(int *);                  /* number of GPUs */
	int (*name)(char *, int, int);        /* buffer, its size, GPU */
	int (*memory)(size_t *, int);         /* bytes of a GPU */
};

/* Returns 0 if the driver has all five functions, -1 otherwise. */
static int load_cuda(struct cuda_calls *c)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{ "cuInit", &c->init }, { "cuDriverGetVersion", &c->version }, { "cuDeviceGetCount", &c->count },
		{ "cuDeviceGetName", &c->name }, { "cuDeviceTotalMem_v2", &c->memory },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		void *f = lib ? dlsym(lib, wanted[i].name) : NULL;

		if (!f)
			return -1;
		memcpy(wanted[i].to, &f, sizeof f);   /* C has no cast from void * to a function */
	}
	return 0;
}

/* Exit codes of the child that asks the driver. */
enum { GPU_OK, GPU_NO_LIBRARY, GPU_NO_DRIVER, GPU_NONE };

/* Lists the GPUs with the name that --gpu has for each, so that the user can copy it. */
static int ask_cuda(void *ctx, int fd)
{
	struct cuda_calls c;
	int version = 0, n = 0, rc;

	(void)ctx;
	if (load_cuda(&c))
		return GPU_NO_LIBRARY;
	rc = c.init(0);
	if (rc) {
		dprintf(fd, "cuInit fails with error %d", rc);
		return GPU_NO_DRIVER;
	}
	c.version(&version);
	if (c.count(&n) || n == 0)
		return GPU_NONE;
	dprintf(fd, "CUDA driver %d.%d", version / 1000, version % 1000 / 10);
	for (int i = 0; i < n; i++) {
		char name[128] = "?";
		size_t bytes = 0;
		double gib;
		const struct tile_gpu *known;

		c.name(name, sizeof name, i);
		c.memory(&bytes, i);
		gib = (double)bytes / (1 << 30);
		known = tile_gpu_of_device(str_of(name), gib);
		dprintf(fd, "; %d: %s, %.0f GiB, %s%s", i, name, gib,
			known ? "--gpu " : "no row in tile/estimate/gpu.def", known ? known->name : "");
	}
	return GPU_OK;
}

/* A missing GPU is no failure: everything runs on the CPU. */
void doctor_gpu(struct doctor_part *p)
{
	struct buf out = BUF_INIT;
	int rc = doctor_in_child(ask_cuda, NULL, 30, &out);

	if (rc == GPU_OK) {
		doctor_say(p, DOCTOR_OK, "%s", buf_cstr(&out));
	} else {
		doctor_say(p, DOCTOR_ABSENT, "%s; everything runs on the CPU",
			   rc == GPU_NO_LIBRARY ? "no NVIDIA driver (libcuda.so.1 is not found)" :
			   rc == GPU_NONE ? "the driver sees no GPU" :
			   rc == GPU_NO_DRIVER ? buf_cstr(&out) : "the NVIDIA driver crashed or hung");
		if (has_card())
			buf_adds(&p->fix, "install the driver of the NVIDIA card, until nvidia-smi lists the card");
	}
	buf_release(&out);
}

/* --- the model engine on a GPU: the shared object, its libraries, memory ---------------------- */

/* Says which attention the engine uses. Without cuDNN's frontend at build time, or without the library, it is our own
 * kernels, which are slower. */
static void say_attention(struct dev *d, int fd)
{
	int (*built)(void), (*found)(struct cuda *, int *), version = 0;
	void *p = dev_symbol(d, "cuda_cudnn_built"), *q = dev_symbol(d, "cuda_has_cudnn");

	memcpy(&built, &p, sizeof p);
	memcpy(&found, &q, sizeof q);
	if (!p || !q || !built())
		dprintf(fd, ", attention by our own kernels: built without cuDNN's frontend (tools/cudnn --fetch, "
			"then make cuda)");
	else if (found(d->gpu, &version) || !version)
		dprintf(fd, ", attention by our own kernels: libcudnn.so.9 is not found");
	else
		dprintf(fd, ", attention by cuDNN %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

/* Loads the shared object of `make cuda`, allocates 1 MiB and waits for the device. This finds a
 * missing library, a wrong driver version and a full GPU. */
static int open_engine(void *ctx, int fd)
{
	struct err e = ERR_INIT;
	struct dev *d = dev_open("cuda", 1, &e);
	struct buf out = BUF_INIT;
	void *p;

	(void)ctx;
	if (!d || !(p = dev_alloc(d, 1 << 20, &e)) || dev_check(d, &e)) {
		dprintf(fd, "%s", e.text);
		return 1;
	}
	dev_describe(d, &out);
	dprintf(fd, "%s, %.1f GiB free", buf_cstr(&out), (double)dev_available(d) / (1 << 30));
	say_attention(d, fd);
	return 0;
}

/* A missing engine is no failure. The advice appears only if the machine has a card. */
void doctor_engine(struct doctor_part *p)
{
	struct buf out = BUF_INIT;
	int rc = doctor_in_child(open_engine, NULL, 60, &out);

	doctor_say(p, rc ? DOCTOR_ABSENT : DOCTOR_OK, "%s", rc < 0 ? "the GPU engine crashed or hung" : buf_cstr(&out));
	if (rc && has_card())
		buf_adds(&p->fix, "install CUDA 13 and run `make cuda`; models run on the CPU otherwise");
	buf_release(&out);
}

/* --- Python ------------------------------------------------------------------------------ */

/* The Python of the environment that `make agree` creates; empty if it does not exist. */
static void find_python(struct buf *out)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	buf_addf(out, "%s%s/tritonrl/venv/bin/python", cache ? cache : home ? home : "", cache ? "" : "/.cache");
	if (!file_exists(buf_cstr(out)))
		buf_clear(out);
}

/* Prefers the environment that `make agree` creates, because it holds torch and triton. Importing
 * torch takes many seconds on a cold disk, hence the limit of 120. */
void doctor_python(struct doctor_part *p)
{
	static char script[] = "import sys\n"
			       "out = 'Python ' + sys.version.split()[0]\n"
			       "for name in 'torch', 'triton':\n"
			       "    try: out += ', %s %s' % (name, __import__(name).__version__)\n"
			       "    except Exception as e: out += ', no %s' % name\n"
			       "print(out, end='')\n"
			       "sys.exit('no ' in out)\n";
	static char dash_c[] = "-c", plain[] = "python3";
	struct buf venv = BUF_INIT;
	struct buf out = BUF_INIT;
	char *argv[] = { plain, dash_c, script, NULL };
	int rc;

	find_python(&venv);
	if (venv.n)
		argv[0] = venv.p;
	rc = doctor_run(argv, 120, &out);
	if (rc == 127)
		doctor_say(p, DOCTOR_ABSENT, "no python3; only the GPU judge and 'make agree' need it");
	else
		doctor_say(p, rc ? DOCTOR_ABSENT : DOCTOR_OK, "%s (%s)%s",
			   rc < 0 ? "no answer" : buf_cstr(&out), argv[0],
			   rc ? "; only the GPU judge and 'make agree' need it" : "");
	if (rc && has_card())
		buf_adds(&p->fix, "make agree   (creates an environment with torch and triton)");
	buf_release(&venv);
	buf_release(&out);
}

/* --- the judge on a GPU ------------------------------------------------------------------ */

/* Compiles a kernel with Triton in the compiler's sandbox, which needs no GPU. */
static int try_compiler(const char *python, struct buf *say)
{
	struct kernel_compiler_options o = { .python = python, .workers = 1, .capability = 90, .seconds = 30.0,
					     .memory = (size_t)16 << 30 };
	struct kernel_compiler *c = kernel_compiler_new(&o, NULL);
	const struct compiled_kernel *k;
	struct buf request = BUF_INIT;

	kernel_library_digest(DT_I32, &request);
	k = c && !request.failed ? kernel_compiler_ask(c, buf_str(&request)) : NULL;
	if (k && k->status == COMPILED_OK)
		buf_addf(say, "Triton %s compiles in its sandbox (%zu bytes for sm_90)", kernel_compiler_version(c),
			 k->code.n);
	else
		buf_addf(say, "%s", k ? k->message : "out of memory");
	buf_release(&request);
	k = k && k->status == COMPILED_OK ? k : NULL;
	kernel_compiler_free(c);
	return k ? 0 : -1;
}

/* Opens a slot of the first GPU as `verify --device cuda` does. */
static int try_slot(const char *driver, struct buf *say)
{
	struct gpu_slot s;
	struct slot_answer a;
	struct err e = ERR_INIT;
	int rc = gpu_slot_open(&s, driver, 0, 60.0, &e) || gpu_slot_info(&s, &a) != SLOT_OK;

	if (rc)
		buf_addf(say, "; %s", e.code ? e.text : a.text);
	else
		buf_addf(say, "; runs on %s", a.info.name);
	gpu_slot_close(&s);
	return rc;
}

/* Without a GPU or without Triton the speed of candidates is an estimate, which is no failure. */
void doctor_gpu_judge(struct doctor_part *p)
{
	struct buf venv = BUF_INIT, say = BUF_INIT;
	int compiles, runs;

	find_python(&venv);
	compiles = !try_compiler(venv.n ? buf_cstr(&venv) : NULL, &say);
	runs = !try_slot(p->driver, &say);
	doctor_say(p, compiles && runs ? DOCTOR_OK : DOCTOR_ABSENT, "%s%s", buf_cstr(&say),
		   compiles && runs ? "" : "; speed-ups are estimates");
	if (!compiles && has_card())
		buf_adds(&p->fix, "make agree   (creates an environment with torch and triton)");
	buf_release(&venv);
	buf_release(&say);
}

/* --- counters of the GPU ------------------------------------------------------------------- */

/* The profiling library among PyTorch's packages, without importing PyTorch, which takes seconds; empty if it is
 * missing. */
static void find_cupti(struct buf *out)
{
	static char script[] = "import glob, importlib.util, os\n"
			       "found = importlib.util.find_spec('torch')\n"
			       "root = os.path.dirname(os.path.dirname(found.origin)) if found else ''\n"
			       "paths = glob.glob(root + '/nvidia/*/lib/libcupti.so.*') if root else []\n"
			       "paths += glob.glob(root + '/torch/lib/libcupti*.so*') if root else []\n"
			       "print(paths[0] if paths else '', end='')\n";
	static char dash_c[] = "-c", plain[] = "python3";
	struct buf venv = BUF_INIT;
	char *argv[] = { plain, dash_c, script, NULL };

	find_python(&venv);
	if (venv.n)
		argv[0] = venv.p;
	if (doctor_run(argv, 30, out))
		buf_clear(out);
	buf_release(&venv);
}

/* The counters that the GPU has, and those that it lacks. */
static void say_counters(struct doctor_part *p, const struct verdict_counters *c, const char *library)
{
	static const char *const key[VERDICT_COUNTERS] = {
#define COUNTER(id, name, metric, text) [COUNTER_##id] = name,
#include "verify/verdict/counter.def"
#undef COUNTER
	};
	int n = 0;

	doctor_say(p, DOCTOR_OK, "%s reads", *library ? library : "libcupti");
	for (int i = 0; i < VERDICT_COUNTERS; i++)
		if (c->v[i] >= 0)
			buf_addf(&p->detail, "%s %s", n++ ? "," : "", key[i]);
	for (int i = 0; i < VERDICT_COUNTERS; i++)
		if (c->v[i] < 0)
			buf_addf(&p->detail, "; the GPU lacks %s", key[i]);
}

/* Tries NVIDIA's profiler as `verify --counters` does, in a runner of its own. */
void doctor_counters(struct doctor_part *p)
{
	struct verdict_counters c = { .read = 0 };
	struct buf library = BUF_INIT;
	struct slot_answer a;
	struct gpu_slot s;
	struct err e = ERR_INIT;
	int runs;

	if (p->cupti)
		buf_adds(&library, p->cupti);
	runs = !gpu_slot_open(&s, p->driver, 0, 60.0, &e) && gpu_slot_info(&s, &a) == SLOT_OK;
	if (runs && !p->cupti)
		find_cupti(&library);
	if (!runs)
		doctor_say(p, DOCTOR_ABSENT, "no GPU to count on; only --counters needs it");
	else if (gpu_slot_count(&s, buf_cstr(&library), &c, &a) != SLOT_OK || !c.read)
		doctor_say(p, DOCTOR_ABSENT, "%s; only --counters needs it", c.why[0] ? c.why : a.text);
	else
		say_counters(p, &c, buf_cstr(&library));
	if (runs && strstr(c.why, "administrators"))
		buf_adds(&p->fix, "echo options nvidia NVreg_RestrictProfilingToAdminUsers=0 > "
			 "/etc/modprobe.d/nvidia-counters.conf, and restart the machine; or run as root");
	else if (runs && strstr(c.why, "libcupti"))
		buf_adds(&p->fix, "pip install nvidia-cuda-cupti, or name the library by --gpu-cupti FILE");
	gpu_slot_close(&s);
	buf_release(&library);
}

/* --- S3 ----------------------------------------------------------------------------------- */

/* Does the credentials file hold both halves of a key for this profile? */
static int has_profile(const char *path, const char *profile)
{
	struct line_reader r;
	struct str line, section = STR("");
	char name[64] = "";
	int found = 0;

	if (lines_open(&r, path, NULL))
		return 0;
	while (lines_next(&r, &line, NULL) > 0) {
		line = str_trim(line);
		if (line.n > 2 && line.p[0] == '[') {
			snprintf(name, sizeof name, "%.*s", (int)line.n - 2, line.p + 1);
			section = str_of(name);
		} else if (str_is(section, profile)) {
			found |= str_starts(line, "aws_access_key_id") | str_starts(line, "aws_secret_access_key") << 1;
		}
	}
	lines_close(&r);
	return found == 3;
}

static int is_set(const char *name)
{
	const char *v = getenv(name);

	return v && *v;
}

/* Follows the order in which src/net looks for credentials: environment, then profile. Half a key
 * in the environment is an error, because it hides the profile. */
void doctor_s3(struct doctor_part *p)
{
	const char *file = getenv("AWS_SHARED_CREDENTIALS_FILE"), *profile = getenv("AWS_PROFILE"),
		*home = getenv("HOME");
	int id = is_set("AWS_ACCESS_KEY_ID"), secret = is_set("AWS_SECRET_ACCESS_KEY");
	struct buf path = BUF_INIT;

	profile = profile && *profile ? profile : "default";
	buf_addf(&path, "%s%s", file ? file : home ? home : "", file ? "" : "/.aws/credentials");
	if (id && secret) {
		doctor_say(p, DOCTOR_OK, "from the environment");
	} else if (id || secret) {
		doctor_say(p, DOCTOR_MISSING, "AWS_%s is set, but AWS_%s is not",
			   id ? "ACCESS_KEY_ID" : "SECRET_ACCESS_KEY",
			   id ? "SECRET_ACCESS_KEY" : "ACCESS_KEY_ID");
		buf_addf(&p->fix, "export AWS_%s=...", id ? "SECRET_ACCESS_KEY" : "ACCESS_KEY_ID");
	} else if (has_profile(buf_cstr(&path), profile)) {
		doctor_say(p, DOCTOR_OK, "profile '%s' of %s", profile, buf_cstr(&path));
	} else {
		doctor_say(p, DOCTOR_ABSENT, "not configured; needed only to keep runs in S3");
		buf_adds(&p->fix, "to keep runs in S3: export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=...");
	}
	buf_release(&path);
}
