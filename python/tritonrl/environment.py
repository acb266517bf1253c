"""An environment for verifiers up to 0.3 (tritonrl_kernels is for newer ones): tasks as prompts, the judge as rubric, feedback between turns.

    env = tritonrl.environment.load_environment(tasks="tasks.jsonl", turns=3, track="hybrid")

`tasks` is a file of JSON lines with `task` (and `id`), as `tritonrl tasks` writes them, or a list of such dicts. With
more than one turn the model sees the judge's feedback on its last answer and tries again.
"""
import json

from tritonrl.client import at_fault, feedback, judge, reward

SYSTEM = "You write Triton kernels. Answer with one Python code block that defines ModelNew, which computes the same as Model."


def read_tasks(tasks, limit=None):
    rows = tasks if isinstance(tasks, list) else [json.loads(line) for line in open(tasks, encoding="utf-8") if line.strip()]
    return rows[:limit]


def load_environment(tasks="tasks.jsonl", turns=1, limit=None, system=SYSTEM, **options):
    import verifiers as vf
    from datasets import Dataset

    rows = read_tasks(tasks, limit)
    data = Dataset.from_list([{"prompt": [{"role": "system", "content": system}, {"role": "user", "content": r["task"]}], "answer": r["task"],
                               "info": {"id": str(r.get("id", i))}} for i, r in enumerate(rows)])

    async def verdict_of(completion, answer):
        texts = [m["content"] for m in completion if m["role"] == "assistant"]
        return await judge(answers=True, **options).verify_async(answer, texts[-1] if texts else "")

    async def kernel_reward(completion, answer, **_):
        verdict = await verdict_of(completion, answer)
        return 0.0 if at_fault(verdict) else reward(verdict)

    async def is_correct(completion, answer, **_):
        return float((await verdict_of(completion, answer))["verdict"] == "correct")

    rubric = vf.Rubric(funcs=[kernel_reward, is_correct], weights=[1.0, 0.0])
    if turns <= 1:
        return vf.SingleTurnEnv(dataset=data, rubric=rubric)

    class RepairEnv(vf.MultiTurnEnv):
        async def env_response(self, messages, state, **_):
            verdict = await verdict_of(messages, state["answer"])
            state["verdict"] = verdict["verdict"]
            return [{"role": "user", "content": feedback(verdict) or "Correct."}]

        @vf.stop
        async def solved(self, state, **_):
            return state.get("verdict") == "correct"

    return RepairEnv(dataset=data, rubric=rubric, max_turns=turns)
