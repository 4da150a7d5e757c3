"""A provider with its options, and what is known about the machine."""
import importlib.metadata
import os
import re
from pathlib import Path

from .arguments import count, decibels
from .bundle import HERE, check_files, digest_bytes, digest_file, read_json, read_manifest, say
from .errors import Refused
from .machine import UNKNOWN, read_machine

VERSION = "1"
CPU = "CPUExecutionProvider"


class Device:
    """A provider with its options, and facts about the machine. The options of Ryzen AI come from the bundle."""

    def __init__(self, arguments, manifest):
        self.arguments = arguments
        target = manifest["target"]
        self.row = {"provider": CPU, "providerOptions": {}, "environment": {}, "sessionOptions": {}}
        self.software = arguments.software or target.get("version", "")
        self.name = arguments.device or target.get("device", "")
        # Options that the bundle's cache keys do not cover.
        self.own = read_options(arguments.provider_options)
        if arguments.provider is not None:
            self.row = {**self.row, "provider": arguments.provider, "providerOptions": self.own}
        else:
            path = HERE / "ryzenai" / self.software / f"{self.name}.json"
            if not path.exists():
                raise Refused("no-options", f"the bundle has no options for Ryzen AI {self.software} on {self.name}: set --software and --device, or a --provider")
            self.row = read_json(path)
            if digest_file(path) != manifest["files"].get(path.relative_to(HERE).as_posix()):
                say(f"{path.name} of {self.software} was edited: its options join the cache key")
                self.own = {**self.row["providerOptions"], **self.own}
            self.row = {**self.row, "providerOptions": {**self.row["providerOptions"], **self.own}}
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
            known = {"BUNDLE": str(HERE), "CACHE_DIR": str(self.cache), "CACHE_KEY": key}.get(match[1]) or os.environ.get(match[1])
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
        config = self.row["providerOptions"].get("config_file")
        if config is not None and Path(self.fill(config, "")).is_file():
            found["config_file"] = digest_file(Path(self.fill(config, "")))
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
            raise Refused("no-xclbin", f"{path} does not exist: the Ryzen AI software is not version {self.software}, or RYZEN_AI_INSTALLATION_PATH is wrong")
        return path

    def examine(self):
        """Facts about the machine. @raises Refused `wrong-device` where its NPU is not that of the options"""
        self.machine = {} if self.provider == CPU else read_machine()
        known = lambda name: "" if self.machine.get(name, UNKNOWN) == UNKNOWN else self.machine[name]
        self.driver = self.arguments.driver or known("driver")
        self.firmware = {"firmware": known("firmware")} if known("firmware") else {}
        if self.provider == CPU:
            return
        found = known("device")
        if self.arguments.provider is None and found not in ("", self.name) and not self.arguments.any_device:
            raise Refused("wrong-device", f"this machine has {found}, but the options are for {self.name}: compile a bundle for {found}, or set --any-device if the machine is not recognized rightly")
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


def read_options(path):
    """Provider options from a JSON file: names and texts. @raises Refused `bad-options`"""
    if path is None:
        return {}
    try:
        options = read_json(path)
    except (OSError, ValueError) as error:
        raise Refused("bad-options", f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(options, dict) or not all(isinstance(value, str) for value in options.values()):
        raise Refused("bad-options", f"{path} should be a JSON object of texts, such as {{\"opt_level\": \"1\"}}")
    return options


def default_cache():
    root = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(root, "tanren-runner")


def load_options(arguments):
    """@returns the manifest, the device, and its identity"""
    manifest = read_manifest()
    check_files(manifest)
    device = Device(arguments, manifest)
    return manifest, device, device.identity()


def add_device_arguments(parser):
    parser.add_argument("--software", help="version of the Ryzen AI software, for example 1.7; default: that of the bundle")
    parser.add_argument("--device", help="phx-hpt or stx-krk; default: that of the bundle")
    parser.add_argument("--any-device", action="store_true", help="run although the machine reports another NPU")
    parser.add_argument("--driver", help="version of the driver, if xrt-smi is not available")
    parser.add_argument("--allow-cpu", action="store_true", help="use the CPU provider if that of the device is not available")
    parser.add_argument("--cache-dir", help="folder for compiled models")
    parser.add_argument("--ep-context", action="store_true", help="keep compiled models as EPContext models (Ryzen AI 1.4 on)")
    parser.add_argument("--strict", action="store_true", help="make the provider abort if it offloads nothing (an option that AMD does not document)")
    parser.add_argument("--provider", help="an execution provider other than Ryzen AI's, for example CPUExecutionProvider")
    parser.add_argument("--provider-options", help="a JSON file of options: of that provider, or added to those of the bundle")
    parser.add_argument("--kind", choices=["npu", "gpu"], default="npu", help="the device of that provider")
    parser.add_argument("--threads", type=count, default=1, help="threads of ONNX Runtime, 0 for all cores; default: 1")
    parser.add_argument("--no-golden", action="store_true", help="load models without checking golden values")
    parser.add_argument("--min-sqnr", type=decibels, default=20.0, help="smallest SQNR in dB of a golden output")
