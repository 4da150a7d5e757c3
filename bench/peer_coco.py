"""What bench/coco-eval.ts compares with: pycocotools reads and evaluates the same files. Prints one line of JSON."""
import contextlib
import io
import json
import resource
import sys
import time

from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

truth, detections, kind = sys.argv[1:4]
with contextlib.redirect_stdout(io.StringIO()):
    start = time.perf_counter()
    dataset = COCO(truth)
    results = dataset.loadRes(detections)
    read = time.perf_counter()
    evaluation = COCOeval(dataset, results, kind)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    end = time.perf_counter()
print(json.dumps({
    "readMs": 1000 * (read - start),
    "evaluateMs": 1000 * (end - read),
    "cpuMs": 1000 * time.process_time(),
    "peakBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "AP": evaluation.stats[0],
}))
