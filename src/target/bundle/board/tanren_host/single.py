"""The host of a single network whose outputs a decoder reads: preprocessing, decoding, suppression."""
import contextlib

import numpy as np

from .boxes import F32, clip_boxes, sort_by_score, suppress, suppress_groups
from .decoders import DECODERS, decode, select_detections
from .errors import Refused
from .masks import paste_mask, paste_prototypes
from .preprocess import USUAL_FORM, batch_of, make_inputs


def list_parts(recipe):
    """Inputs and outputs by the name of the part, in the order in which the parts run."""
    parts, inner = recipe["parts"], {head["name"]: head for head in recipe.get("heads", [])}
    ordered = {"prepare": parts.get("prepare"), "model": parts["model"], **inner, "rest": parts.get("rest")}
    return {name: part for name, part in ordered.items() if part is not None}


class Single:
    def __init__(self, recipe, _config, _fit, run, clock):
        self.recipe, self.run, self.clock = recipe, run, clock
        self.kind, known = recipe["decoder"]["kind"], [*DECODERS, "detections"]
        if self.kind not in known:
            raise Refused("unsupported-detector", f"this program has no decoder {self.kind!r}, only {', '.join(known)}: run the detector with Tanren's external runner")
        entry = recipe["image"]
        sides = [side for other in entry.get("others", []) if other["kind"] == "image" for side in (other["form"]["height"], other["form"]["width"])]
        if "free" in (entry["height"], entry["width"]) or None in sides:
            raise Refused("unsupported-detector", "the recipe has a free size of the input, and a board runs one size: pin the network's size before `describe`")
        self.size = (entry["height"], entry["width"])
        self.parts = list_parts(recipe)
        self.ids = np.array([category["id"] for category in recipe["categories"]], np.int64)

    def detect(self, image):
        """@returns boxes, scores, category ids, masks of the whole image or None, None, keypoints in the image or None"""
        selection, entry, decoder = (self.recipe[name] for name in ("selection", "image", "decoder"))
        with self.clock("transform"):
            values, placement = make_inputs(image, self.size, entry)
        for name, part in self.parts.items():
            values.update(self.run(name, {value: values[value] for value in part["inputs"]}))
        batch = batch_of(entry.get("form", USUAL_FORM))
        if batch > 1:
            values = {name: value[:1] if value.shape[:1] == (batch,) else value for name, value in values.items()}
        with self.clock("detections"):
            if self.kind == "detections":
                boxes, scores, classes, maps = select_detections(decoder, values, len(self.ids))
                more = {} if maps is None else {"squares": maps}
            else:
                boxes, scores, classes, more = decode(decoder, values, self.size, len(self.ids), selection)
            kept = self.select(boxes, scores, classes, selection)
            (top, left), (ratio_y, ratio_x) = placement.corner, placement.ratio
            corners = ((boxes[kept] - np.array([left, top, left, top], np.float64)) / [ratio_x, ratio_y, ratio_x, ratio_y]).astype(F32)
            whole = corners + np.array([0, 0, 1, 1], F32) if decoder.get("corners") == "inclusive" else corners
            if selection["clip"] == "image":
                whole = clip_boxes(whole, image.shape[:2])
            points = map_points_back(more["keypoints"][kept], placement) if "keypoints" in more else None
        with self.clock("masks") if "squares" in more or "masks" in more else contextlib.nullcontext():
            masks = self.make_masks(more, kept, corners, values, placement, image.shape[:2])
        return whole, scores[kept], self.ids[classes[kept]], masks, None, points

    def make_masks(self, more, kept, corners, values, placement, original):
        """Masks of the image [objects, height, width], or None."""
        settings = self.recipe["decoder"].get("masks")
        if "squares" in more:
            pasted = [paste_mask(own, box, *original, settings["threshold"]) for own, box in zip(more["squares"][kept], corners)]
        elif "masks" in more:
            prototypes = read_prototypes(values, settings)
            pasted = paste_prototypes(more["masks"][kept], prototypes, corners, placement, original, settings["threshold"])
        else:
            return None
        return np.array(pasted, bool).reshape(len(kept), *original)

    def select(self, boxes, scores, classes, selection):
        """Numbers of the candidates that remain, by falling score. Boxes that are not finite are left out."""
        valid = np.flatnonzero((scores > F32(selection["scoreThreshold"])) & np.isfinite(boxes).all(axis=1))
        best = valid[sort_by_score(scores[valid])[: selection["candidates"]]]
        nms = selection["nms"]
        if nms == "none":
            return best[: selection["perImage"]]
        if nms["classes"] == "each":
            kept = suppress_groups(boxes[best], scores[best], classes[best], nms["threshold"], None)
        else:
            kept = suppress(boxes[best], scores[best], nms["threshold"], None)
        return best[kept][: selection["perImage"]]


def map_points_back(points, placement):
    """x, y and visibility in the image, rounded to float32 once."""
    (top, left), (ratio_y, ratio_x) = placement.corner, placement.ratio
    mapped = points.astype(np.float64)
    mapped[:, :, 0] = (mapped[:, :, 0] - left) / ratio_x
    mapped[:, :, 1] = (mapped[:, :, 1] - top) / ratio_y
    return mapped.astype(F32)


def read_prototypes(values, settings):
    """[count, rows, columns]. @raises Refused `part-values`"""
    array = np.asarray(values[settings["prototypes"]])
    if array.ndim != 4 or array.shape[:2] != (1, settings["count"]):
        raise Refused("part-values", f"output {settings['prototypes']} is {list(array.shape)}; the decoder expects [1, {settings['count']}, height, width]")
    return array[0].astype(F32)
