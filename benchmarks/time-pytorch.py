#!/usr/bin/env python3
"""Times a model of random weights in PyTorch, as Hugging Face's transformers runs it on a processor; needs torch and transformers.

    benchmarks/time-pytorch.py SHAPE TYPE TEST... [--threads N] [--repetitions N]

prints a line "TEST tokens/s: N" for each repetition of each test, after one that is not counted. A test is ppN, one forward pass
of a prompt of N tokens from an empty cache to the last token's logits, or tgN, N passes of one token each, from an empty cache,
each of them fed with the likeliest token of the one before. `compare-peers.py --pytorch PYTHON` calls it.

It runs eagerly, with the attention and the cache that transformers chooses.
"""

import argparse
import time

import torch
from transformers import AutoModelForCausalLM, GPT2Config, LlamaConfig


def llama(**sizes):
    return LlamaConfig(vocab_size=32_000, hidden_act="silu", rms_norm_eps=1e-5, **sizes)


# The shapes that `transformers bench` knows by these names.
SHAPES = {
    "gpt2-124M": GPT2Config(vocab_size=50_257, n_positions=1024, n_embd=768, n_layer=12, n_head=12),
    "tinyllama-1.1B": llama(
        max_position_embeddings=2048,
        hidden_size=2048,
        intermediate_size=5632,
        num_hidden_layers=22,
        num_attention_heads=32,
        num_key_value_heads=4,
        tie_word_embeddings=False,
    ),
    "stories15M": llama(
        max_position_embeddings=256,
        hidden_size=288,
        intermediate_size=768,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=6,
        tie_word_embeddings=True,
    ),
}

TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def prompt(model, tokens):
    ids = torch.randint(model.config.vocab_size, (1, tokens))
    model(ids, use_cache=True, logits_to_keep=1)


def decoding(model, tokens):
    ids, cache = torch.zeros(1, 1, dtype=torch.long), None
    for _ in range(tokens):
        result = model(ids, past_key_values=cache, use_cache=True, logits_to_keep=1)
        ids, cache = result.logits.argmax(dim=-1), result.past_key_values


PHASES = {"pp": prompt, "tg": decoding}


def rate(test, model):
    """Tokens/s of one run."""
    run, tokens = PHASES[test[:2]], int(test[2:])
    start = time.perf_counter()
    run(model, tokens)
    return tokens / (time.perf_counter() - start)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", metavar="SHAPE", choices=SHAPES, help=", ".join(SHAPES))
    parser.add_argument("type", metavar="TYPE", choices=TYPES, help=", ".join(TYPES))
    parser.add_argument("tests", metavar="TEST", nargs="+", help="ppN or tgN")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="default: %(default)s")
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="default: %(default)s")
    return parser.parse_args()


@torch.inference_mode()
def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(SHAPES[options.shape], dtype=TYPES[options.type]).eval()
    for test in options.tests:
        rate(test, model)
        for _ in range(options.repetitions):
            print(f"{test} tokens/s: {rate(test, model):.3f}", flush=True)


if __name__ == "__main__":
    main()
