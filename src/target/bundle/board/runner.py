#!/usr/bin/env python3
"""Runs the models of a Tanren bundle on the board.

    python runner.py check                    compares outputs for every golden input with those of ONNX Runtime
    python runner.py serve                    runs the protocol of docs/runner-protocol.md on standard input and output (default)
    python runner.py diff-report FILE FILE    compares the predicted operator assignment with the real one (vitisai_ep_report.json)

Needs numpy and onnxruntime (on Ryzen AI: the one of the Ryzen AI software). It uses the CPU provider instead of the device
only with --allow-cpu, and reports that.
"""
import argparse
import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
VERSION = "1"
PROTOCOL = 1
MAX_HEADER, MAX_PAYLOAD = 1 << 20, (1 << 31) - 1
CPU = "CPUExecutionProvider"
DTYPES = {
    "float32": "float32", "float64": "float64", "float16": "float16", "int8": "int8", "uint8": "uint8", "int16": "int16",
    "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64", "bool": "bool",
}
ORT_TYPES = {"float": "float32", "double": "float64", **{name: name for name in DTYPES}}


class Refused(Exception):
    """An error for the client: a code and a message."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def say(text):
    print(text, file=sys.stderr, flush=True)


def digest_bytes(data):
    return hashlib.sha256(data).hexdigest()


def digest_file(path):
    with open(path, "rb") as file:
        hasher = hashlib.sha256()
        for block in iter(lambda: file.read(1 << 20), b""):
            hasher.update(block)
    return hasher.hexdigest()


# ---------------------------------------------------------------- the bundle


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_manifest():
    path = HERE / "manifest.json"
    return read_json(path) if path.exists() else {"models": [], "files": {}, "target": {}}


def find_model(manifest, digest):
    """The bundle's model with these bytes, or the model that was made from it by fixing its free sizes."""
    for model in manifest["models"]:
        if digest in (manifest["files"].get(model["whole"]), model["source"]):
            return model
    return None


def check_files(manifest):
    for name, digest in manifest["files"].items():
        if digest_file(HERE / name) != digest:
            raise Refused("bundle-damaged", f"{name} of the bundle does not have the digest in the manifest: copy the bundle again")


# ---------------------------------------------------------------- the device


