/**
 * YOLOv8-seg and v11-seg: rows [1, 4 + classes + n, cells] of cx cy w h, scores and n mask coefficients, and prototypes [1, n, h, w].
 * Options: rows, prototypes: names of the outputs; side: cells of a mask per side of its box.
 */
export function decode(outputs, { input, classes, scoreThreshold, options }) {
  const { rows = 'output0', prototypes = 'output1', side = 28 } = options;
  const { dims, data } = outputs[rows];
  const { dims: shape, data: maps } = outputs[prototypes];
  const [count, height, width] = shape.slice(1);
  const cells = dims[2];
  const found = { boxes: [], scores: [], classes: [] };
  const masks = [];
  for (let cell = 0; cell < cells; cell++) {
    const at = channel => data[channel * cells + cell];
    let label = 0;
    for (let other = 1; other < classes; other++) if (at(4 + other) > at(4 + label)) label = other;
    if (at(4 + label) <= scoreThreshold) continue;
    const [cx, cy, w, h] = [at(0), at(1), at(2), at(3)];
    found.boxes.push(cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2);
    found.scores.push(at(4 + label));
    found.classes.push(label);
    const coefficients = Array.from({ length: count }, (_, index) => at(4 + classes + index));
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        // The center of the mask's cell, in cells of the prototypes.
        const column = ((cx - w / 2 + ((x + 0.5) / side) * w) / input.width) * width - 0.5;
        const row = ((cy - h / 2 + ((y + 0.5) / side) * h) / input.height) * height - 0.5;
        let logit = 0;
        for (let index = 0; index < count; index++) logit += coefficients[index] * sample(maps, index, row, column, height, width);
        masks.push(1 / (1 + Math.exp(-logit)));
      }
    }
  }
  return { ...found, masks: { side, data: masks, threshold: 0.5 } };
}

/** Bilinear, with the border repeated. */
function sample(maps, index, row, column, height, width) {
  const clamp = (value, most) => Math.min(Math.max(value, 0), most);
  const [y, x] = [clamp(row, height - 1), clamp(column, width - 1)];
  const [top, left] = [Math.floor(y), Math.floor(x)];
  const [bottom, right] = [Math.min(top + 1, height - 1), Math.min(left + 1, width - 1)];
  const at = (r, c) => maps[(index * height + r) * width + c];
  const [fy, fx] = [y - top, x - left];
  return (1 - fy) * ((1 - fx) * at(top, left) + fx * at(top, right)) + fy * ((1 - fx) * at(bottom, left) + fx * at(bottom, right));
}
