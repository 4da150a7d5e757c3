/**
 * DETR: logits [1, queries, classes + 1], whose last class is "no object", and boxes [1, queries, 4]: cx cy w h as fractions of the input.
 * Options: logits, boxes: names of the outputs. Set `nms: none`: queries do not repeat objects.
 */
export function decode(outputs, { input, classes, scoreThreshold, options }) {
  const { data: logits, dims } = outputs[options.logits ?? 'logits'];
  const { data: boxes } = outputs[options.boxes ?? 'pred_boxes'];
  const found = { boxes: [], scores: [], classes: [] };
  for (let query = 0; query < dims[1]; query++) {
    const row = Array.from(logits.subarray(query * dims[2], (query + 1) * dims[2]));
    const most = Math.max(...row);
    const sum = row.reduce((total, logit) => total + Math.exp(logit - most), 0);
    const scores = row.slice(0, classes).map(logit => Math.exp(logit - most) / sum);
    const label = scores.indexOf(Math.max(...scores));
    if (scores[label] <= scoreThreshold) continue;
    const [cx, cy, w, h] = boxes.subarray(query * 4, query * 4 + 4);
    found.boxes.push((cx - w / 2) * input.width, (cy - h / 2) * input.height, (cx + w / 2) * input.width, (cy + h / 2) * input.height);
    found.scores.push(scores[label]);
    found.classes.push(label);
  }
  return found;
}
