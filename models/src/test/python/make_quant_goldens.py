#!/usr/bin/env python3
"""Has the gguf package read and write blocks: the goldens of QuantizedGroupTest and GgufQuantizerTest.

    make_quant_goldens.py models/src/test/resources/gguf/quants.json

Blocks are random bytes, but for scales that are finite; floats are those of make_family_goldens.random_tensor. All as hexadecimal
digits of their bytes, little-endian.
"""
import json
import pathlib
import sys

import gguf
import numpy
from gguf import GGMLQuantizationType as Type
from gguf.quants import dequantize, quantize

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from make_family_goldens import random_tensor

# Where the scales of a block lie.
SCALES = dict(Q4_0=[0], Q4_1=[0, 2], Q5_0=[0], Q5_1=[0, 2], Q8_0=[0], Q4_K=[0, 2], Q5_K=[0, 2], Q6_K=[208])


def main():
    random = numpy.random.default_rng(1)
    read = {}
    for name, places in SCALES.items():
        size = gguf.GGML_QUANT_SIZES[Type[name]][1]
        blocks = random.integers(0, 256, (2, size), dtype=numpy.uint8)
        for place in places:
            scales = (random.standard_normal(2) * 0.01).astype(numpy.float16)
            blocks[:, place:place + 2] = scales.view(numpy.uint8).reshape(2, 2)
        read[name] = dict(blocks=blocks.tobytes().hex(), weights=dequantize(blocks, Type[name]).tobytes().hex())
    written = {}
    floats = random_tensor(3, "golden", [4, 64], 0.0, 1.0)
    floats[1, 0:32] = 0
    floats[2, 5] = -floats[2].max()
    for name in ("Q8_0", "Q4_0", "F16", "BF16"):
        written[name] = quantize(floats, Type[name]).tobytes().hex()
    golden = dict(read=read, floats=floats.tobytes().hex(), written=written)
    pathlib.Path(sys.argv[1]).write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
