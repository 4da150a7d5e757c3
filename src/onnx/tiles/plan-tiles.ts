/** Finds how a head that runs rows can run tiles: facts about every value, needs of the pitch, values whose gaps are cleared, or why it cannot. */
import { getValue, indexUses } from '../ir/edit.js';
import type { Graph, Model, Node, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { describeNode, formatDims } from '../shape-inference/context/node-context.js';
import { ELEMENTWISE_RULES } from './elementwise-rules.js';
import { both, findConstantBehind, type NodeOnTiles, Refusal, refuse, type TileRule } from './node-facts.js';
import { SHAPE_RULES } from './shape-rules.js';
import { ONE, type PitchNeed, type TileFacts } from './tile-facts.js';
import { averagePoolOnTiles, convOnTiles, convTransposeOnTiles, maxPoolOnTiles } from './window-rules.js';

export interface TilePlan {
  readonly facts: ReadonlyMap<ValueId, TileFacts>;
  readonly needs: readonly PitchNeed[];
  /** Values whose gaps are cleared. */
  readonly cleared: ReadonlySet<ValueId>;
}

const RULES: Readonly<Record<string, TileRule>> = {
  ...ELEMENTWISE_RULES,
  ...SHAPE_RULES,
  Conv: convOnTiles,
  ConvTranspose: convTransposeOnTiles,
  MaxPool: maxPoolOnTiles,
  AveragePool: averagePoolOnTiles,
};

/**
 * `model` has types, and its nodes are in topological order.
 * @throws OnnxError `tiles-input` if an input is not [N, C, h, w] or [N, K]; `tiles-refused` with every node that cannot run on tiles, and why.
 */
export function planTiles({ graph }: Model): TilePlan {
  const facts = new Map<ValueId, TileFacts>();
  const needs: PitchNeed[] = [];
  const cleared = new Set<ValueId>();
  for (const id of graph.inputs) facts.set(id, factsOfInput(graph, getValue(graph, id)));
  checkInputs(graph, facts, needs);
  const refusals: string[] = [];
  const lost = new Set<ValueId>();
  for (const node of graph.nodes.values()) {
    if (!node.inputs.some(input => input !== undefined && (facts.has(input) || lost.has(input)))) continue;
    const isLost = node.inputs.some(input => input !== undefined && lost.has(input));
    const found = isLost ? 'lost' : applyRule(onTiles(graph, node, { facts, needs, cleared }));
    if (found instanceof Refusal) refusals.push(`${describeNode(node, graph)}: ${found.reason}`);
    for (const [index, output] of node.outputs.entries()) {
      if (output === undefined) continue;
      const one = found === 'lost' || found instanceof Refusal ? undefined : found[index];
      if (one === undefined) lost.add(output);
      else {
        facts.set(output, one);
        needs.push(...holds(one, describeNode(node, graph)));
      }
    }
  }
  if (refusals.length > 0) throw refused(refusals);
  return { facts, needs, cleared };
}

function applyRule(on: NodeOnTiles): readonly TileFacts[] | Refusal {
  const { node } = on;
  const rule = node.domain === '' || node.domain === 'com.microsoft' ? RULES[node.opType] : undefined;
  const first = node.inputs.map((_, index) => on.find(index)).find(one => one !== undefined);
  return rule === undefined || first === undefined ? refuse('it is not known to keep tiles apart') : rule(on, first);
}

interface State {
  readonly facts: Map<ValueId, TileFacts>;
  readonly needs: PitchNeed[];
  readonly cleared: Set<ValueId>;
}

function onTiles(graph: Graph, node: Node, { facts, needs, cleared }: State): NodeOnTiles {
  const find = (index: number): TileFacts | undefined => {
    const id = node.inputs[index];
    return id === undefined ? undefined : facts.get(id);
  };
  return {
    node,
    graph,
    find,
    constant: index => findConstantBehind(graph, node.inputs[index]),
    need: need => needs.push(need),
    clear(index) {
      const id = node.inputs[index];
      const own = find(index);
      if (id === undefined || own === undefined) throw refused([describeNode(node, graph)]);
      const clean: TileFacts = { ...own, gap: 'zero' };
      cleared.add(id);
      facts.set(id, clean);
      return clean;
    },
  };
}

/** The tile of a value lies within its pitch. */
function holds({ tile, scale }: TileFacts, what: string): readonly PitchNeed[] {
  return scale === 'cells' ? [] : both(axis => ({ axis, scale: scale[axis], least: tile[axis], multiple: 1, what }));
}

/** The host writes zeros between the tiles of an input. */
function factsOfInput(graph: Graph, value: Value): TileFacts {
  const dims = value.type?.kind === 'tensor' ? value.type.dims : undefined;
  const [, ...sizes] = dims ?? [];
  const known = sizes.filter(size => typeof size === 'number');
  const [channels = 0, height = 1, width = 1] = known;
  if (known.length !== sizes.length || (sizes.length !== 3 && sizes.length !== 1)) {
    throw new OnnxError(
      'tiles-input',
      `input "${value.name}" is ${formatDims(dims)}; expected rows [N, channels, height, width] or [N, size]`,
      {
        help: 'tiles are for heads that run once per RoI; fix the sizes of the head, except the number of RoIs',
      },
    );
  }
  if (sizes.length === 1 || isOnlyFlattened(graph, value.id))
    return {
      channels: channels * height * width,
      tile: [1, 1],
      scale: 'cells',
      layout: sizes.length === 1 ? 'flat' : 'map',
      gap: 'zero',
      sign: 'any',
    };
  return { channels, tile: [height, width], scale: [ONE, ONE], layout: 'map', gap: 'zero', sign: 'any' };
}

const COPIES = new Set(['QuantizeLinear', 'DequantizeLinear', 'Identity']);

/** Whether all that reads a value flattens it, so that the host can lay out its rows as channels. */
function isOnlyFlattened(graph: Graph, id: ValueId): boolean {
  const uses = indexUses(graph).get(id) ?? [];
  return (
    uses.length > 0 &&
    uses.every(({ node }) => {
      if (node.opType === 'Flatten' || node.opType === 'Reshape') return true;
      const [output] = node.outputs;
      return COPIES.has(node.opType) && output !== undefined && isOnlyFlattened(graph, output);
    })
  );
}

function checkInputs(graph: Graph, facts: ReadonlyMap<ValueId, TileFacts>, needs: PitchNeed[]): void {
  const maps = graph.inputs.flatMap(id => {
    const own = facts.get(id);
    return own === undefined || own.scale === 'cells' ? [] : [{ name: getValue(graph, id).name, tile: own.tile, own }];
  });
  const [first] = maps;
  const other = maps.find(({ tile }) => first !== undefined && (tile[0] !== first.tile[0] || tile[1] !== first.tile[1]));
  if (first !== undefined && other !== undefined) {
    throw new OnnxError(
      'tiles-input',
      `inputs "${first.name}" and "${other.name}" have tiles of ${first.tile.join(' × ')} and ${other.tile.join(' × ')}; expected one size`,
    );
  }
  for (const { name, own } of maps) needs.push(...holds(own, `input "${name}"`));
  if (facts.size === 0) throw new OnnxError('tiles-input', 'the model has no inputs');
}

function refused(reasons: readonly string[]): OnnxError {
  return new OnnxError('tiles-refused', `the model cannot run on tiles: ${reasons.join('; ')}`, { details: reasons });
}
