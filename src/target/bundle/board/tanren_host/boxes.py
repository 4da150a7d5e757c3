"""Boxes as float32 rows x1 y1 x2 y2: clipping, decoding, and non-maximum suppression.

Every operation rounds to float32, as PyTorch does. Thresholds are compared in float64.
"""
import math

import numpy as np

F32 = np.float32
LARGEST_LOG_RATIO = F32(math.log(1000 / 16))


def sort_by_score(scores):
    """Indices by falling score. Equal scores keep their order, and NaN comes last."""
    return np.argsort(-np.where(np.isnan(scores), -np.inf, scores), kind="stable")


def clip_boxes(boxes, size):
    """@param size (height, width)"""
    height, width = size
    return np.minimum(np.maximum(boxes, F32(0)), np.array([width, height, width, height], F32))


def is_large(boxes, side):
    return ((boxes[:, 2] - boxes[:, 0]) >= F32(side)) & ((boxes[:, 3] - boxes[:, 1]) >= F32(side))


def decode_boxes(deltas, references, weights):
    """Applies dx dy dw dh, divided by `weights`, to reference boxes. Source: torchvision BoxCoder.decode_single."""
    wx, wy, ww, wh = (F32(weight) for weight in weights)
    width, height = references[:, 2] - references[:, 0], references[:, 3] - references[:, 1]
    center_x, center_y = references[:, 0] + F32(0.5) * width, references[:, 1] + F32(0.5) * height
    x, y = deltas[:, 0] / wx * width + center_x, deltas[:, 1] / wy * height + center_y
    half_width = F32(0.5) * (growth(deltas[:, 2] / ww) * width)
    half_height = F32(0.5) * (growth(deltas[:, 3] / wh) * height)
    return np.stack([x - half_width, y - half_height, x + half_width, y + half_height], axis=1).astype(F32)


def growth(ratio):
    return np.exp(np.minimum(ratio, LARGEST_LOG_RATIO).astype(np.float64)).astype(F32)


def areas_of(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def iou_with(box, area, boxes, areas):
    """IoU of one box with each of `boxes`."""
    width = np.minimum(box[2], boxes[:, 2]) - np.maximum(box[0], boxes[:, 0])
    height = np.minimum(box[3], boxes[:, 3]) - np.maximum(box[1], boxes[:, 1])
    overlaps = (width > 0) & (height > 0)
    shared = np.where(overlaps, width * height, F32(0))
    union = (area + areas) - shared
    return np.divide(shared, union, out=np.zeros_like(shared), where=overlaps)


def suppress(boxes, scores, threshold, limit):
    """Greedy non-maximum suppression. @returns at most `limit` indices by falling score."""
    order = sort_by_score(scores)
    boxes = boxes[order]
    areas = areas_of(boxes)
    gone = np.zeros(len(order), bool)
    kept = []
    for i in range(len(order)):
        if gone[i]:
            continue
        kept.append(order[i])
        if len(kept) == limit:
            break
        gone[i + 1 :] |= iou_with(boxes[i], areas[i], boxes[i + 1 :], areas[i + 1 :]).astype(np.float64) > threshold
    return np.array(kept, np.int64)


def suppress_groups(boxes, scores, groups, threshold, limit):
    """Suppression within each group (class or pyramid level). @returns the best `limit` indices of all groups."""
    kept = [np.zeros(0, np.int64)]
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        kept.append(members[suppress(boxes[members], scores[members], threshold, limit)])
    found = np.sort(np.concatenate(kept))
    return found[sort_by_score(scores[found])][:limit]


def sigmoid(logits):
    with np.errstate(over="ignore"):
        return (1 / (1 + np.exp(-logits.astype(np.float64)))).astype(F32)


def softmax(logits):
    """Over the last axis."""
    powers = np.exp((logits - logits.max(axis=-1, keepdims=True)).astype(np.float64)).astype(F32)
    return (powers / powers.astype(np.float64).sum(axis=-1, keepdims=True)).astype(F32)
