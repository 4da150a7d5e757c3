/** Gives inputs that are one image without a batch, [3, height, width], a batch of 1. */
import { getValue } from '../ir/edit.js';
import type { Model, Value } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { makeNumbers } from '../rewrite/make-numbers.js';
import { insertNode } from './insert-node.js';

/** Number of channels of an image. */
const CHANNELS = 3;

/** From this operator set on, the axes of Squeeze are an input. */
const AXES_INPUT = 13;

/**
 * Changes inputs float32 [3, height, width] to [1, 3, height, width], as stages that prepare images give them. A Squeeze restores the former shape for the nodes.
 * @returns the names of the inputs.
 * @throws OnnxError `no-unbatched-image` if no input has this shape.
 */
export function batchImages(model: Model): readonly string[] {
  const { graph } = model;
  const images = graph.inputs.map(id => getValue(graph, id)).filter(isUnbatchedImage);
  if (images.length === 0)
    throw new OnnxError('no-unbatched-image', 'no input of the model is float32 [3, height, width]', { help: 'leave out `unbatched`' });
  for (const image of images) addBatch(model, image);
  return images.map(({ name }) => name);
}

function isUnbatchedImage({ type, constant }: Value): boolean {
  return (
    constant === undefined && type?.kind === 'tensor' && type.dtype === 'float32' && type.dims?.length === 3 && type.dims[0] === CHANNELS
  );
}

function addBatch(model: Model, image: Value): void {
  const isInput = (model.opsets.get('') ?? AXES_INPUT) >= AXES_INPUT;
  insertNode(model, {
    on: image.name,
    op: 'Squeeze',
    ...(isInput ? { others: [makeNumbers('int64', [1], [0])] } : { attributes: { axes: { kind: 'ints', value: [0n] } } }),
    at: 0,
  });
  if (image.type?.kind === 'tensor') image.type = { ...image.type, dims: [1, ...(image.type.dims ?? [])] };
}
