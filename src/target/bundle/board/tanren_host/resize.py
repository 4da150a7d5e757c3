"""Bilinear resize as in torch.nn.functional.interpolate(mode="bilinear", align_corners=False), without antialiasing."""
import numpy as np

from .boxes import F32


def sample_axis(source, target, start=0, end=None):
    """For output positions start … end − 1: the two source positions, and the float32 weight of the second."""
    positions = np.arange(start, target if end is None else end)
    ratio = F32(source / target)
    place = np.maximum(ratio * (positions + 0.5).astype(F32) - F32(0.5), F32(0))
    low = np.minimum(np.floor(place), source - 1).astype(np.int64)
    return low, np.minimum(low + 1, source - 1), (place - low.astype(F32)).astype(F32)


def resize_bilinear(plane, height, width):
    """@param plane [rows, columns] or [rows, columns, channels]; sums are computed in float64. @returns float32"""
    if plane.shape[:2] == (height, width):
        return plane.astype(F32)
    shape = (-1, 1) + (1,) * (plane.ndim - 2)
    low, high, weight = sample_axis(plane.shape[1], width)
    share = weight.astype(np.float64).reshape(shape[1:2] + (-1,) + shape[2:])
    source = plane.astype(np.float64)
    across = source[:, low] * (1 - share) + source[:, high] * share
    low, high, weight = sample_axis(plane.shape[0], height)
    share = weight.astype(np.float64).reshape(shape)
    return (across[low] * (1 - share) + across[high] * share).astype(F32)
