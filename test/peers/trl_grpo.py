"""TRL: three steps of its GRPOTrainer on a tiny random model on the CPU, with our reward."""
import json
import sys
import tempfile

sys.path[:0] = ["python", "test/peers"]
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

import _model
import tritonrl

GOOD = open("test/cheats/control_correct/add.py").read()


def main():
    reward = tritonrl.rewards.trl(task_column="task", track="hybrid", workers=1)
    task = open("test/cheats/tasks/add.py").read()
    scores = reward(completions=["```python\n%s```" % GOOD, "nothing", [{"role": "assistant", "content": GOOD}]], task=[task] * 3)
    assert scores[0] > 0.5 and scores[1] == 0 and scores[2] == scores[0], scores
    assert reward(completions=[GOOD], task=["not a task"]) == [None]
    rows = [json.loads(line) for line in open("tasks/plain/test_level1.jsonl")][:4]
    data = Dataset.from_list([{"prompt": [{"role": "user", "content": r["task"]}], "task": r["task"]} for r in rows])
    with tempfile.TemporaryDirectory() as folder:
        _model.make(folder)
        config = GRPOConfig(output_dir=folder + "/out", max_steps=3, per_device_train_batch_size=2, num_generations=2, max_completion_length=24,
                            use_cpu=True, bf16=False, report_to=[], logging_steps=1, save_strategy="no", learning_rate=1e-3, beta=0.0)
        trainer = GRPOTrainer(model=AutoModelForCausalLM.from_pretrained(folder), processing_class=AutoTokenizer.from_pretrained("models/base"),
                              reward_funcs=[reward], args=config, train_dataset=data)
        trainer.train()
        logged = [x for x in trainer.state.log_history if "reward" in x]
    assert trainer.state.global_step == 3 and len(logged) == 3, trainer.state.log_history
    print("ok: three steps of TRL's GRPO, rewards", [x["reward"] for x in logged])


sys.exit(main())
