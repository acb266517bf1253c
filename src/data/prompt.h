/* Prompts: the question to a model, and the form of the answer it is trained to write.
 *
 * `full` explains the job, gives one worked example and the rules of the track: for models
 * that were trained on many things. `instruct` states the job in a few sentences, for models that
 * have been or are being taught it. `compact` is the task's source and nothing else: for
 * small models that do only this. `outline` adds the operators that the task records, with the sizes of
 * their results (solve/outline.h). The answer is a plan in words, then one fenced block. */
#ifndef DATA_PROMPT_H
#define DATA_PROMPT_H

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

enum prompt_style { PROMPT_COMPACT, PROMPT_INSTRUCT, PROMPT_FULL, PROMPT_OUTLINE, PROMPT_AUTO };
#define PROMPT_STYLES "compact|instruct|full|outline"       /* in the order of the enum */
#define PROMPT_STYLES_OR_AUTO PROMPT_STYLES "|auto"
#define PROMPT_STYLE_HELP "full: with a worked example; instruct: a few sentences; compact: the task only; " \
	"outline: the task and its recorded operators; " \
	"auto: as the model was trained, else full"

int prompt_style_by_name(struct str name);      /* enum prompt_style or -1 */
const char *prompt_style_name(enum prompt_style s);
/* Returns the style of the training rows in a file, read from the prepare.json in the same folder;
 * -1 if it is not known. */
int prompt_style_of_data(const char *file);
/* The style to ask this model in. A folder that training wrote names the style it was trained on
 * (tritonrl.json): `auto` takes that one, and another style causes a warning. `adapter` may be
 * NULL. */
enum prompt_style prompt_style_choose(enum prompt_style asked, const char *adapter, const char *model);

/* The style of a prompt, and the rules that it names. */
struct prompt_ask {
	enum prompt_style style;
	int strict;              /* the track; styles compact and outline do not name it */
	int tf32;                /* fp32 products may be tf32; only style outline says so */
};
/* The user's message for a task (and the system's message, empty for compact and outline). */
int prompt_task(struct prompt_ask ask, struct str task, struct buf *system, struct buf *user, struct err *e);
/* The user's message of style outline: the task, its outline (may be empty), and a line that names the
 * precision of products if they may all be tf32. */
void prompt_outline(struct str task, struct str outline, int tf32, struct buf *user);
/* Turns feedback on an answer (never empty) into the user's message that asks for another one. */
void prompt_repair(struct buf *feedback);
/* The assistant's message: plan, then the solution in a fence. */
int prompt_answer(struct str plan, struct str solution, struct buf *out, struct err *e);
/* The conversation as a JSON array; an empty system message is left out. */
void prompt_messages(struct jw *w, struct str system, struct str user, struct str assistant);

#endif
