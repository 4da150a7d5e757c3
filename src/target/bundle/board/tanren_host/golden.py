"""Compares what the device computes with the golden values of the bundle."""
import functools
import zipfile

import numpy as np

from .bundle import HERE, read_json
from .errors import Refused

MOST_BYTES = 1 << 31


def compare(found, wanted):
    """(largest difference, SQNR in dB) of two arrays."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise Refused("golden-mismatch", f"an output is {found.dtype} {list(found.shape)}, but the golden one is {wanted.dtype} {list(wanted.shape)}")
    x, difference = wanted.astype(np.float64), found.astype(np.float64) - wanted.astype(np.float64)
    noise = float(np.sum(difference**2))
    signal = float(np.sum(x**2))
    sqnr = 999.0 if noise == 0 else -998.0 if signal == 0 or not np.isfinite(noise) else 10 * np.log10(signal / noise)
    return float(np.max(np.abs(difference), initial=0.0)), sqnr


def load_arrays(sample):
    """The arrays of a golden sample by (role, name). They must have the types and sizes that the manifest states."""
    path = HERE / sample["file"]
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MOST_BYTES:
        raise Refused("bundle-damaged", f"{sample['file']} unpacks to {size} bytes; the limit is {MOST_BYTES}")
    arrays = {}
    with np.load(path, allow_pickle=False) as archive:
        for array in sample["arrays"]:
            value = archive[array["array"]]
            if list(value.shape) != array["dims"] or value.dtype.name != array["dtype"]:
                raise Refused("bundle-damaged", f"{sample['file']}: {array['name']} is {value.dtype} {list(value.shape)}, the manifest says {array['dtype']} {array['dims']}")
            arrays[array["role"], array["name"]] = value
    return arrays


def run_sample(loaded, sample):
    """Runs the inputs of a golden sample. @returns {output name: (found, golden)}."""
    arrays = load_arrays(sample)
    feeds = {name: value for (role, name), value in arrays.items() if role == "input"}
    names = [name for role, name in arrays if role == "output"]
    return {name: (np.array(found), arrays["output", name]) for name, found in zip(names, loaded.run(feeds, names, 0, 1)[0])}


def check_finite(entry, name, found, golden):
    if found.shape != golden.shape:
        return
    wrong = int(np.sum(~np.isfinite(found) & np.isfinite(golden)))
    if wrong:
        raise Refused("not-finite", f"{entry['name']}: output {name} has {wrong} elements that are no finite number, where the golden ones are finite")


def check_slots(loaded, entry):
    """Finds what the device never writes: values that are equal for two different inputs, although the golden ones differ."""
    probes = [run_sample(loaded, sample) for sample in entry.get("probes", [])]
    if len(probes) != 2:
        return
    for name, (one, golden) in probes[0].items():
        other, other_golden = probes[1][name]
        check_finite(entry, name, one, golden)
        check_finite(entry, name, other, other_golden)
        if one.shape != golden.shape or one.ndim == 0:
            continue
        expected = golden != other_golden
        written = expected & (one != other) & ~(np.isnan(one) & np.isnan(other))
        slots = [slot for slot in range(len(one)) if expected[slot].any() and not written[slot].any()]
        if slots:
            where = f"slot {', '.join(map(str, slots))} of {len(one)}"
            raise Refused("unwritten-slot", f"{entry['name']}: output {name}: {where} has the same values for two different inputs, so the device does not write it: compile with batch 1")
        canvas = find_canvases().get((entry["name"], name))
        if one.ndim == 4 and canvas is not None:
            check_rois(entry, name, expected[0], written[0], *canvas)
        if one.ndim == 4:
            check_tiles(entry, name, expected.any(axis=1), written.any(axis=1))


@functools.cache
def find_canvases():
    """Grid and canvas of the outputs of models on tiles, by (model, output)."""
    path = HERE / "detector.json"
    tiles = read_json(path)["recipe"].get("tiles", {}) if path.exists() else {}
    steps = [step for part in tiles.values() for step in part["steps"]]
    return {(step["model"], canvas["name"]): (step["grid"], canvas) for step in steps for canvas in step["outputs"]}


# Fewer could be equal by rounding.
LEAST_ELEMENTS = 4


def check_rois(entry, name, expected, written, grid, canvas):
    """Finds RoIs whose tile is never written, which may be a single position."""
    (height, width), (below, right) = canvas["tile"], canvas["pitch"]
    for number in range(grid[0] * grid[1]):
        row, column = divmod(number, grid[1])
        tile = (slice(None), slice(row * below, row * below + height), slice(column * right, column * right + width))
        if expected[tile].sum() >= LEAST_ELEMENTS and not written[tile].any():
            where = f"tile {number} of {grid[0] * grid[1]} (row {row}, column {column})"
            raise Refused("unwritten-tile", f"{entry['name']}: output {name}: {where} has the same values for two different inputs, so the device does not write it")


def check_tiles(entry, name, expected, written):
    """Finds a rectangle of at least 2x2 positions of an output that is never written."""
    for slot, missing in enumerate(expected & ~written):
        rows, columns = np.nonzero(missing)
        for top, left in zip(rows, columns):
            right = left + int(np.argmin(np.append(missing[top, left:], False)))
            bottom = top + int(np.argmin(np.append(missing[top:, left:right].all(axis=1), False)))
            if bottom - top >= 2 and right - left >= 2:
                where = f"rows {top} to {bottom - 1}, columns {left} to {right - 1} of slot {slot}"
                raise Refused("unwritten-tile", f"{entry['name']}: output {name}: {where} have the same values for two different inputs, so the device does not write them")


def check_zeros(loaded, entry):
    """Some compiled float models give NaN or infinity even for zeros (YOLOv9-T at 640x640 in BF16, mitchins/frigate-xdna)."""
    if not entry.get("probeZeros") or not entry.get("golden"):
        return
    arrays = load_arrays(entry["golden"][0])
    feeds = {name: np.zeros_like(value) for (role, name), value in arrays.items() if role == "input"}
    names = [name for role, name in arrays if role == "output"]
    for name, found in zip(names, loaded.run(feeds, names, 0, 1)[0]):
        wrong = int(np.sum(~np.isfinite(np.asarray(found, np.float64))))
        if wrong:
            raise Refused("not-finite", f"{entry['name']}: output {name} has {wrong} elements that are no finite number for an input of zeros: the compiled model is wrong")


def check_golden(loaded, entry, least):
    """Checks zeros and slots, then compares every output of every golden sample. @returns (output name, largest difference, SQNR) of each."""
    check_zeros(loaded, entry)
    check_slots(loaded, entry)
    rows = []
    for sample in entry.get("golden", []):
        for name, (found, golden) in run_sample(loaded, sample).items():
            worst, sqnr = compare(found, golden)
            check_finite(entry, name, found, golden)
            rows.append((name, worst, sqnr))
            expected = min(least, entry.get("leastSqnrDb", {}).get(name, least))
            if sqnr < expected:
                raise Refused("golden-mismatch", f"{entry['name']}: output {name} has SQNR {sqnr:.1f} dB against the golden one, expected at least {expected:g}: a stale compiled model, other options, or a device with other results")
    return rows
