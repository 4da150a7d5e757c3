"""Detects by torchvision's own Mask R-CNN, as peer-detect.ts asks, and tells how long each round took.

python peer_detect.py CHECKPOINT.safetensors CONFIG.json ANNOTATIONS.json IMAGES COUNT THREADS

Every line on standard input is one round over the first COUNT images, by id; each is answered by one line of JSON. The first line, before any round, tells the
versions. From the file's bytes to run lengths: Pillow decodes, torchvision detects, pycocotools encodes. The network is built in the checkpoint's sizes.
"""

import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torchvision
from PIL import Image
from pycocotools import mask as coco_mask
from safetensors.torch import load_file
from torch import nn
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNConvFCHead, FastRCNNPredictor
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.rpn import RPNHead
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.ops import MultiScaleRoIAlign
from torchvision.transforms.functional import pil_to_tensor


class Body(ResNet):
    """torchvision's ResNet in the widths and depths of a state dict."""

    def __init__(self, state):
        super().__init__(Bottleneck, [1, 1, 1, 1])
        at = "backbone.body."
        self.inplanes = state[f"{at}conv1.weight"].shape[0]
        self.conv1 = nn.Conv2d(3, self.inplanes, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(self.inplanes)
        self.widths = []
        for n in range(1, 5):
            width = state[f"{at}layer{n}.0.conv1.weight"].shape[0]
            depth = len({name.split(".")[3] for name in state if name.startswith(f"{at}layer{n}.")})
            setattr(self, f"layer{n}", self._make_layer(Bottleneck, width, depth, stride=1 if n == 1 else 2))
            self.widths.append(4 * width)


def count_blocks(state, prefix, at):
    """How many numbered modules stand under a prefix: their number is part `at` of a name."""
    return len({name.split(".")[at] for name in state if name.startswith(prefix) and name.endswith(".0.weight")})


def build(state, config):
    body = Body(state)
    channels = state["backbone.fpn.inner_blocks.0.0.weight"].shape[0]
    layers = {f"layer{n + 1}": str(n) for n in range(4)}
    box, mask, rpn, image, ratios = config["box"], config["mask"], config["rpn"], config["input"], config["anchors"]["aspectRatios"]
    sizes = tuple(map(tuple, config["anchors"]["sizes"]))
    convs = count_blocks(state, "roi_heads.box_head.", 2)
    hidden = state[f"roi_heads.box_head.{convs + 1}.weight"].shape[0]
    norm = nn.BatchNorm2d
    levels = ["0", "1", "2", "3"]
    model = MaskRCNN(
        BackboneWithFPN(body, layers, body.widths, channels, norm_layer=norm),
        min_size=image["minSize"],
        max_size=image["maxSize"],
        image_mean=image["mean"],
        image_std=image["std"],
        size_divisible=image["sizeDivisible"],
        rpn_anchor_generator=AnchorGenerator(sizes, (tuple(ratios),) * len(sizes)),
        rpn_head=RPNHead(channels, len(ratios), conv_depth=count_blocks(state, "rpn.head.conv.", 3)),
        rpn_pre_nms_top_n_test=rpn["preNmsTopN"],
        rpn_post_nms_top_n_test=rpn["postNmsTopN"],
        rpn_nms_thresh=rpn["nmsThreshold"],
        rpn_score_thresh=rpn["scoreThreshold"],
        box_roi_pool=MultiScaleRoIAlign(levels, box["roiSize"], box["samplingRatio"]),
        box_head=FastRCNNConvFCHead((channels, box["roiSize"], box["roiSize"]), [channels] * convs, [hidden], norm_layer=norm),
        box_predictor=FastRCNNPredictor(hidden, config["numClasses"]),
        box_score_thresh=box["scoreThreshold"],
        box_nms_thresh=box["nmsThreshold"],
        box_detections_per_img=box["detectionsPerImage"],
        bbox_reg_weights=tuple(box["regressionWeights"]),
        mask_roi_pool=MultiScaleRoIAlign(levels, mask["roiSize"], mask["samplingRatio"]),
        mask_head=MaskRCNNHeads(channels, [channels] * count_blocks(state, "roi_heads.mask_head.", 2), 1, norm_layer=norm),
        mask_predictor=MaskRCNNPredictor(channels, channels, config["numClasses"]),
    )
    model.load_state_dict(state)
    return model.eval()


class Steps:
    """Adds up what named steps take; a function is replaced by one that is timed."""

    def __init__(self):
        self.ms = {}

    def timed(self, step, work):
        def run(*args, **named):
            start = time.perf_counter()
            result = work(*args, **named)
            self.ms[step] = self.ms.get(step, 0) + 1000 * (time.perf_counter() - start)
            return result

        return run

    def watch(self, owner, method, step):
        setattr(owner, method, self.timed(step, getattr(owner, method)))

    def take(self):
        taken, self.ms = self.ms, {}
        return taken


def watch_model(model, steps):
    heads = model.roi_heads
    for owner, method, step in [
        (model.transform, "forward", "transform"),
        (model.backbone, "forward", "backbone"),
        (model.rpn.head, "forward", "backbone"),
        (model.rpn.anchor_generator, "forward", "proposals"),
        (model.rpn, "filter_proposals", "proposals"),
        (heads.box_roi_pool, "forward", "roi-align"),
        (heads.box_head, "forward", "box_head"),
        (heads.box_predictor, "forward", "box_head"),
        (heads, "postprocess_detections", "detections"),
        (heads.mask_roi_pool, "forward", "roi-align"),
        (heads.mask_head, "forward", "mask_head"),
        (heads.mask_predictor, "forward", "mask_head"),
        (model.transform, "postprocess", "paste"),
    ]:
        steps.watch(owner, method, step)


def read_image(data):
    return pil_to_tensor(Image.open(io.BytesIO(data)).convert("RGB")).float() / 255


def encode(found, threshold):
    masks = (found["masks"][:, 0] > threshold).to(torch.uint8).numpy()
    return [coco_mask.encode(np.asfortranarray(mask)) for mask in masks]


def main(checkpoint, config_path, annotations, folder, count, threads):
    torch.set_num_threads(int(threads))
    config = json.loads(Path(config_path).read_text())
    model = build(load_file(checkpoint), config)
    listed = sorted(json.loads(Path(annotations).read_text())["images"], key=lambda image: image["id"])[: int(count)]
    images = [(Path(folder) / image["file_name"]).read_bytes() for image in listed]
    steps = Steps()
    watch_model(model, steps)
    decode, write = steps.timed("decode", read_image), steps.timed("encode", encode)
    print(json.dumps({"torch": torch.__version__, "torchvision": torchvision.__version__, "threads": torch.get_num_threads()}), flush=True)
    with torch.inference_mode():
        for _ in sys.stdin:
            start, cpu_start = time.perf_counter(), time.process_time()
            objects = 0
            for data in images:
                found = model([decode(data)])[0]
                objects += len(write(found, config["mask"]["threshold"]))
            ms = 1000 * (time.perf_counter() - start)
            cpu_ms = 1000 * (time.process_time() - cpu_start)
            print(json.dumps({"ms": ms, "cpuMs": cpu_ms, "objects": objects, "steps": steps.take()}), flush=True)


main(*sys.argv[1:])
