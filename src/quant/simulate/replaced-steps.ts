/** Steps whose float32 form in ONNX Runtime is not exact, replaced by operators that are. */
import { removeNode, replaceAllUses } from '../../onnx/ir/edit.js';
import type { Node, ValueId } from '../../onnx/ir/model.js';
import { splitSums } from './split-sums.js';
import { type ExactStep, type ExactValues, HARD_SIGMOID_SLOPE } from './steps/exact-values.js';
import type { ModelEditor } from './steps/model-editor.js';

/** float32 holds integers exactly below this limit. */
const EXACT_BELOW = 2 ** 24;

/** Rounding an average to its grid recovers the exact number up to this many bits below the unit of its input. */
const MOST_AVERAGE_BITS = 13;

/** The exact values of the model, and of new values that stand for them. */
export interface Units {
  readonly exact: ExactValues;
  readonly renamed: Map<ValueId, number>;
}

export function unitOf({ exact, renamed }: Units, id: ValueId | undefined): number | undefined {
  return id === undefined ? undefined : (renamed.get(id) ?? exact.values.get(id)?.unit);
}

/** Replaces the step if it has to be. @returns why float32 cannot compute it exactly. */
export function replaceStep(editor: ModelEditor, units: Units, node: Node, step: ExactStep): string | undefined {
  const [output] = node.outputs;
  switch (step.kind) {
    case 'sum': {
      const { bound, unit } = step.bound;
      const own = unitOf(units, output);
      if (bound === undefined || unit === undefined || own === undefined) return 'its sums have no bound';
      if ((bound * unit) / own < EXACT_BELOW) return undefined;
      return isRoundedOnly(editor, output) && splitSums(editor, node, own) ? undefined : 'its sums can reach 2²⁴ units';
    }
    case 'average':
      return replaceAverage(editor, units, node, step);
    case 'hard-sigmoid':
      return replaceGate(editor, units, node);
    case 'leaky': {
      const isRounded = editor.readersOf(output).every(reader => reader.opType === 'QuantizeLinear');
      return isRounded && output !== undefined && !editor.graph.outputs.includes(output)
        ? undefined
        : 'its result is read before it is rounded';
    }
    case 'included':
      return removeIncluded(editor, units, node);
    default:
      return undefined;
  }
}

/** Whether a value is only rounded, perhaps after a Relu: then sums that are too large for float32 saturate. */
function isRoundedOnly(editor: ModelEditor, id: ValueId | undefined): boolean {
  if (id === undefined || editor.graph.outputs.includes(id)) return false;
  return editor
    .readersOf(id)
    .every(reader => reader.opType === 'QuantizeLinear' || (reader.opType === 'Relu' && isRoundedOnly(editor, reader.outputs[0])));
}

/** The mean times area · factor / grid is an integer but for float32's roundings, which Round removes. */
function replaceAverage(editor: ModelEditor, units: Units, node: Node, step: Extract<ExactStep, { kind: 'average' }>): string | undefined {
  const [[x], [output]] = [node.inputs, node.outputs];
  const [input, grid] = [unitOf(units, x), unitOf(units, output)];
  if (input === undefined || grid === undefined || output === undefined) return undefined;
  if (Math.log2(input / grid) > MOST_AVERAGE_BITS) return `its factor has more than ${MOST_AVERAGE_BITS} bits`;
  const factor = (step.area * step.factor) / grid;
  if (Math.fround(factor) !== factor) return 'its factor is no float32 number';
  if (!isOfIntegers(editor, units, x)) return 'its operand is not rounded';
  const rounded = editor.add('Round', [editor.add('Mul', [output, editor.float(factor)])]);
  return replaceValue(editor, units, output, editor.add('Mul', [rounded, editor.float(grid)]));
}

function replaceGate(editor: ModelEditor, units: Units, node: Node): string | undefined {
  const [[x], [output]] = [node.inputs, node.outputs];
  const grid = unitOf(units, output);
  if (x === undefined || output === undefined || grid === undefined) return undefined;
  if (!isOfIntegers(editor, units, x) || 0.5 / grid >= EXACT_BELOW / 2) return 'its operand is not rounded, or too fine';
  const sum = editor.add('Add', [editor.add('Mul', [x, editor.float(HARD_SIGMOID_SLOPE)]), editor.float(0.5)]);
  const limited = editor.add('Min', [editor.add('Max', [sum, editor.float(0)]), editor.float(1)]);
  return replaceValue(editor, units, output, limited);
}

/** The nodes that read `value` read `by`, which has its unit. */
function replaceValue(editor: ModelEditor, units: Units, value: ValueId, by: ValueId): string | undefined {
  if (editor.graph.outputs.includes(value)) return 'its result is an output of the model';
  editor.replaceReaders(value, by);
  const unit = unitOf(units, value);
  if (unit !== undefined) units.renamed.set(by, unit);
  editor.readAgain();
  return undefined;
}

function removeIncluded(editor: ModelEditor, units: Units, node: Node): string | undefined {
  const [output, source] = [node.outputs[0], node.inputs.find(id => unitOf(units, id) !== undefined)];
  if (output === undefined || source === undefined) return undefined;
  if (editor.graph.outputs.includes(output)) return 'its result is an output of the model';
  removeNode(editor.graph, node.id);
  replaceAllUses(editor.graph, output, source);
  editor.readAgain();
  return undefined;
}

/** Whether the value is dequantized, or only moved since: then it has at most as many bits as its integers. */
function isOfIntegers(editor: ModelEditor, { exact }: Units, id: ValueId | undefined): boolean {
  const producer = editor.producerOf(id);
  const step = producer === undefined ? undefined : exact.steps.get(producer.id);
  if (producer === undefined || step === undefined) return false;
  if (step.kind === 'dequantize') return true;
  return (step.kind === 'move' || step.kind === 'relu') && isOfIntegers(editor, { exact, renamed: new Map() }, producer.inputs[0]);
}
