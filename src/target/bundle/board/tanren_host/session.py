"""A model that is loaded by the provider, and where its nodes run."""
import json
import os
import re
import time
from pathlib import Path

import numpy as np

from .bundle import digest_bytes, digest_file, read_json, say
from .device import CPU
from .errors import Refused
from .own_constants import give_own_constants

DTYPES = {
    "float32": "float32", "float64": "float64", "float16": "float16", "int8": "int8", "uint8": "uint8", "int16": "int16",
    "uint16": "uint16", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64", "bool": "bool",
}
ORT_TYPES = {"float": "float32", "double": "float64", **{name: name for name in DTYPES}}


class Loaded:
    def __init__(self, device, identity, source, digest, entry, optimization="all"):
        ort, self.device, self.entry = device.ort, device, entry
        # The pipeline may place a model on the CPU as a whole.
        self.provider = CPU if entry is not None and entry.get("place") == "cpu" else device.provider
        # The bundle's keys cover its own options. Those of another provider are digested here.
        is_listed = entry is not None and device.arguments.provider is None
        base = entry["cacheKeys"].get(f"{device.software}/{device.name}") if is_listed else None
        base = base or digest_bytes(json.dumps([digest, device.row["providerOptions"]], sort_keys=True).encode())
        if device.own:
            base = digest_bytes(json.dumps([base, device.own, digests_of(device.own.values())], sort_keys=True).encode())
        self.key = device.cache_key(base, identity, optimization)
        self.placement = None
        self.batch = None
        session_options = ort.SessionOptions()
        levels = {"disabled": "ORT_DISABLE_ALL", "basic": "ORT_ENABLE_BASIC", "extended": "ORT_ENABLE_EXTENDED", "all": "ORT_ENABLE_ALL"}
        session_options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, levels[optimization])
        # Of sizes that depend on the data, ONNX Runtime warns in every run.
        session_options.log_severity_level = 3 if entry is not None and entry.get("place") == "cpu" else 2
        session_options.intra_op_num_threads, session_options.inter_op_num_threads = device.arguments.threads, 1
        self.folder = device.cache / self.key
        self.profiled = self.provider != CPU and not device.row.get("report")
        if self.profiled:
            self.folder.mkdir(parents=True, exist_ok=True)
            session_options.enable_profiling = True
            session_options.profile_file_prefix = str(self.folder / "profile")
        if self.provider == CPU:
            providers = [CPU]
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
            options = {name: device.fill(value, self.key) for name, value in device.row["providerOptions"].items()}
            if device.arguments.strict:
                options["vaip_disable_cpu_only_inference"] = "1"
            if device.arguments.ep_context:
                source = self.use_context(session_options, source)
            providers = [(device.provider, options)]
        try:
            self.session = self.open(source, session_options, providers, optimization)
        except Exception as error:
            raise Refused(*explain(error, self.provider)) from error
        if self.provider != CPU:
            check_context(self.folder, source, digest)
        # Otherwise onnxruntime falls back to the CPU when a run fails.
        self.session.disable_fallback()
        if self.provider not in self.session.get_providers():
            if not device.arguments.allow_cpu:
                raise Refused("fell-back", f"{device.provider} did not accept the model: the session has {', '.join(self.session.get_providers())}")
            say(f"FALLING BACK TO THE CPU: {device.provider} did not take the model")
            self.placement = self.all_on_cpu()
        self.inputs = [self.describe(value) for value in self.session.get_inputs()]
        self.outputs = [self.describe(value) for value in self.session.get_outputs()]
        # The device computes one output, in which those of the model lie behind each other.
        self.merged = None if entry is None else entry.get("merged")
        if self.merged is not None:
            self.outputs = [{"name": output["name"], "dtype": "float32", "dims": list(output["dims"])} for output in self.merged["outputs"]]

    def open(self, source, session_options, providers, optimization):
        """
        Where integer kernels saturate, models on the CPU take kernels that add exactly, as in the pipeline. ONNX Runtime does not load
        a model with them in which layers share an int8 constant.
        """
        is_exact = self.provider == CPU and optimization in ("extended", "all") and kernels_saturate()
        if is_exact:
            session_options.add_session_config_entry("session.x64quantprecision", "1")
        try:
            return self.device.ort.InferenceSession(source, session_options, providers=providers)
        except Exception as error:
            if not is_exact or "Attempt to replace the existing tensor" not in str(error):
                raise
        model = Path(source).read_bytes() if isinstance(source, str) else source
        return self.device.ort.InferenceSession(give_own_constants(model), session_options, providers=providers)

    def serve_any_batch(self):
        """Declares a free first axis, in place of a model with a free batch; run_once divides the rows into batches."""
        self.batch = self.inputs[0]["dims"][0]
        for value in [*self.inputs, *self.outputs]:
            value["dims"][0] = None

    def run_once(self, feeds, names):
        """Runs in batches. The last batch is filled with repeated rows, whose outputs are removed."""
        if self.batch is None:
            return self.run_session(names, feeds)
        rows = len(next(iter(feeds.values())))
        results = []
        for start in range(0, max(rows, 1), self.batch):
            index = np.arange(start, start + self.batch) % max(rows, 1)
            batch = {name: value[index] if rows > 0 else np.zeros((self.batch, *value.shape[1:]), value.dtype) for name, value in feeds.items()}
            results.append(self.run_session(names, batch))
        return [np.concatenate(arrays)[:rows] for arrays in zip(*results)]

    def run_session(self, names, feeds):
        if self.merged is None:
            return self.session.run(names, feeds)
        row = np.asarray(self.session.run([self.merged["name"]], feeds)[0]).reshape(-1)
        sizes = [int(np.prod(output["dims"], dtype=np.int64)) for output in self.merged["outputs"]]
        if row.size != sum(sizes):
            raise Refused("golden-mismatch", f"the merged output has {row.size} elements, and the outputs in it {sum(sizes)}")
        arrays = np.split(row, np.cumsum(sizes)[:-1])
        apart = {output["name"]: array.reshape(output["dims"]) for output, array in zip(self.merged["outputs"], arrays)}
        return [apart[name] for name in names or apart]

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
        if self.provider == CPU:
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


