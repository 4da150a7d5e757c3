/** The common part of pipelines on YOLOX-nano: sources, the simplified model, its description, and captured photographs. */
import { join } from 'node:path';

/** `shared`: the folder with models and images. `sources`: further lines. The text ends inside `stages`. */
export function yoloxPipeline(shared: string, sources = ''): string {
  const at = (path: string): string => join(shared, path);
  return `version: 1
sources:
  model: ${at('models/yolox-nano/yolox_nano.onnx')}
  photographs: ${at('images/imagenet-val60')}
  val: {annotations: ${at('images/coco-mini12/instances.json')}, images: ${at('images/coco-mini12/images')}}
${sources}stages:
  import: {uses: import, inputs: {model: "\${sources.model}"}}
  simplify: {uses: simplify, inputs: {model: import.model}}
  detector:
    uses: describe
    with:
      preprocess: {colors: bgr, range: 0..255, resize: pad, fill: 114, antialias: true, rounding: bytes}
      decoder: {grid: {output: output, strides: [8, 16, 32], boxes: {form: exp}, objectness: {channel: 4}, classes: {channel: 5}}}
      categories: coco
      scoreThreshold: 0.01
      nms: 0.65
    inputs: {model: simplify.model}
  capture:
    uses: capture
    with: {samples: 16}
    inputs: {detector: {model: simplify.model}, recipe: detector.recipe, images: "\${sources.photographs}"}
`;
}

/** A stage that measures box AP of each model on a data set. */
export const evaluateStage = (name: string, data: string, models: Readonly<Record<string, string>>): string => `  ${name}:
    foreach: {${Object.entries(models)
      .map(([key, model]) => `${key}: ${model}`)
      .join(', ')}}
    uses: evaluate
    with: {iouTypes: [bbox]}
    inputs: {parts: {model: "\${item}"}, recipe: detector.recipe, data: "\${sources.${data}}"}
`;