class Device:
    """A provider with its options, and facts about the machine. The options of Ryzen AI come from the bundle."""

    def __init__(self, arguments, manifest):
        self.arguments = arguments
        target = manifest["target"]
        self.row = {"provider": CPU, "providerOptions": {}, "environment": {}, "sessionOptions": {}}
        self.software = arguments.software or target.get("version", "")
        self.name = arguments.device or target.get("device", "")
        if arguments.provider is not None:
            options = read_json(arguments.provider_options) if arguments.provider_options else {}
            self.row = {**self.row, "provider": arguments.provider, "providerOptions": options}
        else:
            path = HERE / "ryzenai" / self.software / f"{self.name}.json"
            if not path.exists():
                raise Refused("no-options", f"the bundle has no options for Ryzen AI {self.software} on {self.name}: set --software and --device, or a --provider")
            self.row = read_json(path)
        self.provider = self.row["provider"]
        self.kind = "cpu" if self.provider == CPU else arguments.kind
        self.cache = Path(arguments.cache_dir or default_cache()).resolve()
        os.environ.update({name: self.fill(value, "") for name, value in self.row["environment"].items() if name not in os.environ})
        # Imported here, because providers read the environment when they are loaded.
        try:
            import onnxruntime
        except ImportError as error:
            raise Refused("no-onnxruntime", f"{error}: start the runner in the environment of the Ryzen AI software, or install onnxruntime") from error
        self.ort = onnxruntime
        if self.provider not in self.ort.get_available_providers():
            self.fall_back(f"this onnxruntime has no {self.provider}; it has {', '.join(self.ort.get_available_providers())}")

    def fall_back(self, reason):
        if not self.arguments.allow_cpu:
            raise Refused("no-device", f"{reason}. The CPU is used instead only with --allow-cpu")
        say(f"FALLING BACK TO THE CPU: {reason}")
        self.provider, self.kind = CPU, "cpu"

    def fill(self, text, key):
        """Replaces paths and the cache key in an option of the bundle."""

        def value_of(match):
            known = {"CACHE_DIR": str(self.cache), "CACHE_KEY": key}.get(match[1]) or os.environ.get(match[1])
            if known is None:
                raise Refused("no-environment", f"the options require the environment variable {match[1]}: list it under the stage's `env`")
            return known

        return re.sub(r"\$\{(\w+)\}", value_of, text)

    def versions(self):
        found = {"onnxruntime": self.ort.__version__}
        if self.software:
            found["ryzen-ai"] = self.software
        for name in ("onnxruntime-vitisai", "voe", "ryzenai-onnx-utils"):
            try:
                found[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:
                continue
        xclbin = self.xclbin()
        if xclbin is not None:
            found["xclbin"] = digest_file(xclbin)
        found.update(self.firmware)
        return dict(sorted(found.items()))

    def xclbin(self):
        named = self.row["providerOptions"].get("xclbin")
        in_environment = "XLNX_VART_FIRMWARE" if named is None and "XLNX_VART_FIRMWARE" in self.row["environment"] else None
        if self.provider == CPU or named is None and in_environment is None:
            return None
        # Read from the environment: the machine's own setting has priority over the bundle's.
        path = Path(self.fill(named, "") if in_environment is None else os.environ[in_environment])
        if not path.exists():
            raise Refused("no-xclbin", f"there is no {path}: the Ryzen AI software is not version {self.software}, or RYZEN_AI_INSTALLATION_PATH is wrong")
        return path

    def examine(self):
        """Driver and firmware, as reported by xrt-smi."""
        self.firmware, self.driver = {}, self.arguments.driver or ""
        if self.provider == CPU:
            return
        tool = shutil.which("xrt-smi") or next((path for path in [r"C:\Windows\System32\AMD\xrt-smi.exe"] if os.path.exists(path)), None)
        text = "" if tool is None else subprocess.run([tool, "examine"], capture_output=True, text=True, timeout=30).stdout
        driver = re.search(r"(?:NPU Driver|amdxdna) Version\s*:\s*([^\s,]+)", text)
        firmware = re.search(r"NPU Firmware Version\s*:\s*(\S+)", text)
        if driver is not None and not self.driver:
            self.driver = driver[1]
        if firmware is not None:
            self.firmware = {"firmware": firmware[1]}
        if not self.driver:
            say("warning: the driver's version is not known; give it with --driver, so that a new driver is noticed")

    def identity(self):
        self.examine()
        return {
            "runner": {"name": "tanren-bundle-runner", "version": VERSION},
            "provider": self.provider,
            "device": {"kind": self.kind, "name": self.name if self.kind != "cpu" else "cpu", "driver": self.driver},
            "versions": self.versions(),
        }

    def cache_key(self, base, identity, optimization):
        """The bundle's key of model and options, combined with everything of this board and session that affects a compiled model."""
        parts = [base, identity["provider"], identity["device"]["driver"], optimization, *[f"{name}={value}" for name, value in identity["versions"].items()]]
        parts += [f"{name}={os.environ[name]}" for name in sorted(self.row["environment"])]
        return digest_bytes("\n".join(parts).encode())[:32]


def default_cache():
    root = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "tanren-runner")


# ---------------------------------------------------------------- a loaded model


