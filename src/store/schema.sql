-- The run store. One file per run: every sample, verdict, step and event. Rows carry the
-- stage and step that made them, so that a resumed run can drop what came after its
-- checkpoint and end with the same tables as one that was never interrupted.
PRAGMA user_version = 1;

CREATE TABLE IF NOT EXISTS meta (
	key TEXT PRIMARY KEY,
	value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS task (
	id TEXT PRIMARY KEY,
	level INTEGER NOT NULL,
	split TEXT NOT NULL,
	ops TEXT NOT NULL,
	source TEXT NOT NULL
) WITHOUT ROWID;

-- One optimiser step.
CREATE TABLE IF NOT EXISTS step (
	stage TEXT NOT NULL,
	step INTEGER NOT NULL,
	loss REAL, lr REAL, grad_norm REAL,
	tokens INTEGER,
	extra TEXT NOT NULL DEFAULT '{}',
	PRIMARY KEY (stage, step)
) WITHOUT ROWID;

-- One sampled answer and what the judge said of it.
CREATE TABLE IF NOT EXISTS sample (
	id INTEGER PRIMARY KEY,
	stage TEXT NOT NULL,
	step INTEGER NOT NULL,
	task TEXT NOT NULL,
	number INTEGER NOT NULL,          -- of the task's samples at this step
	answer TEXT NOT NULL,
	code TEXT NOT NULL,
	tokens INTEGER NOT NULL,
	logprob REAL,
	finish TEXT NOT NULL,
	correct INTEGER, reached TEXT, reason TEXT, reward REAL, speedup REAL,
	verdict TEXT                       -- as verify --json prints it
);
CREATE INDEX IF NOT EXISTS sample_at ON sample (stage, step, task, number);
CREATE INDEX IF NOT EXISTS sample_of ON sample (task);

-- Samples of a step that is not finished yet: what was drawn, so that a run that was stopped
-- does not draw it again. Dropped when a checkpoint holds the step.
CREATE TABLE IF NOT EXISTS pending (
	stage TEXT NOT NULL,
	step INTEGER NOT NULL,
	place INTEGER NOT NULL,           -- of the task in the step
	number INTEGER NOT NULL,
	sample BLOB NOT NULL,
	PRIMARY KEY (stage, step, place, number)
) WITHOUT ROWID;

-- One finished evaluation.
CREATE TABLE IF NOT EXISTS eval (
	name TEXT PRIMARY KEY,
	result TEXT NOT NULL               -- outputs/eval_NAME.json
) WITHOUT ROWID;

-- Verdicts by content: sha256 of candidate, task, judge version and options.
CREATE TABLE IF NOT EXISTS cache (
	key TEXT PRIMARY KEY,
	verdict BLOB NOT NULL
) WITHOUT ROWID;
