/** Tries a decoder on zeros with the shapes of the network's outputs, before a model runs. */
import { takeFirstOfBatch } from '../../src/detection/data/image-feeds.js';
import { listDecodedOutputs, openDecode } from '../../src/detection/families/single/decoder/decode.js';
import type { SingleRecipe } from '../../src/detection/families/single/recipe.js';
import { batchOfSingle } from '../../src/detection/families/single/settings.js';
import { getValue } from '../../src/onnx/ir/edit.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { Context } from '../../src/stage/context.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

/**
 * Logs a note where output shapes are free and the decoder cannot be tried.
 * @throws DetectionError `batch-rows`, `decoder-module`, `decoder-shape`, `decoder-result`.
 */
export async function tryDecoder(models: readonly Model[], recipe: SingleRecipe, context: Pick<Context, 'log'>): Promise<void> {
  const decode = await openDecode(recipe.decoder);
  const { height, width } = recipe.image;
  const zeros = makeZeroOutputs(models, listDecodedOutputs(recipe.decoder), batchOfSingle(recipe));
  if (height === 'free' || width === 'free' || zeros === undefined) {
    context.log('info', 'the model has free sizes: the decoder is checked when the model runs');
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

function makeZeroOutputs(
  models: readonly Model[],
  names: readonly string[],
  batch: number,
): Readonly<Record<string, Tensor<'float32'>>> | undefined {
  const zeros: Record<string, Tensor<'float32'>> = {};
  for (const { name, type } of models.flatMap(({ graph }) => graph.outputs.map(id => getValue(graph, id)))) {
    if (!names.includes(name)) continue;
    const dims = type?.kind === 'tensor' ? type.dims : undefined;
    if (dims === undefined || !dims.every(dim => typeof dim === 'number')) return undefined;
    zeros[name] = takeFirstOfBatch(
      name,
      makeTensor('float32', dims, new Float32Array(dims.reduce((product, dim) => product * dim, 1))),
      batch,
    );
  }
  return zeros;
}