class Loaded:
    def __init__(self, device, identity, source, digest, entry, optimization="all"):
        ort, self.device, self.entry = device.ort, device, entry
        # The bundle's keys cover its own options. Those of another provider are digested here.
        is_listed = entry is not None and device.arguments.provider is None
        base = entry["cacheKeys"].get(f"{device.software}/{device.name}") if is_listed else None
        base = base or digest_bytes(json.dumps([digest, device.row["providerOptions"]], sort_keys=True).encode())
        self.key = device.cache_key(base, identity, optimization)
        self.placement = None
        self.batch = None
        session_options = ort.SessionOptions()
        levels = {"disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}
        session_options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, levels[optimization])
        session_options.log_severity_level = 2
        self.folder = device.cache / self.key
        self.profiled = device.provider != CPU and not device.row.get("report")
        if self.profiled:
            self.folder.mkdir(parents=True, exist_ok=True)
            session_options.enable_profiling = True
            session_options.profile_file_prefix = str(self.folder / "profile")
        if device.provider == CPU:
            providers = [CPU]
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            options = {name: device.fill(value, self.key) for name, value in device.row["providerOptions"].items()}
            if device.arguments.strict:
                options["vaip_disable_cpu_only_inference"] = "1"
            if device.arguments.ep_context:
                source = self.use_context(session_options, source)
            providers = [(device.provider, options)]
        self.session = ort.InferenceSession(source, session_options, providers=providers)
        # Otherwise onnxruntime falls back to the CPU when a run fails.
        self.session.disable_fallback()
        if device.provider not in self.session.get_providers():
            if not device.arguments.allow_cpu:
                raise Refused("fell-back", f"{device.provider} did not accept the model: the session has {', '.join(self.session.get_providers())}")
            say(f"FALLING BACK TO THE CPU: {device.provider} did not take the model")
            self.placement = self.all_on_cpu()
        self.inputs = [self.describe(value) for value in self.session.get_inputs()]
        self.outputs = [self.describe(value) for value in self.session.get_outputs()]

    def serve_any_batch(self):
        """Declares a free first axis, in place of a model with a free batch; run_once divides the rows into batches."""
        self.batch = self.inputs[0]["dims"][0]
        for value in [*self.inputs, *self.outputs]:
            value["dims"][0] = None

    def run_once(self, feeds, names):
        """Runs in batches. The last batch is filled with repeated rows, whose outputs are removed."""
        if self.batch is None:
            return self.session.run(names, feeds)
        rows = len(next(iter(feeds.values())))
        results = []
        for start in range(0, max(rows, 1), self.batch):
            index = np.arange(start, start + self.batch) % max(rows, 1)
            batch = {name: value[index] if rows > 0 else np.zeros((self.batch, *value.shape[1:]), value.dtype) for name, value in feeds.items()}
            results.append(self.session.run(names, batch))
        return [np.concatenate(arrays)[:rows] for arrays in zip(*results)]

    def use_context(self, session_options, source):
        """Loads a compiled model with the same key if there is one; otherwise writes it for the next start."""
        context = self.folder / "context.onnx"
        if context.exists():
            return str(context)
        for name, value in self.device.row["sessionOptions"].items():
            session_options.add_session_config_entry(name, self.device.fill(value, self.key))
        return source

    def describe(self, value):
        name = re.match(r"tensor\((\w+)\)", value.type)
        if name is None or name[1] not in ORT_TYPES:
            raise Refused("unsupported-type", f"{value.name} is {value.type}")
        return {"name": value.name, "dtype": ORT_TYPES[name[1]], "dims": [dim if isinstance(dim, int) and dim >= 0 else None for dim in value.shape]}

    def run(self, feeds, names, warmup, repeats):
        times, results = [], []
        for count in range(warmup + repeats):
            started = time.perf_counter()
            results = self.run_once(feeds, names)
            if count >= warmup:
                times.append(1000 * (time.perf_counter() - started))
        if self.placement is None:
            self.placement = self.find_placement()
        return results, times

    def nodes(self):
        return 1 if self.entry is None else self.entry["nodes"]

    def all_on_cpu(self):
        return [{"device": "cpu", "provider": CPU, "nodes": self.nodes()}]

    def find_placement(self):
        """Placement of nodes, from the vendor's report if there is one, else from ONNX Runtime's profile of the first run."""
        if self.device.provider == CPU:
            return self.all_on_cpu()
        if not self.profiled:
            report = self.folder / "vitisai_ep_report.json"
            if not report.exists():
                raise Refused("no-report", f"the execution provider wrote no {report}: the placement of nodes is unknown")
            return self.count_report(read_json(report))
        path = self.session.end_profiling()
        events = [event for event in read_json(path) if event.get("cat") == "Node" and "provider" in event.get("args", {})]
        os.remove(path)
        ran = {event["name"]: event["args"]["provider"] for event in events}
        on_cpu = sum(provider == CPU for provider in ran.values())
        fused = len(ran) - on_cpu
        # A node of the device represents its whole sub-graph.
        own = 0 if fused == 0 else max(fused, self.nodes() - on_cpu)
        return self.make_placement(own, on_cpu)

    def count_report(self, report):
        """Nodes by device in AMD's report. Its edge nodes (VITIS_EP_CPU) run on the host."""
        counts = {stat["name"]: stat.get("nodeNum", 0) for stat in report.get("deviceStat", [])}
        own = sum(counts.get(name, 0) for name in ("NPU", "DPU", "IPU"))
        return self.make_placement(own, counts.get("CPU", 0) + counts.get("VITIS_EP_CPU", 0))

    def make_placement(self, own, on_cpu):
        shares = [{"device": self.device.kind, "provider": self.device.provider, "nodes": own}, {"device": "cpu", "provider": CPU, "nodes": on_cpu}]
        return [share for share in shares if share["nodes"] > 0] or self.all_on_cpu()


