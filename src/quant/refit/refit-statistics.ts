/** Statistics refit: layer by layer, mean and deviation of each channel become those of a reference model again, by scaling and shifting the layer's weights. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { openSweep, type Stretch } from '../../runtime/capture/sweep.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import { QuantError } from '../integers/quant-error.js';
import { orderByLayers } from '../recovery/layer-order.js';
import { addMoments, type ChannelStatistics, makeMoments, statisticsOf } from './moments.js';
import { addBiases, type RefitLayer, removeZeroBiases, withAffine, writeWeights } from './refit-layer.js';
import type { RefittedLayer } from './refit-report.js';

type Feeds = readonly (() => Promise<NamedTensors>)[];

export interface RefitRequest {
  readonly reference: Model;
  /** Its weights and biases are edited. */
  readonly model: Model;
  readonly layers: readonly RefitLayer[];
  /** Inputs of each sample, by the names of each model. */
  readonly samples: { readonly reference: Feeds; readonly model: Feeds };
  /** An empty folder. */
  readonly folder: string;
  /** Is called before each layer; may throw to stop. */
  readonly progress: (done: number) => void;
}

/** A factor beyond these bounds says that a channel hardly varies in one of the models, not that it needs scaling. */
const LARGEST_FACTOR = 8;

/**
 * The layers are refitted in their order, each on what the refitted layers before it compute.
 * @throws QuantError `layers-differ`, `not-finite`; RuntimeError `model-load`, `model-run`.
 */
export async function refitStatistics(request: RefitRequest): Promise<readonly RefittedLayer[]> {
  const { model, layers, progress } = request;
  const withoutBias = addBiases(model, layers);
  const sides = {
    reference: await openSide(
      request,
      'reference',
      layers.map(({ reference }) => reference),
    ),
    model: await openSide(
      request,
      'model',
      layers.map(({ node }) => node),
    ),
  };
  const { reference, model: own } = sides;
  const refitted = await reference.during(() => own.during(() => refitLayers(request, sides)));
  removeZeroBiases(model, withoutBias);
  progress(layers.length);
  return refitted;
}

type Side = Awaited<ReturnType<typeof openSide>>;

async function refitLayers(
  { model, layers, samples, progress }: RefitRequest,
  sides: { readonly reference: Side; readonly model: Side },
): Promise<readonly RefittedLayer[]> {
  const refitted: RefittedLayer[] = [];
  for (const [index, layer] of layers.entries()) {
    progress(index);
    const reference = sides.reference.open(index);
    const wanted = await measure(reference, layer, samples.reference.length);
    await reference.close('keep');
    const tried = sides.model.open(index);
    const before = await measure(tried, layer, samples.model.length);
    await tried.close('repeat');
    const affine = solveAffine(layer, wanted, before);
    writeWeights(model.graph, layer, withAffine(model.graph, layer, affine));
    const fitted = sides.model.open(index);
    const after = await measure(fitted, layer, samples.model.length);
    await fitted.close('keep');
    refitted.push({
      node: layer.name,
      meanShift: { before: meanShift(wanted, before), after: meanShift(wanted, after) },
      factors: [affine.scales.reduce((a, b) => Math.min(a, b)), affine.scales.reduce((a, b) => Math.max(a, b))],
      limited: affine.limited,
    });
  }
  return refitted;
}

/** A stretch, and the output of the layer at its end. */
type OutputStretch = Stretch & { readonly output: ValueId };

/** The sweep of one model; `open` opens the stretch up to a layer's output. */
async function openSide({ folder, samples, ...models }: RefitRequest, side: 'reference' | 'model', nodes: readonly Node[]) {
  const own = join(folder, side);
  await mkdir(own);
  const outputs = nodes.map(node => getDefined(node.outputs[0], 'output of a layer'));
  const ordered = nodes.map((node, index) => {
    const computed = getDefined(outputs[index], 'output');
    return { node, computed, chain: [], seen: computed };
  });
  const { order, ends } = orderByLayers(models[side], ordered);
  const sweep = openSweep({ model: models[side], order, samples: samples[side], folder: own });
  const open = (index: number): OutputStretch => {
    const output = getDefined(outputs[index], 'output');
    return { ...sweep.open(getDefined(ends[index], 'end'), [output]), output };
  };
  return { open, during: sweep.during };
}

async function measure(stretch: OutputStretch, { name, channels }: RefitLayer, samples: number): Promise<ChannelStatistics> {
  const moments = makeMoments(channels);
  for (let sample = 0; sample < samples; sample++)
    addMoments(moments, name, getDefined((await stretch.run(sample)).get(stretch.output), 'output'));
  return statisticsOf(moments);
}

interface Affine {
  readonly scales: Float64Array;
  readonly shifts: Float64Array;
  readonly limited: number;
}

/** y' = (y − m) · s + m₀ with s = d₀ / d: means m and deviations d of the model, m₀ and d₀ of the reference. */
function solveAffine({ name }: RefitLayer, wanted: ChannelStatistics, seen: ChannelStatistics): Affine {
  if (![wanted, seen].every(({ means, deviations }) => [...means, ...deviations].every(Number.isFinite)))
    throw new QuantError('not-finite', `layer "${name}": its output has NaN or infinite elements in one of the models`, {
      help: 'look for a division by zero or an overflow before it',
    });
  let limited = 0;
  const scales = seen.deviations.map((deviation, channel) => {
    const factor = (wanted.deviations[channel] ?? 0) / deviation;
    if (factor >= 1 / LARGEST_FACTOR && factor <= LARGEST_FACTOR) return factor;
    limited++;
    return factor > LARGEST_FACTOR && Number.isFinite(factor) ? LARGEST_FACTOR : factor > 0 && factor < 1 ? 1 / LARGEST_FACTOR : 1;
  });
  const shifts = seen.means.map((mean, channel) => (wanted.means[channel] ?? 0) - mean * (scales[channel] ?? 1));
  return { scales, shifts, limited };
}

function meanShift(wanted: ChannelStatistics, seen: ChannelStatistics): number {
  const squares = wanted.means.map((mean, channel) => {
    const deviation = wanted.deviations[channel] ?? 0;
    return deviation === 0 ? 0 : ((mean - (seen.means[channel] ?? 0)) / deviation) ** 2;
  });
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}
