/**
 * RetinaNet without its last steps: per level, scores [1, anchors · classes, h, w] before the sigmoid and offsets [1, anchors · 4, h, w].
 * Options: levels: [{scores, boxes, stride, size}], with the side of the smallest anchor in pixels; ratios (height / width) and scales have defaults.
 */
const LARGEST_GROWTH = Math.log(1000 / 16);

export function decode(outputs, { classes, scoreThreshold, options }) {
  const { levels, ratios = [0.5, 1, 2], scales = [1, 2 ** (1 / 3), 2 ** (2 / 3)] } = options;
  const least = Math.log(scoreThreshold / (1 - scoreThreshold));
  const found = { boxes: [], scores: [], classes: [] };
  for (const { scores, boxes, stride, size } of levels) {
    const { dims, data } = outputs[scores];
    const offsets = outputs[boxes].data;
    const [columns, area] = [dims[3], dims[2] * dims[3]];
    // Anchors of a cell: for each ratio, all scales.
    const anchors = ratios.flatMap(ratio => scales.map(scale => [(size * scale) / Math.sqrt(ratio), size * scale * Math.sqrt(ratio)]));
    for (const [anchor, [width, height]] of anchors.entries()) {
      for (let cell = 0; cell < area; cell++) {
        for (let label = 0; label < classes; label++) {
          const logit = data[(anchor * classes + label) * area + cell];
          if (logit <= least) continue;
          const [dx, dy, dw, dh] = [0, 1, 2, 3].map(side => offsets[(anchor * 4 + side) * area + cell]);
          const cx = (cell % columns) * stride + dx * width;
          const cy = Math.floor(cell / columns) * stride + dy * height;
          const [w, h] = [width * Math.exp(Math.min(dw, LARGEST_GROWTH)), height * Math.exp(Math.min(dh, LARGEST_GROWTH))];
          found.boxes.push(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2);
          found.scores.push(1 / (1 + Math.exp(-logit)));
          found.classes.push(label);
        }
      }
    }
  }
  return found;
}
