/** Rounds the weights of layer after layer, on the inputs that the layers before it give it, and keeps what lowers the error of its output. */
import { collectGarbage } from '../../../base/collect-garbage.js';
import { getDefined } from '../../../base/invariant.js';
import { getFloat } from '../../../onnx/ir/attribute.js';
import type { Graph, Model, Node } from '../../../onnx/ir/model.js';
import { countElements } from '../../../tensor/shape.js';
import { decodeFloats, withFloats } from '../../weights/weights.js';
import { addOutputError, type OutputError } from '../layer-error.js';
import { type LayerPair, type LayerPairs, pairLayers } from '../layer-pairs.js';
import { type LayerSweep, type LayerSweepRequest, type OpenLayer, openLayerSweep } from '../layer-sweep.js';
import type { LayerRounding } from './layer-rounding.js';
import { openLayerSums, type SumLayer } from './layer-sums.js';
import { findLayerWeight, gridOf, type LayerWeight, readWeight, writeWeight } from './layer-weight.js';
import { type LayerRows, ROUNDING_METHODS, type RoundingSettings, type Way } from './rounding-methods.js';

export interface RoundedLayer {
  readonly rounding: LayerRounding;
  /** Of the weights that are kept. */
  readonly integers: Int32Array;
}

export interface WeightRounder {
  /** Number of layers. */
  readonly count: number;
  /** Index of the next layer. */
  readonly next: () => number;
  /** Rounds the next layer. @throws QuantError `layers-differ`, `not-finite`; RuntimeError `model-run`. */
  round(): Promise<RoundedLayer>;
  /** Repeats a known rounding of the next layer. */
  repeat(integers: Int32Array): Promise<void>;
}

/** The layers whose weights can be rounded again: integers that only they read, and constant weights of equal shape in the float model. */
export function pairLayersWithWeight(float: Model, quantized: Model): LayerPairs<LayerWeight> {
  return pairLayers(float, quantized, (graph, uses, node, partner) => {
    const found = findLayerWeight(graph, uses, node);
    if (typeof found === 'string') return found;
    const dims = floatWeight(float.graph, partner)?.dims;
    return dims?.join() === found.dims.join() ? found : 'the float model has no weight of its shape';
  });
}

function floatWeight({ values }: Graph, { inputs }: Node) {
  const constant = inputs[1] === undefined ? undefined : values.get(inputs[1])?.constant;
  return constant?.dtype === 'float32' ? constant : undefined;
}

/** The weights of `request.quantized` are edited. */
export async function openWeightRounder(request: LayerSweepRequest<LayerWeight>, settings: RoundingSettings): Promise<WeightRounder> {
  const { graph } = request.quantized;
  const sweep = await openLayerSweep(request);
  const roundLayer = async (): Promise<RoundedLayer> => {
    const layer = sweep.open();
    const { name, target: weight, float } = layer.pair;
    const bias = findBias(request.float.graph, float.node, weight.rows);
    const method = ROUNDING_METHODS[settings.method];
    const options = { bias, few: method.few, samples: sweep.samples - countJudging(sweep.samples) };
    const { before, sums } = await sumUp(sweep, layer, await openLayerSums(layer.pair.quantized.node, weight, options));
    const former = readWeight(graph, weight);
    // Copied into rows: decoded weights of all layers would take as much memory as the model.
    const rows = withFloats(getDefined(floatWeight(request.float.graph, float.node), 'float weight'), floats =>
      rowsOf(weight, floats, sums),
    );
    const { ways, round } = await method.open(rows, settings);
    let open = layer;
    let best: Trial | undefined;
    let tried: Int32Array | undefined;
    for (const way of ways) {
      if (weight.rows * weight.columns > MANY_WEIGHTS) collectGarbage();
      const integers = joinRows(weight, await round(way));
      if (countChanged(integers, former) === 0) continue;
      open = await sweep.reopen(open, () => writeWeight(graph, weight, integers));
      tried = integers;
      const { noise } = await measureJudged(sweep, open);
      if (best === undefined || noise < best.noise) best = { way, integers, noise };
      if (method.keeps === 'first' && noise < before.noise) break;
    }
    const isLower = best !== undefined && best.noise < before.noise;
    const integers = best !== undefined && isLower ? best.integers : former;
    if (open !== layer) {
      const isOpen = integers === tried;
      if (!isOpen) open = await sweep.reopen(open, () => writeWeight(graph, weight, integers));
      for (let sample = 0; sample < sweep.samples; sample++)
        if (!isOpen || !isJudged(sample, sweep.samples)) await sweep.runQuantized(open, sample);
    }
    await sweep.advance(open);
    return { rounding: describe(name, before, best, former), integers };
  };
  const repeatLayer = async (integers: Int32Array): Promise<void> => {
    writeWeight(graph, getDefined(request.layers[sweep.next()], 'next layer').target, integers);
    const layer = sweep.open();
    await measure(sweep, layer);
    await sweep.advance(layer);
  };
  return {
    count: request.layers.length,
    next: sweep.next,
    round: () => sweep.during(roundLayer),
    repeat: integers => sweep.during(() => repeatLayer(integers)),
  };
}

