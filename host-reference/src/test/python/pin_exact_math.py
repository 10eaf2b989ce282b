"""Prints the hashes that ExactMathTest.everyBitIsPinned expects: the contract's functions in NumPy, step by step.

A fused product and sum is rounded once: the product of two float32 numbers is exact in float64; of its sum with the third, the
float64 nearest but for its last bit, which says whether anything was lost (rounding to odd), rounds to the right float32.
"""

import numpy as np

F = np.float32


def fma(a, b, c):
    a, b, c = np.broadcast_arrays(F(a), F(b), F(c))
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    even = (bits & 1) == 0
    outward = (error > 0) == (total > 0)
    odd = np.where(outward, bits + 1, bits - 1)
    bits = np.where((error != 0) & even, odd, bits)
    return bits.view(np.float64).astype(F)


def product(a, b):
    return fma(a, b, F(0))


def horner(x, coefficients):
    value = F(coefficients[0])
    for coefficient in coefficients[1:]:
        value = fma(value, x, F(coefficient))
    return value


def power_of_two(n):
    return ((n + 127).astype(np.int32) << 23).view(F)


def exp(x):
    n = fma(x, F(1.44269504), F(12582912)) - F(12582912)
    r = fma(n, F(2.12194440e-4), fma(n, F(-0.693359375), x))
    p = horner(r, [1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1])
    polynomial = fma(p, r * r, r) + F(1)
    whole = n.astype(np.int32)
    half = whole >> 1
    result = polynomial * power_of_two(half) * power_of_two(whole - half)
    result = np.where(x < F(-87.33), F(0), result)
    return np.where(x > F(88.72), F(np.inf), result).astype(F)


def sigmoid(x):
    return F(1) / (F(1) + exp(product(F(-1), x)))


def silu(x):
    return x / (F(1) + exp(product(F(-1), x)))


def gelu_argument(x):
    return F(0.7978845608) * fma(F(0.044715), x * x * x, x)


def gelu_tanh(x):
    return x / (F(1) + exp(product(F(-2), gelu_argument(x))))


def with_sign(x, magnitude):
    return np.where(x < 0, -magnitude, magnitude).astype(F)


def tanh(x):
    size = np.abs(x)
    square = x * x
    p = horner(square, [-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1])
    small = fma(p, square * x, x)
    large = with_sign(x, F(1) - F(2) / (exp(size + size) + F(1)))
    return np.where(size < F(0.625), small, large).astype(F)


def erf(x):
    size = np.abs(x)
    square = x * x
    p = horner(square, [-0.0006090360111556947, 0.005011962726712227, -0.02677890844643116, 0.11282140761613846,
                        -0.3761252462863922, 0.12837915122509003])
    small = fma(p, x, x)
    q = horner(size, [1.0432903764012735e-05, -0.000314856122713536, 0.0036103343591094017, -0.02369455061852932,
                      0.1061590313911438, 0.6351980566978455, 1.1286370754241943])
    middle = F(1) - exp(product(product(F(-1), q), size))
    large = with_sign(x, np.where(size > F(3.92), F(1), middle))
    return np.where(size < F(0.9), small, large).astype(F)


def gelu_erf(x):
    return product(x * F(0.5), erf(product(x, F(0.70710678))) + F(1))


def silu_slope(x):
    s = sigmoid(x)
    return product(s, fma(x, F(1) - s, F(1)))


def gelu_tanh_slope(x):
    s = sigmoid(product(F(2), gelu_argument(x)))
    slope = F(0.7978845608) * fma(F(0.134145), x * x, F(1))
    return fma(x * (s * (F(1) - s)), F(2) * slope, s)


def java_hash(function, first, step):
    x = (F(first) + np.arange(1 << 16, dtype=F) * F(step)).astype(F)
    value = 0
    for bits in function(x).view(np.int32).tolist():
        value = (31 * value + bits) & 0xFFFFFFFF
    return value


with np.errstate(all="ignore"):
    for function, first, step in [
        (exp, -64, 1 / 512),
        (gelu_tanh, -4, 1 / 8192),
        (silu, -4, 1 / 8192),
        (tanh, -8, 1 / 4096),
        (erf, -8, 1 / 4096),
        (gelu_erf, -8, 1 / 4096),
        (silu_slope, -8, 1 / 4096),
        (gelu_tanh_slope, -8, 1 / 4096),
    ]:
        print(f"{function.__name__} 0x{java_hash(function, first, step):08X}")
