"""Draws objects on an image: tinted masks, frames, points, and names where Pillow is installed."""
import numpy as np

# Distinguishable with color blindness. Source: Okabe and Ito, Color Universal Design.
COLORS = np.array([[230, 159, 0], [86, 180, 233], [0, 158, 115], [240, 228, 66], [0, 114, 178], [213, 94, 0], [204, 121, 167]], np.uint8)


# A point less likely visible is not drawn.
LEAST_VISIBLE = 0.5


def draw(image, boxes, labels, tags, masks, keypoints):
    """A new image with the objects on it, the first on top. @param masks one per object at the size of the image, or None; keypoints [objects, points, 3], or None"""
    canvas = image.copy()
    for index in reversed(range(len(boxes))):
        color = COLORS[int(labels[index]) % len(COLORS)]
        if masks is not None:
            mask = masks[index]
            canvas[mask] = ((canvas[mask].astype(np.uint16) + color) // 2).astype(np.uint8)
        draw_frame(canvas, boxes[index], color)
        for x, y, visible in () if keypoints is None else keypoints[index]:
            if visible >= LEAST_VISIBLE and np.isfinite((x, y)).all():
                draw_point(canvas, x, y, color)
    return draw_tags(canvas, boxes, tags)


def draw_frame(canvas, box, color):
    height, width = canvas.shape[:2]
    left, right = (int(np.clip(side, 0, width - 1)) for side in (box[0], box[2]))
    top, bottom = (int(np.clip(side, 0, height - 1)) for side in (box[1], box[3]))
    canvas[[top, bottom], left : right + 1] = color
    canvas[top : bottom + 1, [left, right]] = color


def draw_point(canvas, x, y, color):
    """A square of 3 x 3 pixels, as far as it is in the image."""
    height, width = canvas.shape[:2]
    column, row = (int(np.clip(np.rint(side), -2, most + 1)) for side, most in ((x, width), (y, height)))
    canvas[max(row - 1, 0) : max(row + 2, 0), max(column - 1, 0) : max(column + 2, 0)] = color


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