/** Of a layer whose trials leave some hundred megabytes behind. */
const MANY_WEIGHTS = 1 << 20;

interface Trial {
  readonly way: Way;
  readonly integers: Int32Array;
  readonly noise: number;
}

function countChanged(integers: Int32Array, former: Int32Array): number {
  let count = 0;
  for (let i = 0; i < integers.length; i++) if (integers[i] !== former[i]) count++;
  return count;
}

function describe(node: string, before: OutputError, best: Trial | undefined, former: Int32Array): LayerRounding {
  const { signal, noise } = before;
  if (best === undefined) return { node, result: 'same-integers', signal, noise: { before: noise, after: noise }, changed: 0 };
  const result = best.noise < noise ? 'rounded' : 'error-not-lower';
  const changed = countChanged(best.integers, former);
  return { node, result, signal, noise: { before: noise, after: best.noise }, changed, ...best.way };
}

/** Every fourth sample judges the rounding, and the others make it; fewer than four samples do both. */
const JUDGED = 4;

/** Of samples that do nothing else. */
function countJudging(samples: number): number {
  return Math.floor(samples / JUDGED);
}

/** Positions of all judging samples that rank the ways before one is rounded. */
const MOST_JUDGED = 1024;

function isJudged(sample: number, samples: number): boolean {
  return samples < JUDGED || sample % JUDGED === JUDGED - 1;
}

/** Runs every sample, and closes `summing`. */
async function sumUp(sweep: LayerSweep<LayerWeight>, layer: OpenLayer<LayerWeight>, summing: SumLayer) {
  try {
    const before = await measure(sweep, layer, summing);
    return { before, sums: await summing.finish() };
  } finally {
    await summing.close();
  }
}

/** Runs every sample. The error is that of the judged ones, the sums are those of the others. */
async function measure(sweep: LayerSweep<LayerWeight>, layer: OpenLayer<LayerWeight>, sums?: SumLayer): Promise<OutputError> {
  const sum: OutputError = { signal: 0, noise: 0 };
  const { pair }: { readonly pair: LayerPair<LayerWeight> } = layer;
  for (let sample = 0; sample < sweep.samples; sample++) {
    const { float, quantized, input } = await sweep.run(layer, sample);
    const judges = isJudged(sample, sweep.samples);
    if (judges) addOutputError(sum, pair.name, float, quantized);
    const given = { input, output: float.computed };
    if (judges && sweep.samples >= JUDGED) sums?.judge(given, Math.ceil(MOST_JUDGED / countJudging(sweep.samples)));
    else await sums?.add(given);
  }
  return sum;
}

async function measureJudged(sweep: LayerSweep<LayerWeight>, layer: OpenLayer<LayerWeight>): Promise<OutputError> {
  const sum: OutputError = { signal: 0, noise: 0 };
  for (let sample = 0; sample < sweep.samples; sample++) {
    if (!isJudged(sample, sweep.samples)) continue;
    const { float, quantized } = await sweep.run(layer, sample);
    addOutputError(sum, layer.pair.name, float, quantized);
  }
  return sum;
}

/** One number per row. */
function findBias(graph: Graph, node: Node, rows: number): ArrayLike<number> | undefined {
  if (node.opType === 'ConvTranspose' || (node.opType === 'Gemm' && (getFloat(node, 'alpha', 1) !== 1 || getFloat(node, 'beta', 1) !== 1)))
    return undefined;
  const id = node.inputs[2];
  if (id === undefined) return new Float32Array(rows);
  const constant = graph.values.get(id)?.constant;
  return constant?.dtype === 'float32' && countElements(constant.dims) === rows ? decodeFloats(constant) : undefined;
}

function rowsOf(weight: LayerWeight, floats: Float32Array, sums: LayerRows['sums']): LayerRows {
  const rows = Array.from({ length: weight.rows }, (_, row) => ({ weights: weightsOf(weight, floats, row), grid: gridOf(weight, row) }));
  return { rows, sums };
}

function weightsOf({ columns, at }: LayerWeight, floats: Float32Array, row: number): Float32Array {
  const weights = new Float32Array(columns);
  for (let column = 0; column < columns; column++) weights[column] = floats[at(row, column)] ?? 0;
  return weights;
}

function joinRows(weight: LayerWeight, rows: readonly Int32Array[]): Int32Array {
  const integers = new Int32Array(weight.rows * weight.columns);
  for (const [row, rounded] of rows.entries())
    for (let column = 0; column < rounded.length; column++) integers[weight.at(row, column)] = rounded[column] as number;
  return integers;
}
