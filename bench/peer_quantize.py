"""Quantizes a model by onnxruntime.quantization, as peer.ts asks, and tells how long it took and how much memory it held.

python peer_quantize.py MODEL FOLDER MinMax|Percentile: FOLDER holds one .npy per sample, the model's only input. Prints one line of JSON.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantType, quantize_static


class Samples(CalibrationDataReader):
    def __init__(self, name, paths):
        self.feeds = ({name: np.load(path)} for path in paths)

    def get_next(self):
        return next(self.feeds, None)


def main(model, folder, method):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    name = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).get_inputs()[0].name
    reader = Samples(name, sorted(Path(folder).glob("*.npy")))
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        quantize_static(
            model,
            str(Path(out) / "model.onnx"),
            reader,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod[method],
        )
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"version": onnxruntime.__version__, "seconds": seconds, "peakBytes": peak}))


main(*sys.argv[1:4])
