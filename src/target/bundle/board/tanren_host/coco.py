"""COCO annotations and results, and average precision as pycocotools computes it for all areas: of 100 detections per image, of keypoints 20."""
import json
from pathlib import Path

import numpy as np

from .errors import Refused
from .masks import decode_runs

THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALLS = np.linspace(0, 1, 101)
MOST_DETECTIONS = {"bbox": 100, "segm": 100, "keypoints": 20}
# Of the 17 points of a person in COCO, in the order of its files.
PERSON_SIGMAS = [0.026, 0.025, 0.025, 0.035, 0.035, 0.079, 0.079, 0.072, 0.072, 0.062, 0.062, 0.107, 0.107, 0.087, 0.087, 0.089, 0.089]


def read_annotations(path):
    try:
        file = json.loads(Path(path).read_text(encoding="utf-8"))
        images = sorted(((int(image["id"]), str(image["file_name"])) for image in file["images"]))
        return file, images
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Refused("bad-annotations", f"{path} is not a COCO annotations file: {error!r}") from error


def average_precision(file, results, image_ids, sigmas=None):
    """AP, AP50 and AP75 of boxes; of masks where every object has one; of keypoints where every object and an annotation have them.

    @param sigmas the standard deviation of each keypoint, as a share of the object's size; default: those of a person in COCO
    """
    figures = {"bbox": evaluate(file, results, image_ids, "bbox", sigmas)}
    if results and all("segmentation" in result for result in results):
        figures["segm"] = evaluate(file, results, image_ids, "segm", sigmas)
    if results and all("keypoints" in result for result in results) and any(one.get("keypoints") for one in file["annotations"]):
        figures["keypoints"] = evaluate(file, results, image_ids, "keypoints", np.array(PERSON_SIGMAS if sigmas is None else sigmas, float))
    return figures


def check_sigmas(file, points, sigmas=None):
    """Whether figures of keypoints can be computed, before anything is detected.

    @param points the number of keypoints that the detector gives per object; None: no keypoints, and nothing is checked
    @raises Refused `keypoint-sigmas`
    """
    annotated = [len(one["keypoints"]) / 3 for one in file["annotations"] if one.get("keypoints")]
    if points is None or not annotated:
        return
    expected = len(PERSON_SIGMAS if sigmas is None else sigmas)
    odd = next((count for count in (points, *annotated) if count != expected), None)
    if odd is not None:
        raise Refused("keypoint-sigmas", f"an object has {odd:g} keypoints, and there are {expected} standard deviations: give one per point with --sigmas")


def evaluate(file, results, image_ids, kind, sigmas):
    categories = sorted(category["id"] for category in file["categories"])
    sizes = {image["id"]: (image["height"], image["width"]) for image in file["images"]}
    truths, found = group(file["annotations"], image_ids), group(results, image_ids)
    precisions = []
    for category in categories:
        scores, matches, ignored, count = [], [], [], 0
        for image in image_ids:
            truth, own = truths.get((image, category), []), found.get((image, category), [])
            own = sorted(own, key=lambda one: -score_of(one, kind))[: MOST_DETECTIONS[kind]]
            truth = sorted(truth, key=lambda one: is_ignored(one, kind))
            count += sum(not is_ignored(one, kind) for one in truth)
            ious = keypoint_similarities(own, truth, sigmas) if kind == "keypoints" else overlaps(own, truth, kind, sizes[image])
            matched, skipped = match(ious, [is_ignored(one, kind) for one in truth], [is_crowd(one) for one in truth])
            scores += [score_of(one, kind) for one in own]
            matches.append(matched)
            ignored.append(skipped)
        if count > 0:
            precisions.append(precision_by_recall(np.array(scores), np.concatenate(matches, axis=1), np.concatenate(ignored, axis=1), count))
    table = np.array(precisions) if precisions else np.full((1, len(THRESHOLDS), len(RECALLS)), -1.0)
    return {"AP": float(table.mean()), "AP50": float(table[:, 0].mean()), "AP75": float(table[:, 5].mean())}


def is_crowd(truth):
    return bool(truth.get("iscrowd", 0))


def is_ignored(truth, kind):
    """Of keypoints, an object without a labeled point too."""
    return is_crowd(truth) or (kind == "keypoints" and labeled_points(truth) == 0)


def labeled_points(truth):
    return truth.get("num_keypoints", sum(value > 0 for value in (truth.get("keypoints") or [])[2::3]))


def group(entries, image_ids):
    wanted, groups = set(image_ids), {}
    for entry in entries:
        if entry["image_id"] in wanted:
            groups.setdefault((entry["image_id"], entry["category_id"]), []).append(entry)
    return groups


def score_of(result, kind):
    return result.get("mask_score", result["score"]) if kind == "segm" else result["score"]


def match(ious, skipped, crowds):
    """Greedy matching per threshold. @returns which detections match, and which count neither way; each [thresholds, detections]"""
    matched, ignored = np.zeros((len(THRESHOLDS), len(ious)), bool), np.zeros((len(THRESHOLDS), len(ious)), bool)
    for row, threshold in enumerate(THRESHOLDS):
        taken = np.zeros(len(crowds), bool)
        for index, candidates in enumerate(ious):
            best, least = -1, min(threshold, 1 - 1e-10)
            for truth, iou in enumerate(candidates):
                if taken[truth] and not crowds[truth]:
                    continue
                if best >= 0 and not skipped[best] and skipped[truth]:
                    break
                if iou >= least:
                    best, least = truth, iou
            if best >= 0:
                taken[best], matched[row, index], ignored[row, index] = True, True, skipped[best]
    return matched, ignored


