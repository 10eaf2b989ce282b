#!/usr/bin/env python3
"""Asks Hugging Face's transformers what small random models of every family answer: the goldens of FamilyGoldenTest.

    make_family_goldens.py models/src/test/resources/goldens      writes the goldens that are committed
    make_family_goldens.py FOLDER --seed 7 [--family qwen3]        others

Each model is made by transformers, gets weights from a formula (RandomTensor.java computes the same bits, so that no weight need
be stored), and is saved by save_pretrained. Its config.json is kept as it was saved, and as older versions of transformers would
have written it; both must load again and give the same logits. What is recorded: the tensors that were saved, a prompt, ten greedy
ids, and the logits of every step.

Logits are float64 throughout. By itself transformers computes norms, softmax and rotary angles in float32 whatever the weights
are; here they are made to use float64 (float64_everywhere), and the difference to what transformers gives by itself must be small.
The whole text runs for every id, without a cache.
"""
import argparse
import contextlib
import json
import math
import pathlib
import sys
import tempfile

import numpy
import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM

PROMPT = 12
STEPS = 10

# Between the largest logit and the next: float32 must not change an id.
CLEAR = 0.02

# Different ids among the ten: a prompt that a model answers with one id says little.
VARIETY = 3

ATTEMPTS = 100

# Of what transformers computes in float32 by itself, relative to the largest logit.
FLOAT32_NOISE = 1e-4

VOCABULARY = 61


# ---- weights --------------------------------------------------------------------------------------------------------

GAMMA = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix(value):
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK
    return value ^ value >> 31


def mix_all(values):
    values = (values ^ values >> numpy.uint64(30)) * numpy.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> numpy.uint64(27)) * numpy.uint64(0x94D049BB133111EB)
    return values ^ values >> numpy.uint64(31)


def random_tensor(seed, name, shape, mean, deviation):
    """The elements of RandomTensor.java, float32."""
    start = 0xCBF29CE484222325
    for byte in name.encode():
        start = (start ^ byte) * 0x100000001B3 & MASK
    start = (start + mix(seed)) & MASK
    count = math.prod(shape)
    bits = mix_all(numpy.uint64(start) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(GAMMA))
    total = sum((bits >> numpy.uint64(shift) & numpy.uint64(0xFFFF)).astype(numpy.int64) for shift in (0, 16, 32, 48))
    scale = numpy.float32(deviation / (0x10000 / math.sqrt(3)))
    return (numpy.float32(mean) + scale * (total - 2 * 0xFFFF).astype(numpy.float32)).reshape(shape)


def distribution(family, name, shape, tied):
    """
    Mean and deviation of a tensor: large enough that every part of the model moves the logits. A tied embedding is smaller, or
    every token would be followed by itself.
    """
    if name.endswith("bias"):
        return 0.0, 0.15
    if len(shape) == 1:
        return (0.0 if family.startswith("gemma") else 1.0), 0.3
    if "embed_tokens" in name or "wte" in name or "wpe" in name:
        return 0.0, (0.05 if family.startswith("gemma") else 0.15 if tied else 0.4)
    inputs = shape[0] if family == "gpt2" and name != "lm_head.weight" else shape[1]
    return 0.0, round(1.5 / math.sqrt(inputs), 6)


# ---- the models -----------------------------------------------------------------------------------------------------

def llama3_rope(theta=500000.0):
    return dict(rope_theta=theta, rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                original_max_position_embeddings=16)


def yarn_rope(theta=10000.0, **more):
    return dict(rope_theta=theta, rope_type="yarn", factor=4.0, original_max_position_embeddings=16, **more)


def long_rope(pairs, original, **more):
    return dict(rope_theta=10000.0, rope_type="longrope", original_max_position_embeddings=original,
                short_factor=[1.0 + 0.05 * i for i in range(pairs)],
                long_factor=[1.5 + 0.7 * i for i in range(pairs)], **more)


def linear_rope(theta=10000.0, factor=2.0):
    return dict(rope_theta=theta, rope_type="linear", factor=factor)


def default_rope(theta=10000.0, **more):
    return dict(rope_theta=theta, rope_type="default", **more)


def decoder(layers=3, hidden=36, intermediate=50, heads=6, kv=2, **more):
    return dict(vocab_size=VOCABULARY, hidden_size=hidden, intermediate_size=intermediate, num_hidden_layers=layers,
                num_attention_heads=heads, num_key_value_heads=kv, max_position_embeddings=48,
                bos_token_id=None, eos_token_id=None, pad_token_id=None, **more)


