"""What the machine's own tools say about its NPU. What no tool says is "unknown"."""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

UNKNOWN = "unknown"

# PCI device ids of AMD's NPUs. Source: get_npu_info in the examples of AMD RyzenAI-SW; Linux, drivers/accel/amdxdna.
PCI_DEVICES = {"1502": "phx-hpt", "17f0": "stx-krk"}
# Names in the list of devices of xrt-smi. Source: amd/xdna-driver, pull request 402, and the older names of its boards.
NAMES = [
    (r"NPU (?:Phoenix|Hawk)|RyzenAI-npu1\b", "phx-hpt"),
    (r"NPU (?:Strix|Krackan)|RyzenAI-npu[456]\b", "stx-krk"),
]


def output_of(*command):
    """Standard output of a tool, or nothing if it cannot run."""
    tool = shutil.which(command[0])
    if tool is None:
        return ""
    try:
        return subprocess.run([tool, *command[1:]], capture_output=True, text=True, errors="replace", timeout=30).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def xrt_smi():
    fixed = r"C:\Windows\System32\AMD\xrt-smi.exe"
    return fixed if os.path.exists(fixed) else "xrt-smi"


def match(pattern, text):
    found = re.search(pattern, text)
    return UNKNOWN if found is None else found[1]


def read_machine():
    """Device of the options (phx-hpt, stx-krk), driver, firmware and power modes."""
    text = output_of(xrt_smi(), "examine")
    # Source of the form: Xilinx/XRT, pull request 10052.
    platform = output_of(xrt_smi(), "examine", "-r", "platform")
    return {
        "device": find_device(text),
        "driver": match(r"(?:NPU Driver|amdxdna) Version\s*:\s*([^\s,]+)", text),
        "firmware": match(r"NPU Firmware Version\s*:\s*(\S+)", text),
        "npuPowerMode": match(r"Power Mode\s*:\s*([^\r\n]*\S)", platform),
        "powerPlan": read_power_plan(),
    }


def find_device(text):
    found = {device for pattern, device in NAMES if re.search(pattern, text)}
    found |= {PCI_DEVICES[number.lower()] for number in re.findall(r"PCI\\VEN_1022&DEV_(1502|17F0)", list_windows_devices())}
    found |= linux_devices(Path("/sys/class/accel"))
    return found.pop() if len(found) == 1 else UNKNOWN


def list_windows_devices():
    return output_of("pnputil", "/enum-devices", "/bus", "PCI", "/deviceids") if sys.platform == "win32" else ""


def linux_devices(folder):
    found = set()
    for device in folder.glob("*/device"):
        try:
            vendor, number = ((device / name).read_text().strip().lower().removeprefix("0x") for name in ("vendor", "device"))
        except OSError:
            continue
        if vendor == "1022" and number in PCI_DEVICES:
            found.add(PCI_DEVICES[number])
    return found


def read_power_plan():
    """The plan of Windows, or the profile of Linux."""
    if sys.platform == "win32":
        return match(r"\(([^)]*)\)\s*$", output_of("powercfg", "/getactivescheme").strip())
    try:
        return Path("/sys/firmware/acpi/platform_profile").read_text().strip() or UNKNOWN
    except OSError:
        return UNKNOWN