def precision_by_recall(scores, matched, ignored, count):
    """Precision at 101 recalls, per threshold."""
    order = np.argsort(-scores, kind="stable")
    true = np.cumsum(matched[:, order] & ~ignored[:, order], axis=1)
    false = np.cumsum(~matched[:, order] & ~ignored[:, order], axis=1)
    table = np.zeros((len(THRESHOLDS), len(RECALLS)))
    for row, (hits, misses) in enumerate(zip(true, false)):
        precision = hits / np.maximum(hits + misses, np.spacing(1))
        envelope = np.maximum.accumulate(precision[::-1])[::-1]
        at = np.searchsorted(hits / count, RECALLS, side="left")
        inside = at < len(envelope)
        table[row, inside] = envelope[at[inside]]
    return table


def overlaps(found, truths, kind, size):
    """IoU of each pair; with a crowd, the intersection over the detection."""
    if kind == "bbox":
        a, b = (np.array([one["bbox"] for one in side], float).reshape(-1, 4) for side in (found, truths))
        low = np.maximum(a[:, None, :2], b[None, :, :2])
        high = np.minimum((a[:, :2] + a[:, 2:])[:, None], (b[:, :2] + b[:, 2:])[None])
        shared = np.prod(np.maximum(high - low, 0), axis=2)
        area_a, area_b = np.prod(a[:, 2:], axis=1), np.prod(b[:, 2:], axis=1)
    else:
        a, b = (np.array([read_mask(one["segmentation"], size) for one in side], np.float32).reshape(len(side), size[0] * size[1]) for side in (found, truths))
        shared, area_a, area_b = (a @ b.T).astype(float), a.sum(axis=1, dtype=float), b.sum(axis=1, dtype=float)
    crowds = np.array([bool(one.get("iscrowd", 0)) for one in truths], bool)
    union = np.where(crowds[None], area_a[:, None], area_a[:, None] + area_b[None] - shared)
    return np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)


def keypoint_similarities(found, truths, sigmas):
    """OKS of each pair. Where an object has no labeled point, distances are those to a box of three times its size."""
    table = np.zeros((len(found), len(truths)))
    for column, truth in enumerate(truths):
        x, y, visible = np.array(truth.get("keypoints") or [0] * 3 * len(sigmas), float).reshape(-1, 3).T
        left, top, width, height = truth["bbox"]
        for row, one in enumerate(found):
            own_x, own_y, _ = np.array(one["keypoints"], float).reshape(-1, 3).T
            if (visible > 0).any():
                dx, dy = own_x - x, own_y - y
            else:
                dx, dy = outside(own_x, left, width), outside(own_y, top, height)
            distances = (dx**2 + dy**2) / (2 * sigmas) ** 2 / (truth.get("area", width * height) + np.spacing(1)) / 2
            table[row, column] = np.exp(-(distances[visible > 0] if (visible > 0).any() else distances)).mean()
    return table


def outside(value, start, side):
    return np.maximum(0, start - side - value) + np.maximum(0, value - (start + 2 * side))


def read_mask(segmentation, size):
    """The mask of run lengths or polygons. Polygons need pycocotools or Pillow."""
    height, width = size
    if isinstance(segmentation, dict):
        counts = segmentation["counts"]
        if isinstance(counts, str):
            return decode_runs(counts, height, width)
        if sum(counts) != height * width:
            raise ValueError(f"the run lengths are not those of a mask of {width}x{height}")
        return np.repeat(np.arange(len(counts)) % 2 == 1, counts).reshape(width, height).T
    return fill_polygons(segmentation, height, width)


def fill_polygons(polygons, height, width):
    """The union of polygons, by pycocotools' rule: edges are walked on a grid five times finer, and columns are filled between crossings."""
    mask = np.zeros((height, width), bool)
    for polygon in polygons:
        mask |= fill_polygon(np.asarray(polygon, float).reshape(-1, 2), height, width)
    return mask


def fill_polygon(points, height, width):
    fine = np.trunc(points * 5 + 0.5).astype(np.int64)
    changes = []
    for (x0, y0), (x1, y1) in zip(fine, np.roll(fine, -1, axis=0)):
        dx, dy = abs(x1 - x0), abs(y1 - y0)
        flip = (dx >= dy and x0 > x1) or (dx < dy and y0 > y1)
        if flip:
            x0, x1, y0, y1 = x1, x0, y1, y0
        steps = np.arange(max(dx, dy) + 1)[:: -1 if flip else 1]
        if dx >= dy:
            xs, ys = steps + x0, np.trunc(y0 + (y1 - y0) / max(dx, 1) * steps + 0.5).astype(np.int64)
        else:
            xs, ys = np.trunc(x0 + (x1 - x0) / dy * steps + 0.5).astype(np.int64), steps + y0
        changes.append(np.stack([xs, ys], axis=1))
    walk = np.concatenate(changes)
    moved = np.flatnonzero(walk[1:, 0] != walk[:-1, 0]) + 1
    x, before = walk[moved, 0], walk[moved - 1]
    column = (np.where(x < before[:, 0], x, x - 1) + 0.5) / 5 - 0.5
    kept = (np.floor(column) == column) & (column >= 0) & (column <= width - 1)
    row = np.ceil(np.clip((np.minimum(walk[moved, 1], before[:, 1]) + 0.5) / 5 - 0.5, 0, height))
    starts = np.sort((column[kept] * height + row[kept]).astype(np.int64))
    toggles = np.zeros(height * width + 1, np.int64)
    np.add.at(toggles, starts, 1)
    return (np.cumsum(toggles[:-1]) % 2 == 1).reshape(width, height).T
