"""The host of YOLACT: decoding, suppression and mask assembly, as in dbolya/yolact at test time."""
import numpy as np

from .boxes import F32, areas_of, iou_with, sigmoid, softmax, sort_by_score
from .errors import Refused
from .parts import get_value
from .resize import resize_bilinear


class Yolact:
    def __init__(self, recipe, config, _, run, clock):
        self.recipe, self.config, self.run, self.clock = recipe, config, run, clock
        ways = {"fast": self.select, "fast-cross-class": self.select_across, "traditional": self.select_greedily}
        if config["detection"]["nms"] not in ways:
            raise Refused("unsupported-detector", f"this program has no suppression {config['detection']['nms']!r} of YOLACT, only {', '.join(ways)}: use the programs of the same bundle")
        self.select_candidates = ways[config["detection"]["nms"]]
        self.priors = [self.make_priors(index, level) for index, level in enumerate(recipe["levels"])]

    def detect(self, image):
        """@returns boxes in whole pixels of the image, scores, category ids, masks of the whole image, None, None"""
        entry = self.recipe["image"]
        with self.clock("transform"):
            resized = resize_bilinear(image.astype(F32), entry["height"], entry["width"])
            mean, std = (np.array(self.config["input"][name], F32) for name in ("mean", "std"))
            tensor = np.ascontiguousarray(((resized - mean) / std).transpose(2, 0, 1)[None])
        values = self.run("network", {entry["value"]: tensor})
        with self.clock("detections"):
            relative, probabilities, coefficients = self.find_candidates(values)
            candidates, classes, scores = self.select_candidates(relative, probabilities)
            boxes = to_pixels(relative[candidates], image.shape[:2])
            kept = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
            candidates, classes, scores, boxes = candidates[kept], classes[kept], scores[kept], boxes[kept]
        with self.clock("masks"):
            masks = self.assemble(values, relative[candidates], coefficients[candidates], image.shape[:2])
        ids = np.array([category["id"] for category in self.config["categories"]], np.int64)
        return boxes, scores, ids[classes - 1], masks, None, None

    def make_priors(self, index, level):
        """x y w h of each prior, cells row by row. Source: PredictionModule.make_priors."""
        priors, (height, width) = self.config["priors"], (level["height"], level["width"])
        shapes = []
        for scale in priors["scales"][index]:
            for ratio in priors["aspectRatios"]:
                stretch = ratio if priors["preapplySqrt"] else np.sqrt(ratio)
                units = (self.recipe["image"]["width"],) * 2 if priors["usePixelScales"] else (width, height)
                w = scale * stretch / units[0]
                shapes.append((w, w if priors["useSquareAnchors"] else scale / stretch / units[1]))
        y, x, shape = np.meshgrid(np.arange(height), np.arange(width), np.arange(len(shapes)), indexing="ij")
        sides = np.array(shapes)[shape.ravel()]
        return np.column_stack([(x.ravel() + 0.5) / width, (y.ravel() + 0.5) / height, sides]).astype(F32)

    def find_candidates(self, values):
        """Source: Detect.detect. @returns relative boxes, probabilities with the background, and coefficients after tanh"""
        count, found = len(self.config["categories"]) + 1, []
        variance = [F32(value) for value in self.config["priors"]["variances"]]
        for level, priors in zip(self.recipe["levels"], self.priors):
            area = level["height"] * level["width"]
            shapes = len(priors) // area
            rows = lambda name, each: get_value(values, name, [1, shapes * each, level["height"], level["width"]]).reshape(shapes, each, area).transpose(2, 0, 1).reshape(-1, each)
            probabilities = softmax(rows(level["classes"], count))
            likely = probabilities[:, 1:].max(axis=1) > F32(self.config["detection"]["scoreThreshold"])
            deltas, prior = rows(level["boxes"], 4)[likely], priors[likely]
            side = prior[:, 2:] * np.exp((deltas[:, 2:] * variance[1]).astype(np.float64)).astype(F32)
            low = (prior[:, :2] + deltas[:, :2] * variance[0] * prior[:, 2:]) - side / F32(2)
            coefficients = np.tanh(rows(level["coefficients"], self.recipe["prototypes"]["channels"])[likely].astype(np.float64)).astype(F32)
            found.append((np.concatenate([low, low + side], axis=1), probabilities[likely], coefficients))
        return tuple(np.concatenate(arrays) for arrays in zip(*found))

    def select(self, boxes, probabilities):
        """Fast suppression: per class, a box goes where its IoU with any better one is above the threshold. Source: Detect.fast_nms."""
        config, areas, pairs = self.config["detection"], areas_of(boxes), []
        for label in range(1, probabilities.shape[1]):
            order = sort_by_score(probabilities[:, label])[: config["topK"]]
            for rank, box in enumerate(order):
                if not (iou_with(boxes[box], areas[box], boxes[order[:rank]], areas[order[:rank]]) > F32(config["nmsThreshold"])).any():
                    pairs.append((box, label))
        if not pairs:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, F32)
        candidates, classes = np.array(pairs).T
        scores = probabilities[candidates, classes]
        order = np.lexsort((candidates, classes, -scores))[: config["maxDetections"]]
        return candidates[order], classes[order], scores[order]

    def select_across(self, boxes, probabilities):
        """Fast suppression over all classes: every box has its best class only. Source: Detect.cc_fast_nms."""
        config, areas = self.config["detection"], areas_of(boxes)
        best = probabilities[:, 1:].argmax(axis=1) if len(boxes) else np.zeros(0, np.int64)
        scores = probabilities[np.arange(len(boxes)), best + 1]
        order = sort_by_score(scores)[: config["topK"]]
        covered = lambda rank, box: (iou_with(boxes[box], areas[box], boxes[order[:rank]], areas[order[:rank]]) > F32(config["nmsThreshold"])).any()
        kept = np.array([box for rank, box in enumerate(order) if not covered(rank, box)], np.int64)
        return kept, best[kept] + 1, scores[kept]

    def select_greedily(self, boxes, probabilities):
        """Greedy suppression per class in pixels of the input, then the best of all classes. Source: Detect.traditional_nms."""
        config, pixels, pairs = self.config["detection"], boxes * F32(self.recipe["image"]["width"]), []
        for label in range(1, probabilities.shape[1]):
            kept = suppress_pixels(pixels, probabilities[:, label], F32(config["scoreThreshold"]), F32(config["nmsThreshold"]))
            pairs += [(box, label) for box in sorted(kept)]
        candidates, classes = np.array(pairs, np.int64).reshape(-1, 2).T
        scores = probabilities[candidates, classes]
        order = sort_by_score(scores)[: config["maxDetections"]]
        return candidates[order], classes[order], scores[order]

    def assemble(self, values, boxes, coefficients, size):
        """Sigmoid of prototypes times coefficients, cropped to the box, resized and thresholded. Source: output_utils.postprocess, box_utils.crop."""
        entry = self.recipe["prototypes"]
        shape = [1, entry["channels"], entry["height"], entry["width"]]
        prototypes = np.maximum(get_value(values, entry["value"], shape)[0], 0).reshape(entry["channels"], -1)
        masks = np.zeros((len(boxes), *size), bool)
        for index, (box, row) in enumerate(zip(boxes, coefficients)):
            plane = sigmoid(row @ prototypes).reshape(shape[2:])
            columns, rows = crop_axis(box[0], box[2], shape[3]), crop_axis(box[1], box[3], shape[2])
            cropped = np.zeros_like(plane)
            cropped[rows[0] : rows[1], columns[0] : columns[1]] = plane[rows[0] : rows[1], columns[0] : columns[1]]
            masks[index] = resize_bilinear(cropped, *size).astype(np.float64) > self.config["mask"]["threshold"]
        return masks