def kernels_saturate():
    """Whether this is an x86-64 processor without VNNI, as far as the system tells: those of the devices have it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return " avx2" in flags and "vnni" not in flags


def digests_of(values):
    """Of the files that options name, such as a configuration file."""
    return {value: digest_file(value) for value in values if os.path.isfile(value)}


# What the errors of AMD's provider mean. Sources: AMD RyzenAI-SW, issues 345, 396 and 400.
CAUSES = [
    (r"open xclbin|xclbin.*(?:not found|does not exist)", "no-xclbin", "the software has no xclbin file for this device: install a version of Ryzen AI that ships one"),
    (r"target with fingerprint", "wrong-xclbin", "the xclbin file is not one for this version of the software and this device"),
    (r"invalid vector subscript|ERT_CMD_STATE|DPU timeout", "wrong-device", "the model was compiled for another device: check target and xclbin in the options, and clear the cache folder"),
]


def explain(error, provider):
    """@returns code and message of a session that the provider could not open"""
    for pattern, code, reason in CAUSES:
        if provider != CPU and re.search(pattern, str(error)):
            return code, f"{reason} ({error})"
    return "session-failed", f"{provider} cannot open the model: {error}"


def check_context(folder, source, digest):
    """
    AMD's provider notes the model of a compiled one in context.json. @raises Refused `stale-cache` where that is another model.
    A bundle that was copied to another place has other paths: the cache key then tells that the model is the same.
    """
    try:
        compiled = str(read_json(folder / "context.json")["config"]["onnxPath"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    if compiled == "" or not isinstance(source, str) or os.path.abspath(compiled) == os.path.abspath(source):
        return
    if os.path.isfile(compiled):
        is_same = digest_file(compiled) == digest
    else:
        is_same = re.split(r"[\\/]", compiled)[-2:] == re.split(r"[\\/]", source)[-2:]
    if not is_same:
        raise Refused("stale-cache", f"the compiled model in {folder} was made from {compiled}, not from {source}: remove the folder")