# ---------------------------------------------------------------- golden values


def compare(found, wanted):
    """(largest difference, SQNR in dB) of two arrays."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        raise Refused("golden-mismatch", f"an output is {found.dtype} {list(found.shape)}, but the golden one is {wanted.dtype} {list(wanted.shape)}")
    x, difference = wanted.astype(np.float64), found.astype(np.float64) - wanted.astype(np.float64)
    noise = float(np.sum(difference**2))
    signal = float(np.sum(x**2))
    sqnr = 999.0 if noise == 0 else -998.0 if signal == 0 or not np.isfinite(noise) else 10 * np.log10(signal / noise)
    return float(np.max(np.abs(difference), initial=0.0)), sqnr


def check_golden(loaded, entry, least):
    """Compares every output of every golden sample. @returns (output name, largest difference, SQNR) of each."""
    rows = []
    for sample in entry.get("golden", []):
        with np.load(HERE / sample["file"]) as archive:
            arrays = {(array["role"], array["name"]): archive[array["array"]] for array in sample["arrays"]}
        feeds = {name: value for (role, name), value in arrays.items() if role == "input"}
        names = [name for role, name in arrays if role == "output"]
        for name, found in zip(names, loaded.run(feeds, names, 0, 1)[0]):
            worst, sqnr = compare(np.asarray(found), arrays["output", name])
            rows.append((name, worst, sqnr))
            if sqnr < least:
                raise Refused("golden-mismatch", f"{entry['name']}: output {name} has SQNR {sqnr:.1f} dB against the golden one, expected at least {least}: a stale compiled model, other options, or a device with other results")
    return rows


# ---------------------------------------------------------------- commands


def load_options(arguments):
    manifest = read_manifest()
    check_files(manifest)
    device = Device(arguments, manifest)
    return manifest, device, device.identity()


def command_check(arguments):
    manifest, device, identity = load_options(arguments)
    say(f"{identity['provider']} on {identity['device']['name']}, driver {identity['device']['driver'] or 'unknown'}")
    for entry in manifest["models"]:
        path = HERE / entry["whole"]
        loaded = Loaded(device, identity, str(path), manifest["files"][entry["whole"]], entry)
        if not entry.get("golden"):
            print(f"{entry['name']}: no golden values in the bundle")
            continue
        for name, worst, sqnr in check_golden(loaded, entry, arguments.min_sqnr):
            print(f"{entry['name']}: {name}: largest difference {worst:g}, SQNR {sqnr:.1f} dB")
        where = ", ".join(f"{share['nodes']} nodes on the {share['device'].upper()} ({share['provider']})" for share in loaded.placement)
        print(f"{entry['name']}: {where}")
        if not arguments.allow_cpu and all(share["device"] != device.kind for share in loaded.placement):
            raise Refused("fell-back", f"{entry['name']}: no node ran on the {device.kind.upper()}; this requires --allow-cpu")


def command_diff_report(arguments):
    """Nodes are named by their first output, as in the vendor's report."""
    predicted, real = ({node["output"][0]: node for node in read_json(path).get("nodeStat", []) if node.get("output")} for path in arguments.reports)
    reasons = {name: reason for reason in read_json(arguments.reports[0]).get("x-reasons", []) for name in reason["nodes"]}
    differing = [(name, node["device"], real[name]["device"]) for name, node in predicted.items() if name in real and real[name]["device"] != node["device"]]
    for name, ours, theirs in differing:
        why = "; ".join(finding["message"] for finding in reasons.get(name, {}).get("findings", []))
        print(f"{name} ({predicted[name]['opType']}): predicted {ours}, ran on {theirs}{f' ({why})' if why else ''}")
    both = sum(name in real for name in predicted)
    print(f"{both - len(differing)} of {both} nodes as predicted; {len(predicted) - both} only predicted, {len(real) - both} only in the real report")
    return 1 if differing else 0


