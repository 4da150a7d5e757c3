"""The input of a single network for one image, as its recipe declares: size, place, channel order, range, mean and standard deviation."""
import numpy as np

from .boxes import F32
from .errors import Refused
from .resample import resample


class Placement:
    """Size and position of the resized image in the input, and input pixels per image pixel."""

    def __init__(self, scaled, size, corner, ratio):
        self.scaled, self.size, self.corner, self.ratio = scaled, size, corner, ratio


USUAL_FORM = {"dtype": "float32", "layout": "channels-first", "batch": "one", "channels": 3}


def preprocess(image, size, settings, form=USUAL_FORM):
    """
    @param size (height, width) of the input
    @returns the image in the form of the input, Placement
    @raises Refused `image-range` where integers would be fractions of 1
    """
    dtype = np.dtype(form["dtype"])
    if dtype.kind != "f" and settings.get("range") == "0..1":
        raise Refused("image-range", f"the network takes the image as {dtype}, and `range: 0..1` leaves only 0 and 1: set `range: '0..255'` in the stage `describe`")
    values, placement = normalize(image, size, settings, form)
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        values = np.clip(np.rint(values.astype(np.float64)), limits.min, limits.max)
    axes = (2, 0, 1) if form["layout"] == "channels-first" else (0, 1, 2)
    arranged = np.ascontiguousarray(values.transpose(axes).astype(dtype))
    return arranged if form["batch"] == "none" else np.repeat(arranged[None], batch_of(form), axis=0), placement


def batch_of(form):
    """Number of images that the network takes at once: the image fills all places."""
    return form["batch"] if isinstance(form["batch"], int) else 1


def read_pixels(image, settings, channels):
    """Gray as of Pillow's mode L, or the channels in their order."""
    if channels == 1:
        wide = image.astype(np.int64)
        return (wide[:, :, :1] * 19595 + wide[:, :, 1:2] * 38470 + wide[:, :, 2:] * 7471 + 32768) >> 16
    return image if settings["colors"] == "rgb" else image[:, :, ::-1]


def normalize(image, size, settings, form):
    """@returns float32 [height, width, channels], Placement"""
    placement, channels = place(image.shape[:2], size, settings), form["channels"]
    pixels = read_pixels(image, settings, channels)
    resized = pixels.astype(F32)
    if placement.scaled != image.shape[:2]:
        resized = resample(resized, *placement.scaled, (settings["filter"], settings["antialias"], settings["rounding"]))
    values = np.empty((*placement.size, channels), F32)
    values[:] = np.broadcast_to(np.array(settings["fill"], F32), (3,))[:channels]
    (top, left), (height, width) = placement.corner, placement.size
    inside = resized[max(-top, 0) :, max(-left, 0) :][: height - max(top, 0), : width - max(left, 0)]
    values[max(top, 0) : max(top, 0) + inside.shape[0], max(left, 0) : max(left, 0) + inside.shape[1]] = inside
    mean, std = (np.array(settings[name][:channels], F32) for name in ("mean", "std"))
    scaled = settings.get("range", "0..1" if np.dtype(form["dtype"]).kind == "f" else "0..255")
    return (values / F32(255 if scaled == "0..1" else 1) - mean) / std, placement


def make_inputs(image, size, entry):
    """@returns the values of all inputs by name, and the place of the image in its input"""
    settings = entry["preprocess"]
    tensor, placement = preprocess(image, size, settings, entry.get("form", USUAL_FORM))
    values, batch = {entry["value"]: tensor}, batch_of(entry.get("form", USUAL_FORM))
    for other in entry.get("others", []):
        if other["kind"] == "image":
            form = other["form"]
            values[other["name"]] = preprocess(image, (form["height"], form["width"]), settings, form)[0]
        else:
            values[other["name"]] = fill_input(other, placement, image.shape[:2], batch)
    return values, placement


def fill_input(other, placement, original, batch):
    words = {
        "input-height": placement.size[0], "input-width": placement.size[1],
        "resized-height": placement.scaled[0], "resized-width": placement.scaled[1],
        "image-height": original[0], "image-width": original[1],
        "scale-y": placement.ratio[0], "scale-x": placement.ratio[1],
    }
    dtype = np.dtype(other["dtype"])
    numbers = np.array([words.get(value, value) for value in other["values"]], F32)
    count = int(np.prod(other["dims"]))
    whole = np.repeat(numbers, count) if len(numbers) == 1 else np.tile(numbers, batch) if len(numbers) * batch == count else numbers
    if dtype.kind != "f":
        limits = np.iinfo(dtype)
        whole = np.clip(np.rint(whole.astype(np.float64)), limits.min, limits.max)
    return np.ascontiguousarray(whole.astype(dtype).reshape(other["dims"]))


def place(original, size, settings):
    """@raises Refused `input-size` where the size cannot be reached"""
    placement = PLACES[settings["resize"]](original, size, settings)
    if min(placement.scaled) < 1:
        raise Refused("input-size", f"an image of {original[1]}x{original[0]} pixels would be resized to less than one pixel in a side")
    return placement


def as_is(original, size, _):
    return Placement(original, require(original, size), (0, 0), (1, 1))


def stretch(original, size, _):
    return Placement(size, size, (0, 0), (size[0] / original[0], size[1] / original[1]))


def crop(original, size, settings):
    ratio = settings.get("shorterSide", max(size)) / min(original)
    scaled = scale(original, ratio, settings)
    if scaled[0] < size[0] or scaled[1] < size[1]:
        raise wrong_size(scaled, size)
    return Placement(scaled, size, tuple(-((side - wanted) // 2) for side, wanted in zip(scaled, size)), (ratio, ratio))


def pad(original, size, settings):
    ratio = min(size[0] / original[0], size[1] / original[1])
    scaled = scale(original, ratio, settings)
    corner = tuple((wanted - side) // 2 for side, wanted in zip(scaled, size)) if settings["place"] == "center" else (0, 0)
    return Placement(scaled, size, corner, (ratio, ratio))


def shorter(original, size, settings):
    ratio = settings["shorterSide"] / min(original)
    if "longerSide" in settings and max(original) * ratio > settings["longerSide"]:
        ratio = settings["longerSide"] / max(original)
    scaled = scale(original, ratio, settings)
    return Placement(scaled, require(scaled, size), (0, 0), (ratio, ratio))


PLACES = {"none": as_is, "stretch": stretch, "crop": crop, "pad": pad, "shorter": shorter}


def scale(original, ratio, settings):
    """The side that the ratio was computed for keeps its size despite rounding errors."""

    def rounded(side):
        exact = side * ratio
        near = int(exact + 0.5)
        if abs(exact - near) < 1e-9 * near:
            return near
        return int(exact) if settings["sizes"] == "down" else round(exact)

    return tuple(map(rounded, original))


def require(found, size):
    if found != size:
        raise wrong_size(found, size)
    return size


def wrong_size(found, size):
    return Refused("input-size", f"the image is {found[1]}x{found[0]}, the network takes {size[1]}x{size[0]}: use images of that size, or another `resize` in the stage `describe`")
