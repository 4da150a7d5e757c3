/** Does a decoder read what a network gives? It is tried on zeros of the outputs' shapes, before anything is run with it. */
import { openDecode } from '../../src/detection/families/single/decoder/decode.js';
import type { SingleRecipe } from '../../src/detection/families/single/recipe.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { Context } from '../../src/stage/context.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

/**
 * Shapes that the model leaves free cannot be tried, which is said.
 * @throws DetectionError `decoder-module`, `decoder-shape`, `decoder-result`.
 */
export async function tryDecoder(model: Model, recipe: SingleRecipe, context: Pick<Context, 'log'>): Promise<void> {
  const decode = await openDecode(recipe.decoder);
  const { height, width } = recipe.image;
  const zeros = makeZeroOutputs(model, recipe.parts.model.outputs);
  if (height === 'free' || width === 'free' || zeros === undefined) {
    context.log('info', 'sizes of the model are free: whether the decoder fits its outputs shows when it is run');
    return;
  }
  const { selection, categories } = recipe;
  decode(zeros, {
    input: { height, width },
    classes: categories.length,
    scoreThreshold: selection.scoreThreshold,
    labels: selection.labels,
  });
}

function makeZeroOutputs({ graph }: Model, names: readonly string[]): Readonly<Record<string, Tensor<'float32'>>> | undefined {
  const zeros: Record<string, Tensor<'float32'>> = {};
  for (const id of graph.outputs) {
    const { name, type } = getValue(graph, id);
    if (!names.includes(name)) continue;
    const dims = type?.kind === 'tensor' ? type.dims : undefined;
    if (dims === undefined || !dims.every(dim => typeof dim === 'number')) return undefined;
    zeros[name] = makeTensor('float32', dims, new Float32Array(dims.reduce((product, dim) => product * dim, 1)));
  }
  return zeros;
}
