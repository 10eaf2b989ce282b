"""Makes two-steps.json: two steps of two windows of a small GPT-2 with AdamW, by PyTorch in float64.

    python3 two-steps.py > two-steps.json

Independent of the project but for what TwoStepsTest states: the shape, the settings, how weights begin, and the ids of the windows,
which follow from the seed (a step sees the next two of WINDOWS).
"""
import json

import numpy as np
import torch

torch.set_default_dtype(torch.float64)

CONTEXT, VOCABULARY, HIDDEN, INNER, LAYERS, HEADS, EPSILON = 8, 290, 8, 16, 2, 2, 1e-5
WINDOWS = [
    [289, 266, 288, 258, 83, 256, 77, 67, 267],
    [286, 275, 282, 275, 198, 261, 285, 220, 266],
    [286, 284, 285, 286, 220, 266, 198, 78, 259],
    [83, 282, 284, 256, 77, 67, 278, 198, 198],
]
VALIDATION = [
    [78, 259, 286, 278, 220, 77, 72, 70, 71],
    [71, 83, 285, 256, 77, 67, 284, 282, 198],
    [198, 261, 267, 286, 282, 288, 258, 83, 220],
    [220, 77, 72, 70, 71, 83, 285, 220, 77],
    [77, 72, 70, 71, 83, 198, 78, 259, 267],
    [267, 267, 267, 267, 267, 286, 267, 198, 261],
    [261, 220, 266, 220, 266, 284, 256, 77, 67],
    [67, 272, 285, 278, 198, 198, 78, 259, 220],
    [220, 266, 272, 272, 220, 77, 72, 70, 71],
    [71, 83, 288, 258, 83, 282, 284, 198, 261],
    [261, 275, 220, 77, 72, 70, 71, 83, 256],
    [256, 267, 284, 285, 278, 198, 78, 259, 272],
    [272, 220, 77, 72, 70, 71, 83, 286, 256],
    [256, 77, 67, 220, 77, 72, 70, 71, 83],
    [83, 282, 284, 198, 78, 259, 272, 282, 275],
    [275, 220, 77, 72, 70, 71, 83, 267, 272],
    [272, 288, 258, 83, 198, 261, 285, 282, 256],
    [256, 77, 67, 282, 275, 282, 284, 198, 198],
    [198, 266, 220, 77, 72, 70, 71, 83, 267],
    [267, 256, 275, 278, 275, 282, 198, 261, 278],
    [278, 275, 286, 220, 77, 72, 70, 71, 83],
    [83, 267, 256, 272, 198, 78, 259, 256, 272],
    [272, 284, 288, 258, 83, 220, 77, 72, 70],
    [70, 71, 83, 220, 266, 288, 258, 83, 198],
    [198, 261, 282, 278, 256, 77, 67, 284, 286],
    [286, 278, 256, 77, 67, 198, 266, 288, 258],
    [258, 83, 288, 258, 83, 220, 77, 72, 70],
    [70, 71, 83, 285, 275, 267, 267, 198, 198],
    [198, 266, 267, 282, 288, 258, 83, 288, 258],
    [258, 83, 220, 77, 72, 70, 71, 83, 278],
    [278, 272, 198, 261, 267, 267, 220, 266, 267],
    [267, 286, 267, 286, 198, 261, 220, 266, 220],
    [220, 266, 284, 272, 256, 77, 67, 220, 77],
    [77, 72, 70, 71, 83, 285, 198, 261, 220],
    [220, 266, 272, 272, 256, 282, 267, 284, 198],
    [198, 266, 256, 77, 67, 272, 256, 267, 220],
    [220, 266, 272, 278, 198, 198, 266, 275, 278],
    [278, 286, 284, 285, 288, 258, 83, 275, 198],
    [198, 261, 272, 288, 258, 83, 220, 266, 220],
    [220, 77, 72, 70, 71, 83, 286, 272, 256],
    [256, 198, 78, 259, 285, 286, 256, 77, 67],
    [67, 282, 272, 288, 258, 83, 284, 198, 261],
    [261, 220, 77, 72, 70, 71, 83, 284, 220],
    [220, 77, 72, 70, 71, 83, 275, 256, 284],
    [284, 288, 258, 83, 198, 78, 259, 278, 256],
    [256, 77, 67, 288, 258, 83, 272, 220, 266],
    [266, 256, 275, 198, 198, 78, 259, 278, 272],
    [272, 267, 282, 272, 275, 288, 258, 83, 198],
    [198, 78, 259, 282, 220, 77, 72, 70, 71],
    [71, 83, 256, 77, 67, 220, 266, 286, 256],
    [256, 272, 198, 266, 282, 256, 220, 77, 72],
    [72, 70, 71, 83, 272, 275, 267, 286, 198],
    [198, 78, 259, 267, 282, 288, 258, 83, 288],
    [288, 258, 83, 220, 77, 72, 70, 71, 83],
    [83, 278, 272, 198, 78, 259, 220, 266, 267],
]
RATES = [0.01, 0.02]  # a warm-up of two steps to 0.02
MAX_NORM, DECAY, BETA1, BETA2, ADAM_EPSILON = 0.5, 0.1, 0.9, 0.95, 1e-3

