"""Python's openai asks the server at the address that is given: chat, a stream, two errors and a stream that is cut; models too, and
embeddings, which it reads as base64."""

import json
import math
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0)
MESSAGES = [{"role": "user", "content": "hello"}]


def say(**fact):
    print(json.dumps(fact), flush=True)


def ask(model="small", **fields):
    return client.chat.completions.create(
        model=model, messages=MESSAGES, **{"seed": 11, "temperature": 0.8, "max_tokens": 20, **fields}
    )


def refused(name, **fields):
    try:
        ask(**fields)
    except openai.APIStatusError as e:
        say(**{name: f"{e.status_code} {e.body['message']}"})


assert [model.id for model in client.models.list()] == ["small", "endless"]
packed, plain = (
    client.embeddings.create(model="small", input="hello", **given).data[0].embedding
    for given in ({}, {"encoding_format": "float"})
)
assert all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(packed, plain, strict=True))
say(chat=ask().choices[0].message.content)
chunks = list(ask(stream=True, stream_options={"include_usage": True}))
say(stream="".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices))
say(tokens=chunks[-1].usage.completion_tokens)
refused("unknown", model="nothing")
refused("wrong", temperature=-1)
with ask(model="endless", temperature=0, max_tokens=None, stream=True) as stream:
    for _ in range(5):
        next(stream)
say(cancelled=True)
sys.stdin.read()