# family: {case: fields}
CASES = {
    "gpt2": {
        "tied": dict(vocab_size=VOCABULARY, n_positions=48, n_embd=36, n_layer=3, n_head=3, n_inner=50),
        "untied, unscaled": dict(vocab_size=67, n_positions=40, n_embd=35, n_layer=2, n_head=5, layer_norm_epsilon=1e-3,
                                 scale_attn_weights=False, tie_word_embeddings=False),
    },
    "llama": {
        "tied": decoder(head_dim=10, tie_word_embeddings=True, rope_parameters=default_rope()),
        "biased, linear": decoder(heads=3, kv=3, attention_bias=True, mlp_bias=True, rms_norm_eps=1e-2,
                                  rope_parameters=linear_rope()),
        "llama3": decoder(head_dim=14, rope_parameters=llama3_rope()),
        "yarn": decoder(head_dim=16, rope_parameters=yarn_rope()),
        "yarn, untruncated, own ramp": decoder(head_dim=16, rope_parameters=yarn_rope(
            beta_fast=4.0, beta_slow=0.5, truncate=False, mscale=0.7, mscale_all_dim=1.3)),
        "longrope, long": decoder(head_dim=10, rope_parameters=long_rope(5, original=8, factor=6.0)),
    },
    "qwen2": {
        "tied": decoder(tie_word_embeddings=True, rope_parameters=default_rope(1000000.0)),
        "windows behind the first layer": decoder(use_sliding_window=True, sliding_window=4, max_window_layers=1,
                                                  rope_parameters=default_rope()),
        "yarn": decoder(heads=2, kv=1, rope_parameters=yarn_rope(1000000.0)),
        "odd layers": decoder(use_sliding_window=True, sliding_window=3, heads=3, kv=3, rope_parameters=linear_rope(),
                              layer_types=["sliding_attention", "full_attention", "sliding_attention"]),
    },
    "qwen3": {
        "tied": decoder(head_dim=10, tie_word_embeddings=True, rope_parameters=default_rope(1000000.0)),
        "biased, windows": decoder(head_dim=8, attention_bias=True, use_sliding_window=True, sliding_window=5,
                                   max_window_layers=2, rope_parameters=default_rope()),
        "yarn": decoder(heads=3, kv=3, head_dim=16, rope_parameters=yarn_rope(1000000.0, attention_factor=1.25)),
    },
    "mistral": {
        "window": decoder(sliding_window=4, rope_parameters=default_rope()),
        "no window, own head_dim": decoder(heads=4, kv=4, head_dim=14, sliding_window=None, tie_word_embeddings=True,
                                           rope_parameters=default_rope(1000000.0)),
        "yarn": decoder(head_dim=16, sliding_window=None, rope_parameters=yarn_rope()),
    },
    "gemma2": {
        "soft caps": decoder(layers=4, head_dim=10, query_pre_attn_scalar=7, sliding_window=4, attn_logit_softcapping=2.0,
                             final_logit_softcapping=4.0, hidden_activation="gelu_pytorch_tanh",
                             rope_parameters=default_rope()),
        "no soft caps, biased": decoder(heads=3, kv=3, head_dim=14, query_pre_attn_scalar=14, sliding_window=5,
                                        attn_logit_softcapping=None, final_logit_softcapping=None, attention_bias=True,
                                        rope_parameters=default_rope(5000.0)),
    },
    "gemma3_text": {
        "pattern": decoder(layers=5, head_dim=10, query_pre_attn_scalar=9, sliding_window=4, sliding_window_pattern=3,
                           rope_parameters=dict(sliding_attention=default_rope(100.0),
                                                full_attention=linear_rope(1000000.0, 8.0))),
        "capped, biased": decoder(layers=2, heads=4, kv=1, head_dim=16, query_pre_attn_scalar=16, sliding_window=5,
                                  attention_bias=True, final_logit_softcapping=3.0, sliding_window_pattern=2,
                                  rope_parameters=dict(sliding_attention=default_rope(10000.0),
                                                       full_attention=default_rope(1000000.0))),
    },
    "phi3": {
        "window": decoder(sliding_window=4, rope_parameters=default_rope(partial_rotary_factor=1.0)),
        "partial": decoder(heads=3, kv=1, tie_word_embeddings=True,
                           rope_parameters=default_rope(partial_rotary_factor=0.5)),
        "longrope, short": dict(decoder(heads=2, kv=2, original_max_position_embeddings=30,
                                rope_parameters=long_rope(9, 30, partial_rotary_factor=1.0)), context=30),
        "longrope, long, partial": decoder(hidden=48, heads=3, kv=1, tie_word_embeddings=True,
                                           original_max_position_embeddings=8,
                                           rope_parameters=long_rope(6, 8, partial_rotary_factor=0.75)),
    },
    "granite": {
        "multipliers": decoder(tie_word_embeddings=True, embedding_multiplier=3.5, attention_multiplier=0.3,
                               residual_multiplier=0.4, logits_scaling=1.7, rope_parameters=default_rope()),
        "biased, gelu": decoder(heads=3, kv=3, attention_bias=True, mlp_bias=True, attention_multiplier=0.5,
                                hidden_act="gelu",
                                rope_parameters=linear_rope()),
        "plain": decoder(heads=2, kv=1, rope_parameters=yarn_rope()),
    },
    "olmo2": {
        "untied": decoder(rope_parameters=default_rope(500000.0)),
        "tied, biased": decoder(heads=3, kv=3, tie_word_embeddings=True, attention_bias=True,
                                rope_parameters=linear_rope()),
        "yarn": decoder(heads=2, kv=1, rope_parameters=yarn_rope(500000.0)),
    },
    "smollm3": {
        "every second without positions": decoder(layers=4, tie_word_embeddings=True, no_rope_layer_interval=2,
                                                  rope_parameters=default_rope(5000000.0)),
        "list, biased": decoder(heads=3, kv=3, tie_word_embeddings=False, no_rope_layers=[0, 1, 0], attention_bias=True,
                                mlp_bias=True, rope_parameters=linear_rope()),
        "windows": decoder(layers=4, use_sliding_window=True, sliding_window=4, no_rope_layer_interval=2,
                           rope_parameters=yarn_rope()),
    },
}


