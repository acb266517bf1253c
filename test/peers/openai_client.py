"""The OpenAI Python client against our server: chat and completions, streamed and whole, n, stop, seed, logprobs, errors."""
import os
import subprocess
import sys

from openai import BadRequestError, OpenAI

PROGRAM = os.environ["TRITONRL"]


def main():
    server = subprocess.Popen([PROGRAM, "serve", "--port", "0", "--workers", "1", "--model", "models/base"], stdout=subprocess.PIPE, text=True)
    client = OpenAI(base_url=server.stdout.readline().split()[-1] + "/v1", api_key="x")
    try:
        name = client.models.list().data[0].id
        ask = dict(model=name, messages=[{"role": "user", "content": open("test/cheats/tasks/add.py").read()}], max_tokens=60, temperature=1.0, top_p=0.9, seed=3)
        whole = client.chat.completions.create(n=2, logprobs=True, **ask)
        assert len(whole.choices) == 2 and whole.usage.completion_tokens > 0 and whole.choices[0].message.role == "assistant", whole
        assert len(whole.choices[0].logprobs.content) > 0 and whole.choices[0].logprobs.content[0].logprob <= 0
        again = client.chat.completions.create(n=2, **ask)
        assert [c.message.content for c in again.choices] == [c.message.content for c in whole.choices], "the seed is not heeded"
        streamed = "".join(x.choices[0].delta.content or "" for x in client.chat.completions.create(stream=True, n=1, **ask) if x.choices)
        assert streamed == whole.choices[0].message.content, (streamed, whole.choices[0].message.content)
        stop = streamed[len(streamed) // 2:][:3]
        cut = client.chat.completions.create(n=1, stop=[stop], **ask).choices[0]
        assert cut.message.content == streamed[:streamed.index(stop)] and cut.finish_reason == "stop", cut
        text = client.completions.create(model=name, prompt="import triton", max_tokens=20, temperature=0)
        assert text.choices[0].text and text.usage.prompt_tokens > 0, text
        try:
            client.chat.completions.create(model=name, messages=[], max_tokens=5)
            raise AssertionError("an empty conversation was answered")
        except BadRequestError as e:
            assert e.status_code == 400, e
        print("ok: the OpenAI client against", name)
    finally:
        server.terminate()
        server.wait()


sys.exit(main())
