"""RoIAlign from a feature pyramid, as torchvision computes it with aligned=False."""
import numpy as np

from .boxes import F32, areas_of

# RoIs pooled at once are limited to this number of values.
MOST_VALUES = 1 << 24


def assign_levels(boxes, canonical_scale, canonical_level, finest, levels):
    """Index of the pyramid level of each box. Source: Lin et al., Feature Pyramid Networks, equation 1; torchvision LevelMapper."""
    with np.errstate(divide="ignore"):
        ratio = np.sqrt(areas_of(boxes)) / F32(canonical_scale)
        octaves = np.log2(ratio.astype(np.float64)).astype(F32)
    level = np.floor((F32(canonical_level) + octaves) + F32(1e-6)) - finest
    return np.clip(level, 0, levels - 1).astype(np.int64)


def pool_from_pyramid(maps, scales, boxes, size, sampling_ratio, canonical_scale, canonical_level):
    """
    @param maps    [channels, height, width] each, finest first
    @param scales  cells per pixel of each map
    @returns       [boxes, channels, size, size]
    """
    channels = maps[0].shape[0]
    pooled = np.zeros((len(boxes), channels, size, size), F32)
    finest = round(-np.log2(scales[0]))
    levels = assign_levels(boxes, canonical_scale, canonical_level, finest, len(maps))
    for level, (feature, scale) in enumerate(zip(maps, scales)):
        members = np.flatnonzero(levels == level)
        if len(members) == 0:
            continue
        cells = np.ascontiguousarray(feature.transpose(1, 2, 0)).reshape(-1, channels)
        step = max(1, MOST_VALUES // (channels * size * size))
        for start in range(0, len(members), step):
            part = members[start : start + step]
            pooled[part] = pool(cells, feature.shape[1:], boxes[part] * F32(scale), size, sampling_ratio)
    return pooled


def pool(cells, shape, spans, size, per_bin):
    """@param cells [height * width, channels]; @param spans boxes in cells; @returns [boxes, channels, size, size]"""
    height, width = shape
    xs, ys = place_points(spans[:, 0], spans[:, 2], width, size, per_bin), place_points(spans[:, 1], spans[:, 3], height, size, per_bin)
    total = np.zeros((len(spans), size, size, cells.shape[1]), F32)
    for y in range(per_bin):
        for x in range(per_bin):
            value = None
            for low_y, low_x in ((True, True), (True, False), (False, True), (False, False)):
                row, row_weight = pick(ys, y, low_y)
                column, column_weight = pick(xs, x, low_x)
                weight = row_weight[:, :, None] * column_weight[:, None, :]
                corner = weight[..., None] * cells[row[:, :, None] * width + column[:, None, :]]
                value = corner if value is None else value + corner
            total += value
    return (total.astype(np.float64) / (per_bin * per_bin)).astype(F32).transpose(0, 3, 1, 2)


def pick(points, sample, is_low):
    """Cells and weights of one of the two neighbors, for sample number `sample` of every bin."""
    low, high, low_weight, high_weight = (values[:, :, sample] for values in points)
    return (low, low_weight) if is_low else (high, high_weight)


def place_points(start, end, cells, size, per_bin):
    """Sampling points of one axis: the two neighbor cells and their weights, each [boxes, size, per_bin]. Weights outside the map are 0."""
    length = np.maximum(end - start, F32(1)) / F32(size)
    samples = (np.arange(per_bin, dtype=F32) + F32(0.5))[None, None, :] * length[:, None, None] / F32(per_bin)
    bins = np.arange(size, dtype=F32)[None, :, None] * length[:, None, None]
    place = (start[:, None, None] + bins) + samples
    outside = ~((place >= -1) & (place <= cells))
    inside = np.where(outside, F32(0), np.maximum(place, F32(0)))
    low = np.minimum(np.floor(inside), cells - 1).astype(np.int64)
    beyond = np.where(low == cells - 1, F32(0), inside - low.astype(F32))
    high = np.minimum(low + 1, cells - 1)
    return low, high, np.where(outside, F32(0), F32(1) - beyond), np.where(outside, F32(0), beyond)
