"""The files of a bundle: manifest, digests and models."""
import hashlib
import json
import sys
from pathlib import Path, PurePosixPath

from .errors import Refused

HERE = Path(__file__).resolve().parent.parent


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


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def read_manifest():
    path = HERE / "manifest.json"
    if not path.exists():
        return {"models": [], "files": {}, "target": {}}
    try:
        return read_json(path)
    except ValueError as error:
        raise Refused("bundle-damaged", f"manifest.json of the bundle is not JSON ({error}): copy the bundle again") from error


def require_models(manifest):
    """@raises Refused `no-bundle`"""
    if not manifest["models"]:
        raise Refused("no-bundle", f"{HERE} has no manifest.json with models: run the program inside of the bundle that the stage `compile` wrote")


def find_model(manifest, digest):
    """The bundle's model with these bytes, or the model that was made from them."""
    for model in manifest["models"]:
        if digest in (manifest["files"].get(model["whole"]), model["source"]):
            return model
    return None


def check_files(manifest):
    """Options of the vendor's software may be edited: they join the cache key. All other files must be as they were written."""
    for name, digest in manifest["files"].items():
        if not is_inside(name):
            raise Refused("bundle-damaged", f"the manifest names {name!r}, which is outside of the bundle")
        if name.startswith("ryzenai/"):
            continue
        if not (HERE / name).is_file() or digest_file(HERE / name) != digest:
            raise Refused("bundle-damaged", f"{name} of the bundle does not have the digest in the manifest: copy the bundle again")
    for model in manifest["models"]:
        for name in (model["whole"], *(sample["file"] for sample in (*model.get("golden", []), *model.get("probes", [])))):
            if name not in manifest["files"]:
                raise Refused("bundle-damaged", f"the manifest has no digest of {name!r}: copy the bundle again")


def is_inside(name):
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and ":" not in name
