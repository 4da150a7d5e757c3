"""Resizes images as PyTorch, Pillow or OpenCV does, by the filter, antialiasing and rounding that a recipe declares."""
import functools
import math

import numpy as np

from .boxes import F32
from .resize import resize_bilinear

# Fractional bits of the weights for bytes. Source: Pillow Resample.c; OpenCV INTER_RESIZE_COEF_BITS.
PILLOW_BITS, OPENCV_BITS = 22, 11


def resample(image, height, width, sampling):
    """@param image float32 [rows, columns, channels]; sums are computed in float64. @returns float32"""
    kind, antialias, rounding = sampling
    if kind == "linear" and not antialias and rounding == "none":
        return resize_bilinear(image, height, width)
    area = "average" if image.shape[1] >= width and image.shape[0] >= height else "linear"
    first, weights = taps_of_axis(image.shape[1], width, sampling, area)
    across = sum(weights[:, k, None] * image[:, first + k] for k in range(weights.shape[1]))
    first, weights = taps_of_axis(image.shape[0], height, sampling, area)
    along = lambda source: sum(weights[:, k, None, None] * source[first + k] for k in range(weights.shape[1]))
    if rounding == "none":
        return along(across).astype(F32)
    if antialias and kind != "area":
        return to_bytes(along(to_bytes(across, "up")), "up").astype(F32)
    # OpenCV takes the integer mean of four bytes where both sides are halved.
    if image.shape[0] == 2 * height and image.shape[1] == 2 * width and kind != "cubic":
        return to_bytes(along(across), "up").astype(F32)
    if kind == "linear":
        return truncate(across, first, weights)
    return to_bytes(along(across), "even").astype(F32)


def truncate(across, first, weights):
    """OpenCV's second pass of linear resizing: each product loses 4 bits before and 16 bits after, and the sum is rounded by the remaining two."""
    one = 1 << OPENCV_BITS
    terms = (np.floor(weights[:, k, None, None] * one * np.floor(across[first + k] * one / 16) / 65536) for k in range(weights.shape[1]))
    return np.clip(np.floor((sum(terms) + 2) / 4), 0, 255).astype(F32)


def to_bytes(values, halves):
    """Rounds halves up as fixed-point arithmetic does, or to even as float32 arithmetic does."""
    return np.clip(np.floor(values + 0.5) if halves == "up" else np.rint(values.astype(F32).astype(np.float64)), 0, 255)


@functools.lru_cache(maxsize=16)
def taps_of_axis(source, target, sampling, area):
    """@returns the first source position of each output position, and the weights [target, taps] from there on"""
    kind, antialias, rounding = sampling
    rows = [taps_at(index, source, target, kind, antialias, area) for index in range(target)]
    bits = None if rounding == "none" or kind == "area" else PILLOW_BITS if antialias else OPENCV_BITS
    taps = min(max(1, max(len(row) for row in rows)), source)
    inside = lambda at: min(max(at, 0), source - 1)
    first, weights = np.zeros(target, np.int64), np.zeros((target, taps))
    for index, row in enumerate(rows):
        first[index] = min(inside(row[0][0]), source - taps)
        for at, weight in row:
            weights[index, inside(at) - first[index]] += weight if bits is None else math.floor(weight * 2**bits + 0.5) / 2**bits
    return first, weights


def taps_at(index, source, target, kind, antialias, area):
    """(source position, weight) pairs; positions outside of the image are clamped by the caller."""
    scale = source / target
    if kind == "area":
        return covered_taps(index, scale, source) if area == "average" else area_linear_taps(index, scale)
    if antialias:
        return widened_taps(index, scale, source, kind)
    center = float(F32((index + 0.5) * scale - 0.5))
    base = math.floor(center)
    return [(base + offset, weigh(base + offset - center, kind, -0.75)) for offset in ((0, 1) if kind == "linear" else (-1, 0, 1, 2))]


def widened_taps(index, scale, source, kind):
    """The filter widened to the source pixels that one output pixel covers, with weights normalized to a sum of 1."""
    widening = max(scale, 1)
    support, center = (1 if kind == "linear" else 2) * widening, (index + 0.5) * scale
    first, end = max(int(center - support + 0.5), 0), min(int(center + support + 0.5), source)
    taps = [(at, weigh((at - center + 0.5) / widening, kind, -0.5)) for at in range(first, end)]
    total = sum(weight for _, weight in taps)
    return [(at, weight / total) for at, weight in taps]


def covered_taps(index, scale, source):
    """Each covered source pixel, weighted by its covered share. Shares below a thousandth are rounding errors."""
    start = index * scale
    end = min(start + scale, source)
    shares = [(at, min(at + 1, end) - max(at, start)) for at in range(math.floor(start), math.ceil(end))]
    return [(at, share / (end - start)) for at, share in shares if share > 1e-3]


def area_linear_taps(index, scale):
    at = math.floor(index * scale)
    fraction = index + 1 - (at + 1) / scale
    weight = 0 if fraction <= 0 else fraction - math.floor(fraction)
    return [(at, 1 - weight), (at + 1, weight)]


def weigh(x, kind, a):
    """Linear or cubic filter at distance x. Source: OpenCV modules/imgproc/src/resize.cpp."""
    d = abs(x)
    if kind == "linear":
        return max(1 - d, 0)
    if d < 1:
        return ((a + 2) * d - (a + 3)) * d * d + 1
    return a * (((d - 5) * d + 8) * d - 4) if d < 2 else 0
