/** Rewrite rule `cut-moves`: operators at the inputs and outputs of a model that only move elements, or scale an input, are removed and described for the host. */
import { findDTypeByOnnx } from '../../../../tensor/dtype.js';
import { decodeRawTensor } from '../../../../tensor/raw-tensor.js';
import { findInts, getInt } from '../../../ir/attribute.js';
import type { Dim, Node, ValueId } from '../../../ir/model.js';
import { cutEnd, type HostStep } from '../../../rewrite/patch.js';
import { op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

const RESHAPES = ['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze'];
const MOVES = [...RESHAPES, 'Transpose'];
const ARITHMETIC = ['Mul', 'Div', 'Add', 'Sub'] as const;
const FIRST_STEPS = [...MOVES, ...ARITHMETIC, 'Cast'];

/** Larger constants are not written into the description for the host. */
const MOST_ELEMENTS = 64;

/** Form `trailing`. The output keeps its name and gets the shape and dtype of the remaining value. */
export const cutTrailingMoves: RuleCode = {
  proofText: 'The host arranges the elements of the output as the removed nodes did; the report lists the operations.',
  pattern: op(MOVES),
  rewrite: cutTrailing,
};

/** Form `leading`. The input keeps its name and gets the shape and dtype of the remaining value. */
export const cutLeadingMoves: RuleCode = {
  proofText: 'The host prepares the input as the removed nodes did; the report lists the operations.',
  pattern: op(FIRST_STEPS),
  rewrite: cutLeading,
};

function cutTrailing(match: Match): ReturnType<RuleCode['rewrite']> {
  const end = match.output();
  if (!match.isOutput(end)) return decline('its output is not an output of the model', match.node);
  if (match.useCount(end) !== 1) return decline('its output has other readers', match.node);
  const nodes = [match.node];
  let kept = match.node.inputs[0];
  for (;;) {
    const before = MOVES.map(opType => match.producerOf(kept, opType)).find(node => node !== undefined);
    if (before === undefined || kept === undefined || match.soleReader(kept) !== nodes[0]) break;
    nodes.unshift(before);
    kept = before.inputs[0];
  }
  if (kept === undefined || match.producerOf(kept) === undefined) return decline('no node would be left before the output', match.node);
  if (match.isOutput(kept)) return decline('its input is also an output of the model', match.node);
  const host = nodes.map(node => describeMove(match, node));
  if (!host.every(step => step !== undefined)) return decline('a dim of its output is not known', match.node);
  return cutEnd({ side: 'output', end, kept, nodes, host });
}

function cutLeading(match: Match): ReturnType<RuleCode['rewrite']> {
  const end = match.node.inputs.find(input => input !== undefined && match.isInput(input));
  if (end === undefined) return decline('it does not read an input of the model', match.node);
  const nodes: Node[] = [];
  const host: HostStep[] = [];
  let kept = end;
  for (;;) {
    const next = match.soleReader(kept);
    const step = next?.domain === '' && FIRST_STEPS.includes(next.opType) ? describeStep(match, next, kept) : undefined;
    const output = next?.outputs[0];
    if (next === undefined || step === undefined || output === undefined || match.isOutput(output)) break;
    nodes.push(next);
    host.push(step);
    kept = output;
  }
  if (nodes.length === 0) return decline('it does not just move or scale the elements of an input that it alone reads', match.node);
  const { dtype, dims } = match.type(kept);
  if (dtype === undefined || dims === undefined) return decline('the type of the remaining value is not known', match.node);
  return cutEnd({ side: 'input', end, kept, nodes, host });
}

function describeStep(match: Match, node: Node, x: ValueId): HostStep | undefined {
  if (MOVES.includes(node.opType)) return node.inputs[0] === x ? describeMove(match, node) : undefined;
  if (node.opType === 'Cast') {
    const to = findDTypeByOnnx(getInt(node, 'to', 0));
    return to === undefined ? undefined : { op: 'Cast', to };
  }
  return describeArithmetic(match, node, x);
}

function describeMove(match: Match, node: Node): HostStep | undefined {
  const [x] = node.inputs;
  const [output] = node.outputs;
  if (x === undefined || output === undefined) return undefined;
  if (node.opType !== 'Transpose') {
    const shape = shapeOf(match.type(output).dims);
    return shape && { op: 'Reshape', shape };
  }
  const rank = match.type(x).dims?.length;
  const perm = findInts(node, 'perm') ?? (rank === undefined ? undefined : Array.from({ length: rank }, (_, axis) => rank - 1 - axis));
  return perm && { op: 'Transpose', perm };
}

/** Dims with −1 for a single unknown one; undefined for several unknown dims, or if a dim of 0 makes −1 ambiguous. */
function shapeOf(dims: readonly Dim[] | undefined): readonly number[] | undefined {
  if (dims === undefined || dims.filter(dim => typeof dim !== 'number').length > (dims.includes(0) ? 0 : 1)) return undefined;
  return dims.map(dim => (typeof dim === 'number' ? dim : -1));
}

function describeArithmetic(match: Match, node: Node, x: ValueId): HostStep | undefined {
  const [a, b] = node.inputs;
  const operand = a === x ? b : a;
  const constant = match.constantOf(operand);
  const [output] = node.outputs;
  if (constant === undefined || constant.dtype === 'string' || output === undefined) return undefined;
  const [before, after] = [match.type(x).dims, match.type(output).dims];
  if (before === undefined || after === undefined || before.some((dim, axis) => dim !== after[axis]) || before.length !== after.length)
    return undefined;
  const arithmetic = ARITHMETIC.find(opType => opType === node.opType);
  const values = Array.from(decodeRawTensor(constant).data as ArrayLike<number | bigint>, Number);
  if (arithmetic === undefined || values.length > MOST_ELEMENTS) return undefined;
  return { op: arithmetic, order: a === x ? 'input-first' : 'constant-first', constant: values, dims: constant.dims };
}
