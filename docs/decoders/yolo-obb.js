/**
 * YOLOv8-obb and v11-obb: rows [1, 4 + classes + 1, cells] of cx cy w h, scores and an angle in radians, in pixels of the input.
 * Suppression compares the rotated boxes, after which each object gets the upright box around its own. Set `nms: none`.
 * Options: rows: name of the output; iou: above it, the worse of two objects of a class is removed; candidates: at most this many are compared.
 */
export function decode(outputs, { classes, scoreThreshold, options }) {
  const { rows = 'output0', iou = 0.7, candidates = 2000 } = options;
  const { dims, data } = outputs[rows];
  const cells = dims[2];
  const all = [];
  for (let cell = 0; cell < cells; cell++) {
    const at = channel => data[channel * cells + cell];
    let label = 0;
    for (let other = 1; other < classes; other++) if (at(4 + other) > at(4 + label)) label = other;
    const score = at(4 + label);
    if (score > scoreThreshold) all.push({ score, label, area: at(2) * at(3), corners: findCorners(at(0), at(1), at(2), at(3), at(4 + classes)) });
  }
  all.sort((a, b) => b.score - a.score);
  const kept = [];
  for (const one of all.slice(0, candidates)) {
    const isWorse = kept.some(better => better.label === one.label && computeIou(better, one) > iou);
    if (!isWorse) kept.push(one);
  }
  return {
    boxes: kept.flatMap(({ corners }) => {
      const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
      return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
    }),
    scores: kept.map(({ score }) => score),
    classes: kept.map(({ label }) => label),
  };
}

/** The corners in order around the box. */
function findCorners(cx, cy, w, h, angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const corner = (x, y) => [cx + x * cos - y * sin, cy + x * sin + y * cos];
  return [corner(-w / 2, -h / 2), corner(w / 2, -h / 2), corner(w / 2, h / 2), corner(-w / 2, h / 2)];
}

function computeIou(a, b) {
  const shared = areaOf(clip(a.corners, b.corners));
  return shared / (a.area + b.area - shared);
}

/** What of a polygon is inside of a convex one with the same sense of rotation (Sutherland and Hodgman). */
function clip(polygon, convex) {
  let inside = polygon;
  convex.forEach(([x, y], index) => {
    const [nextX, nextY] = convex[(index + 1) % convex.length];
    const sideOf = ([px, py]) => (nextX - x) * (py - y) - (nextY - y) * (px - x);
    inside = inside.flatMap((point, at) => {
      const next = inside[(at + 1) % inside.length];
      const [side, nextSide] = [sideOf(point), sideOf(next)];
      const own = side >= 0 ? [point] : [];
      if (side >= 0 === nextSide >= 0) return own;
      const part = side / (side - nextSide);
      return [...own, [point[0] + part * (next[0] - point[0]), point[1] + part * (next[1] - point[1])]];
    });
  });
  return inside;
}

function areaOf(polygon) {
  const twice = polygon.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = polygon[(at + 1) % polygon.length];
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(twice) / 2;
}