def command_serve(arguments):
    # Only frames go to standard output. Output that libraries print there is redirected to standard error.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    source = sys.stdin.buffer
    server = Server(arguments)
    while True:
        frame = read_frame(source)
        if frame is None:
            return
        header, payload = frame
        try:
            answer, pieces = server.answer(header, payload)
        except Refused as refusal:
            answer, pieces = {"type": "error", "code": refusal.code, "message": str(refusal)}, []
        except Exception as error:
            answer, pieces = {"type": "error", "code": type(error).__name__, "message": str(error)}, []
        write_frame(out, {"id": header.get("id"), **answer}, pieces)
        if header.get("type") == "bye":
            return


class Server:
    def __init__(self, arguments):
        self.arguments = arguments
        self.sessions = {}

    def answer(self, header, payload):
        handlers = {"hello": self.hello, "load": self.load, "run": self.run, "unload": self.unload, "bye": lambda *_: ({}, [])}
        handler = handlers.get(header.get("type"))
        if handler is None:
            raise Refused("unknown-request", f"{header.get('type')!r} is not a request")
        answer, pieces = handler(header, payload)
        return {"type": header["type"], **answer}, pieces

    def hello(self, header, _):
        if header["cpuFallback"] == "allow":
            self.arguments.allow_cpu = True
        self.manifest, self.device, self.identity = load_options(self.arguments)
        return {"protocol": PROTOCOL, "identity": self.identity}, []

    def load(self, header, payload):
        model = header["model"]
        found = digest_file(model["path"]) if "path" in model else digest_bytes(payload)
        if found != model["digest"]:
            raise Refused("model-damaged", f"{model['name']} has digest {found}, expected {model['digest']}")
        entry = find_model(self.manifest, found)
        if entry is None:
            say(f"{model['name']} is no model of this bundle: it has no golden values here")
        source = model["path"] if "path" in model else bytes(payload)
        is_pinned = entry is not None and self.manifest["files"][entry["whole"]] != found
        if is_pinned:
            say(f"{model['name']} has free sizes: {entry['whole']} runs instead, in its batches")
            source, found = str(HERE / entry["whole"]), self.manifest["files"][entry["whole"]]
        loaded = Loaded(self.device, self.identity, source, found, entry, header["session"]["optimization"])
        if entry is not None and not self.arguments.no_golden:
            for name, worst, sqnr in check_golden(loaded, entry, self.arguments.min_sqnr):
                say(f"{entry['name']}: golden {name}: largest difference {worst:g}, SQNR {sqnr:.1f} dB")
        if is_pinned:
            loaded.serve_any_batch()
        number = len(self.sessions)
        self.sessions[number] = loaded
        return {"session": number, "inputs": loaded.inputs, "outputs": loaded.outputs}, []

    def get(self, header):
        loaded = self.sessions.get(header["session"])
        if loaded is None:
            raise Refused("no-session", f"there is no session {header['session']}")
        return loaded

    def run(self, header, payload):
        loaded, offset, feeds = self.get(header), 0, {}
        for tensor in header["inputs"]:
            piece = payload[offset : offset + tensor["bytes"]]
            feeds[tensor["name"]] = np.frombuffer(piece, dtype=DTYPES[tensor["dtype"]]).reshape(tensor["dims"])
            offset += tensor["bytes"]
        results, times = loaded.run(feeds, header["outputs"], header["warmup"], header["repeats"])
        arrays = [np.ascontiguousarray(result) for result in results]
        outputs = [
            {"name": name, "dtype": array.dtype.name, "dims": list(array.shape), "bytes": array.nbytes}
            for name, array in zip(header["outputs"], arrays)
        ]
        return {"outputs": outputs, "durationsMs": times, "placement": loaded.placement}, [array.tobytes() for array in arrays]

    def unload(self, header, _):
        self.get(header)
        self.sessions[header["session"]] = None
        return {}, []


