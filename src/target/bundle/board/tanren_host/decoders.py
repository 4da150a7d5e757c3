"""Decoders of single networks: boxes x1 y1 x2 y2 in pixels of the input, scores and classes, by the settings of the recipe."""
import numpy as np

from .boxes import F32
from .errors import Refused


class Candidates:
    """Collects the classes of rows whose scores are above the threshold: of each row the best, or all."""

    def __init__(self, least, labels):
        self.least, self.labels, self.found = float(F32(least)), labels, []

    def add(self, scores, boxes_of):
        """@param boxes_of gives the boxes of row numbers. @returns the row of each candidate"""
        if self.labels == "best":
            known = np.where(np.isnan(scores), -np.inf, scores)
            rows = np.flatnonzero(known.max(axis=1) > self.least)
            classes = known[rows].argmax(axis=1)
        else:
            rows, classes = np.nonzero(scores > self.least)
        self.found.append((boxes_of(rows), scores[rows, classes], classes))
        return rows

    def finish(self):
        boxes, scores, classes = (np.concatenate(arrays) for arrays in zip(*self.found))
        return boxes.reshape(-1, 4).astype(F32), scores.astype(F32), classes


def decode(decoder, values, size, classes, selection):
    """@param size (height, width) of the input. @returns boxes, scores, classes counted from 0, and of a grid coefficients and keypoints per candidate"""
    candidates = Candidates(selection["scoreThreshold"], selection["labels"])
    more = DECODERS[decoder["kind"]](decoder, values, size, classes, candidates)
    return *candidates.finish(), more or {}


def grid(decoder, values, size, classes, candidates):
    """Source: YOLOX; FastestDet's handle_preds; YOLOv8's segmentation and pose networks."""
    form, objectness, own = decoder["boxes"]["form"], decoder.get("objectness"), decoder["classes"]
    cells = list_cells(size, decoder["strides"]) if form in ("exp", "bounded") else None
    ends = [decoder["boxes"]["channel"] + 4, objectness["channel"] + 1 if objectness else 0, own["channel"] + classes]
    channels = max(ends + [extra["channel"] + width * extra["count"] for extra, width in list_extras(decoder)])
    rows = read_rows(values, decoder["output"], channels, None if cells is None else len(cells))
    raised = lambda scored, first, count: np.maximum(ACTIVATIONS[scored["activation"]](rows[:, first : first + count]), 0) ** scored["power"]
    scores = raised(own, own["channel"], classes)
    if objectness:
        scores = raised(objectness, objectness["channel"], 1) * scores

    def boxes_of(chosen):
        a, b, c, d = rows[chosen, decoder["boxes"]["channel"] :][:, :4].T
        if form == "corners":
            return np.stack([a, b, c, d], axis=1)
        if form == "center":
            return around_center(a, b, c, d)
        x, y, stride = cells[chosen].T
        if form == "exp":
            return around_center((x + a) * stride, (y + b) * stride, np.exp(c) * stride, np.exp(d) * stride)
        return around_center((x + np.tanh(a)) * stride, (y + np.tanh(b)) * stride, sigmoid(c) * size[1], sigmoid(d) * size[0])

    chosen = candidates.add(scores, boxes_of)
    return {name: read_extra(name, decoder[name], rows[chosen]) for name in EXTRAS if name in decoder}


# What a row of a grid may hold besides box and scores, with the channels of one.
EXTRAS = {"masks": 1, "keypoints": 3}


def list_extras(decoder):
    return [(decoder[name], width) for name, width in EXTRAS.items() if name in decoder]


def read_extra(name, extra, rows):
    """Coefficients [candidates, count], or x, y and visibility [candidates, count, 3], as float32."""
    values = rows[:, extra["channel"] :][:, : EXTRAS[name] * extra["count"]].astype(F32)
    if name == "masks":
        return values
    points = values.reshape(-1, extra["count"], 3)
    points[:, :, 2] = ACTIVATIONS[extra["activation"]](points[:, :, 2].astype(np.float64))
    return points


