"""Opens the detector of a bundle: one session per part, and the host of its family."""
import contextlib
import time

import numpy as np

from .bundle import HERE, read_json, require_models
from .errors import Refused
from .golden import check_golden
from .maskrcnn import MaskRcnn
from .masks import encode_runs, paste_mask
from .parts import run_rois
from .session import Loaded
from .single import Single, list_parts
from .tiles import run_tiles
from .yolact import Yolact

FORMAT = "tanren-bundle-detector/1"
FAMILIES = {"maskrcnn": MaskRcnn, "maskscoring": MaskRcnn, "single": Single, "yolact": Yolact}
# Parts that take one image, of families whose other parts take any number of RoIs.
IMAGE_PARTS = ("backbone", "network")


class Clock:
    """Milliseconds of each step of one image."""

    def __init__(self):
        self.steps = {}

    @contextlib.contextmanager
    def __call__(self, step):
        started = time.perf_counter()
        yield
        self.steps[step] = self.steps.get(step, 0.0) + 1000 * (time.perf_counter() - started)


class Detection:
    """The objects of one image, by falling score."""

    def __init__(self, found, size, threshold, steps, models):
        self.boxes, self.scores, self.labels, self.maps, self.mask_scores, self.keypoints = found
        self.size, self.threshold = size, threshold
        # Milliseconds by step, and by model with all its calls.
        self.steps, self.models = steps, models

    def masks(self):
        """Masks at the size of the image; None for a detector without masks."""
        if self.maps is None:
            return None
        if self.maps.dtype == bool:
            return list(self.maps)
        return [paste_mask(probabilities, box, *self.size, self.threshold) for probabilities, box in zip(self.maps, self.boxes)]

    def results(self, image_id):
        """COCO results."""
        entries, masks = [], self.masks()
        for index, box in enumerate(self.boxes):
            x1, y1, x2, y2 = (float(side) for side in box)
            entry = {"image_id": image_id, "category_id": int(self.labels[index])}
            entry["bbox"] = [x1, y1, float(np.float32(x2 - x1)), float(np.float32(y2 - y1))]
            entry["score"] = float(self.scores[index])
            if self.mask_scores is not None:
                entry["mask_score"] = float(self.mask_scores[index])
            if masks is not None:
                entry["segmentation"] = {"size": list(self.size), "counts": encode_runs(masks[index])}
            if self.keypoints is not None:
                entry["keypoints"] = [float(value) for value in self.keypoints[index].ravel()]
            entries.append(entry)
        return entries


class Detector:
    def __init__(self, manifest, device, identity, least_sqnr):
        """@param least_sqnr the smallest SQNR of golden outputs in dB; None: they are not checked"""
        require_models(manifest)
        definition = read_definition()
        recipe, self.clock, self.model_clock = definition["recipe"], Clock(), Clock()
        # A single network has all settings in its recipe.
        self.config = definition.get("config") or recipe.get("config")
        self.names = {int(label): name for label, name in definition["categories"].items()}
        # The number of keypoints of an object; None for a detector without them.
        self.keypoints = recipe.get("decoder", {}).get("keypoints", {}).get("count")
        self.tiles = recipe.get("tiles", {})
        self.sessions = {}
        self.parts = list_parts(recipe) if recipe["architecture"] == "single" else recipe["parts"]
        for part, values in self.parts.items():
            for model, inputs, outputs in models_of(part, values, self.tiles):
                entry = next((one for one in manifest["models"] if one["name"] == model), None)
                if entry is None:
                    raise Refused("bad-detector", f"the bundle has no model {model} of the part {part}")
                loaded = Loaded(device, identity, str(HERE / entry["whole"]), manifest["files"][entry["whole"]], entry)
                if least_sqnr is not None:
                    check_golden(loaded, entry, least_sqnr)
                check_names(model, loaded, [*inputs, *outputs])
                self.sessions[model] = loaded
        self.outputs = {part: values["outputs"] for part, values in self.parts.items()}
        # A part of a single network says itself whether it runs on RoIs.
        self.on_rois = {part for part, values in self.parts.items() if takes_rois(recipe["architecture"], part, values)}
        self.host = FAMILIES[recipe["architecture"]](recipe, self.config, definition.get("fit"), self.run_part, lambda step: self.clock(step))

    def run_part(self, part, feeds):
        with self.clock(part):
            names = self.outputs[part]
            if part in self.tiles:
                return run_tiles(self.sessions, self.tiles[part]["steps"], feeds, names, lambda model: self.model_clock(model))
            session = self.sessions[part]
            with self.model_clock(part):
                return run_rois(session, feeds, names) if part in self.on_rois else dict(zip(names, session.run_once(feeds, names)))

    def detect(self, image):
        """@param image uint8 [height, width, 3]"""
        self.clock.steps, self.model_clock.steps = {}, {}
        started = time.perf_counter()
        found = self.host.detect(image)
        steps = {**self.clock.steps, "total": 1000 * (time.perf_counter() - started)}
        threshold = None if self.config is None else self.config["mask"]["threshold"]
        return Detection(found, image.shape[:2], threshold, steps, dict(self.model_clock.steps))


def read_definition():
    """The detector of the bundle. @raises Refused `no-detector`, `bad-detector`"""
    path = HERE / "detector.json"
    if not path.exists():
        raise Refused("no-detector", "the bundle has no detector.json: connect `recipe` to the stage `compile`, and build the bundle again")
    definition = read_json(path)
    if definition.get("format") != FORMAT:
        raise Refused("bad-detector", f"detector.json has the format {definition.get('format')!r}, expected {FORMAT!r}: use the programs of the same bundle")
    recipe = definition["recipe"]
    if recipe.get("architecture") not in FAMILIES:
        raise Refused("unsupported-detector", f"this program has no host for {recipe.get('architecture')!r}, only for {', '.join(FAMILIES)}: run the detector with Tanren's external runner")
    return definition


def takes_rois(architecture, part, values):
    return "rois" in values if architecture == "single" else part not in IMAGE_PARTS


def models_of(part, values, tiles):
    """(model, inputs, outputs) of a part: one, or one per step of a part on tiles."""
    if part not in tiles:
        return [(part, values["inputs"], values["outputs"])]
    name = lambda canvases: [canvas["name"] for canvas in canvases]
    return [(step["model"], name([*step["inputs"], *step.get("masks", [])]), name(step["outputs"])) for step in tiles[part]["steps"]]


def check_names(model, loaded, names):
    own = {value["name"] for value in (*loaded.inputs, *loaded.outputs)}
    missing = [name for name in names if name not in own]
    if missing:
        raise Refused("part-values", f"the model {model} has no {', '.join(missing)}; it has {', '.join(sorted(own))}")
