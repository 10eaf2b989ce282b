#!/usr/bin/env python3
"""Asks Hugging Face's transformers what chat templates render: the goldens of TemplateGoldenTest and ChatTemplateGoldenTest.

    make_template_goldens.py FOLDER [--shared ../shared]

language.json has small templates of our own, each for a part of the language, and templates of chats, with their conversations: the text, or
that it fails. released.json has the SHA-256 of what the templates in ../shared/templates, of released models, render for the same conversations
(the texts are the models'), and ids of two tokenizers there.
"""
import argparse
import hashlib
import json
import pathlib

from transformers.utils.chat_template_utils import _compile_jinja_template

VALUES = {
    "name": "Ada", "text": "  Two words\nand a line  ", "empty": "", "zero": 0, "one": 1, "negative": -7, "half": 0.5, "large": 1e20,
    "small": 1.5e-7, "yes": True, "no": False, "nothing": None, "letters": ["b", "a", "C", "a"], "numbers": [3, 1, 2],
    "mixed": [1, "1", 1.0, None, True, [2], {"k": "v"}], "person": {"name": "Ada", "age": 36, "items": "mine", "langs": ["en", "fr"]},
    "people": [{"name": "Ada", "age": 36, "city": {"name": "London"}}, {"name": "Bob", "age": 7}, {"name": "cyd", "age": 36, "city": {"name": "Rome"}}],
    "odd": "a'b\"c\\d\t<e>&\u00fc\u4e2d\U0001f999\u0007", "lines": "one\ntwo\r\nthree\n", "llama": "\U0001f999ab",
}

