"""The command `check`: every model in a process of its own, with golden values, times and placement; then all models in one process."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .arguments import check_writable
from .bundle import HERE, require_models, say
from .detector import Detector
from .device import CPU, load_options
from .errors import Refused
from .golden import check_golden, load_arrays
from .images import list_images, read_image
from .latency import summarize
from .session import Loaded

FORMAT = "tanren-bench/1"


def command_check(arguments):
    if arguments.task is not None:
        Path(arguments.out).write_text(json.dumps(run_task(arguments)), encoding="utf-8")
        return 0
    check_writable(arguments.json)
    manifest, device, identity = load_options(arguments)
    require_models(manifest)
    say(f"{identity['provider']} on {identity['device']['name']}, driver {identity['device']['driver'] or 'unknown'}, {arguments.threads} thread(s)")
    before, names = load_average(), [entry["name"] for entry in manifest["models"]]
    parts = {name: in_process(arguments, f"model:{name}") for name in names}
    if len(names) > 1 and device.provider != CPU:
        in_process(arguments, "together")
    detector = in_process(arguments, "detector") if arguments.images else None
    if arguments.json:
        report = describe(arguments, device, identity, parts, detector)
        report["conditions"] = {"before": before, "after": load_average()}
        Path(arguments.json).write_text(json.dumps(report) + "\n", encoding="utf-8")
    return 0


def load_average():
    return {"processorMhz": 0, "loadAverage": os.getloadavg()[0] if hasattr(os, "getloadavg") else 0}


def in_process(arguments, task):
    """Runs a task in a child, which a compiler that hangs or crashes cannot take with it."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        command = [sys.executable, str(HERE / "runner.py"), *arguments.own, "--task", task, "--out", out]
        sys.stdout.flush()
        try:
            code = subprocess.run(command, timeout=arguments.timeout).returncode
        except subprocess.TimeoutExpired as error:
            raise Refused("compile-timeout", f"{task} did not end within {arguments.timeout:g} s: the compiler hangs, or --timeout is too short") from error
        if code < 0 or code > 1:
            raise Refused("session-crashed", f"{task}: the process of the execution provider ended with code {code}")
        if code == 1:
            raise Refused("check-failed", f"{task} failed, for the reason above")
        return json.loads(Path(out).read_text(encoding="utf-8"))


def run_task(arguments):
    manifest, device, identity = load_options(arguments)
    entries = {entry["name"]: entry for entry in manifest["models"]}
    kind, _, name = arguments.task.partition(":")
    if kind == "model":
        return check_model(arguments, device, load(manifest, device, identity, entries[name]), entries[name])
    if kind == "together":
        return check_together(arguments, [load(manifest, device, identity, entry) for entry in entries.values()])
    return time_detector(arguments, Detector(manifest, device, identity, None))


def load(manifest, device, identity, entry):
    return Loaded(device, identity, str(HERE / entry["whole"]), manifest["files"][entry["whole"]], entry)


def check_model(arguments, device, loaded, entry):
    name = entry["name"]
    if not entry.get("golden"):
        print(f"{name}: no golden values in the bundle")
        return {}
    for output, worst, sqnr in check_golden(loaded, entry, arguments.min_sqnr):
        print(f"{name}: {output}: largest difference {worst:g}, SQNR {sqnr:.1f} dB")
    where = ", ".join(f"{share['nodes']} nodes on the {share['device'].upper()} ({share['provider']})" for share in loaded.placement)
    print(f"{name}: {where}")
    is_placed = entry.get("place") == "cpu"
    if not is_placed and not arguments.allow_cpu and all(share["device"] != device.kind for share in loaded.placement):
        raise Refused("fell-back", f"{name}: no node ran on the {device.kind.upper()}; this requires --allow-cpu")
    result = {"placement": loaded.placement, "form": entry.get("form", "int8")}
    if arguments.repeats > 0:
        arrays = load_arrays(entry["golden"][0])
        feeds = {value: array for (role, value), array in arrays.items() if role == "input"}
        outputs = [value for role, value in arrays if role == "output"]
        result["latency"] = summarize(loaded.run(feeds, outputs, arguments.warm_up, arguments.repeats)[1])
        print(f"{name}: " + show(result["latency"]))
    return result


def show(figures):
    return f"p50 {figures['p50Ms']:.3f} ms, p90 {figures['p90Ms']:.3f} ms, p99 {figures['p99Ms']:.3f} ms of {figures['repeats']} runs"


def check_together(arguments, models):
    """Some versions give NaN in one session after another session ran (AMD RyzenAI-SW, issue 402)."""
    for _ in range(2):
        for loaded in models:
            try:
                check_golden(loaded, loaded.entry, arguments.min_sqnr)
            except Refused as refusal:
                if refusal.code not in ("not-finite", "golden-mismatch"):
                    raise
                raise Refused("second-session", f"beside the sessions of the other models, outputs are wrong that are right alone: {refusal}; run each model in a process of its own") from refusal
    return {}


def time_detector(arguments, detector):
    images = [read_image(path) for path in list_images(arguments.images)[: arguments.samples]]
    for _ in range(arguments.warm_up):
        detector.detect(images[0])
    found = [detector.detect(image) for image in images]
    steps, models = summarize_names([one.steps for one in found]), summarize_names([one.models for one in found])
    print(f"detector, per image: {show(steps['total'])}")
    return {"images": len(images), "steps": steps, "models": models}


def summarize_names(times):
    """Figures of each name over all images. An image without it counts as 0."""
    return {name: summarize([one.get(name, 0.0) for one in times]) for name in dict.fromkeys(name for one in times for name in one)}


def describe(arguments, device, identity, parts, detector):
    """The measurement as the document that `bench` writes, with the whole detector added."""
    machine = {name: value for name, value in device.machine.items() if name != "device"}
    models = {} if detector is None else detector["models"]
    timed = {name: part for name, part in parts.items() if "latency" in part}
    report = {
        "format": FORMAT,
        "where": {"runner": "bundle", "identity": identity, "machine": machine, "threads": arguments.threads},
        "warmup": arguments.warm_up,
        "repeats": arguments.repeats,
        "parts": [describe_part(name, part, models.get(name)) for name, part in timed.items()],
    }
    return report if detector is None else {**report, "detector": detector}


def describe_part(name, part, in_detector):
    """@param in_detector times per image of a model that the detector runs. Of others, the time of one call stands in their place."""
    row = {
        "strategy": {"kind": "whole"},
        "counts": [{"calls": 1, "padded": 0, "here": part["latency"]}],
        "perImageMs": (in_detector or part["latency"])["p50Ms"],
    }
    form = {"form": part["form"], "rows": [row], "best": 0, "bestAt": [0], "placement": part["placement"]}
    return {"part": name, "fed": "golden", "counts": [], "imagesWithout": 0, "forms": [form]}