def distances(decoder, values, size, classes, candidates):
    """Source: Generalized Focal Loss; FCOS."""
    bins = decoder["bins"]
    for level in decoder["levels"]:
        cells = list_cells(size, [level["stride"]])
        activate = ACTIVATIONS[decoder["activation"]]
        scores = activate(read_rows(values, level["scores"], classes, len(cells)))
        if "centers" in level:
            scores = np.sqrt(scores * activate(read_rows(values, level["centers"], 1, len(cells))))
        sides = read_rows(values, level["distances"], 4 * bins, len(cells)).reshape(len(cells), 4, bins)

        def boxes_of(chosen, level=level, cells=cells, sides=sides):
            far = (sides[chosen, :, 0] if bins == 1 else softmax(sides[chosen]) @ np.arange(bins)) * level["stride"]
            center = (cells[chosen, :2] + 0.5) * level["stride"]
            return np.concatenate([center - far[:, :2], center + far[:, 2:]], axis=1)

        candidates.add(scores, boxes_of)


def priors(decoder, values, size, classes, candidates):
    """Source: Liu et al., SSD, and the variances of its code."""
    height, width = size
    references = []
    for level in decoder["levels"]:
        y, x = np.divmod(np.arange(level["columns"] * level["rows"]), level["columns"])
        for sides in zip(x, y):
            references += [((sides[0] + 0.5) / level["columns"], (sides[1] + 0.5) / level["rows"], w / width, h / height) for w, h in level["sizes"]]
    references = np.clip(np.array(references), 0, 1)
    deltas = read_rows(values, decoder["boxes"], 4, len(references))
    center, side = decoder["variances"]

    def boxes_of(chosen):
        (x, y, w, h), (dx, dy, dw, dh) = references[chosen].T, deltas[chosen].T
        return around_center(x + center * dx * w, y + center * dy * h, w * np.exp(side * dw), h * np.exp(side * dh)) * [width, height, width, height]

    candidates.add(read_scores(decoder, values, classes, len(references)), boxes_of)


def boxes(decoder, values, size, classes, candidates):
    rows = read_rows(values, decoder["boxes"], 4)
    unit = [1, 1, 1, 1] if decoder["unit"] == "pixels" else [size[1], size[0], size[1], size[0]]
    boxes_of = lambda chosen: (rows[chosen] if decoder["form"] == "corners" else around_center(*rows[chosen].T)) * unit
    candidates.add(read_scores(decoder, values, classes, len(rows)), boxes_of)