def suppress_pixels(boxes, scores, least, threshold):
    """Removes boxes whose IoU with a better one reaches the threshold. A side has the length x2 - x1 + 1. Source: utils/cython_nms.pyx."""
    order, kept = sort_by_score(scores), []
    order = order[scores[order] > least]
    areas = ((boxes[:, 2] - boxes[:, 0]) + F32(1)) * ((boxes[:, 3] - boxes[:, 1]) + F32(1))
    while len(order):
        best, order = order[0], order[1:]
        kept.append(best)
        low, high = np.maximum(boxes[best, :2], boxes[order, :2]), np.minimum(boxes[best, 2:], boxes[order, 2:])
        sides = np.maximum((high - low) + F32(1), F32(0))
        shared = sides[:, 0] * sides[:, 1]
        order = order[shared / ((areas[best] + areas[order]) - shared) < threshold]
    return kept


def crop_axis(a, b, cells):
    """Cells from the low side less 1 to the high side plus 1."""
    first, second = a * F32(cells), b * F32(cells)
    low, high = max(min(first, second) - F32(1), F32(0)), min(max(first, second) + F32(1), F32(cells))
    start = min(int(np.ceil(low)), cells)
    return start, max(int(np.ceil(high)), start)


def to_pixels(boxes, size):
    """Sorted, clipped and truncated. Source: box_utils.sanitize_coordinates."""
    height, width = size
    scaled = boxes * np.array([width, height, width, height], F32)
    low, high = np.minimum(scaled[:, :2], scaled[:, 2:]), np.maximum(scaled[:, :2], scaled[:, 2:])
    return np.trunc(np.concatenate([np.maximum(low, F32(0)), np.minimum(high, np.array([width, height], F32))], axis=1))
