"""The host of Mask R-CNN and Mask Scoring R-CNN: what torchvision's MaskRCNN does at test time around its networks."""
import math

import numpy as np

from .boxes import F32, clip_boxes, decode_boxes, is_large, sigmoid, softmax, sort_by_score, suppress_groups
from .errors import Refused
from .parts import get_value
from .pooling import pool_from_pyramid
from .resize import resize_bilinear

PROPOSAL_SIDE, DETECTION_SIDE = 1e-3, 1e-2


class MaskRcnn:
    def __init__(self, recipe, config, fit, run, clock):
        """@param run (part, feeds) -> {output: array}; @param clock gives a context that times a step"""
        self.recipe, self.config, self.run, self.clock = recipe, config, run, clock
        self.fit = fit or recipe["image"]["fit"]

    def detect(self, image):
        """@returns boxes in the image, scores, labels, mask probabilities of the boxes, mask scores or None, None"""
        with self.clock("transform"):
            tensor, sizes = self.prepare(image)
        backbone = self.run("backbone", {self.recipe["image"]["value"]: tensor})
        with self.clock("proposals"):
            proposals = self.find_proposals(backbone, sizes)
        head = self.recipe["boxHead"]
        with self.clock("roi-align"):
            features = self.pool(backbone, proposals, head, sizes)
        outputs = self.run("box_head", {head["input"]: features})
        with self.clock("detections"):
            boxes, scores, labels = self.select(outputs, proposals, sizes)
        head = self.recipe["maskHead"]
        with self.clock("roi-align"):
            features = self.pool(backbone, boxes, head, sizes)
        outputs = self.run("mask_head", {head["input"]: features})
        with self.clock("masks"):
            masks = self.read_masks(outputs, labels)
        mask_scores = self.score_masks(features, masks, scores, labels)
        ratio = [F32(sizes["original"][1] / sizes["resized"][1]), F32(sizes["original"][0] / sizes["resized"][0])]
        return boxes * np.array(ratio * 2, F32), scores, labels, masks, mask_scores, None

    def prepare(self, image):
        """The backbone's input, and the sizes (height, width) of the image in it."""
        entry, config = self.recipe["image"], self.config["input"]
        original, fixed = image.shape[:2], (entry["height"], entry["width"])
        if self.fit == "static":
            scale = min(fixed[0] / original[0], fixed[1] / original[1])
        else:
            scale = min(config["minSize"] / min(original), config["maxSize"] / max(original))
        resized = tuple(math.trunc(side * scale) for side in original)
        if min(resized) < 1:
            raise Refused("image-too-narrow", f"an image of {original[1]}x{original[0]} pixels would be resized to {resized[1]}x{resized[0]}")
        covered = padded = fixed
        if self.fit != "static":
            step = config["sizeDivisible"]
            covered = tuple(math.ceil(side / step) * step for side in resized)
            if covered[0] > fixed[0] or covered[1] > fixed[1]:
                raise Refused("input-size", f"an image of {original[1]}x{original[0]} is fitted to {covered[1]}x{covered[0]}, but the model takes {fixed[1]}x{fixed[0]}")
        mean, std = np.array(config["mean"], F32), np.array(config["std"], F32)
        table = ((np.arange(256) / 255).astype(F32)[:, None] - mean) / std
        pixels = np.stack([table[image[..., channel], channel] for channel in range(3)], axis=2)
        tensor = np.zeros((1, 3, *padded), F32)
        tensor[0, :, : resized[0], : resized[1]] = resize_bilinear(pixels, *resized).transpose(2, 0, 1)
        return tensor, {"original": original, "resized": resized, "covered": covered, "padded": padded}

    def find_proposals(self, values, sizes):
        """Source: torchvision RegionProposalNetwork.filter_proposals."""
        rpn, found = self.config["rpn"], []
        for index, level in enumerate(self.recipe["levels"]):
            (height, width), whole = level_size(level, sizes["covered"]), level_size(level, sizes["padded"])
            anchors, strides = self.base_anchors(index), (sizes["covered"][0] // height, sizes["covered"][1] // width)
            count = len(anchors)
            logits = get_value(values, level["objectness"], [1, count, *whole])[0, :, :height, :width]
            deltas = get_value(values, level["deltas"], [1, 4 * count, *whole])[0, :, :height, :width]
            logits = logits.transpose(1, 2, 0).ravel()
            deltas = deltas.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
            best = sort_by_score(logits)[: rpn["preNmsTopN"]]
            cell, shape = best // count, best % count
            x, y = (cell % width * strides[1]).astype(F32), (cell // width * strides[0]).astype(F32)
            boxes = decode_boxes(deltas[best], anchors[shape] + np.stack([x, y, x, y], axis=1), (1, 1, 1, 1))
            boxes, scores = clip_boxes(boxes, sizes["resized"]), sigmoid(logits[best])
            kept = is_large(boxes, PROPOSAL_SIDE) & (scores.astype(np.float64) >= rpn["scoreThreshold"])
            found.append((boxes[kept], scores[kept], np.full(kept.sum(), index)))
        boxes, scores, groups = (np.concatenate(arrays) for arrays in zip(*found))
        return boxes[suppress_groups(boxes, scores, groups, rpn["nmsThreshold"], rpn["postNmsTopN"])]

    def base_anchors(self, level):
        """Anchors of a cell around the origin. Source: torchvision AnchorGenerator."""
        rows = []
        for ratio in self.config["anchors"]["aspectRatios"]:
            tall = np.sqrt(F32(ratio))
            wide = F32(1) / tall
            for size in self.config["anchors"]["sizes"][level]:
                x, y = np.round(wide * F32(size) / F32(2)), np.round(tall * F32(size) / F32(2))
                rows.append([-x, -y, x, y])
        return np.array(rows, F32)

    def pool(self, values, boxes, head, sizes):
        levels = [level for level in self.recipe["levels"] if level["feature"] != "none"]
        maps = [get_value(values, level["feature"], [1, head["channels"], *level_size(level, sizes["padded"])])[0] for level in levels]
        roi = self.recipe["roi"]
        return pool_from_pyramid(maps, [1 / level["stride"] for level in levels], boxes, head["size"], head["samplingRatio"], roi["canonicalScale"], roi["canonicalLevel"])

    def select(self, values, rois, sizes):
        """Source: torchvision RoIHeads.postprocess_detections. @returns boxes in the resized image, scores, labels"""
        box, head, classes = self.config["box"], self.recipe["boxHead"], self.config["numClasses"]
        logits = get_value(values, head["classLogits"], [len(rois), classes])
        deltas = get_value(values, head["boxRegression"], [len(rois), 4 * classes]).reshape(-1, classes, 4)
        scores = softmax(logits)
        likely = scores.astype(np.float64) > box["scoreThreshold"]
        likely[:, 0] = False
        row, label = np.nonzero(likely)
        boxes = clip_boxes(decode_boxes(deltas[row, label], rois[row], box["regressionWeights"]), sizes["resized"])
        large = is_large(boxes, DETECTION_SIDE)
        boxes, scores, label = boxes[large], scores[row, label][large], label[large]
        kept = suppress_groups(boxes, scores, label, box["nmsThreshold"], box["detectionsPerImage"])
        return boxes[kept], scores[kept], label[kept]

    def read_masks(self, values, labels):
        side = 2 * self.recipe["maskHead"]["size"]
        logits = get_value(values, self.recipe["maskHead"]["maskLogits"], [len(labels), self.config["numClasses"], side, side])
        return sigmoid(logits[np.arange(len(labels)), labels])

    def score_masks(self, features, masks, scores, labels):
        """Class score times predicted IoU. Source: zjhuang22/maskscoring_rcnn MaskIoUPostProcessor. None for a plain Mask R-CNN."""
        head = self.recipe.get("maskIouHead")
        if head is None:
            return None
        with self.clock("masks"):
            half = masks.shape[1] // 2
            pooled = masks.reshape(len(masks), half, 2, half, 2).max(axis=(2, 4))[:, None]
        values = self.run("maskiou_head", {head["input"]: features, head["maskProbability"]: pooled})
        ious = get_value(values, head["maskIou"], [len(labels), self.config["numClasses"]])
        return scores * ious[np.arange(len(labels)), labels]


def level_size(level, size):
    return tuple(math.ceil(side / level["stride"]) for side in size)