def anchors(decoder, values, size, classes, candidates):
    """Source: Redmon and Farhadi, YOLOv3; the last layers of YOLOv5 and YOLOv7."""
    channels = BEFORE_CLASSES + classes
    for level in decoder["levels"]:
        stride, sizes = level["stride"], np.array(level["anchors"], np.float64)
        cells = list_cells(size, [stride])
        rows = read_anchors(values, level["output"], len(sizes), channels, len(cells))
        scores = sigmoid(rows[:, 4:5]) * sigmoid(rows[:, BEFORE_CLASSES:])

        def boxes_of(chosen, rows=rows, cells=cells, sizes=sizes, stride=stride):
            (x, y, w, h), (column, row) = rows[chosen, :4].T, cells[chosen % len(cells), :2].T
            width, height = sizes[chosen // len(cells)].T
            if decoder["form"] == "exp":
                return around_center((sigmoid(x) + column) * stride, (sigmoid(y) + row) * stride, width * np.exp(w), height * np.exp(h))
            place = lambda value, index: (2 * sigmoid(value) - 0.5 + index) * stride
            return around_center(place(x, column), place(y, row), width * (2 * sigmoid(w)) ** 2, height * (2 * sigmoid(h)) ** 2)

        candidates.add(scores, boxes_of)


# A box grows at most to 1000/16 of its anchor, as in the code of Detectron and torchvision.
LARGEST_GROWTH = np.log(1000 / 16)


def offsets(decoder, values, size, classes, candidates):
    """Source: Lin et al., Focal Loss for Dense Object Detection, 2017; torchvision's BoxCoder."""
    for level in decoder["levels"]:
        stride, sizes = level["stride"], np.array(level["anchors"], np.float64)
        cells, grid = list_cells(size, [stride]), tuple(-(-side // stride) for side in size)
        shaped = lambda name, count: read_map(values, name, (1, len(sizes) * count, *grid)).reshape(len(sizes), count, -1).transpose(0, 2, 1).reshape(-1, count)
        deltas = shaped(level["boxes"], 4)

        def boxes_of(chosen, cells=cells, sizes=sizes, stride=stride, deltas=deltas):
            (x, y), (width, height) = (cells[chosen % len(cells), :2].T + decoder["center"]) * stride, sizes[chosen // len(cells)].T
            dx, dy, dw, dh = deltas[chosen].T
            grow = lambda value: np.exp(np.minimum(value, LARGEST_GROWTH))
            return around_center(x + dx * width, y + dy * height, width * grow(dw), height * grow(dh))

        candidates.add(ACTIVATIONS[decoder["activation"]](shaped(level["scores"], classes)), boxes_of)


def joined(decoder, values, size, classes, candidates):
    """Source: NanoDet and NanoDet-Plus."""
    bins, cells = decoder["bins"], list_cells(size, decoder["strides"])
    rows = read_rows(values, decoder["output"], classes + 4 * bins, len(cells))
    sides = rows[:, classes:].reshape(len(cells), 4, bins)

    def boxes_of(chosen):
        stride = cells[chosen, 2:]
        far = (sides[chosen, :, 0] if bins == 1 else softmax(sides[chosen]) @ np.arange(bins)) * stride
        center = (cells[chosen, :2] + decoder["center"]) * stride
        return np.concatenate([center - far[:, :2], center + far[:, 2:]], axis=1)

    candidates.add(ACTIVATIONS[decoder["activation"]](rows[:, :classes]), boxes_of)


def selected(decoder, values, size, classes, candidates):
    """Rows that the network has selected. Rows at or below the threshold may be of any class."""
    array = np.asarray(values[decoder["output"]])
    box, score, label = decoder["box"], decoder["score"], decoder["class"]
    least = max(box + 4, score + 1, label + 1)
    if not (array.ndim == 2 or (array.ndim == 3 and len(array) == 1)) or array.shape[-1] < least:
        raise Refused("part-values", f"output {decoder['output']} is {list(array.shape)}; the decoder expects [1, objects, {least} or more] or [objects, {least} or more]")
    rows = array.reshape(-1, array.shape[-1]).astype(np.float64)
    rows = rows[rows[:, score] > candidates.least]
    chosen = rows[:, label].astype(np.int64)
    if ((chosen != rows[:, label]) | (chosen < 0) | (chosen >= classes)).any():
        raise Refused("part-values", f"output {decoder['output']} has a class that is not among the {classes} categories, counted from 0")
    candidates.found.append((rows[:, box : box + 4], rows[:, score], chosen))


def heatmap(decoder, values, size, classes, candidates):
    """Source: Zhou et al., Objects as Points. A cell is a peak of a class if no neighbor among 3 x 3 has a higher score."""
    stride = decoder["stride"]
    grid = tuple(-(-side // stride) for side in size)
    maps = read_map(values, decoder["scores"], (1, classes, *grid))
    sizes, offsets = (read_map(values, decoder[name], (1, 2, *grid)).reshape(2, -1) for name in ("sizes", "offsets"))
    around = np.pad(maps, ((0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = [around[:, y : y + grid[0], x : x + grid[1]] for y in range(3) for x in range(3)]
    peaks = ~(np.fmax.reduce(windows) > maps)
    scores = np.where(peaks, ACTIVATIONS[decoder["activation"]](maps), -np.inf).reshape(classes, -1).T

    def boxes_of(chosen):
        row, column = np.divmod(chosen, grid[1])
        return around_center(*(np.stack([column, row]) + offsets[:, chosen]) * stride, *sizes[:, chosen] * stride)

    candidates.add(scores, boxes_of)


def select_detections(decoder, values, classes):
    """Detections that the network has selected, each output also with a first dim of 1.
    @returns boxes, scores, classes counted from 0, and maps of probabilities over the boxes or None"""
    scores, found, labels = (of_one_image(values[decoder[name]], rank) for name, rank in (("scores", 1), ("boxes", 2), ("classes", 1)))
    if scores.ndim != 1 or found.shape != (len(scores), 4) or labels.shape != scores.shape:
        raise Refused("part-values", f"scores, boxes and classes are {list(scores.shape)}, {list(found.shape)} and {list(labels.shape)}; the decoder expects [n], [n, 4] and [n]")
    chosen = labels.astype(np.int64) - decoder["firstClass"]
    if ((chosen < 0) | (chosen >= classes)).any():
        raise Refused("part-values", f"output {decoder['classes']} has a class that is not among the {classes} categories, counted from {decoder['firstClass']}")
    if "masks" not in decoder:
        return found.astype(F32), scores.astype(F32), chosen, None
    maps = of_one_image(values[decoder["masks"]["output"]], 4)
    if maps.ndim != 4 or len(maps) != len(scores) or maps.shape[2] != maps.shape[3] or (len(labels) and labels.max() >= maps.shape[1]):
        raise Refused("part-values", f"output {decoder['masks']['output']} is {list(maps.shape)}; the decoder expects [{len(scores)}, classes, side, side]")
    return found.astype(F32), scores.astype(F32), chosen, maps[np.arange(len(scores)), labels.astype(np.int64)].astype(F32)


def of_one_image(values, rank):
    array = np.asarray(values)
    return array[0] if array.ndim == rank + 1 and len(array) == 1 else array


DECODERS = {
    "grid": grid,
    "distances": distances,
    "priors": priors,
    "boxes": boxes,
    "anchors": anchors,
    "joined": joined,
    "selected": selected,
    "heatmap": heatmap,
    "offsets": offsets,
}

# Channels of an anchor before its classes: x y w h objectness.
BEFORE_CLASSES = 5


def read_scores(decoder, values, classes, count):
    """Class scores without the background. Softmax is over all classes of a row."""
    first = 1 if decoder["background"] else 0
    return ACTIVATIONS[decoder["activation"]](read_rows(values, decoder["scores"], classes + first, count))[:, first:]


def read_rows(values, name, channels, rows=None):
    """[1, rows, channels], [1, channels, rows], the same without the first dim, or [1, channels, height, width] as float64 [rows, channels].
    @raises Refused `part-values`"""
    array = np.asarray(values[name])
    array = array[None] if array.ndim == 2 else array
    shape, fits = array.shape, lambda count: rows is None or rows == count
    if len(shape) == 3 and shape[0] == 1 and shape[2] == channels and fits(shape[1]):
        return array[0].astype(np.float64)
    if len(shape) == 3 and shape[0] == 1 and shape[1] == channels and fits(shape[2]):
        return array[0].T.astype(np.float64)
    if len(shape) == 4 and shape[0] == 1 and shape[1] == channels and fits(shape[2] * shape[3]):
        return array[0].reshape(channels, -1).T.astype(np.float64)
    raise Refused("part-values", f"output {name} is {list(shape)}; the decoder expects {channels} channels{'' if rows is None else f' in {rows} rows'}")


def read_map(values, name, shape):
    """The output without its first dim, as float64. @raises Refused `part-values`"""
    array = np.asarray(values[name])
    if array.shape != shape:
        raise Refused("part-values", f"output {name} is {list(array.shape)}; the decoder expects {list(shape)}")
    return array[0].astype(np.float64)


def read_anchors(values, name, count, channels, cells):
    """[1, anchors * channels, height, width] or [1, anchors, height, width, channels] as float64 [anchors * cells, channels]. @raises Refused `part-values`"""
    array = np.asarray(values[name])
    shape = array.shape
    if len(shape) == 4 and shape[:2] == (1, count * channels) and shape[2] * shape[3] == cells:
        return array.reshape(count, channels, cells).transpose(0, 2, 1).reshape(-1, channels).astype(np.float64)
    if len(shape) == 5 and shape[:2] == (1, count) and shape[2] * shape[3] == cells and shape[4] == channels:
        return array.reshape(-1, channels).astype(np.float64)
    raise Refused(
        "part-values",
        f"output {name} is {list(shape)}; the decoder expects [1, {count * channels}, height, width] or [1, {count}, height, width, {channels}] with {cells} cells",
    )


def list_cells(size, strides):
    """x y stride of each cell, row by row, one stride after another."""
    grids = []
    for stride in strides:
        rows, columns = -(-size[0] // stride), -(-size[1] // stride)
        y, x = np.divmod(np.arange(rows * columns), columns)
        grids.append(np.stack([x, y, np.full(rows * columns, stride)], axis=1))
    return np.concatenate(grids)


def around_center(x, y, width, height):
    return np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=1)


def sigmoid(values):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-values))


def softmax(values):
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


ACTIVATIONS = {"none": lambda values: values, "sigmoid": sigmoid, "softmax": softmax}
