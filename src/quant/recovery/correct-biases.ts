/** Empirical bias correction: layer by layer, the mean error of a quantized layer's output is taken out of its bias. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined, invariant } from '../../base/invariant.js';
import type { Graph, Model } from '../../onnx/ir/model.js';
import { openSweep, type Stretch, type Sweep } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { QuantError } from '../integers/quant-error.js';
import { readBias, shiftBias, writeBias } from './layer-bias.js';
import type { LayerCorrection } from './layer-correction.js';
import { addLayerError, type LayerError, type LayerTensors, makeLayerError, meanDifferences, rmsOfMeans } from './layer-error.js';
import { orderByLayers } from './layer-order.js';
import type { LayerPair, LayerSide } from './layer-pairs.js';

export interface CorrectionRequest {
  readonly float: Model;
  /** Its biases are edited. */
  readonly quantized: Model;
  readonly layers: readonly LayerPair[];
  /** Inputs of each sample, by the names of each model. */
  readonly samples: {
    readonly float: readonly (() => Promise<NamedTensors>)[];
    readonly quantized: readonly (() => Promise<NamedTensors>)[];
  };
  /** An empty folder. */
  readonly folder: string;
}

export interface BiasCorrector {
  /** Index of the next layer. */
  readonly next: () => number;
  /** Corrects the next layer. @throws QuantError `layers-differ`, `not-finite`; RuntimeError `model-run`. */
  correct(): Promise<LayerCorrection>;
  /** Repeats a known correction of the next layer. */
  repeat(known: LayerCorrection): Promise<void>;
}

/** Layers are corrected in their order, so that a layer sees what the corrected layers before it compute. */
export async function openBiasCorrector(request: CorrectionRequest): Promise<BiasCorrector> {
  const { quantized, layers, samples } = request;
  const sides = { float: await openSide(request, 'float'), quantized: await openSide(request, 'quantized') };
  let next = 0;
  const open = (): OpenLayer => ({
    pair: getDefined(layers[next], 'next layer'),
    float: sides.float(next),
    quantized: sides.quantized(next),
  });
  const move = async (layer: OpenLayer): Promise<void> => {
    await layer.float.close('keep');
    await layer.quantized.close('keep');
    next++;
  };
  const count = samples.float.length;
  return {
    next: () => next,
    async correct() {
      const layer = open();
      const { pair } = layer;
      const before = await measure(layer, count);
      const trial = planTrial(quantized.graph, pair, before);
      if (trial.result !== 'corrected') {
        await move(layer);
        return describe(pair, trial, { before, after: before });
      }
      await layer.quantized.close('repeat');
      writeBias(quantized.graph, pair.bias, trial.elements);
      const tried = { ...layer, quantized: sides.quantized(next) };
      const after = await measure(tried, count);
      if (after.noise < before.noise) {
        await move(tried);
        return describe(pair, trial, { before, after });
      }
      await tried.quantized.close('repeat');
      writeBias(quantized.graph, pair.bias, trial.former);
      const restored = { ...tried, quantized: sides.quantized(next) };
      for (let sample = 0; sample < count; sample++) await restored.quantized.run(sample);
      await move(restored);
      return describe(pair, { ...trial, result: 'error-not-lower', elements: trial.former }, { before, after });
    },
    async repeat(known) {
      const pair = getDefined(layers[next], 'next layer');
      invariant(known.node === pair.name, 'the known correction belongs to the next layer');
      writeBias(quantized.graph, pair.bias, known.elements);
      const layer = open();
      for (let sample = 0; sample < count; sample++) {
        await layer.float.run(sample);
        await layer.quantized.run(sample);
      }
      await move(layer);
    },
  };
}

interface OpenLayer {
  readonly pair: LayerPair;
  readonly float: Stretch;
  readonly quantized: Stretch;
}

/** A function that opens the stretch of a layer. */
async function openSide({ layers, folder, samples, ...models }: CorrectionRequest, side: 'float' | 'quantized') {
  const own = join(folder, side);
  await mkdir(own);
  const sides: readonly LayerSide[] = layers.map(pair => pair[side]);
  const { order, ends } = orderByLayers(models[side], sides);
  const sweep: Sweep = openSweep({ model: models[side], order, samples: samples[side], folder: own });
  return (index: number): Stretch => {
    const { computed, seen } = getDefined(sides[index], 'layer');
    return sweep.open(getDefined(ends[index], 'end'), computed === seen ? [computed] : [computed, seen]);
  };
}

async function measure({ pair, float, quantized }: OpenLayer, samples: number): Promise<LayerError> {
  const sum = makeLayerError(pair.bias.steps.length);
  for (let sample = 0; sample < samples; sample++) {
    const [own, other] = [await runSide(float, pair.float, sample), await runSide(quantized, pair.quantized, sample)];
    addLayerError(sum, pair.name, own, other);
  }
  return sum;
}

async function runSide(stretch: Stretch, { computed, seen }: LayerSide, sample: number): Promise<LayerTensors> {
  const values = await stretch.run(sample);
  return { computed: getDefined(values.get(computed), 'computed value'), seen: getDefined(values.get(seen), 'seen value') };
}

interface Trial extends Pick<LayerCorrection, 'result' | 'elements' | 'saturated'> {
  readonly former: readonly number[];
}

function planTrial(graph: Graph, { bias, name }: LayerPair, before: LayerError): Trial {
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
  { name }: LayerPair,
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
