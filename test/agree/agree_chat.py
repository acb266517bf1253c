#!/usr/bin/env python3
"""Chat templates against transformers' apply_chat_template: templates of the forms that Qwen2.5,
Qwen3 and Llama 3 use, over conversations with and without system turns, tools, tool calls and
thinking, and one small template for each construct. Exit code 0: all equal."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

ROOT = Path(__file__).resolve().parents[2]
TOOL = Path(os.environ.get("BUILD_DIR", ROOT / "build/release")) / "tool/tok_tool"

QWEN25 = r"""{%- if tools %}
    {{- '<|im_start|>system\n' }}
    {%- if messages[0]['role'] == 'system' %}
        {{- messages[0]['content'] }}
    {%- else %}
        {{- 'You help with kernels.' }}
    {%- endif %}
    {{- "\n\n# Functions\n<tools>" }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\n</tools>\nAnswer {\"name\": <function>}<|im_end|>\n" }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>system\nYou help with kernels.<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}
            {{- '\n' + message.content }}
        {%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}
                {%- set tool_call = tool_call.function %}
            {%- endif %}
            {{- '\n<tool_call>\n{"name": "' }}
            {{- tool_call.name }}
            {{- '", "arguments": ' }}
            {{- tool_call.arguments | tojson }}
            {{- '}\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}
            {{- '<|im_start|>user' }}
        {%- endif %}
        {{- '\n<tool_response>\n' }}
        {{- message.content }}
        {{- '\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '<|im_end|>\n' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"""

QWEN3 = r"""{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n') + '\n</think>\n\n' + content.lstrip('\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}
                    {{- '\n' }}
                {%- endif %}
                {%- if tool_call.function %}
                    {%- set tool_call = tool_call.function %}
                {%- endif %}
                {{- '<tool_call>\n{"name": "' }}
                {{- tool_call.name }}
                {{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}
                    {{- tool_call.arguments }}
                {%- else %}
                    {{- tool_call.arguments | tojson }}
                {%- endif %}
                {{- '}\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- elif message.role == "tool" %}
        {{- '<|im_start|>user\n<tool_response>\n' + content + '\n</tool_response><|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}"""

LLAMA3 = ("{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start|>' + message['role'] + "
          "'<|end|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}"
          "{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant<|end|>\n\n' }}{% endif %}")

LLAMA31 = r"""{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools_in_user_message is defined %}
    {%- set tools_in_user_message = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- set date_string = "26 Jul 2024" %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{#- The system turn comes first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start|>system<|end|>\n\n" }}
{%- if builtin_tools is defined or tools is not none %}
    {{- "Environment: ipython\n" }}
{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\n\n"}}
{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first_user_message = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("there is no first user message") }}
{%- endif %}
    {{- '<|start|>user<|end|>\n\n' -}}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\n\n" }}
    {%- endfor %}
    {{- first_user_message + "<|eot_id|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start|>' + message['role'] + '<|end|>\n\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("one call at a time") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '<|start|>assistant<|end|>\n\n' -}}
        {{- '{"name": "' + tool_call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- tool_call.arguments | tojson }}
        {{- "}" }}
        {%- for arg_name, arg_val in tool_call.arguments | items %}
            {{- arg_name ~ '="' ~ arg_val ~ '"' }}
            {%- if not loop.last %}
                {{- ", " }}
            {%- endif %}
        {%- endfor %}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start|>ipython<|end|>\n\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start|>assistant<|end|>\n\n' }}
{%- endif %}
"""

CONSTRUCTS = r"""
{{ 1 + 2 * 3 - 4 // 3 }} {{ 7 % 3 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 5 }} {{ 1.5 + 1 }} {{ 1e5 is defined }}
{{ [1, 'a', none, true, 1.0, {'k': [2]}] }} {{ "it's" }} {{ ["it's", 'say "x"', 'a\nb\\'] }}
{{ 'abc'[1:] }} {{ 'abcdef'[::-1] }} {{ 'abcdef'[-3:-1] }} {{ [1,2,3][5:] }} {{ 'héllo'[1] }} {{ 'héllo'|length }}
{{ 'a' if messages else 'b' }} {{ 'x' if false }}|{{ missing }}|{{ missing|default('d') }} {{ ''|default('e', true) }}
{% for i in range(3) %}{{ loop.index }}/{{ loop.length }}{{ ',' if not loop.last }}{% endfor %} {% for i in [] %}x{% else %}none{% endfor %}
{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }};{% endfor %} {% for i in range(10) if i is odd %}{{ i }}{{ loop.index0 }} {% endfor %}
{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}
{% set x = 1 %}{% for i in range(3) %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }} {% set ns = namespace(n=0) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}
{% macro greet(name, mark='!') %}Hi {{ name }}{{ mark }}{% endmacro %}{{ greet('a') }}{{ greet('b', mark='?') }}{{ greet(name='c') }}
{% set block %}in {{ 1 + 1 }}{% endset %}[{{ block }}] {% set a, b = 1, 2 %}{{ a }}{{ b }}
{{ ' x '|trim }}|{{ 'A,b'.split(',') }}|{{ 'a  b c'.split() }}|{{ 'a,b,c'.split(',', 1) }}|{{ 'xxaxx'.strip('x') }}|{{ 'ab'.upper() }}|{{ 'Hello World'|lower }}
{{ [3,1,2]|sort|join('-') }} {{ ['b','A','c']|map('upper')|list }} {{ messages|map(attribute='role')|join(',') }} {{ [1,2,2,1]|unique|list }}
{{ messages|selectattr('role', 'equalto', 'user')|list|length }} {{ messages|rejectattr('role', 'eq', 'user')|map(attribute='role')|list }} {{ [0,1,'',2]|select|list }}
{{ 'a' in 'cat' }} {{ 'z' not in ['z'] }} {{ 'role' in messages[0] }} {{ 1 < 2 < 3 }} {{ 1 == 1.0 }} {{ 'a' ~ 1 ~ none }} {{ not true or false and true }}
{{ messages is iterable }} {{ 'x' is string }} {{ {} is mapping }} {{ none is none }} {{ 3 is divisibleby 3 }} {{ missing is not defined }} {{ true is true }} {{ 1 is number }}
{{ {'a': 1, 'z': [1, {'b': none}], 'é': "q\"\n\t<>&'"}|tojson }} {{ {'a': [1,2], 'b': {}}|tojson(indent=2) }} {{ [1.5, true]|tojson }}
{{ 'a\nb\n\nc'|indent(2) }} {{ 'aXbX'|replace('X', '-') }} {{ 'aXbX'.replace('X', '') }} {{ '12'|int + 1 }} {{ 'x'|int }} {{ 3.7|int }} {{ [1,2,3]|first }} {{ [1,2,3]|last }}
{{ {'a': 1}.get('b', 'none') }} {{ {'a': 1}.keys()|list }} {{ {'a': 1}.values()|list }} {{ [[1, 2], [3]]|length }} {{ 'abc'|first }} {{ 'hello world'|title }} {{ 'hello world'|capitalize }}
{# a comment #}a {#- trimmed -#} b {{- 'c' -}} d {%- if true -%} e {%- endif -%} f
   {% if true %}
line
   {% endif %}
  {%+ if true %} kept {% endif +%}

{% raw %}{{ raw }}{% endraw %} {{ "a" "b" }} {{ {'x': {'y': 5}}.x.y }} {{ messages[0].role }} {{ messages[-1]['role'] }} {{ messages[0].nothing }}
{% generation %}assistant text{% endgeneration %} {{ (1, 2) | length }} {{ [1] + [2] }} {{ 'ab' * 3 }} {{ "\u00e9\x41" }} {{ loop is defined }}
{{ messages[0]['content'].split('\n')[0] }} {{ 'abc'.find('c') }} {{ ['a','b']|reverse|list }} {{ 'a-b'|upper|lower }} {{ 5|string + '5' }} {{ [1, 5, 3]|max }} {{ -3|abs }} {{ 2.567|round(1) }}
{{ messages[0].content is string and messages[0].content.startswith(('S', 'Y')) }} {{ ' '.join(['a', 'b']) }} {{ 'x y'.title() }} {{ "a\tb" }}
{% for a in [1,2] %}{% for b in 'xy' %}{{ a }}{{ b }}{{ loop.first }}{% endfor %}{{ loop.revindex }}{% endfor %} {% if messages|length > 100 %}A{% elif messages %}B{% else %}C{% endif %}
{% for m in messages %}{{ loop.previtem.role if loop.previtem is defined else '-' }}>{{ loop.nextitem.role if loop.nextitem is defined else '-' }} {% endfor %} {{ dict(a=1) }}
"""
ERRORS = ["{{ messages.x.y }}", "{{ 'a' + 1 }}", "{{ raise_exception('no') }}", "{% if %}", "{{ foo( }}", "{% for x in 5 %}{% endfor %}",
          "{{ none + 'a' }}", "{{ 1 // 0 }}", "{% endif %}", "{{ 'a' | nofilter }}", "{% set x.y = 1 %}", "{{ missing() }}", "{{ 1 < 'a' }}"]

TOOLS = [{"type": "function", "function": {"name": "compile", "description": "Compile a kernel, \"quoted\" & <b>é</b>",
          "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}}]
USER = {"role": "user", "content": "  Write a kernel\nthat adds. "}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "compile", "arguments": {"n": 3, "s": "x\"é"}}}]}
CHATS = [
    [USER],
    [{"role": "system", "content": "You are terse."}, USER],
    [{"role": "system", "content": "You are terse."}, USER, {"role": "assistant", "content": "Done."}, {"role": "user", "content": "Faster?"}],
    [USER, CALL, {"role": "tool", "content": "ok"}, {"role": "assistant", "content": "It compiles."}],
    [USER, CALL, {"role": "tool", "content": "ok"}, {"role": "tool", "content": "12 ms"}, {"role": "user", "content": "thanks \U0001F600"}],
    [USER, {"role": "assistant", "content": "<think>\nhm\n</think>\n\nAnswer"}, {"role": "user", "content": "more"},
     {"role": "assistant", "content": "<think>again</think>last"}],
    [USER, {"role": "assistant", "content": "x", "reasoning_content": "because"}],
]


def theirs(tok, template, chat):
    try:
        return {"text": tok.apply_chat_template(chat["messages"], tools=chat.get("tools"), chat_template=template, tokenize=False,
                                                add_generation_prompt=chat["add_generation_prompt"], **(chat.get("extra") or {}))}
    except Exception as e:
        return {"error": str(e)}


def ours(folder, template, chats):
    (folder / "chat_template.jinja").write_text(template)
    lines = "\n".join(json.dumps(c) for c in chats) + "\n"
    p = subprocess.run([str(TOOL), "chat", str(folder)], input=lines.encode(), capture_output=True)
    if p.returncode:
        raise SystemExit(f"tok_tool: {p.stderr.decode()}")
    return [json.loads(line) for line in p.stdout.decode().splitlines()]


def main():
    if not TOOL.exists():
        raise SystemExit(f"{TOOL} is missing: make unit")
    chats = [{"messages": m, "tools": t, "add_generation_prompt": g, "extra": x} for m in CHATS for t in (None, TOOLS) for g in (False, True)
             for x in ({}, {"enable_thinking": False, "builtin_tools": ["code_interpreter", "search"], "tools_in_user_message": False})]
    templates = {"qwen2.5": QWEN25, "qwen3": QWEN3, "llama3": LLAMA3, "llama3.1": LLAMA31}
    lines = [line for line in CONSTRUCTS.strip("\n").split("\n")]
    templates |= {f"construct {i}": line for i, line in enumerate(lines)} | {"all constructs": CONSTRUCTS}
    templates |= {f"error {i}": t for i, t in enumerate(ERRORS)}
    bad = total = 0
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp)
        core = Tokenizer(models.BPE())
        core.pre_tokenizer = pre_tokenizers.ByteLevel()
        tok = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<|begin|>", eos_token="<|end|>")
        tok.save_pretrained(folder)
        for name, template in templates.items():
            some = chats if name in ("qwen2.5", "qwen3", "llama3", "llama3.1") else chats[:9:4]
            for chat, got in zip(some, ours(folder, template, some)):
                want = theirs(tok, template, chat)
                total += 1
                if ("text" in want) != ("text" in got) or want.get("text") != got.get("text"):
                    bad += 1
                    if bad <= 12:
                        print(f"{name}:\n  want {want!r}\n  got  {got!r}")
    print(f"agree_chat: {total} renderings of {len(templates)} templates: {bad} differ")
    print(f"{total - bad} passed, {bad} failed, 0 skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