LANGUAGE = [
    # Text and white space.
    "a\n", "a\n\n", "\n a {{ name }} b \n", "x {%- if yes %} y {%- endif %} z", "x\n  {% if yes %}\n  y\n  {% endif %}\n  z",
    "  {%+ if yes %}\n y{% endif +%}\n z", "a {#- note -#} b", "a\n  {# note #}\n b", "a\n  {{ name }}\n b", "{{- name -}}   b", "  {{- name }}\n  c",
    "{% raw %}{{ x }} {% y %}{% endraw %}!", "{%- raw -%}  {{ x }}  {%- endraw -%}  !", "{% if yes -%}\n\n  a\n{%- endif %}\n\nb", "a\r\nb\rc\n",
    "{% for i in [1, 2] %}\n{{ i }}\n{% endfor %}\nend", "{% for i in [1, 2] -%}\n  {{ i }},\n{%- endfor %}", "\t{% if yes %}a{% endif %}\t{% if no %}b{% endif %}\tc",
    # Constants and what they print.
    "{{ 1 }} {{ 1_000 }} {{ 0x1f }} {{ 0b11 }} {{ 0o17 }} {{ 1.5 }} {{ 1e3 }} {{ 1.0 }} {{ 1e16 }} {{ 1e-5 }} {{ 123456789.125 }}",
    "{{ true }} {{ True }} {{ false }} {{ none }} {{ None }}", "{{ 'a' 'b' }} {{ \"q\\\"q\\n\\u00e9\\x41\\t|\" }} {{ 'it\\'s' }}",
    "{{ [1, 'a', none, true, 1.5, [2], (3,), (), {'k': 'v', 2: none}] }}", "{{ mixed }}", "{{ odd }}|{{ [odd] }}", "{{ {} }}{{ [] }}", "{{ large }} {{ small }} {{ half }}",
    "{{ 1.0 * 3 }} {{ 0.1 + 0.2 }} {{ 1 / 3 }} {{ 100.0 }} {{ 1e22 }} {{ -0.0 }}",
    # Arithmetic, comparison, logic.
    "{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 % 3 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ -2 ** 2 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 1 + 2 * 3 - 4 }}",
    "{{ 'a' + 'b' }} {{ 'ab' * 3 }} {{ [1] + [2] }} {{ [0] * 2 }} {{ 1 ~ 'x' ~ none ~ 2.0 }} {{ 'n=' ~ (1 + 2) }}", "{{ true + 1 }}",
    "{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }} {{ 1 == 1.0 }} {{ 1 == true }} {{ '1' == 1 }} {{ [1] == [1.0] }} {{ (1,) == [1] }} {{ 'a' < 'b' }} {{ [1, 2] < [1, 3] }} {{ {'a': 1} == {'a': 1.0} }}",
    "{{ 2 in numbers }} {{ 9 not in numbers }} {{ 'da' in name }} {{ 'name' in person }} {{ 1 in mixed }} {{ none in mixed }} {{ not 2 in numbers }}",
    "{{ yes and name }} {{ no or 'x' }} {{ '' or 0 or none }} {{ not yes }} {{ not not 1 }} {{ yes and no or 'z' }} {{ no and missing.x }}",
    "{{ 'a' if yes else 'b' }} {{ 'a' if no }}| {{ 'a' if no else 'b' if no else 'c' }} {{ (1 if yes else 2) + 1 }}", "{{ -one + 2 }} {{ +one }} {{ - half }} {{ one-1 }}",
    "{{ 1 + 'a' }}", "{{ 'a' + 1 }}", "{{ none + 1 }}", "{{ 1 < 'a' }}", "{{ [] < {} }}", "{{ 1 // 0 }}", "{{ 1.0 % 0 }}", "{{ missing + 1 }}", "{{ missing.x }}", "{{ missing[0] }}", "{{ missing() }}", "{{ name() }}",
    # Undefined.
    "[{{ missing }}] [{{ person.missing }}] [{{ person['missing'] }}] [{{ letters[9] }}] {{ missing == missing2 }} {{ missing is defined }} {% for x in missing %}x{% else %}none{% endfor %} {{ missing | length }} {{ 1 in missing }} {{ missing or 'd' }} {{ none.x }}|",
    # Members, items, slices.
    "{{ person.name }} {{ person['age'] }} {{ person.items is callable }}" , "{{ person['items'] }} {{ letters[0] }} {{ letters[-1] }} {{ letters.1 }} {{ name[0] }} {{ name[-1] }} {{ people[0].city.name }} {{ people[1].city is defined }}",
    "{{ numbers[1:] }} {{ numbers[:1] }} {{ numbers[::-1] }} {{ numbers[-2:] }} {{ name[::2] }} {{ name[1:99] }} {{ name[5:] }}| {{ numbers[5:1] }} {{ name[::-1] }} {{ (1, 2, 3)[1:] }} {{ numbers[2:0:-1] }} {{ numbers[:-1] }}",
    "{{ llama[0] }}{{ llama | length }}{{ llama[1:] }}{{ llama[::-1] }}", "{{ numbers[::0] }}", "{{ person[0:1] }}", "{{ person.get('name') }} {{ person.get('x') }} {{ person.get('x', 5) }} {{ person.keys() | list }} {{ person.values() | list }} {% for k, v in person.items() %}{{ k }}={{ v }};{% endfor %}",
    # Methods of text.
    "[{{ text.strip() }}] [{{ text.lstrip() }}] [{{ text.rstrip() }}] {{ 'xxaxx'.strip('x') }} {{ 'abcab'.rstrip('ba') }} {{ 'abcab'.lstrip('ba') }}",
    "{{ 'A,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }} {{ 'a b c'.split(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'abc'.split('x') }} {{ ''.split() }} {{ ''.split(',') }} {{ ' a  b  c '.rsplit(none, 1) }}",
    "{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'a'.partition('=') }}",
    "{{ 'hELLO wORLD'.capitalize() }} {{ 'hello wORLD x2y'.title() }} {{ 'Ab'.upper() }} {{ 'Ab'.lower() }} {{ 'Ab'.swapcase() }}",
    "{{ 'abc'.startswith('a') }} {{ 'abc'.startswith(('x', 'ab')) }} {{ 'abc'.endswith('bc') }} {{ 'abcabc'.find('c') }} {{ 'abcabc'.rfind('c') }} {{ 'abc'.find('x') }} {{ 'banana'.count('an') }} {{ 'abc'.index('b') }}",
    "{{ 'aXbXc'.replace('X', '-') }} {{ 'aXbXc'.replace('X', '-', 1) }} {{ 'ab'.replace('', '.') }} {{ ', '.join(letters) }} {{ 'pre-x'.removeprefix('pre-') }} {{ 'x.y'.removesuffix('.y') }} {{ '7'.zfill(3) }} {{ 'a'.ljust(3) }}|{{ 'a'.rjust(3, '.') }}|{{ 'ab'.center(5, '*') }}",
    "{{ 'abc'.isalpha() }} {{ '12'.isdigit() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ 'ab'.islower() }} {{ 'AB1'.isupper() }} {{ ''.isalpha() }}",
    "{{ '{} and {}'.format(1, 'b') }} {{ '{1}{0}{x}'.format(1, 2, x=3) }} {{ '{:>5}|{:<4}|{:^5}|{:05.1f}|{:,}'.format('a', 'b', 'c', 2.25, 1234567) }} {{ '{{}}'.format() }}",
    "{{ '%s is %d, %.2f, %5s|%-4s|%03d %r %x %%' % ('a', 7, 1.005, 'b', 'c', 5, 'q', 255) }} {{ '%s' % name }} {{ '%(a)s' % {'a': 1} }}", "{{ '%s %s' % 'a' }}", "{{ 'abc'.index('x') }}", "{{ name.nosuch() }}", "{{ letters.append('x') }}", "{{ person.update({}) }}", "{{ person.__class__ }}|{{ ''.__class__ }}|{{ name.__class__.__mro__ }}",
    # Statements.
    "{% if no %}a{% elif zero %}b{% elif name == 'Ada' %}c{% else %}d{% endif %}", "{% for x in letters %}{{ loop.index }}/{{ loop.length }}{{ x }}{{ ',' if not loop.last }}{{ loop.first }}{{ loop.revindex0 }}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}",
    "{% for x in numbers if x > 1 %}{{ loop.index }}:{{ x }} {% else %}none{% endfor %}", "{% for x in [] %}a{% else %}empty{% endfor %}", "{% for k, v in person.items() if k != 'age' %}{{ k }} {% endfor %}", "{% for a, (b, c) in [[1, [2, 3]]] %}{{ a }}{{ b }}{{ c }}{% endfor %}",
    "{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}", "{% for c in 'abc' %}{{ c }}.{% endfor %}{% for k in person %}{{ k }} {% endfor %}", "{% for i in range(3) %}{% for j in range(i) %}{{ loop.depth }}{{ i }}{{ j }} {% endfor %}{% endfor %}",
    "{% for x in letters %}{{ loop.cycle('odd', 'even') }}{{ loop.changed(x) }} {% endfor %}", "{% set x = 1 %}{% for i in range(2) %}{% set x = x + 10 %}{{ x }} {% endfor %}{{ x }}", "{% set ns = namespace(n=0, found=none) %}{% for i in numbers %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }} {{ ns.found }} {{ ns.other is defined }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}{% set (d, e) = [3, 4] %}{{ d }}{{ e }}", "{% if yes %}{% set q = 5 %}{% endif %}{{ q }}", "{% set block %}a{{ name }}b{% endset %}[{{ block }}]{% set shout | upper | replace('A', 'x') %}ada{% endset %}{{ shout }}", "{% filter upper | trim %} a{{ name }} {% endfilter %}", "{% with a = 1, b = name %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% macro m(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}|{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=5, a=4) }}{{ m() }}{{ m.name }}", "{% macro outer(x) %}[{{ x }}:{{ caller('y') }}]{% endmacro %}{% call(v) outer(1) %}<{{ v }}{{ name }}>{% endcall %}", "{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% macro v() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ v(1, 2, a=3) }}",
    "{% macro late() %}{{ z }}{% endmacro %}{% set z = 1 %}{{ late() }}", "{% generation %}a{{ name }}{% endgeneration %}", "{{ raise_exception('No ' + name) }}", "{% break %}", "{% if yes %}", "{% endif %}", "{{ 1 +", "{{ 'a }}", "{% for x in %}{% endfor %}", "{{ x | nosuch }}", "{{ x is nosuch }}", "{% nosuch %}", "{% include 'x' %}", "{{ (1 }}", "{% set person.x = 1 %}", "{% for a, b in [1] %}{% endfor %}", "{# open",
    # Tests.
    "{{ name is string }} {{ one is number }} {{ one is integer }} {{ half is float }} {{ yes is number }} {{ yes is boolean }} {{ yes is true }} {{ no is false }} {{ nothing is none }} {{ person is mapping }} {{ letters is iterable }} {{ name is iterable }} {{ letters is sequence }} {{ one is sequence }} {{ missing is undefined }} {{ range is callable }}",
    "{{ 3 is odd }} {{ 4 is even }} {{ 9 is divisibleby 3 }} {{ 1 is eq 1 }} {{ 1 is ne(2) }} {{ 1 is lt 2 }} {{ 2 is ge 2 }} {{ 'a' is in letters }} {{ one is sameas one }} {{ 'ab' is lower }} {{ 'AB' is upper }} {{ name is not none }} {{ not name is none }} {{ name is defined and name is not mapping }} {{ 1 is equalto 1 and 2 is gt 1 }}",
    # Filters.
    "{{ missing | default('d') }} {{ '' | default('d') }}| {{ '' | default('d', true) }} {{ none | d('x', boolean=true) }} {{ text | trim }} {{ 'xax' | trim('x') }} {{ name | length }} {{ letters | count }} {{ person | length }} {{ 5 | string }} {{ '3' | int + 1 }} {{ 'x' | int(7) }} {{ 3.9 | int }} {{ '1.5' | float }} {{ -5 | abs }} {{ (0-5) | abs }} {{ 2.567 | round(2) }} {{ 2.5 | round }} {{ 2.1 | round(0, 'ceil') }} {{ '3.7' | int }}",
    "{{ letters | first }} {{ letters | last }} {{ letters | join }} {{ letters | join(', ') }} {{ people | join('+', attribute='name') }} {{ letters | reverse | list }} {{ 'abc' | reverse }} {{ letters | sort }} {{ letters | sort(reverse=true) }} {{ letters | sort(case_sensitive=true) }} {{ people | sort(attribute='age,name') | map(attribute='name') | list }}",
    "{{ letters | unique | list }} {{ numbers | sum }} {{ people | sum(attribute='age') }} {{ numbers | max }} {{ numbers | min }} {{ people | map(attribute='city.name', default='?') | list }} {{ letters | map('upper') | join }} {{ numbers | select('odd') | list }} {{ numbers | reject('gt', 1) | list }} {{ people | selectattr('city') | map(attribute='name') | list }} {{ people | selectattr('age', 'equalto', 36) | map(attribute='name') | list }} {{ people | rejectattr('age', 'gt', 10) | map(attribute='name') | first }} {{ mixed | select | list | length }}",
    "{{ person | tojson }}", "{{ mixed | tojson }} {{ odd | tojson }} {{ people | tojson(indent=2) }}", "{{ person | tojson(indent=4) }} {{ [] | tojson(indent=2) }} {{ {} | tojson(indent=2) }} {{ odd | tojson(ensure_ascii=true) }} {{ {'b': 1, 'a': [1.0, 1e20, none]} | tojson(sort_keys=true, separators=(',', ':')) }}", "{{ missing | tojson }}",
    "{{ 'a b' | upper }} {{ 'A' | lower }} {{ 'hello world' | capitalize }} {{ 'hello big-world (x)' | title }} {{ 'ab' | center(6) }}| {{ 'aXa' | replace('a', 'b') }} {{ 'aaa' | replace('a', 'b', 2) }} {{ 'a\nb\n\nc' | indent }} {{ 'a\nb' | indent(2, true) }} {{ 'a\nb' | indent('> ') }} {{ 'one two three four' | truncate(10, leeway=0) }} {{ 'one two' | wordcount }} {{ '%s-%s' | format(1, 2) }}",
    "{{ numbers | batch(2) | list }} {{ numbers | batch(2, 0) | list }} {{ [1, 2, 3, 4, 5] | slice(2) | list }} {% for k, g in people | groupby('age') %}{{ k }}:{{ g | map(attribute='name') | join(',') }} {% endfor %}{{ person | dictsort }} {{ person | items | list }} {{ {'b': 1, 'a': 2} | dictsort(by='value') }}", "{{ '<a&b>' | e }} {{ '<a>' | safe }} {{ ('<b>' | safe) + '<c>' }} {{ '<' | e ~ '<' }}", "{{ 5 | length }}", "{{ letters | join(1) }}", "{{ 'a' | list }} {{ person | list }} {{ range(2, 8, 3) | list }} {{ range(3, 0, -1) | list }} {{ dict(a=1, b=2) }} {{ letters | attr('count') is callable }}", "{{ 3 | list }}", "{{ letters | map('nosuch') | list }}", "{{ [3, 'a'] | sort }}", "{{ none | selectattr('x') | list }}",
]

