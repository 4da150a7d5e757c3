"""Runs the parts of a detector, and checks the values that they give."""
import numpy as np

from .errors import Refused


def get_value(values, name, dims):
    """The output `name` as float32 after a check of its shape. @raises Refused `part-values`, `not-finite`"""
    if name not in values:
        raise Refused("part-values", f"the parts of the detector have no output {name}")
    array = np.asarray(values[name])
    if list(array.shape) != list(dims):
        raise Refused("part-values", f"value {name} is {list(array.shape)}; the host recipe expects {list(dims)}")
    array = array.astype(np.float32)
    if not np.isfinite(array).all():
        raise Refused("not-finite", f"value {name} has elements that are no finite number: the device computed wrong values")
    return array


def run_rois(session, feeds, outputs):
    """Runs a part on any number of RoIs, in batches of the model's size. The last batch is padded with zeros. @returns {output: array}"""
    count = len(next(iter(feeds.values())))
    batch = session.inputs[0]["dims"][0] or max(count, 1)
    if count == 0:
        dims = {value["name"]: value["dims"][1:] for value in session.outputs}
        return {name: np.zeros((0, *dims[name]), np.float32) for name in outputs}
    found = []
    for start in range(0, count, batch):
        rows = {name: take_rows(array, start, batch) for name, array in feeds.items()}
        found.append(session.run_once(rows, outputs))
    return {name: np.concatenate(arrays)[:count] for name, arrays in zip(outputs, zip(*found))}


def take_rows(array, start, count):
    rows = array[start : start + count]
    if len(rows) == count:
        return np.ascontiguousarray(rows)
    return np.concatenate([rows, np.zeros((count - len(rows), *array.shape[1:]), array.dtype)])
