/** Finds Concats that join values of unlike ranges: one scale for all leaves few integers for the smallest. */
import { MOVING_OPERATORS } from '../../onnx/analysis/moving-operators.js';
import { indexUses } from '../../onnx/ir/edit.js';
import type { Graph, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { computeQParams } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { Observation } from '../range/range-method.js';
import { ownSqnr } from '../range/range-quality.js';
import type { Sketch } from '../sketch/sketch.js';

/** An input is unlike the others if it has less than this SQNR in dB at the scale of all, */
const LEAST_SQNR_DB = 30;
/** and this much less than at a scale of its own: more than a bit and a half. */
const LEAST_LOSS_DB = 10;

/** Operators whose output elements are input elements. */
const MOVES: ReadonlySet<string> = new Set([...MOVING_OPERATORS, 'Gather']);

export interface UnlikeJoin {
  readonly node: Node;
  /** All inputs with calibration data, in order. */
  readonly inputs: readonly JoinedInput[];
  /** The Concat and all nodes after it, if they only move elements to outputs of the model; in float, they keep each input's own scale. Undefined if a node computes with the result. */
  readonly movedBy: ReadonlySet<NodeId> | undefined;
}

export interface JoinedInput {
  readonly value: ValueId;
  readonly low: number;
  readonly high: number;
  /** At the min-max scale of all inputs. */
  readonly sqnrDb: number;
  /** At its own min-max scale. */
  readonly ownSqnrDb: number;
  readonly isUnlike: boolean;
}

export interface JoinRequest {
  readonly observations: ReadonlyMap<ValueId, Observation>;
  /** The integers of a value. */
  readonly integersOf: (id: ValueId) => IntegerScheme;
  /** Nodes that stay in float. */
  readonly excluded: ReadonlySet<NodeId>;
}

/** In graph order. No model is run. */
export function findUnlikeJoins(graph: Graph, request: JoinRequest): readonly UnlikeJoin[] {
  const uses = indexUses(graph);
  return [...graph.nodes.values()].flatMap(node => {
    const [output] = node.outputs;
    if (node.opType !== 'Concat' || node.domain !== '' || output === undefined || request.excluded.has(node.id)) return [];
    const inputs = compareInputs(node, output, request);
    return inputs.some(({ isUnlike }) => isUnlike) ? [{ node, inputs, movedBy: findMoves(graph, node, uses) }] : [];
  });
}

function compareInputs(node: Node, output: ValueId, { observations, integersOf }: JoinRequest): readonly JoinedInput[] {
  const integers = integersOf(output);
  const seen = [...new Set(node.inputs)].flatMap(value => {
    const observation = value === undefined ? undefined : observations.get(value);
    const sketch = observation?.kind === 'seen' ? observation.sketch : undefined;
    return value === undefined || sketch?.min === undefined || sketch.max === undefined
      ? []
      : [{ value, sketch, low: sketch.min, high: sketch.max }];
  });
  const [low, high] = [Math.min(...seen.map(one => one.low)), Math.max(...seen.map(one => one.high))];
  if (seen.length < 2 || !Number.isFinite(low) || !Number.isFinite(high)) return [];
  return seen.map(one => {
    const sqnrDb = sqnrAt(one.sketch, low, high, integers);
    const ownSqnrDb = sqnrAt(one.sketch, one.low, one.high, integers);
    return {
      value: one.value,
      low: one.low,
      high: one.high,
      sqnrDb,
      ownSqnrDb,
      isUnlike: sqnrDb < LEAST_SQNR_DB && ownSqnrDb - sqnrDb >= LEAST_LOSS_DB,
    };
  });
}

/** Infinity if nothing is lost, and for zeros only. */
function sqnrAt(sketch: Sketch, low: number, high: number, integers: IntegerScheme): number {
  return ownSqnr(sketch, computeQParams({ low, high }, integers), integers) ?? Number.POSITIVE_INFINITY;
}

function findMoves(graph: Graph, join: Node, uses: ReturnType<typeof indexUses>): ReadonlySet<NodeId> | undefined {
  const found = new Set<NodeId>([join.id]);
  for (const id of found) {
    for (const output of graph.nodes.get(id)?.outputs ?? []) {
      for (const use of output === undefined ? [] : (uses.get(output) ?? [])) {
        // An index below 0 is a read inside a subgraph.
        if (use.index < 0 || use.node.domain !== '' || !MOVES.has(use.node.opType)) return undefined;
        found.add(use.node.id);
      }
    }
  }
  return found;
}
