/** The layers of a quantized model whose costs are compared: a step and those that only move its values, and round them again, are one. */
import { MOVING_OPERATORS } from '../../onnx/analysis/moving-operators.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { readNumbers } from '../qdq/dequantized.js';
import type { Step, SteppedModels } from './find-steps.js';

export interface QuantizedLayer {
  /** Values of the float model that it computes, in graph order; the first names it. */
  readonly values: readonly [ValueId, ...ValueId[]];
  /** Names of these values. */
  readonly names: readonly string[];
  /** Nodes of the float model, by name and operator, in graph order. */
  readonly nodes: readonly Pick<Node, 'name' | 'opType'>[];
}

/** Operators that move the elements of their inputs, or choose or average among them. */
const KEEPS: ReadonlySet<string> = new Set([...MOVING_OPERATORS, 'AveragePool', 'Gather', 'MaxPool', 'Pad', 'Resize']);

/** In graph order. The step alone in float would gain nothing where the next one rounds its values as coarsely. */
export function findQuantizedLayers({ quantized, steps }: SteppedModels): readonly QuantizedLayer[] {
  const groups = new Map<ValueId, ValueId[]>();
  for (const [id, step] of steps) {
    const joined = step.reads.flatMap(read => {
      const before = steps.get(read);
      return before !== undefined && roundsAgain(quantized.graph, step, before) ? (groups.get(read) ?? []) : [];
    });
    const group = [...new Set([...joined, id])];
    for (const member of group) groups.set(member, group);
  }
  const order = new Map([...steps.keys()].map((id, index) => [id, index]));
  const sorted = [...new Set(groups.values())].map(group => group.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)));
  return sorted.flatMap(([first, ...others]): QuantizedLayer[] => (first === undefined ? [] : [describe(steps, [first, ...others])]));
}

function describe(steps: SteppedModels['steps'], values: QuantizedLayer['values']): QuantizedLayer {
  const members = values.flatMap(id => steps.get(id) ?? []);
  const nodes = new Map(members.flatMap(({ nodes }) => nodes.map(node => [node.id, { name: node.name, opType: node.opType }] as const)));
  return { values, names: members.map(({ value }) => value.name), nodes: [...nodes.values()] };
}

/** The step rounds what it moves about as coarsely as the step before did, or more: float values before it would be rounded here. */
function roundsAgain(graph: Graph, step: Step, before: Step): boolean {
  if (step.quantizer === undefined || before.quantizer === undefined || !step.nodes.every(({ opType }) => KEEPS.has(opType))) return false;
  const [[own], [other]] = [readNumbers(graph, step.quantizer.inputs[1]) ?? [], readNumbers(graph, before.quantizer.inputs[1]) ?? []];
  return own !== undefined && other !== undefined && own >= other / 2;
}
