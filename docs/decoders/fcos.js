/**
 * FCOS with centerness: per level, scores [1, classes, h, w] and centerness [1, 1, h, w] before the sigmoid, and distances [1, 4, h, w].
 * Options: levels: [{scores, centers, distances, stride}]. Distances are in strides, and negative ones are 0.
 */
const sigmoid = x => 1 / (1 + Math.exp(-x));

export function decode(outputs, { classes, scoreThreshold, options }) {
  const found = { boxes: [], scores: [], classes: [] };
  for (const { scores, centers, distances, stride } of options.levels) {
    const { dims, data } = outputs[scores];
    const center = outputs[centers].data;
    const sides = outputs[distances].data;
    const [columns, area] = [dims[3], dims[2] * dims[3]];
    for (let cell = 0; cell < area; cell++) {
      for (let label = 0; label < classes; label++) {
        const score = Math.sqrt(sigmoid(data[label * area + cell]) * sigmoid(center[cell]));
        if (score <= scoreThreshold) continue;
        const [cx, cy] = [((cell % columns) + 0.5) * stride, (Math.floor(cell / columns) + 0.5) * stride];
        const [left, top, right, bottom] = [0, 1, 2, 3].map(side => Math.max(0, sides[side * area + cell]) * stride);
        found.boxes.push(cx - left, cy - top, cx + right, cy + bottom);
        found.scores.push(score);
        found.classes.push(label);
      }
    }
  }
  return found;
}
