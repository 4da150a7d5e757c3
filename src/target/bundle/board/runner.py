#!/usr/bin/env python3
"""Runs the models of a Tanren bundle on the board.

    python runner.py check                    compares outputs for every golden input with those of ONNX Runtime, and measures times
    python runner.py serve                    runs the protocol of docs/runner-protocol.md on standard input and output (default)
    python runner.py diff-report FILE FILE    compares the predicted operator assignment with the real one (vitisai_ep_report.json)

Needs numpy and onnxruntime (on Ryzen AI: the one of the Ryzen AI software). It uses the CPU provider instead of the device
only with --allow-cpu, and reports that.
"""
import argparse
import sys

# The bundle's folder keeps the files of its manifest only.
sys.dont_write_bytecode = True

from tanren_host.arguments import count, positive, seconds
from tanren_host.bundle import read_json, say
from tanren_host.check import command_check
from tanren_host.device import add_device_arguments
from tanren_host.errors import Refused
from tanren_host.serve import command_serve


def command_diff_report(arguments):
    """Nodes are named by their first output, as in the vendor's report. `tanren board-report --output` adds the board's reasons to that report."""
    reports = [read_report(path) for path in arguments.reports]
    predicted, real = ({node["output"][0]: node for node in report["nodeStat"] if node.get("output")} for report in reports)
    expected, observed = (reasons_by_node(report) for report in reports)
    differing = [(name, node["device"], real[name]["device"]) for name, node in predicted.items() if name in real and place_of(real[name]) != place_of(node)]
    for name, ours, theirs in differing:
        why = "; ".join([f"predicted: {text}" for text in expected.get(name, [])] + [f"board: {text}" for text in observed.get(name, [])])
        print(f"{name} ({predicted[name]['opType']}): predicted {ours}, ran on {theirs}{f' ({why})' if why else ''}")
    both = sum(name in real for name in predicted)
    print(f"{both - len(differing)} of {both} nodes as predicted; {len(predicted) - both} only predicted, {len(real) - both} only in the real report")
    return 1 if differing else 0


def read_report(path):
    """@raises Refused `bad-report`"""
    try:
        report = read_json(path)
    except (OSError, ValueError) as error:
        raise Refused("bad-report", f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(report, dict) or not isinstance(report.get("nodeStat"), list):
        raise Refused("bad-report", f"{path} has no list nodeStat: expected vitisai_ep_report.json, and the predicted file of the bundle")
    return report


def place_of(node):
    """Software until 1.3 calls the NPU DPU."""
    return "NPU" if node["device"] in ("NPU", "DPU", "IPU", "DOD", "VAIML") else node["device"]


def reasons_by_node(report):
    return {name: [finding["message"] for finding in reason["findings"]] for reason in report.get("x-reasons", []) for name in reason["nodes"]}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["serve", "check", "diff-report"], default="serve")
    parser.add_argument("reports", nargs="*", help="for diff-report: the predicted file of the bundle, and the real one")
    add_device_arguments(parser)
    parser.add_argument("--warm-up", type=count, default=3, help="for check: runs before times are taken; default: 3")
    parser.add_argument("--repeats", type=count, default=20, help="for check: timed runs of each model; default: 20, 0 for none")
    parser.add_argument("--images", nargs="+", help="for check: images, or folders of them, on which the whole detector is timed")
    parser.add_argument("--samples", type=positive, default=10, help="for check: how many of these images; default: 10")
    parser.add_argument("--json", help="for check: write the measurement to this file")
    parser.add_argument("--timeout", type=seconds, default=3600, help="for check: seconds until the compilation of a model counts as hanging; default: 3600")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.own = sys.argv[1:]
    if arguments.command == "diff-report" and len(arguments.reports) != 2:
        parser.error("diff-report takes two files")
    if arguments.command != "diff-report" and arguments.reports:
        parser.error(f"{arguments.command} takes no files: {' '.join(arguments.reports)}")
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
