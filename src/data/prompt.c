/* Prompts: the styles and the texts they are made of. prompt.h is the manual. Models are
 * trained on these texts, so a change of one word is a change of every model. */
#include "data/prompt.h"

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "solve/solve.h"

static const char system_text[] =
	"You are an expert in GPU programming. You rewrite PyTorch modules as Triton kernels that are correct "
		"and fast.";

static const char example_task[] =
	"import torch\n"
	"import torch.nn as nn\n"
	"\n"
	"class Model(nn.Module):\n"
	"    def __init__(self, shift):\n"
	"        super().__init__()\n"
	"        self.shift = shift\n"
	"\n"
	"    def forward(self, a, b):\n"
	"        return torch.relu(a - b) + self.shift\n"
	"\n"
	"rows = 64\n"
	"cols = 1000\n"
	"\n"
	"def get_inputs():\n"
	"    return [torch.randn(rows, cols), torch.randn(rows, cols)]\n"
	"\n"
	"def get_init_inputs():\n"
	"    return [0.5]\n";

static const char example_answer[] =
	"The module is pointwise over two tensors of one shape. One kernel reads both once, computes the difference,\n"
	"the relu and the shift in registers, and writes the result once.\n"
	"\n"
	"```python\n"
	"import torch\n"
	"import torch.nn as nn\n"
	"import triton\n"
	"import triton.language as tl\n"
	"\n"
	"@triton.jit\n"
	"def sub_relu_shift_kernel(a_ptr, b_ptr, out_ptr, shift, n, BLOCK: tl.constexpr):\n"
	"    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
	"    mask = offs < n\n"
	"    a = tl.load(a_ptr + offs, mask=mask, other=0.0)\n"
	"    b = tl.load(b_ptr + offs, mask=mask, other=0.0)\n"
	"    tl.store(out_ptr + offs, tl.maximum(a - b, 0.0) + shift, mask=mask)\n"
	"\n"
	"class ModelNew(nn.Module):\n"
	"    def __init__(self, shift):\n"
	"        super().__init__()\n"
	"        self.shift = shift\n"
	"\n"
	"    def forward(self, a, b):\n"
	"        out = torch.empty_like(a)\n"
	"        n = a.numel()\n"
	"        sub_relu_shift_kernel[(triton.cdiv(n, 1024),)](a, b, out, self.shift, n, BLOCK=1024)\n"
	"        return out\n"
	"```\n";

static const char strict_rule[] =
	"All arithmetic on tensors must happen inside your Triton kernels; on the host you may allocate, "
	"reshape and launch.\n";
static const char hybrid_rule[] =
	"You may keep PyTorch operators where a kernel of your own would not help, but the result must "
	"depend on your kernels.\n";

static const char instruction[] =
	"Rewrite the PyTorch module below with Triton kernels. Call the new module ModelNew; it takes the "
	"arguments that Model "
	"takes and returns what Model returns. Plan first, in a few sentences, then give the complete code "
	"in one Python block.\n";

static const char *const style_names[] = { [PROMPT_COMPACT] = "compact", [PROMPT_INSTRUCT] = "instruct",
					   [PROMPT_FULL] = "full", [PROMPT_OUTLINE] = "outline",
					   [PROMPT_AUTO] = "auto" };

int prompt_style_by_name(struct str name)
{
	for (size_t i = 0; i < COUNT_OF(style_names); i++)
		if (str_is(name, style_names[i]))
			return (int)i;
	return -1;
}

const char *prompt_style_name(enum prompt_style s)
{
	return style_names[s];
}

/* The prompt style that a folder's JSON file names, or -1. */
static int stored_style(const char *dir, const char *name)
{
	struct buf path = BUF_INIT;
	struct json *j = NULL;
	int style = -1;

	if (dir && path_join(&path, dir, name) && file_exists(path.p) && (j = json_parse_file(path.p, NULL)))
		style = prompt_style_by_name(json_str(json_get(j, "prompt_style"), ""));
	json_free(j);
	buf_release(&path);
	return style;
}

/* See prompt.h. "data/sft_train.jsonl" looks for data/prepare.json. */
int prompt_style_of_data(const char *file)
{
	struct str name = path_base(file);
	char *dir = mem_strndup(file, (size_t)(name.p - file));
	int style = dir ? stored_style(*dir ? dir : ".", "prepare.json") : -1;

	mem_free(dir);
	return style;
}

/* Chooses the prompt style: as asked, else the one that the adapter or the model was trained on,
 * else full. Warns if the two disagree, because a model answers worse in a style it has not
 * seen. */