# ---- the older layout of config.json ----------------------------------------------------------------------------------

def older_layout(family, saved, fields):
    """The config.json that transformers 4 would have written of the same model."""
    older = {key: value for key, value in saved.items() if key not in ("dtype", "layer_types", "transformers_version")}
    older["torch_dtype"] = saved["dtype"]
    older["transformers_version"] = "4.44.0"
    rope = older.pop("rope_parameters", None)
    if fields.get("layer_types"):
        older["layer_types"] = saved["layer_types"]
    if family == "gemma3_text":
        older["sliding_window_pattern"] = fields["sliding_window_pattern"]
        older.pop("_sliding_window_pattern", None)
        older["rope_theta"] = rope["full_attention"].pop("rope_theta")
        older["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    if family == "smollm3" and "no_rope_layers" not in fields:
        older.pop("no_rope_layers")
    if rope:
        for field in ("rope_theta", "partial_rotary_factor"):
            if field in rope:
                older[field] = rope.pop(field)
        kind = rope.pop("rope_type")
        if family == "phi3":
            rope.pop("original_max_position_embeddings", None)
        spelled = "rope_type" if family == "gemma3_text" else "type"
        older["rope_scaling"] = None if kind == "default" else {spelled: kind, **rope}
    return older


# ---- transformers, in float64 -----------------------------------------------------------------------------------------

@contextlib.contextmanager
def float64_everywhere():
    """Within it, what modelling code calls float32 is float64."""
    saved = torch.float32, torch.float, torch.Tensor.float, torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = saved[:3]
        torch.set_default_dtype(saved[3])


def logits_of(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]), use_cache=False).logits[0, -1].double().numpy()


def loaded(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()


def saved_checkpoint(family, fields, seed, folder):
    """Has transformers save a model whose weights are the formula's; what it saved, as {name: [shape, mean, deviation]}."""
    config = AutoConfig.for_model(family, **fields)
    model = AutoModelForCausalLM.from_config(config)
    tensors = {}
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            shape = list(parameter.shape)
            mean, deviation = distribution(family, name, shape, config.tie_word_embeddings)
            parameter.copy_(torch.from_numpy(random_tensor(seed, name, shape, mean, deviation)))
            tensors[name] = [shape, mean, deviation]
    model.save_pretrained(folder)
    from safetensors import safe_open
    with safe_open(folder / "model.safetensors", "np") as file:
        names = set(file.keys())
        assert names == set(tensors), f"{family}: saved {sorted(names ^ set(tensors))} differ from the parameters"
        for name in names:
            assert numpy.array_equal(file.get_tensor(name), random_tensor(seed, name, *tensors[name])), name
    return tensors


def float64_model(folder):
    """The model of a folder, all of whose arithmetic is float64."""
    config = AutoConfig.from_pretrained(folder)
    state = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).state_dict()
    with float64_everywhere():
        model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float64).eval()
        missing, surplus = model.load_state_dict(state, strict=True)
        assert not missing and not surplus
        tensors = [*model.named_parameters(), *model.named_buffers()]
        narrow = sorted(name for name, each in tensors if each.dtype is not torch.float64)
        assert not narrow, f"not float64: {narrow}"
    return model


