"""Simplifies a model as onnx-peers.ts asks, and tells how long that took and how many nodes are left.

python peer_simplify.py onnxslim|onnxsim|onnxruntime MODEL OUT: reading the file is not timed, modules are loaded before. Prints one line of JSON.
"""

import json
import sys
import time

import onnx


def onnxslim(model, _path, _out):
    import onnxslim

    start = time.perf_counter()
    return onnxslim.slim(model), time.perf_counter() - start


def onnxsim(model, _path, _out):
    from onnxsim import simplify

    start = time.perf_counter()
    simplified, _ = simplify(model, check_n=0)
    return simplified, time.perf_counter() - start


def onnxruntime(_model, path, out):
    """Its own optimiser at the level that keeps to standard operators; reads the file, and writes what is left."""
    import onnxruntime as runtime

    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = out
    options.log_severity_level = 3
    start = time.perf_counter()
    runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    seconds = time.perf_counter() - start
    return onnx.load(out, load_external_data=False), seconds


def count_nodes(graph):
    """Those of the graphs inside it too, beside its own."""
    inner = 0
    for node in graph.node:
        for attribute in node.attribute:
            for sub in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                own, below = count_nodes(sub)
                inner += own + below
    return len(graph.node), inner


if __name__ == "__main__":
    tool, path, out = sys.argv[1:]
    result, seconds = {"onnxslim": onnxslim, "onnxsim": onnxsim, "onnxruntime": onnxruntime}[tool](onnx.load(path), path, out)
    nodes, inner = count_nodes(result.graph)
    print(json.dumps({"seconds": seconds, "nodes": nodes, "inner": inner}))
