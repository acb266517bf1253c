"""Kernels for verifiers 0.4 and newer (and prime-rl): a taskset whose reward is the judge's, with feedback between turns.

    vf-eval tritonrl-kernels --env.taskset.tasks tasks.jsonl --env.turns 3 --env.agent.harness.id null

`tasks` is a file of JSON lines with `task` (and `id`), as `tritonrl tasks` writes them; `--env.taskset.task.options` are those of
`tritonrl.verify`. With more than one turn the model sees the judge's feedback on its last answer and tries again. Older releases:
tritonrl.environment.
"""
import verifiers.v1 as vf

from tritonrl.client import at_fault, feedback, judge, reward
from tritonrl.environment import SYSTEM, read_tasks

__all__ = ["KernelTaskset", "KernelEnv"]


class KernelData(vf.TaskData):
    source: str
    """The task: PyTorch source that defines Model."""


class KernelTaskConfig(vf.TaskConfig):
    options: dict = {}
    """Of the judge: track, precision, url of a server, ..."""


class KernelTask(vf.Task[KernelData, vf.State, KernelTaskConfig]):
    async def verdict(self, answer):
        return await judge(answers=True, **self.config.options).verify_async(self.data.source, answer)

    @vf.reward(weight=1.0)
    async def kernel_reward(self, trace: vf.Trace) -> float:
        verdict = await self.verdict(trace.last_reply)
        return 0.0 if at_fault(verdict) else reward(verdict)

    @vf.metric
    async def is_correct(self, trace: vf.Trace) -> float:
        return float((await self.verdict(trace.last_reply))["verdict"] == "correct")


class KernelTasksetConfig(vf.TasksetConfig):
    tasks: str = "tasks.jsonl"
    system: str = SYSTEM
    task: KernelTaskConfig = KernelTaskConfig()


class KernelTaskset(vf.Taskset[KernelTask, KernelTasksetConfig]):
    def load(self):
        for i, row in enumerate(read_tasks(self.config.tasks)):
            data = KernelData(id=str(row.get("id", i)), prompt=row["task"], system_prompt=self.config.system or None, source=row["task"])
            yield KernelTask(data, self.config.task)


class KernelEnvConfig(vf.EnvConfig):
    agent: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime=vf.SubprocessConfig())
    turns: int = 1


class KernelEnv(vf.Env[KernelEnvConfig]):
    async def run(self, task, agents):
        if self.config.turns <= 1:
            await agents.agent.run(task)
            return
        async with agents.agent.interaction(task) as exchange:
            answer = await exchange.turn()
            for _ in range(self.config.turns - 1):
                verdict = None if answer.terminated else await task.verdict(answer.last_reply)
                if not verdict or verdict["verdict"] == "correct":
                    break
                answer = await exchange.turn(feedback(verdict))
