"""Reads images as uint8 [height, width, 3] R G B, and writes PNG.

PNG, PPM and .npy need the standard library and numpy only. Other formats need Pillow, and a camera needs OpenCV.
"""
import struct
import zlib
from pathlib import Path

import numpy as np

from .errors import Refused

MOST_PIXELS = 100_000_000
MOST_BYTES = 1 << 29
EXTENSIONS = (".png", ".ppm", ".pgm", ".npy", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp")


def list_images(paths):
    """Files in the order of the arguments: those that are named, and the images of folders and their subfolders in the order of their names."""
    files = []
    for path in map(Path, paths):
        if path.is_dir():
            files += sorted(file for file in path.rglob("*") if file.suffix.lower() in EXTENSIONS)
        elif path.exists():
            files.append(path)
        else:
            raise Refused("no-image", f"{path} does not exist")
    if not files:
        raise Refused("no-image", f"{', '.join(map(str, paths))} has no image; expected {' '.join(EXTENSIONS)}")
    return files


def read_image(path):
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise Refused("image-too-large", f"{path} has {path.stat().st_size} bytes; the limit is {MOST_BYTES}")
        data = path.read_bytes()
    except OSError as error:
        raise Refused("no-image", f"{path} cannot be read: {error.strerror}") from error
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return decode_png(data)
        if data[:2] in (b"P5", b"P6"):
            return decode_ppm(data)
        if data[:6] == b"\x93NUMPY":
            return decode_npy(path)
        return decode_with_pillow(path)
    except Refused:
        raise
    except Exception as error:
        raise Refused("image-decode", f"{path} cannot be decoded: {error}") from error


def check_size(height, width):
    if height < 1 or width < 1 or height * width > MOST_PIXELS:
        raise Refused("image-too-large", f"an image of {width}x{height} pixels; expected 1 to {MOST_PIXELS} pixels")


def decode_npy(path):
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
        raise ValueError(f"the array is {array.dtype} {list(array.shape)}, expected uint8 [height, width, 3]")
    check_size(*array.shape[:2])
    return np.array(array)


def decode_ppm(data):
    """Binary PPM (P6) and PGM (P5) with 8 bits."""
    fields, at = [], 2
    while len(fields) < 3:
        while data[at : at + 1].isspace() or data[at : at + 1] == b"#":
            at = data.index(b"\n", at) + 1 if data[at : at + 1] == b"#" else at + 1
        end = at
        while data[end : end + 1].isdigit():
            end += 1
        if end == at or end - at > 9:
            raise ValueError("the header has no number where one is expected")
        fields.append(int(data[at:end]))
        at = end
    width, height, most = fields
    if most != 255:
        raise ValueError(f"values go up to {most}, expected 255")
    check_size(height, width)
    channels = 3 if data[:2] == b"P6" else 1
    if len(data) - at - 1 < height * width * channels:
        raise ValueError("the file ends inside the pixels")
    pixels = np.frombuffer(data, np.uint8, height * width * channels, at + 1).reshape(height, width, channels)
    return np.ascontiguousarray(np.broadcast_to(pixels, (height, width, 3)))


PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def decode_png(data):
    """PNG without interlacing. 16 bits keep the high byte, an alpha channel is dropped, and gray is repeated."""
    header, palette, packed = None, None, []
    for kind, body in png_chunks(data):
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
            check_size(header[1], header[0])
        elif kind == b"PLTE":
            palette = np.frombuffer(body, np.uint8).reshape(-1, 3)
        elif kind == b"IDAT":
            packed.append(body)
    if header is None:
        raise ValueError("there is no IHDR chunk")
    width, height, depth, color, _, _, interlaced = header
    if interlaced or color not in PNG_CHANNELS or depth not in (1, 2, 4, 8, 16) or (depth < 8 and color not in (0, 3)):
        raise ValueError("this kind of PNG (interlaced, or of an unknown depth) needs Pillow") if interlaced else ValueError(f"color type {color} with {depth} bits is not allowed")
    channels = PNG_CHANNELS[color]
    row_bytes = (width * channels * depth + 7) // 8
    expected = height * (row_bytes + 1)
    inflater = zlib.decompressobj()
    raw = inflater.decompress(b"".join(packed), expected)
    if len(raw) != expected:
        raise ValueError(f"there are {len(raw)} bytes of pixels, expected {expected}")
    rows = unfilter(np.frombuffer(raw, np.uint8).reshape(height, row_bytes + 1), max(1, channels * depth // 8))
    if depth == 16:
        samples = rows.reshape(height, width, channels, 2)[..., 0]
    elif depth == 8:
        samples = rows.reshape(height, width, channels)
    else:
        bits = np.unpackbits(rows, axis=1)[:, : width * depth].reshape(height, width, depth)
        samples = (bits * (1 << np.arange(depth)[::-1])).sum(axis=2).astype(np.uint8)[..., None]
        if color == 0:
            samples = samples * np.uint8(255 // ((1 << depth) - 1))
    if color == 3:
        if palette is None or samples.max(initial=0) >= len(palette):
            raise ValueError("a pixel has no color in the palette")
        return palette[samples[..., 0]]
    if color in (2, 6):
        return np.ascontiguousarray(samples[..., :3])
    return np.repeat(samples[..., :1], 3, axis=2)


def png_chunks(data):
    at = 8
    while at + 12 <= len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if len(data) < at + 12 + size or struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] != zlib.crc32(kind + body):
            raise ValueError(f"the chunk {kind!r} is damaged or truncated")
        yield kind, body
        if kind == b"IEND":
            return
        at += 12 + size
    raise ValueError("the file is truncated")


def unfilter(filtered, step):
    """Undoes the filter of every row. @param step bytes per pixel"""
    kinds, data = filtered[:, 0], filtered[:, 1:]
    rows = np.zeros_like(data)
    above = np.zeros(data.shape[1], np.uint8)
    for index, kind in enumerate(kinds):
        row = data[index].copy()
        if kind == 1:
            for channel in range(step):
                row[channel::step] = np.cumsum(row[channel::step], dtype=np.uint8)
        elif kind == 2:
            row += above
        elif kind in (3, 4):
            row = np.frombuffer(unfilter_row(kind, row.tolist(), above.tolist(), step), np.uint8)
        elif kind != 0:
            raise ValueError(f"row {index} has the unknown filter {kind}")
        rows[index] = above = row
    return rows


def unfilter_row(kind, row, above, step):
    """The filters Average (3) and Paeth (4), byte by byte."""
    for i in range(len(row)):
        left, up = row[i - step] if i >= step else 0, above[i]
        if kind == 3:
            row[i] = (row[i] + (left + up) // 2) & 255
            continue
        corner = above[i - step] if i >= step else 0
        by_left, by_up, by_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
        nearest = left if by_left <= by_up and by_left <= by_corner else up if by_up <= by_corner else corner
        row[i] = (row[i] + nearest) & 255
    return bytes(row)


def decode_with_pillow(path):
    try:
        from PIL import Image
    except ImportError as error:
        raise Refused("no-pillow", f"{path} is not a PNG, PPM or .npy file, and other formats need Pillow: install it, or convert the image") from error
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    with Image.open(path) as image:
        check_size(image.height, image.width)
        if image.mode not in ("RGB", "L", "LA", "RGBA", "P", "1"):
            raise ValueError(f"the color mode is {image.mode}, expected RGB, gray or a palette")
        return np.array(image.convert("RGB"))


def write_png(path, image):
    height, width = image.shape[:2]
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b""))


def camera_frames(number):
    """Yields frames of a camera until it gives none."""
    try:
        import cv2
    except ImportError as error:
        raise Refused("no-opencv", "a camera needs OpenCV: install opencv-python") from error
    camera = cv2.VideoCapture(number)
    try:
        if not camera.isOpened():
            raise Refused("no-camera", f"camera {number} cannot be opened")
        while True:
            is_read, frame = camera.read()
            if not is_read:
                return
            yield np.ascontiguousarray(frame[:, :, ::-1])
    finally:
        camera.release()
