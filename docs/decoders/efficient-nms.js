/**
 * Exports with TensorRT's EfficientNMS: the number of objects [1, 1], boxes [1, most, 4] (x1 y1 x2 y2 in pixels), scores [1, most], classes [1, most].
 * Options: number, boxes, scores, classes: names of the outputs. Set `nms: none`.
 */
export function decode(outputs, { options }) {
  const { number = 'num_dets', boxes = 'det_boxes', scores = 'det_scores', classes = 'det_classes' } = options;
  const count = outputs[number].data[0];
  return {
    boxes: outputs[boxes].data.subarray(0, 4 * count),
    scores: outputs[scores].data.subarray(0, count),
    classes: outputs[classes].data.subarray(0, count),
  };
}
