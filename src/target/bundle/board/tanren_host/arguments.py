"""Numbers and paths on the command line, which are checked before anything runs."""
import argparse
import math
import os
from pathlib import Path

from .errors import Refused


def count(text):
    """A whole number from 0 on."""
    return parse(text, int, lambda value: value >= 0, "a whole number from 0 on")


def positive(text):
    return parse(text, int, lambda value: value > 0, "a whole number from 1 on")


def seconds(text):
    return parse(text, float, lambda value: 0 < value < math.inf, "a number of seconds above 0")


def decibels(text):
    return parse(text, float, math.isfinite, "a number")


def parse(text, kind, fits, expected):
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not fits(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not {expected}")
    return value


def check_writable(*paths):
    """Results of a long run are not lost at its end. @raises Refused `cannot-write`"""
    for path in paths:
        if path is None:
            continue
        folder = Path(path).resolve().parent
        if Path(path).is_dir() or not folder.is_dir() or not os.access(path if Path(path).exists() else folder, os.W_OK):
            raise Refused("cannot-write", f"{path} cannot be written: it is a folder, or {folder} does not exist or is not writable")


def make_folder(path):
    """@raises Refused `cannot-write`"""
    if path is None:
        return
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused("cannot-write", f"the folder {path} cannot be made: {error.strerror}") from error