def greedy(model, prompt, steps):
    """Ids and the logits of each step; None where an id is not clear, or where they repeat themselves."""
    ids, logits = list(prompt), []
    for _ in range(steps):
        logits.append(logits_of(model, ids))
        first, second = numpy.sort(logits[-1])[:-3:-1]
        if first - second < CLEAR:
            return None
        ids.append(int(logits[-1].argmax()))
    found = ids[len(prompt):]
    return (found, logits) if len(set(found)) >= VARIETY else None


def clear_prompt(model, random, vocabulary):
    """A prompt with what greedy decoding makes of it."""
    for _ in range(ATTEMPTS):
        prompt = random.integers(0, vocabulary, PROMPT).tolist()
        found = greedy(model, prompt, STEPS)
        if found:
            return prompt, *found
    raise AssertionError(f"no prompt of {ATTEMPTS} is answered with clear ids")


def close(actual, expected, what):
    difference = float(numpy.abs(actual - expected).max())
    allowed = FLOAT32_NOISE * max(1.0, float(numpy.abs(expected).max()))
    assert difference <= allowed, f"{what}: {difference}, allowed {allowed}"
    return difference


def case(family, name, fields, seed, folder):
    fields = dict(fields)
    context = fields.pop("context", fields.get("max_position_embeddings", fields.get("n_positions")))
    fields_of_config = {key: value for key, value in fields.items() if key != "sliding_window_pattern"}
    if family == "gemma3_text":
        pattern, layers = fields["sliding_window_pattern"], fields["num_hidden_layers"]
        fields_of_config["layer_types"] = ["full_attention" if (i + 1) % pattern == 0 else "sliding_attention"
                                           for i in range(layers)]
    tensors = saved_checkpoint(family, fields_of_config, seed, folder)
    saved = json.loads((folder / "config.json").read_text())
    model = float64_model(folder)
    random = numpy.random.default_rng([seed, len(name)])
    with float64_everywhere():
        prompt, ids, logits = clear_prompt(model, random, fields["vocab_size"])
    whole = prompt + ids[:-1]
    noise = close(logits_of(loaded(folder), whole), logits[-1], f"{family} {name}: transformers by itself")
    older = older_layout(family, json.loads(json.dumps(saved)), fields)
    (folder / "config.json").write_text(json.dumps(older))
    close(logits_of(loaded(folder), whole), logits[-1], f"{family} {name}: the older layout")
    print(f"{family}, {name}: float32 within it makes {noise:.1e}, ids {ids}", file=sys.stderr)
    return dict(name=name, seed=seed, context=context, config=saved, older_config=older, tensors=tensors, prompt=prompt,
                ids=ids, logits=[[float(f"{value:.10g}") for value in row] for row in logits])


# ---- files --------------------------------------------------------------------------------------------------------------

def text(value, depth=0):
    """JSON, whose containers within the third level are on one line."""
    if depth > 3 or not isinstance(value, (dict, list)) or not value or not any(
            isinstance(each, (dict, list)) for each in (value.values() if isinstance(value, dict) else value)):
        return json.dumps(value)
    pad = "\n" + " " * (depth + 1)
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {text(each, depth + 1)}" for key, each in value.items()]
    else:
        inner = [text(each, depth + 1) for each in value]
    braces = "{}" if isinstance(value, dict) else "[]"
    return braces[0] + pad + ("," + pad).join(inner) + "\n" + " " * depth + braces[1]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--family", choices=CASES, action="append", help="only these")
    options = arguments.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    options.folder.mkdir(parents=True, exist_ok=True)
    for family in options.family or CASES:
        cases = []
        for name, fields in CASES[family].items():
            with tempfile.TemporaryDirectory() as folder:
                cases.append(case(family, name, fields, options.seed, pathlib.Path(folder)))
        golden = dict(made_with=f"transformers {transformers.__version__}, torch {torch.__version__}", cases=cases)
        (options.folder / f"{family}.json").write_text(text(golden) + "\n")


if __name__ == "__main__":
    main()