enum prompt_style prompt_style_choose(enum prompt_style asked, const char *adapter, const char *model)
{
	int stored = stored_style(adapter, "tritonrl.json");
	const char *dir = stored < 0 ? model : adapter;

	if (stored < 0)
		stored = stored_style(model, "tritonrl.json");
	if (asked == PROMPT_AUTO)
		return stored < 0 ? PROMPT_FULL : (enum prompt_style)stored;
	if (stored >= 0 && stored != (int)asked)
		log_warn("'%s' was trained on prompts of style '%s' and is asked in style '%s' (--prompt-style)",
			dir, style_names[stored], style_names[asked]);
	return asked;
}

/* Appends the task's source as a fenced block. */
static void add_source(struct buf *out, struct str task)
{
	buf_adds(out, "\n```python\n");
	buf_addstr(out, task);
	if (task.n && task.p[task.n - 1] != '\n')
		buf_addc(out, '\n');
	buf_adds(out, "```\n");
}

void prompt_outline(struct str task, struct str outline, int tf32, struct buf *user)
{
	buf_addstr(user, task);
	if (outline.n || tf32)
		buf_addc(user, '\n');
	buf_addstr(user, outline);
	if (tf32)
		buf_adds(user, "# precision: tf32\n");
}

/* Records the task's operators and adds them to the prompt. A task that does not run has none. */
static int outlined(struct str task, int tf32, struct buf *user, struct err *e)
{
	struct buf outline = BUF_INIT;
	int rc = solve_outline(NULL, task, &outline, e);

	if (!rc)
		prompt_outline(task, buf_str(&outline), tf32, user);
	buf_release(&outline);
	return rc || buf_check(user, e) ? -1 : 0;
}

int prompt_task(struct prompt_ask ask, struct str task, struct buf *system, struct buf *user, struct err *e)
{
	if (ask.style == PROMPT_COMPACT) {
		buf_addstr(user, task);
		return buf_check(user, e);
	}
	if (ask.style == PROMPT_OUTLINE)
		return outlined(task, ask.tf32, user, e);
	buf_adds(system, system_text);
	if (ask.style == PROMPT_INSTRUCT) {
		buf_addf(user, "%s%s", instruction, ask.strict ? strict_rule : hybrid_rule);
		add_source(user, task);
		return buf_check(system, e) || buf_check(user, e) ? -1 : 0;
	}
	buf_addf(user,
		 "Below is a PyTorch module called Model. Write a module called ModelNew that computes the "
		 "same thing with Triton "
		 "kernels. ModelNew takes the same constructor and forward arguments and keeps the names of "
		 "the parameters.\n"
		 "%s"
		 "Do not catch exceptions, keep results between calls or return anything that was not "
		 "computed from the inputs. "
		 "Handle sizes that are not multiples of your block sizes.\n"
		 "\nAn example. For this module:\n\n```python\n%s```\n\na good answer is:\n\n%s"
		 "\nNow do the same for this module. First describe your plan in a few sentences, then give "
		 "the complete code in one "
		 "Python block.\n", ask.strict ? strict_rule : hybrid_rule, example_task, example_answer);
	add_source(user, task);
	return buf_check(system, e) || buf_check(user, e) ? -1 : 0;
}

void prompt_repair(struct buf *feedback)
{
	buf_adds(feedback, "\nGive the complete corrected code in one Python block.\n");
}

int prompt_answer(struct str plan, struct str solution, struct buf *out, struct err *e)
{
	buf_addstr(out, plan);
	if (plan.n && plan.p[plan.n - 1] != '\n')
		buf_addc(out, '\n');
	buf_adds(out, "```python\n");
	buf_addstr(out, solution);
	if (solution.n && solution.p[solution.n - 1] != '\n')
		buf_addc(out, '\n');
	buf_adds(out, "```\n");
	return buf_check(out, e);
}

/* Writes one message as JSON. */
static void add_message(struct jw *w, const char *role, struct str content)
{
	jw_begin(w, '{');
	jw_key(w, "role"), jw_cstr(w, role);
	jw_key(w, "content"), jw_str(w, content);
	jw_end(w, '}');
}

void prompt_messages(struct jw *w, struct str system, struct str user, struct str assistant)
{
	jw_begin(w, '[');
	if (system.n)
		add_message(w, "system", system);
	add_message(w, "user", user);
	add_message(w, "assistant", assistant);
	jw_end(w, ']');
}
