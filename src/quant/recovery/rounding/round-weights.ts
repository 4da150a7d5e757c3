/** Rounds the weights of layer after layer sequentially, on the inputs that the layers before it give it, and keeps what lowers the error of its output. */
import { getDefined } from '../../../base/invariant.js';
import { getFloat } from '../../../onnx/ir/attribute.js';
import type { Graph, Model, Node } from '../../../onnx/ir/model.js';
import { countElements } from '../../../tensor/shape.js';
import { decodeFloats } from '../../weights/weights.js';
import { addOutputError, type OutputError } from '../layer-error.js';
import { type LayerPair, type LayerPairs, pairLayers } from '../layer-pairs.js';
import { type LayerSweep, type LayerSweepRequest, type OpenLayer, openLayerSweep } from '../layer-sweep.js';
import { addInputProducts, makeInputProducts, makeOutputProducts, type OutputProducts } from './input-products.js';
import type { LayerRounding } from './layer-rounding.js';
import { findLayerWeight, gridOf, type LayerWeight, readWeight, writeWeight } from './layer-weight.js';
import { roundSequentially } from './round-sequentially.js';
import { fitTarget, invertFactor, type SquareMatrix } from './triangular-factor.js';

export interface RoundedLayer {
  readonly rounding: LayerRounding;
  /** Of the weights that are kept. */
  readonly integers: Int32Array;
}

export interface WeightRounder {
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
export async function openWeightRounder(request: LayerSweepRequest<LayerWeight>, damping: number): Promise<WeightRounder> {
  const { graph } = request.quantized;
  const sweep = await openLayerSweep(request);
  return {
    next: sweep.next,
    async round() {
      const layer = sweep.open();
      const { name, target: weight, float } = layer.pair;
      const sums = makeSums(request.float.graph, float.node, weight);
      const before = await measure(sweep, layer, sums);
      const former = readWeight(graph, weight);
      const floats = decodeFloats(getDefined(floatWeight(request.float.graph, float.node), 'float weight'));
      const integers = roundLayer(weight, floats, sums, damping);
      const changed = integers.reduce((count, integer, i) => count + (integer === former[i] ? 0 : 1), 0);
      const found = { node: name, signal: before.signal, changed };
      if (changed === 0) {
        await sweep.advance(layer);
        return { rounding: { ...found, result: 'same-integers', noise: { before: before.noise, after: before.noise } }, integers };
      }
      const tried = await sweep.reopen(layer, () => writeWeight(graph, weight, integers));
      const noise = { before: before.noise, after: (await measure(sweep, tried)).noise };
      if (noise.after < noise.before) {
        await sweep.advance(tried);
        return { rounding: { ...found, result: 'rounded', noise }, integers };
      }
      const restored = await sweep.reopen(tried, () => writeWeight(graph, weight, former));
      await measure(sweep, restored);
      await sweep.advance(restored);
      return { rounding: { ...found, result: 'error-not-lower', noise }, integers: former };
    },
    async repeat(integers) {
      writeWeight(graph, getDefined(request.layers[sweep.next()], 'next layer').target, integers);
      const layer = sweep.open();
      await measure(sweep, layer);
      await sweep.advance(layer);
    },
  };
}

async function measure(sweep: LayerSweep<LayerWeight>, layer: OpenLayer<LayerWeight>, sums?: LayerSums): Promise<OutputError> {
  const sum: OutputError = { signal: 0, noise: 0 };
  const { pair }: { readonly pair: LayerPair<LayerWeight> } = layer;
  for (let sample = 0; sample < sweep.samples; sample++) {
    const { float, quantized, input } = await sweep.run(layer, sample);
    addOutputError(sum, pair.name, float, quantized);
    if (sums === undefined) continue;
    addInputProducts(sums.products, sums.targets, pair.quantized.node, pair.target, { input, output: float.computed });
  }
  return sum;
}

/** What is summed over samples to round a layer. */
interface LayerSums {
  readonly products: readonly SquareMatrix[];
  /** Undefined if the layer's outputs are not the sums of its rows. */
  readonly targets: OutputProducts | undefined;
}

function makeSums(graph: Graph, node: Node, weight: LayerWeight): LayerSums {
  const bias = findBias(graph, node, weight.rows);
  return { products: makeInputProducts(weight), targets: bias === undefined ? undefined : makeOutputProducts(weight, bias) };
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

function roundLayer(weight: LayerWeight, floats: Float32Array, { products, targets }: LayerSums, damping: number): Int32Array {
  const integers = new Int32Array(floats.length);
  const perGroup = weight.rows / weight.groups;
  for (const [group, sum] of products.entries()) {
    const factor = invertFactor(sum, damping);
    for (let row = group * perGroup; row < (group + 1) * perGroup; row++) {
      const values = Array.from({ length: weight.columns }, (_, column) => floats[weight.at(row, column)] ?? 0);
      const target = targets?.rows[row];
      const change = target === undefined ? undefined : fitTarget(values, target, sum, factor);
      const wanted = change === undefined ? values : values.map((value, column) => value + (change[column] ?? 0));
      const rounded = roundSequentially(wanted, gridOf(weight, row), factor);
      for (const [column, integer] of rounded.entries()) integers[weight.at(row, column)] = integer;
    }
  }
  return integers;
}
