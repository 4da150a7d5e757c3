"""Draws objects on an image: tinted masks, frames, and names where Pillow is installed."""
import numpy as np

# Distinguishable with color blindness. Source: Okabe and Ito, Color Universal Design.
COLORS = np.array([[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]], np.uint8)


def draw(image, boxes, labels, tags, masks):
    """A new image with the objects on it, the first on top. @param masks one per object at the size of the image, or None"""
    canvas = image.copy()
    for index in reversed(range(len(boxes))):
        color = COLORS[int(labels[index]) % len(COLORS)]
        if masks is not None:
            mask = masks[index]
            canvas[mask] = ((canvas[mask].astype(np.uint16) + color) // 2).astype(np.uint8)
        draw_frame(canvas, boxes[index], color)
    return draw_tags(canvas, boxes, tags)


def draw_frame(canvas, box, color):
    height, width = canvas.shape[:2]
    left, right = (int(np.clip(side, 0, width - 1)) for side in (box[0], box[2]))
    top, bottom = (int(np.clip(side, 0, height - 1)) for side in (box[1], box[3]))
    canvas[[top, bottom], left : right + 1] = color
    canvas[top : bottom + 1, [left, right]] = color


def draw_tags(canvas, boxes, tags):
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        return canvas
    picture = Image.fromarray(canvas)
    pen = ImageDraw.Draw(picture)
    for box, tag in zip(boxes, tags):
        pen.text((float(box[0]) + 2, float(box[1]) + 1), tag, fill=(255, 255, 255), stroke_width=1, stroke_fill=(0, 0, 0))
    return np.array(picture)
