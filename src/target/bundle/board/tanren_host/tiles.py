"""Runs a part whose RoIs lie as tiles on a canvas, so that one call serves a whole grid of them."""
import contextlib

import numpy as np


def run_tiles(sessions, steps, feeds, outputs, clock=lambda model: contextlib.nullcontext()):
    """
    @param sessions by model
    @param steps    of the host recipe: grid, inputs, outputs and masks of each call
    @param clock    a context for each model with all its calls
    @returns        {output: one row per RoI}
    """
    known, count = dict(feeds), len(next(iter(feeds.values())))
    for step in steps:
        names = [canvas["name"] for canvas in step["outputs"]]
        masks = {mask["name"]: pack(np.ones((step["grid"][0] * step["grid"][1], row_size(mask)), np.float32), mask, step["grid"]) for mask in step.get("masks", [])}
        rows = {canvas["name"]: np.zeros((count, row_size(canvas)), np.float32) for canvas in step["outputs"]}
        per_call = step["grid"][0] * step["grid"][1]
        with clock(step["model"]):
            for start in range(0, count, per_call):
                packed = {canvas["name"]: pack(known[canvas["name"]][start : start + per_call], canvas, step["grid"]) for canvas in step["inputs"]}
                found = sessions[step["model"]].run_once({**packed, **masks}, names)
                for canvas, values in zip(step["outputs"], found):
                    part = rows[canvas["name"]][start : start + per_call]
                    part[:] = unpack(np.asarray(values), len(part), canvas, step["grid"])
        known.update({canvas["name"]: rows[canvas["name"]].reshape(count, *row_shape(canvas)) for canvas in step["outputs"]})
    return {name: known[name] for name in outputs}


def row_size(canvas):
    return canvas["channels"] * canvas["tile"][0] * canvas["tile"][1]


def row_shape(canvas):
    """A tile of one position has no height and width."""
    return (canvas["channels"],) if canvas["tile"] == [1, 1] else (canvas["channels"], *canvas["tile"])


def places(canvas, grid):
    """Top left corner of each tile: tile r = i * columns + j lies at (i * pitch, j * pitch)."""
    for i in range(grid[0]):
        for j in range(grid[1]):
            yield i * canvas["pitch"][0], j * canvas["pitch"][1]


def pack(rows, canvas, grid):
    """@param rows at most one per tile. Other tiles, and the positions between tiles, are zeros."""
    (height, width), (below, right) = canvas["tile"], canvas["pitch"]
    packed = np.zeros((1, canvas["channels"], (grid[0] - 1) * below + height, (grid[1] - 1) * right + width), np.float32)
    for row, (top, left) in zip(rows, places(canvas, grid)):
        packed[0, :, top : top + height, left : left + width] = row.reshape(canvas["channels"], height, width)
    return packed


def unpack(packed, count, canvas, grid):
    height, width = canvas["tile"]
    tiles = [packed[0, :, top : top + height, left : left + width] for _, (top, left) in zip(range(count), places(canvas, grid))]
    return np.stack(tiles).reshape(count, -1)
