/** The activations of a part on the device: size and lifetime of each over the units of the part, which run in their order. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { valuesReadBy } from '../../onnx/ir/reads.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import type { UnitGraph } from '../units/node-units.js';
import { bytesOf, endsOf } from '../units/unit-work.js';
import type { LiveTensor } from './arena.js';

export interface Activation extends LiveTensor {
  /** Of the value that was computed first, if others are views of it. */
  readonly name: string;
}

/** Their output has the bytes of their first input in the same order. */
const VIEWS = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Identity']);

/**
 * The activations of `units`, which are the units that the device itself runs. Step i is the i-th of them.
 * Inputs of the part are live from step 0, outputs to the last step. A unit's inputs and outputs are live together.
 * @param sizes bytes per byte of the model's file; 0.5 for a float32 model that the device computes in 16 bits.
 * @returns undefined if a size is unknown or 0.
 */
export function findActivations(graph: UnitGraph, units: readonly number[], sizes = 1): readonly Activation[] | undefined {
  const { model } = graph;
  const spans = new Map<ValueId, Span>();
  const views = new Map<ValueId, ValueId>();
  const storageOf = (id: ValueId): ValueId => views.get(id) ?? id;
  for (const [step, unit] of units.entries()) {
    const { inputs, outputs } = endsOf(model, { nodes: graph.units[unit]?.nodes ?? [] });
    for (const id of inputs) widen(spans, storageOf(id), spans.has(storageOf(id)) ? step : 0, step);
    const source = findViewed(graph, unit, inputs, outputs);
    for (const id of outputs) {
      if (source !== undefined) views.set(id, storageOf(source));
      widen(spans, storageOf(id), step, step);
    }
  }
  for (const id of findLeaving(graph, units)) widen(spans, storageOf(id), Math.max(0, units.length - 1), Math.max(0, units.length - 1));
  const found = [...spans].map(([id, span]) => ({ name: getValue(model.graph, id).name, bytes: bytesOf(model, id) * sizes, ...span }));
  return found.some(({ bytes }) => bytes === 0) ? undefined : found;
}

interface Span {
  readonly first: number;
  readonly last: number;
}

function widen(spans: Map<ValueId, Span>, id: ValueId, first: number, last: number): void {
  const span = spans.get(id);
  spans.set(id, span === undefined ? { first, last } : { first: Math.min(span.first, first), last: Math.max(span.last, last) });
}

/** The input that the unit's only output is a view of. */
function findViewed(graph: UnitGraph, unit: number, inputs: readonly ValueId[], outputs: readonly ValueId[]): ValueId | undefined {
  const [input] = inputs;
  const [output] = outputs;
  const target = graph.units[unit]?.target;
  if (input === undefined || output === undefined || inputs.length !== 1 || outputs.length !== 1) return undefined;
  const isView = target !== undefined && VIEWS.has(target.opType) && bytesOf(graph.model, input) === bytesOf(graph.model, output);
  return isView ? input : undefined;
}

/** Values of `units` that others read, or the model's user. */
function findLeaving({ model, units: all }: UnitGraph, units: readonly number[]): readonly ValueId[] {
  const inside = new Set(units.flatMap(unit => all[unit]?.nodes ?? []));
  const read = readOutside(model, inside);
  const given = [...inside].flatMap(node => node.outputs.filter(id => id !== undefined));
  return given.filter(id => read.has(id) || model.graph.outputs.includes(id));
}

function readOutside(model: Model, inside: ReadonlySet<Node>): ReadonlySet<ValueId> {
  const others = [...model.graph.nodes.values()].filter(node => !inside.has(node));
  return new Set(others.flatMap(node => [...valuesReadBy(node)].filter(id => findConstantValue(model, id) === undefined)));
}
