"""Reward functions for trainers.

TRL's GRPOTrainer:      reward_funcs=[tritonrl.rewards.trl(task_column="task", track="hybrid")]
verl:                   custom_reward_function.path=.../tritonrl/rewards.py custom_reward_function.name=compute_score

Options are those of `tritonrl verify`, or url= and token= of a server. If the task is at fault, or the judge's
engine does not support what the candidate uses, TRL gets None, which it leaves out of the group; verl has no such value
and gets 0.
"""
from tritonrl.client import at_fault, judge, reward


def _text(completion):
    """Returns the answer: a completion is a text, or a conversation whose last message is the answer."""
    if isinstance(completion, str):
        return completion
    return completion[-1]["content"]


def trl(task_column="task", form=None, **options):
    """Returns a reward function f(completions, **columns) -> list of float or None.

    `task_column` is the column of the data set with the source of the task. `form` turns a verdict into a number; the
    default is the reward of the judge.
    """
    form = form or reward

    def tritonrl_reward(completions, **columns):
        if task_column not in columns:
            raise ValueError(f"the data set has no column '{task_column}' with the tasks' sources")
        verdicts = judge(answers=True, **options).verify_batch(columns[task_column], [_text(c) for c in completions])
        return [None if at_fault(v) else form(v) for v in verdicts]

    return tritonrl_reward


def correct(verdict):
    """A form for trl(): 1 for a correct candidate, else 0."""
    return float(verdict["verdict"] == "correct")


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **options):
    """The reward with verl's signature. `ground_truth` is the source of the task, or a dict with it under "task"."""
    task = ground_truth["task"] if isinstance(ground_truth, dict) else ground_truth
    verdict = judge(answers=True, **options).verify(task, solution_str)
    return 0.0 if at_fault(verdict) else reward(verdict)
