"""The runner protocol of docs/runner-protocol.md, on standard input and output."""
import json
import os
import struct
import sys

import numpy as np

from .bundle import HERE, digest_bytes, digest_file, find_model, say
from .device import load_options
from .errors import Refused
from .golden import check_golden
from .session import DTYPES, Loaded

PROTOCOL = 1
MAX_HEADER, MAX_PAYLOAD = 1 << 20, (1 << 31) - 1


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
            say(f"{model['name']} is not a model of this bundle: the bundle has no golden values for it")
        source = model["path"] if "path" in model else bytes(payload)
        is_pinned = entry is not None and entry["pinned"] and self.manifest["files"][entry["whole"]] != found
        if is_pinned:
            say(f"{model['name']} has free sizes: {entry['whole']} runs instead, in its batches")
        if entry is not None:
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
