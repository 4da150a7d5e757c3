/** Pairs the layers of a quantized model with those of its float model, and says where the outputs of both are compared. */
import { indexUses, type Use } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { QuantError } from '../integers/quant-error.js';

/** A layer in one of the two models. */
export interface LayerSide {
  readonly node: Node;
  /** What the layer computes, before activation function and QuantizeLinear. */
  readonly computed: ValueId;
  /** Activation functions, QuantizeLinear and DequantizeLinear behind it, each the only reader of the value before. */
  readonly chain: readonly Node[];
  /** The value behind the chain. */
  readonly seen: ValueId;
}

export interface LayerPair<Target> {
  readonly name: string;
  readonly float: LayerSide;
  readonly quantized: LayerSide;
  /** What a method changes in the quantized layer. */
  readonly target: Target;
}

export interface LayerPairs<Target> {
  /** In the order of the quantized graph. */
  readonly layers: readonly LayerPair<Target>[];
  /** Layers that stay as they are. */
  readonly skipped: readonly { readonly node: string; readonly opType: string; readonly reason: string }[];
}

/** Whether the model has layers, but none of them is in the float model: the models do not belong together. */
export function haveNoPartners({ layers, skipped }: LayerPairs<unknown>): boolean {
  return layers.length === 0 && skipped.length > 0 && skipped.every(({ reason }) => reason === NO_PARTNER);
}

/** @throws QuantError `code` if there is no layer. @param what completes "the model has no layer …". */
export function assertLayers(
  { layers, skipped }: LayerPairs<unknown>,
  code: 'nothing-to-correct' | 'nothing-to-round',
  what: string,
): void {
  if (layers.length > 0) return;
  const details = skipped.map(({ node, opType, reason }) => `${opType} "${node}": ${reason}`);
  const [first] = details;
  throw new QuantError(code, `the model has no layer ${what}${first === undefined ? '' : `: ${first}`}`, {
    details,
    help: 'connect the output of `quantize` to `model`, and the float model that it quantized to `float`',
  });
}

/** What a method changes in a node of the quantized graph; or the reason why there is nothing. */
export type FindTarget<Target> = (graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, node: Node, partner: Node) => Target | string;

/** The channels of their output lie along axis 1. */
const LAYERS: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'Gemm']);
const ACTIVATIONS: ReadonlySet<string> = new Set(['Relu', 'Clip', 'LeakyRelu', 'PRelu']);
const NO_PARTNER = 'the float model has no layer of its name';

const Q_AND_DQ: ReadonlySet<string> = new Set(['QuantizeLinear', 'DequantizeLinear']);

/** Layers are paired by node name and operator; a node without a unique name is paired by the name of its output. */
export function pairLayers<Target extends object>(float: Model, quantized: Model, find: FindTarget<Target>): LayerPairs<Target> {
  const partners = new Map([...nameLayers(float.graph)].map(([node, name]) => [name, node]));
  const own = nameLayers(quantized.graph);
  const [floatUses, uses] = [indexUses(float.graph), indexUses(quantized.graph)];
  const layers: LayerPair<Target>[] = [];
  const skipped: LayerPairs<Target>['skipped'][number][] = [];
  for (const node of quantized.graph.nodes.values()) {
    if (!isLayer(node)) continue;
    const name = own.get(node) ?? node.name;
    const partner = partners.get(name);
    const target = partner?.opType === node.opType ? find(quantized.graph, uses, node, partner) : NO_PARTNER;
    const sides =
      partner === undefined ? undefined : pairSides(followLayer(float.graph, floatUses, partner), followLayer(quantized.graph, uses, node));
    if (typeof target === 'string' || sides === undefined) {
      skipped.push({ node: name, opType: node.opType, reason: typeof target === 'string' ? target : 'its output is not used' });
    } else layers.push({ name, ...sides, target });
  }
  return { layers, skipped };
}

function isLayer({ opType, domain }: Node): boolean {
  return LAYERS.has(opType) && domain === '';
}

/** A name per layer that no other layer has: of the node, or of its output if the node has none, or shares it. */
function nameLayers(graph: Graph): ReadonlyMap<Node, string> {
  const counts = new Map<string, number>();
  for (const { name } of graph.nodes.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const layers = [...graph.nodes.values()].filter(isLayer);
  const named = layers.filter(({ name }) => name !== '' && counts.get(name) === 1);
  const taken = new Set(named.map(({ name }) => name));
  const names = new Map(named.map(node => [node, node.name]));
  for (const node of layers) {
    const output = names.has(node) ? undefined : outputName(graph, node);
    if (output !== undefined && !taken.has(output)) names.set(node, output);
  }
  return names;
}

/** In a quantized model an output of the model has passed its name on to a DequantizeLinear, and has this ending itself. */
const BEFORE_QUANTIZE = '_QuantizeLinear_Input';

function outputName(graph: Graph, node: Node): string | undefined {
  const [output] = node.outputs;
  const name = output === undefined ? undefined : graph.values.get(output)?.name;
  if (name === undefined || !name.endsWith(BEFORE_QUANTIZE)) return name;
  const before = name.slice(0, -BEFORE_QUANTIZE.length);
  return graph.outputs.some(id => graph.values.get(id)?.name === before) ? before : name;
}

function followLayer(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, node: Node): LayerSide | undefined {
  const [computed] = node.outputs;
  if (computed === undefined) return undefined;
  const chain: Node[] = [];
  for (let seen = computed; ; ) {
    const next = findOnlyReader(graph, uses, seen);
    const [output] = next?.outputs ?? [];
    if (next === undefined || output === undefined) break;
    chain.push(next);
    seen = output;
  }
  // A value between QuantizeLinear and DequantizeLinear holds integers.
  while (chain.at(-1)?.opType === 'QuantizeLinear') chain.pop();
  return { node, computed, chain, seen: chain.at(-1)?.outputs[0] ?? computed };
}

function findOnlyReader(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, id: ValueId): Node | undefined {
  const [use, ...others] = uses.get(id) ?? [];
  if (use === undefined || others.length > 0 || use.index !== 0 || graph.outputs.includes(id)) return undefined;
  const { node } = use;
  if (!ACTIVATIONS.has(node.opType) && !Q_AND_DQ.has(node.opType)) return undefined;
  return node.inputs.slice(1).every(input => input === undefined || graph.values.get(input)?.constant !== undefined) ? node : undefined;
}

/** If the activation functions differ, and saturation does not replace those that are missing, the layers are compared before them. */
function pairSides(
  float: LayerSide | undefined,
  quantized: LayerSide | undefined,
): Pick<LayerPair<unknown>, 'float' | 'quantized'> | undefined {
  if (float === undefined || quantized === undefined) return undefined;
  const [kept, all] = [activationsOf(quantized), activationsOf(float)];
  const isQuantized = quantized.chain.some(({ opType }) => opType === 'QuantizeLinear');
  if (kept === all || (isQuantized && all.startsWith(kept))) return { float, quantized };
  const withoutChain = (side: LayerSide): LayerSide => ({ ...side, chain: [], seen: side.computed });
  return { float: withoutChain(float), quantized: withoutChain(quantized) };
}

function activationsOf({ chain }: LayerSide): string {
  return chain.flatMap(({ opType }) => (ACTIVATIONS.has(opType) ? [opType] : [])).join(' ');
}
