#!/usr/bin/env python3
"""Has llama.cpp's converter write the models of the family goldens as GGUF: the goldens of GgufExportTest.

    make_gguf_goldens.py CONVERTER models/src/test/resources/goldens models/src/test/resources/gguf

CONVERTER is llama.cpp's convert_hf_to_gguf.py. Recorded are the keys below the architecture's name, and each tensor's type, shape and
SHA-256. Of architectures that came after the converter, tensors are named by the gguf package, and what they differ in stands here.
"""
import hashlib
import importlib.util
import json
import os
import pathlib
import sys
import tempfile

os.environ["NO_LOCAL_GGUF"] = "1"

import gguf
import numpy
import torch
from safetensors.torch import save_file

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_family_goldens import random_tensor, text

# The cases that the converter writes, with the fields that are changed to what a file, or llama.cpp, can say.
CASES = {
    ("gpt2", "tied"): {},
    ("llama", "tied"): {},
    ("llama", "biased, linear"): {},
    ("mistral", "no window, own head_dim"): {},
    ("qwen2", "tied"): {},
    ("qwen3", "tied"): {},
    ("gemma2", "soft caps"): dict(query_pre_attn_scalar=10),
    ("gemma3_text", "pattern"): dict(query_pre_attn_scalar=10, sliding_window_pattern=6, rope_local_base_freq=10000.0),
    ("phi3", "window"): dict(original_max_position_embeddings=48),
    ("phi3", "longrope, short"): {},
    ("granite", "multipliers"): {},
    ("olmo2", "untied"): {},
    ("smollm3", "every second without positions"): dict(no_rope_layer_interval=4),
}


def converter(path):
    spec = importlib.util.spec_from_file_location("converter", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    @module.Model.register("Qwen3ForCausalLM")
    class Qwen3(module.Model):
        model_arch = gguf.MODEL_ARCH.QWEN3

    @module.Model.register("SmolLM3ForCausalLM")
    class SmolLm3(module.LlamaModel):
        model_arch = gguf.MODEL_ARCH.SMOLLM3

    @module.Model.register("Gemma3ForCausalLM")
    class Gemma3(module.Model):
        model_arch = gguf.MODEL_ARCH.GEMMA3

        def set_gguf_parameters(self):
            super().set_gguf_parameters()
            self.gguf_writer.add_sliding_window(self.hparams["sliding_window"])

        def modify_tensors(self, data, name, block):
            return [(self.map_tensor_name(name), data + 1 if name.endswith("norm.weight") else data)]

    return module


def converted(module, folder, target):
    config = module.Model.load_hparams(folder)
    kind = module.Model.from_model_architecture(config["architectures"][0])
    kind.set_vocab = lambda self: None
    model = kind(folder, gguf.LlamaFileType.ALL_F32, target)
    model.write()


# Keys that the converter writes whatever the config says.
NOT_SAID = {"gpt2.feed_forward_length", "phi3.rope.scaling.original_context_length"}


def described(file):
    reader = gguf.GGUFReader(file)
    architecture = reader.fields["general.architecture"].contents()
    keys = {name: field.contents() for name, field in reader.fields.items()
            if name.startswith(architecture + ".") and name not in NOT_SAID}
    tensors = {each.name: [each.tensor_type.name, [int(size) for size in reversed(each.shape)],
                           hashlib.sha256(numpy.ascontiguousarray(each.data).tobytes()).hexdigest()]
               for each in reader.tensors}
    return dict(architecture=architecture, keys=keys, tensors=tensors)


def main():
    path, goldens, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    module = converter(path)
    out.mkdir(parents=True, exist_ok=True)
    for golden in sorted(goldens.glob("*.json")):
        cases = {}
        for case in json.loads(golden.read_text())["cases"]:
            if (golden.stem, case["name"]) not in CASES:
                continue
            with tempfile.TemporaryDirectory() as temporary:
                folder = pathlib.Path(temporary)
                config = dict(case["older_config"], **CASES[golden.stem, case["name"]])
                in_folder = dict(config, n_ctx=config["n_positions"]) if "n_positions" in config else config
                (folder / "config.json").write_text(json.dumps(in_folder))
                save_file({name: torch.from_numpy(random_tensor(case["seed"], name, *tensor))
                           for name, tensor in case["tensors"].items()}, folder / "model.safetensors")
                converted(module, folder, folder / "model.gguf")
                cases[case["name"]] = dict(config=config, **described(folder / "model.gguf"))
        (out / golden.name).write_text(text(cases) + "\n")


if __name__ == "__main__":
    main()