def read_frame(source):
    start = read_exactly(source, 16, may_end=True)
    if start is None:
        return None
    magic, header_bytes, payload_bytes = struct.unpack("<4sIQ", start)
    if magic != b"TNR1" or header_bytes > MAX_HEADER or payload_bytes > MAX_PAYLOAD:
        raise SystemExit("the client sent data that is not a frame")
    return json.loads(read_exactly(source, header_bytes)), read_exactly(source, payload_bytes)


def read_exactly(source, size, may_end=False):
    data = source.read(size)
    if len(data) == size:
        return data
    if may_end and len(data) == 0:
        return None
    raise SystemExit("the client ended in the middle of a frame")


def write_frame(out, header, pieces):
    text = json.dumps(header).encode()
    out.write(struct.pack("<4sIQ", b"TNR1", len(text), sum(len(piece) for piece in pieces)) + text)
    for piece in pieces:
        out.write(piece)
    out.flush()


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["serve", "check", "diff-report"], default="serve")
    parser.add_argument("reports", nargs="*", help="for diff-report: the predicted file of the bundle, and the real one")
    parser.add_argument("--software", help="version of the Ryzen AI software, for example 1.7; default: that of the bundle")
    parser.add_argument("--device", help="phx-hpt or stx-krk; default: that of the bundle")
    parser.add_argument("--driver", help="version of the driver, if xrt-smi is not available")
    parser.add_argument("--allow-cpu", action="store_true", help="use the CPU provider if that of the device is not available")
    parser.add_argument("--cache-dir", help="folder for compiled models")
    parser.add_argument("--ep-context", action="store_true", help="keep compiled models as EPContext models (Ryzen AI 1.4 on)")
    parser.add_argument("--strict", action="store_true", help="make the provider abort if it offloads nothing (an option that AMD does not document)")
    parser.add_argument("--provider", help="an execution provider other than Ryzen AI's, for example CPUExecutionProvider")
    parser.add_argument("--provider-options", help="a JSON file of its options")
    parser.add_argument("--kind", choices=["npu", "gpu"], default="npu", help="the device of that provider")
    parser.add_argument("--no-golden", action="store_true", help="serve without checking golden values at each load")
    parser.add_argument("--min-sqnr", type=float, default=20.0, help="smallest SQNR in dB of a golden output")
    arguments = parser.parse_args()
    if arguments.command == "diff-report" and len(arguments.reports) != 2:
        parser.error("diff-report takes two files")
    return arguments


def main():
    arguments = parse_arguments()
    command = {"serve": command_serve, "check": command_check, "diff-report": command_diff_report}[arguments.command]
    try:
        return command(arguments) or 0
    except Refused as refusal:
        say(f"error[{refusal.code}]: {refusal}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