USER = {"role": "user", "content": "Hello <|end|> {{ 7 * 7 }}"}
ANSWER = {"role": "assistant", "content": "<think>\nhm\n</think>\n\nYes. "}
SYSTEM = {"role": "system", "content": " Be kind.\n"}
TOOL = {"type": "function", "function": {"name": "weather", "description": "What \"it\" is like in <a> city & when", "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "\u00dcber"}, "days": {"type": "integer", "minimum": 1}}, "required": ["city"]}}}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {"name": "weather", "arguments": {"city": "Rome", "days": 2, "scale": 1.5, "now": True, "then": None}}}]}
RESULT = {"role": "tool", "name": "weather", "tool_call_id": "call00001", "content": "{\"t\": 21}"}
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}

CONVERSATIONS = {
    "one": {"messages": [USER]}, "several": {"messages": [SYSTEM, USER, ANSWER, {"role": "user", "content": "Sure?\n"}]},
    "no prompt": {"messages": [USER, ANSWER], "add_generation_prompt": False}, "not thinking": {"messages": [USER, ANSWER, USER], "enable_thinking": False},
    "tools": {"messages": [SYSTEM, USER, CALL, RESULT], "tools": [TOOL]}, "tools unused": {"messages": [USER], "tools": [TOOL, TOOL]},
    "wrong order": {"messages": [ANSWER, USER, USER]}, "none": {"messages": []}, "no content": {"messages": [USER, {"role": "assistant", "content": None}, USER]},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": " two"}]}]},
}

CHATS = [
    "{% for m in messages %}{{ '<|' + m.role + '|>\\n' + m['content'] + eos_token + '\\n' }}{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}",
    """{{- bos_token -}}
{%- if messages and messages[0]['role'] == 'system' -%}
    {%- set system = messages[0]['content'] | trim -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set system = none -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for m in rest -%}
    {%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception('user and assistant must take turns') }}
    {%- endif -%}
    {%- set body = '<<' ~ system ~ '>>\\n' ~ m['content'] if system is not none and loop.first else m['content'] -%}
    [{{ m['role'] }}] {{ body | trim }}{{ eos_token if m.role == 'assistant' }}
{% endfor -%}
{% if add_generation_prompt -%}
    [assistant]
{%- endif %}""",
    """{% macro shown(schema, depth=0) %}
{%- for key, value in schema.items() %}
{{ '  ' * depth }}{{ key }}: {% if value is mapping %}{{ shown(value, depth + 1) }}{% else %}{{ value | tojson }}{% endif %}
{% endfor %}
{%- endmacro %}
{%- set ns = namespace(last=messages | length - 1, asked=false) %}
{%- if tools %}
Tools:
{%- for tool in tools %}
{{ tool.function.name }}{{ shown(tool.function.parameters) }}
{{ tool | tojson(indent=2) }}
{%- endfor %}
{%- endif %}
{%- for m in messages[::-1] %}
    {%- if m.role == 'user' and not ns.asked %}
        {%- set ns.asked = true %}
        {%- set ns.last = messages | length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for m in messages %}
    {%- set content = m.content if m.content is string else '' %}
    {%- if m.content is iterable and m.content is not string %}
        {%- for part in m.content %}
            {%- if part.type == 'text' %}{% set content = part.text %}{{ content }}{% endif %}
        {%- endfor %}
    {%- endif %}
    {%- if m.role == 'assistant' and '</think>' in content and loop.index0 < ns.last %}
        {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
    {%- endif %}
{{ '<' ~ m.role ~ '>' ~ content }}
    {%- for call in m.tool_calls or [] %}
{{ '\\n' if not loop.first or content }}call {{ call.function.name }}({% for k, v in call.function.arguments | items %}{{ k }}={{ v | string if v is string else v | tojson }}{% if not loop.last %}, {% endif %}{% endfor %})
    {%- endfor %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '<assistant>' }}
{%- if enable_thinking is defined and enable_thinking is false %}
{{- '<think>\\n\\n</think>\\n\\n' }}
{%- endif %}
{%- endif %}
""",
]


def rendered(template, variables):
    try:
        return {"text": _compile_jinja_template(template).render(**variables)}
    except Exception as error:  # whatever a template does wrong
        return {"error": f"{type(error).__name__}: {error}"}


def variables(conversation):
    return {"add_generation_prompt": True, "tools": None, "documents": None, **TOKENS, **conversation}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("../shared"))
    arguments = parser.parse_args()
    language = [{"template": each, **rendered(each, VALUES)} for each in LANGUAGE]
    chats = [{"template": each, "conversation": name, **rendered(each, variables(conversation))}
             for each in CHATS for name, conversation in CONVERSATIONS.items()]
    result = {"values": VALUES, "conversations": {name: variables(each) for name, each in CONVERSATIONS.items()}, "language": language, "chats": chats}
    (arguments.folder / "language.json").write_text(json.dumps(result, indent=1) + "\n")
    released = {}
    for file in sorted((arguments.shared / "templates").glob("*.jinja")):
        released[file.name] = {}
        for name, conversation in CONVERSATIONS.items():
            got = rendered(file.read_text(), {"date_string": "1 Dec 2026", **variables(conversation)})
            released[file.name][name] = hashlib.sha256(got["text"].encode()).hexdigest() if "text" in got else "fails"
    (arguments.folder / "released.json").write_text(json.dumps({"templates": released, "ids": ids(arguments.shared)}, indent=1) + "\n")


def ids(shared):
    """Of texts in which special tokens are spelled."""
    from transformers import AutoTokenizer
    result = {}
    for name, text in (("llama3", "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\nHello  there<|eot_id|>  x<|start_header_id|>"),
                       ("llama2", "<s>[INST] Hello  there [/INST] Yes </s><s>[INST] x")):
        tokenizer = AutoTokenizer.from_pretrained(shared / "tokenizers" / name)
        result[name] = {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False)}
    return result


if __name__ == "__main__":
    main()