# Name, layers, rows, columns: a linear layer has a row for each input, the embedding a row for each of the hidden units.
SHAPES = [
    ("tokenEmbedding", 1, HIDDEN, VOCABULARY),
    ("positionEmbedding", 1, CONTEXT, HIDDEN),
    ("attentionNormWeight", LAYERS, 1, HIDDEN),
    ("attentionNormBias", LAYERS, 1, HIDDEN),
    ("qkvProjWeight", LAYERS, HIDDEN, 3 * HIDDEN),
    ("qkvProjBias", LAYERS, 1, 3 * HIDDEN),
    ("oProjWeight", LAYERS, HIDDEN, HIDDEN),
    ("oProjBias", LAYERS, 1, HIDDEN),
    ("mlpNormWeight", LAYERS, 1, HIDDEN),
    ("mlpNormBias", LAYERS, 1, HIDDEN),
    ("upProjWeight", LAYERS, HIDDEN, INNER),
    ("upProjBias", LAYERS, 1, INNER),
    ("downProjWeight", LAYERS, INNER, HIDDEN),
    ("downProjBias", LAYERS, 1, HIDDEN),
    ("finalNormWeight", 1, 1, HIDDEN),
    ("finalNormBias", 1, 1, HIDDEN),
]
DECAYING = ["qkvProjWeight", "oProjWeight", "upProjWeight", "downProjWeight"]


def first_weights():
    weights = {}
    for index, (name, layers, rows, columns) in enumerate(SHAPES):
        layer, row, column = np.meshgrid(np.arange(layers), np.arange(rows), np.arange(columns), indexing="ij")
        values = 0.3 * np.sin(1.7 * index + 0.9 * layer + 0.31 * row + 0.57 * column + 0.11 * row * column)
        values += 1.0 if name.endswith("NormWeight") else 0.0
        weights[name] = torch.tensor(values.astype(np.float32).astype(np.float64), requires_grad=True)
    return weights


def norm(x, weights, name, layer):
    return torch.nn.functional.layer_norm(
        x, (HIDDEN,), weights[name + "Weight"][layer, 0], weights[name + "Bias"][layer, 0], EPSILON
    )


def linear(x, weights, name, layer):
    return x @ weights[name + "Weight"][layer] + weights[name + "Bias"][layer, 0]


def loss(weights, window):
    """The sum over the window's targets."""
    tokens, targets = torch.tensor(window[:-1]), torch.tensor(window[1:])
    x = weights["tokenEmbedding"][0].T[tokens] + weights["positionEmbedding"][0][: len(tokens)]
    for layer in range(LAYERS):
        qkv = linear(norm(x, weights, "attentionNorm", layer), weights, "qkvProj", layer)
        q, k, v = (part.reshape(-1, HEADS, HIDDEN // HEADS).transpose(0, 1) for part in qkv.split(HIDDEN, 1))
        attended = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(attended.transpose(0, 1).reshape(-1, HIDDEN), weights, "oProj", layer)
        inner = linear(norm(x, weights, "mlpNorm", layer), weights, "upProj", layer)
        x = x + linear(torch.nn.functional.gelu(inner, approximate="tanh"), weights, "downProj", layer)
    logits = norm(x, weights, "finalNorm", 0) @ weights["tokenEmbedding"][0]
    return torch.nn.functional.cross_entropy(logits, targets, reduction="sum")


def main():
    weights = first_weights()
    groups = [
        {"params": [w for name, w in weights.items() if name in DECAYING], "weight_decay": DECAY},
        {"params": [w for name, w in weights.items() if name not in DECAYING], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, betas=(BETA1, BETA2), eps=ADAM_EPSILON)
    steps = []
    for step, rate in enumerate(RATES):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        mean = sum(loss(weights, window) for window in WINDOWS[2 * step : 2 * step + 2]) / (2 * CONTEXT)
        mean.backward()
        gradient = torch.nn.utils.clip_grad_norm_(weights.values(), float("inf"))
        for weight in weights.values():
            weight.grad *= min(1.0, MAX_NORM / float(gradient))
        optimizer.step()
        steps.append({"loss": mean.item(), "gradientNorm": float(gradient)})
    with torch.no_grad():
        validation = sum(float(loss(weights, window)) for window in VALIDATION) / (len(VALIDATION) * CONTEXT)
    sums = {
        name: {
            "sum": weight.sum().item(),
            "l2": weight.square().sum().sqrt().item(),
            "last": weight.detach()[-1].flatten()[-4:].tolist(),
        }
        for name, weight in weights.items()
    }
    golden = {"windows": WINDOWS, "steps": steps, "validationLoss": validation, "weights": sums}
    print("{\n" + ",\n".join(json.dumps(key) + ": " + json.dumps(value) for key, value in golden.items()) + "\n}")


main()
