#!/usr/bin/env python3
"""Runs the whole detector of a Tanren bundle on images, a camera, or an annotated data set.

    python detector.py detect IMAGE|FOLDER... --results found.json --overlays pictures
    python detector.py evaluate --annotations instances_val.json --images val --samples 10
    python detector.py camera --frames 100

The networks run on the device of the bundle, all other steps in numpy. Reads PNG, PPM and .npy; other formats need Pillow, a camera
needs OpenCV. It uses the CPU provider instead of the device only with --allow-cpu or --provider CPUExecutionProvider.
"""
import argparse
import json
import sys
from pathlib import Path

# The bundle's folder keeps the files of its manifest only.
sys.dont_write_bytecode = True

from tanren_host.arguments import check_writable, count, make_folder, positive
from tanren_host.bundle import say
from tanren_host.coco import average_precision, check_sigmas, read_annotations
from tanren_host.detector import Detector
from tanren_host.device import add_device_arguments, load_options
from tanren_host.errors import Refused
from tanren_host.images import camera_frames, list_images, read_image, write_png
from tanren_host.latency import summarize
from tanren_host.overlay import draw


def open_detector(arguments):
    manifest, device, identity = load_options(arguments)
    say(f"{identity['provider']} on {identity['device']['name']}, driver {identity['device']['driver'] or 'unknown'}, {arguments.threads} thread(s)")
    return identity, Detector(manifest, device, identity, None if arguments.no_golden else arguments.min_sqnr)


def detect_all(arguments, detector, images):
    """@returns the COCO results of (id, name, image) entries, and the times of each"""
    results, times = [], []
    for image_id, name, image in images:
        for _ in range(arguments.warm_up if not times else 0):
            detector.detect(image)
        detection = detector.detect(image)
        times.append(detection.steps)
        results += detection.results(image_id)
        if arguments.overlays:
            save_overlay(arguments, detector, name, image, detection)
        say(f"{name}: {len(detection.scores)} objects, {detection.steps['total']:.1f} ms")
    if not times:
        raise Refused("no-image", "there is no image")
    return results, times


def save_overlay(arguments, detector, name, image, detection):
    shown = [index for index, score in enumerate(detection.scores) if score >= arguments.min_score]
    masks = detection.masks()
    tags = [f"{detector.names.get(int(detection.labels[index]), detection.labels[index])} {detection.scores[index]:.2f}" for index in shown]
    drawn = draw(image, detection.boxes[shown], detection.labels[shown], tags, None if masks is None else [masks[index] for index in shown], None if detection.keypoints is None else detection.keypoints[shown])
    write_png(Path(arguments.overlays) / f"{name}.png", drawn)


def report_times(arguments, identity, times):
    """Prints milliseconds per step and image, and writes them as JSON."""
    steps = {step: summarize([one.get(step, 0.0) for one in times]) for step in dict.fromkeys(step for one in times for step in one)}
    print(f"{'step':<14}{'p50':>9}{'p90':>9}{'p99':>9}  ms of {len(times)} image(s)")
    for step, figures in steps.items():
        print(f"{step:<14}{figures['p50Ms']:>9.2f}{figures['p90Ms']:>9.2f}{figures['p99Ms']:>9.2f}")
    if arguments.times:
        write_json(arguments.times, {"identity": identity, "threads": arguments.threads, "warmup": arguments.warm_up, "images": len(times), "steps": steps})


def write_json(path, value):
    Path(path).write_text(json.dumps(value) + "\n", encoding="utf-8")


def command_detect(arguments):
    listed = list(enumerate(list_images(arguments.images), 1))[: arguments.samples]
    identity, detector = open_detector(arguments)
    results, times = detect_all(arguments, detector, ((number, path.stem, read_image(path)) for number, path in listed))
    finish(arguments, identity, results, times)


def command_evaluate(arguments):
    file, listed = read_annotations(arguments.annotations)
    listed, folder = listed[: arguments.samples], Path(arguments.images)
    identity, detector = open_detector(arguments)
    check_sigmas(file, detector.keypoints, arguments.sigmas)
    results, times = detect_all(arguments, detector, ((number, str(number), read_image(folder / name)) for number, name in listed))
    for kind, figures in average_precision(file, results, [number for number, _ in listed], arguments.sigmas).items():
        print(f"{kind}: " + ", ".join(f"{name} {value:.4f}" for name, value in figures.items()) + f" on {len(listed)} images")
    finish(arguments, identity, results, times)


def command_camera(arguments):
    identity, detector = open_detector(arguments)
    frames = zip(range(1, (arguments.frames or sys.maxsize - 1) + 1), camera_frames(arguments.camera))
    results, times = detect_all(arguments, detector, ((number, f"frame-{number:06d}", frame) for number, frame in frames))
    finish(arguments, identity, results, times)


def finish(arguments, identity, results, times):
    if arguments.results:
        write_json(arguments.results, results)
    report_times(arguments, identity, times)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    detect = commands.add_parser("detect", help="find objects in images")
    detect.add_argument("images", nargs="+", help="image files, or folders of them")
    evaluate = commands.add_parser("evaluate", help="find objects, and compute average precision")
    evaluate.add_argument("--annotations", required=True, help="a COCO annotations file")
    evaluate.add_argument("--images", required=True, help="the folder of its images")
    evaluate.add_argument("--sigmas", type=float, nargs="+", metavar="SIGMA", help="standard deviation of each keypoint, as a share of the object's size; default: those of a person in COCO")
    camera = commands.add_parser("camera", help="find objects in the frames of a camera")
    camera.add_argument("--camera", type=count, default=0, help="number of the camera")
    camera.add_argument("--frames", type=positive, help="stop after this number of frames")
    for command in (detect, evaluate, camera):
        command.add_argument("--samples", type=positive, help="use only the first images")
        command.add_argument("--warm-up", type=count, default=1, help="runs of the first image before times are taken; default: 1")
        command.add_argument("--results", help="write COCO results to this file")
        command.add_argument("--times", help="write times per step to this JSON file")
        command.add_argument("--overlays", help="write pictures with the objects to this folder")
        command.add_argument("--min-score", type=float, default=0.5, help="objects below are not drawn; default: 0.5")
        add_device_arguments(command)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        check_writable(arguments.results, arguments.times)
        make_folder(arguments.overlays)
        {"detect": command_detect, "evaluate": command_evaluate, "camera": command_camera}[arguments.command](arguments)
        return 0
    except Refused as refusal:
        say(f"error[{refusal.code}]: {refusal}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
