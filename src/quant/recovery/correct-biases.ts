/** Empirical bias correction: layer by layer, the mean error of a quantized layer's output is taken out of its bias. */
import { getDefined, invariant } from '../../base/invariant.js';
import type { Graph, Model } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';
import { findLayerBias, type LayerBias, readBias, shiftBias, writeBias } from './layer-bias.js';
import type { LayerCorrection } from './layer-correction.js';
import { addLayerError, type LayerError, makeLayerError, meanDifferences, rmsOfMeans } from './layer-error.js';
import { type LayerPair, type LayerPairs, pairLayers } from './layer-pairs.js';
import { type LayerSweep, type LayerSweepRequest, type OpenLayer, openLayerSweep } from './layer-sweep.js';

export interface BiasCorrector {
  /** Number of layers. */
  readonly count: number;
  /** Index of the next layer. */
  readonly next: () => number;
  /** Corrects the next layer. @throws QuantError `layers-differ`, `not-finite`; RuntimeError `model-run`. */
  correct(): Promise<LayerCorrection>;
  /** Repeats a known correction of the next layer. */
  repeat(known: LayerCorrection): Promise<void>;
}

/** The layers whose biases can be corrected. */
export function pairLayersWithBias(float: Model, quantized: Model): LayerPairs<LayerBias> {
  return pairLayers(float, quantized, findLayerBias);
}

/** Of waiting values, per model: those of 16 samples of a small network. */
const MEMORY_BYTES = 96 * 2 ** 20;

/** Layers are corrected in their order. The biases of `request.quantized` are edited. */
export async function openBiasCorrector(request: LayerSweepRequest<LayerBias>): Promise<BiasCorrector> {
  const { graph } = request.quantized;
  const sweep = await openLayerSweep({ memoryBytes: MEMORY_BYTES, ...request });
  const correctLayer = async (): Promise<LayerCorrection> => {
    const layer = sweep.open();
    const { pair } = layer;
    const before = await measure(sweep, layer);
    const trial = planTrial(graph, pair, before);
    if (trial.result !== 'corrected') {
      await sweep.advance(layer);
      return describe(pair, trial, { before, after: before });
    }
    const tried = await sweep.reopen(layer, () => writeBias(graph, pair.target, trial.elements));
    const after = await measure(sweep, tried);
    if (after.noise < before.noise) {
      await sweep.advance(tried);
      return describe(pair, trial, { before, after });
    }
    const restored = await sweep.reopen(tried, () => writeBias(graph, pair.target, trial.former));
    await runAll(sweep, restored);
    return describe(pair, { ...trial, result: 'error-not-lower', elements: trial.former }, { before, after });
  };
  const repeatLayer = async (known: LayerCorrection): Promise<void> => {
    const pair = getDefined(request.layers[sweep.next()], 'next layer');
    invariant(known.node === pair.name, 'the known correction belongs to the next layer');
    writeBias(graph, pair.target, known.elements);
    await runAll(sweep, sweep.open());
  };
  return {
    count: request.layers.length,
    next: sweep.next,
    correct: () => sweep.during(correctLayer),
    repeat: known => sweep.during(() => repeatLayer(known)),
  };
}

/** Runs every sample, and advances. */
async function runAll(sweep: LayerSweep<LayerBias>, layer: OpenLayer<LayerBias>): Promise<void> {
  for (let sample = 0; sample < sweep.samples; sample++) await sweep.run(layer, sample);
  await sweep.advance(layer);
}

async function measure(sweep: LayerSweep<LayerBias>, layer: OpenLayer<LayerBias>): Promise<LayerError> {
  const sum = makeLayerError(layer.pair.target.steps.length);
  for (let sample = 0; sample < sweep.samples; sample++) {
    const { float, quantized } = await sweep.run(layer, sample);
    addLayerError(sum, layer.pair.name, float, quantized);
  }
  return sum;
}

interface Trial extends Pick<LayerCorrection, 'result' | 'elements' | 'saturated'> {
  readonly former: readonly number[];
}

function planTrial(graph: Graph, { target: bias, name }: LayerPair<LayerBias>, before: LayerError): Trial {
  const former = readBias(graph, bias);
  const shift = meanDifferences(before);
  if (!shift.every(Number.isFinite)) {
    throw new QuantError('not-finite', `layer "${name}": its output has NaN or infinite elements in one of the models`, {
      help: 'look for a division by zero or an overflow before it',
    });
  }
  const { elements, saturated } = shiftBias(graph, bias, shift);
  const isSame = elements.every((element, i) => element === former[i]);
  return { result: isSame ? 'below-half-a-step' : 'corrected', former, elements, saturated };
}

function describe(
  { name }: LayerPair<LayerBias>,
  { result, elements, saturated }: Trial,
  { before, after }: { readonly before: LayerError; readonly after: LayerError },
): LayerCorrection {
  return {
    node: name,
    result,
    meanError: { before: rmsOfMeans(before), after: rmsOfMeans(after) },
    signal: before.signal,
    noise: { before: before.noise, after: after.noise },
    saturated,
    elements,
  };
}
