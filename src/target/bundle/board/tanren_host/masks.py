"""Masks: small probability maps pasted into the image, and COCO's run lengths."""
import numpy as np

from .boxes import F32
from .resize import sample_axis


def paste_mask(probabilities, box, height, width, threshold):
    """
    The mask of one object at the size of the image. The map gets a border of zeros, and the box grows to match.
    Source: torchvision paste_masks_in_image.
    """
    size = len(probabilities)
    mask = np.zeros((height, width), bool)
    left, right, columns = place_axis(box[0], box[2], size, width)
    top, bottom, rows = place_axis(box[1], box[3], size, height)
    if left >= right or top >= bottom:
        return mask
    bordered = np.pad(probabilities, 1).astype(np.float64)
    low, high, share = columns
    across = (bordered[:, low] * (1 - share) + bordered[:, high] * share).astype(F32).astype(np.float64)
    low, high, share = rows
    values = (across[low] * (1 - share[:, None]) + across[high] * share[:, None]).astype(F32)
    mask[top:bottom, left:right] = values.astype(np.float64) > threshold
    return mask


def place_axis(low, high, size, limit):
    """First and last image position + 1 of a pasted map on one axis, and the sampling of the bordered map there."""
    center = (high + low) * F32(0.5)
    half = ((high - low) * F32(0.5)) * F32((size + 2) / size)
    if not (np.isfinite(center) and np.isfinite(half)):
        return 0, 0, None
    first, last = int(center - half), int(center + half)
    start = max(first, 0)
    end = max(min(last + 1, limit), start)
    below, above, weight = sample_axis(size + 2, max(last - first + 1, 1), start - first, end - first)
    return start, end, (below, above, weight.astype(np.float64))


def paste_prototypes(coefficients, prototypes, boxes, placement, original, threshold):
    """
    The mask of each object: coefficients times prototypes in the cells that show the image, resized bilinearly to the image; a pixel is set
    where its value is above the logit of the threshold and its coordinates are in the box: x1 <= x < x2, y1 <= y < y2.
    @param original (height, width) of the image. Source: Ultralytics, process_mask_native and scale_masks.
    """
    shown = tuple(slice(*shown_cells(placement, original, prototypes.shape[1:], axis)) for axis in (0, 1))
    cells = prototypes[(slice(None), *shown)].astype(np.float64)
    limit = np.log(threshold / (1 - threshold))
    return [paste_plane(add_prototypes(row, cells), box, original, limit) for row, box in zip(coefficients.astype(np.float64), boxes)]


def shown_cells(placement, original, grid, axis):
    """First and last cell + 1 that show the image on one axis. Half a cell of padding counts as none."""
    before, scale = placement.corner[axis], grid[axis] / placement.size[axis]
    after = placement.size[axis] - before - original[axis] * placement.ratio[axis]
    # Ties round up, as in the host of Tanren.
    rounded = lambda value: int(np.floor(value + 0.5))
    start = min(max(0, rounded(before * scale - 0.1)), grid[axis] - 1)
    return start, max(grid[axis] - max(0, rounded(after * scale + 0.1)), start + 1)


def add_prototypes(row, cells):
    """The weighted sum, rounded to float32 after each prototype."""
    plane = np.zeros(cells.shape[1:], F32)
    for factor, prototype in zip(row, cells):
        plane = (plane + factor * prototype).astype(F32)
    return plane


def paste_plane(plane, box, original, limit):
    mask = np.zeros(original, bool)
    inside = lambda value, most: int(min(max(np.ceil(value), 0), most))
    (left, right), (top, bottom) = ([inside(box[side], original[axis]) for side in sides] for axis, sides in ((1, (0, 2)), (0, (1, 3))))
    if left >= right or top >= bottom:
        return mask
    low, high, share = sample_axis(plane.shape[1], original[1], left, right)
    values, share = plane.astype(np.float64), share.astype(np.float64)
    across = values[:, low] * (1 - share) + values[:, high] * share
    low, high, share = sample_axis(plane.shape[0], original[0], top, bottom)
    share = share.astype(np.float64)[:, None]
    mask[top:bottom, left:right] = across[low] * (1 - share) + across[high] * share > limit
    return mask


def encode_runs(mask):
    """Run lengths of a mask in column-major order, zeros first, as COCO's compressed text."""
    flat = np.asarray(mask, bool).ravel(order="F")
    changes = np.flatnonzero(np.diff(np.concatenate([[False], flat]).astype(np.int8)))
    counts = np.diff(np.concatenate([[0], changes, [flat.size]])).tolist()
    return "".join(encode_number(count - counts[i - 2] if i > 2 else count) for i, count in enumerate(counts))


def encode_number(value):
    """Groups of five bits, the lowest first. Bit 32 says that another group follows."""
    text = ""
    while True:
        group = value & 31
        value >>= 5
        more = value != (-1 if group & 16 else 0)
        text += chr(48 + (group | 32 if more else group))
        if not more:
            return text


def decode_runs(text, height, width):
    """The mask of COCO's compressed run lengths. @raises ValueError where the text is none for this size."""
    counts, value, shift = [], 0, 0
    for character in text:
        group = ord(character) - 48
        if not 0 <= group < 64 or shift > 30:
            raise ValueError("the run lengths are damaged")
        value |= (group & 31) << shift
        shift += 5
        if group & 32:
            continue
        if group & 16:
            value -= 1 << shift
        counts.append(value + counts[-2] if len(counts) > 2 else value)
        value, shift = 0, 0
    if shift or any(count < 0 for count in counts) or sum(counts) != height * width:
        raise ValueError(f"the run lengths are not those of a mask of {width}x{height}")
    flat = np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return flat.reshape(width, height).T
