"""The input of a single network for one image, as its recipe declares: size, place, channel order, range, mean and standard deviation."""
import numpy as np

from .boxes import F32
from .errors import Refused
from .resample import resample


class Placement:
    """Size and position of the resized image in the input, and input pixels per image pixel."""

    def __init__(self, scaled, size, corner, ratio):
        self.scaled, self.size, self.corner, self.ratio = scaled, size, corner, ratio


def preprocess(image, size, settings):
    """
    @param size (height, width) of the input, None where it is free
    @returns float32 [1, 3, height, width], Placement
    """
    placement = place(image.shape[:2], size, settings)
    pixels = image if settings["colors"] == "rgb" else image[:, :, ::-1]
    resized = pixels.astype(F32)
    if placement.scaled != image.shape[:2]:
        resized = resample(resized, *placement.scaled, (settings["filter"], settings["antialias"], settings["rounding"]))
    fill = np.broadcast_to(np.array(settings["fill"], F32), (3,))
    values = np.empty((*placement.size, 3), F32)
    values[:] = fill
    (top, left), (height, width) = placement.corner, placement.size
    inside = resized[max(-top, 0) :, max(-left, 0) :][: height - max(top, 0), : width - max(left, 0)]
    values[max(top, 0) : max(top, 0) + inside.shape[0], max(left, 0) : max(left, 0) + inside.shape[1]] = inside
    mean, std = (np.array(settings[name], F32) for name in ("mean", "std"))
    normalized = (values / F32(255 if settings["range"] == "0..1" else 1) - mean) / std
    return np.ascontiguousarray(normalized.transpose(2, 0, 1)[None]), placement


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
