/** Rewrites the nodes of a head for tiles: Flatten goes, Gemm becomes Conv, constants of flattened values become constants per channel. */
import { getDefined } from '../../base/invariant.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { int } from '../ir/attribute.js';
import { removeNode, replaceUses, setInput } from '../ir/edit.js';
import type { Node, ValueId } from '../ir/model.js';
import { makeNumbers } from '../rewrite/make-numbers.js';
import { type Canvas, canvasDims } from './canvas.js';
import { rebuildConstant, replaceByConv } from './gemm-to-conv.js';
import { both } from './node-facts.js';
import type { TilePlan } from './plan-tiles.js';
import { findPair, type TileEditor } from './tile-editor.js';
import { type Pair, scalePitch, type TileFacts } from './tile-facts.js';

export interface Layout {
  readonly plan: TilePlan;
  readonly grid: Pair<number>;
  /** Pitch of the inputs. */
  readonly pitch: Pair<number>;
  /** Strides that may replace the pitch where a Gemm on whole tiles becomes a Conv; 'any': the pitch itself. */
  readonly strides: 'any' | readonly number[];
}

/** Rewrites all nodes in order. @returns the canvas of every value. */
export function rewriteNodes(editor: TileEditor, layout: Layout): ReadonlyMap<ValueId, Canvas> {
  const { plan, pitch } = layout;
  const { graph } = editor;
  const canvases = new Map<ValueId, Canvas>();
  for (const id of graph.inputs) canvases.set(id, canvasOf(getDefined(plan.facts.get(id), editor.nameOf(id)), pitch, [1, 1]));
  // Facts are those of the inputs that the nodes have before they are rewritten.
  const steps = [...graph.nodes.values()].map(node => ({
    node,
    facts: node.inputs.map(id => (id === undefined ? undefined : plan.facts.get(id))),
  }));
  const compacted = new Map<ValueId, ValueId>();
  const compactOnce = (id: ValueId): ValueId => {
    const made = compacted.get(id) ?? compact(editor, layout, canvases, id);
    compacted.set(id, made);
    return made;
  };
  for (const { node, facts } of steps) {
    const first = facts.findIndex(one => one !== undefined);
    if (first < 0) continue;
    rewriteNode({ editor, layout, canvases, compact: compactOnce }, node, facts, first);
  }
  return canvases;
}

interface Rewriting {
  readonly editor: TileEditor;
  readonly layout: Layout;
  readonly canvases: Map<ValueId, Canvas>;
  /** The value with pitch 1, if each of its tiles is one position. */
  compact(id: ValueId): ValueId;
}

function rewriteNode(on: Rewriting, node: Node, facts: readonly (TileFacts | undefined)[], first: number): void {
  const { editor, layout, canvases } = on;
  if (facts.filter(one => one?.scale === 'cells').length > 1) {
    for (const [index, id] of node.inputs.entries())
      if (id !== undefined && facts[index] !== undefined) setInput(node, index, on.compact(id));
  }
  const input = getDefined(node.inputs[first], 'input on tiles');
  const own = getDefined(facts[first], 'facts of an input');
  const canvas = getDefined(canvases.get(input), editor.nameOf(input));
  let cells: Pair<number> = canvas.pitch;
  if (node.opType === 'Gemm') cells = rewriteGemm(on, node, own);
  else if (own.layout === 'flat') rewriteFlat(on, node, facts);
  for (const id of node.outputs) {
    const made = id === undefined ? undefined : layout.plan.facts.get(id);
    if (id !== undefined && made !== undefined) canvases.set(id, canvasOf(made, layout.pitch, cells));
  }
  if (node.opType === 'Flatten' || node.opType === 'Reshape') removeFlatten(on, node, input);
}

/** @returns the pitch of the output. */
function rewriteGemm(
  { editor, layout, canvases, compact: toPitchOne }: Rewriting,
  node: Node,
  { tile, channels }: TileFacts,
): Pair<number> {
  const given = getDefined(node.inputs[0], 'input of Gemm');
  const isPoint = tile[0] * tile[1] === 1;
  const input = isPoint ? toPitchOne(given) : given;
  const { pitch } = getDefined(canvases.get(input), editor.nameOf(input));
  const stride = both(axis => (isPoint ? 1 : chooseStride(pitch[axis], layout.strides)));
  replaceByConv(editor, node, input, { channels, kernel: tile, stride });
  return both(axis => pitch[axis] / stride[axis]);
}

function chooseStride(pitch: number, strides: Layout['strides']): number {
  return strides === 'any' ? pitch : Math.max(1, ...strides.filter(stride => pitch % stride === 0));
}

/** Constants and axes of a node whose input had rank 2 and now has rank 4. */
function rewriteFlat({ editor }: Rewriting, node: Node, facts: readonly (TileFacts | undefined)[]): void {
  if (node.opType === 'Concat' || node.opType === 'Split') node.attributes.set('axis', int(1));
  if (!['Add', 'Sub', 'Mul', 'Div'].includes(node.opType)) return;
  const toChannels = (constant: RawTensor): RawTensor => ({ ...constant, dims: [constant.dims.at(-1) ?? 1, 1, 1] });
  for (const [index, id] of node.inputs.entries())
    if (id !== undefined && facts[index] === undefined) setInput(node, index, rebuildConstant(editor, id, toChannels, 'last'));
}

/** Its readers read its input; an output of the model becomes a copy. */
function removeFlatten({ editor: { graph } }: Rewriting, node: Node, input: ValueId): void {
  const [output] = node.outputs;
  if (output === undefined) return;
  if (graph.outputs.includes(output)) {
    node.opType = 'Identity';
    node.inputs = [input];
    node.attributes = new Map();
    return;
  }
  removeNode(graph, node.id);
  replaceUses(graph, new Map([[output, input]]));
}

/** Takes the one position of each tile by a strided Slice, in a quantized graph between DQ and Q with the same scale and zero point. */
function compact(editor: TileEditor, { grid }: Layout, canvases: Map<ValueId, Canvas>, id: ValueId): ValueId {
  const canvas = getDefined(canvases.get(id), editor.nameOf(id));
  const { pitch } = canvas;
  if (pitch[0] === 1 && pitch[1] === 1) return id;
  const name = editor.nameOf(id);
  const [, , height, width] = canvasDims(canvas, grid);
  const list = (what: string, values: readonly number[]): ValueId => editor.constant(`${name}_${what}`, makeNumbers('int64', [2], values));
  const bounds = [list('starts', [0, 0]), list('ends', [height, width]), list('axes', [2, 3]), list('steps', pitch)];
  const sliced = editor.node(`${name}_cells`, { opType: 'Slice', inputs: [id, ...bounds] });
  const pair = findPair(editor.graph, id);
  const cells =
    pair === undefined
      ? sliced
      : editor.copy(pair.dequantize, editor.copy(pair.quantize, sliced, `${name}_cells_QuantizeLinear`), `${name}_cells_DequantizeLinear`);
  canvases.set(cells, { ...canvas, pitch: [1, 1] });
  return cells;
}

function canvasOf({ channels, tile, scale }: TileFacts, pitch: Pair<number>, cells: Pair<number>): Canvas {
  return { channels, tile, pitch: scale === 'cells' ? cells : both(axis => scalePitch(pitch[axis], scale[axis])) };
}
