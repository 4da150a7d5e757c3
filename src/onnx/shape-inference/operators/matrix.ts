/** Shape inference of matrix products. */
import { getInt, getString } from '../../ir/attribute.js';
import type { Dim } from '../../ir/model.js';
import { broadcastTwo } from '../context/dims.js';
import { type InferFunction, type InferTable, known, mismatch, type NodeContext } from '../context/node-context.js';

const gemm: InferFunction = c => {
  const [a, b] = [c.dims(0), c.dims(1)];
  for (const index of [0, 1]) {
    const dims = c.dims(index);
    if (dims !== undefined && dims.length !== 2) throw mismatch(c, `input ${c.describe(index)} must have rank 2`);
  }
  const [rows, left] = getInt(c.node, 'transA', 0) === 0 ? [a?.[0], a?.[1]] : [a?.[1], a?.[0]];
  const [right, columns] = getInt(c.node, 'transB', 0) === 0 ? [b?.[0], b?.[1]] : [b?.[1], b?.[0]];
  if (typeof left === 'number' && typeof right === 'number' && left !== right)
    throw mismatch(c, `inner dims differ: ${left} of ${c.describe(0)}, ${right} of ${c.describe(1)}`);
  return [known(c.dtype(0) ?? c.dtype(1), [rows, columns])];
};

function productDims(c: NodeContext, leftIndex: number, rightIndex: number): readonly Dim[] | undefined {
  const [left, right] = [c.dims(leftIndex), c.dims(rightIndex)];
  if (left === undefined || right === undefined) return undefined;
  if (left.length === 0 || right.length === 0) throw mismatch(c, 'an input is a scalar, which has no matrix product');
  const a = left.length === 1 ? [1, ...left] : left;
  const b = right.length === 1 ? [...right, 1] : right;
  const [inner, outer] = [a.at(-1), b.at(-2)];
  if (typeof inner === 'number' && typeof outer === 'number' && inner !== outer)
    throw mismatch(c, `inner dims differ: ${inner} of ${c.describe(leftIndex)}, ${outer} of ${c.describe(rightIndex)}`);
  const batch = broadcastTwo(a.slice(0, -2), b.slice(0, -2));
  if (batch === undefined) throw mismatch(c, `batch dims of ${c.describe(leftIndex)} and ${c.describe(rightIndex)} do not broadcast`);
  return [...batch, ...(left.length === 1 ? [] : [a.at(-2)]), ...(right.length === 1 ? [] : [b.at(-1)])];
}

const det: InferFunction = c => [known(c.dtype(0), c.dims(0)?.slice(0, -2))];

/** From the letters of the equation: an output letter has the dim that it has in an input; "..." is the broadcast of the other dims. */
const einsum: InferFunction = c => {
  const equation = getString(c.node, 'equation', '').replaceAll(' ', '');
  const [left = '', right] = equation.split('->');
  const sizes = new Map<string, Dim>();
  let ellipsis: readonly Dim[] = [];
  for (const [index, term] of left.split(',').entries()) {
    const dims = c.dims(index);
    if (dims === undefined) return [known(c.dtype(0), undefined)];
    const [before = '', after] = term.split('...');
    const hidden = after === undefined ? [] : dims.slice(before.length, dims.length - after.length);
    if (before.length + hidden.length + (after?.length ?? 0) !== dims.length)
      throw mismatch(c, `input ${c.describe(index)} does not match "${term}"`);
    ellipsis = broadcastTwo(ellipsis, hidden) ?? ellipsis;
    const shown = [...dims.slice(0, before.length), ...dims.slice(dims.length - (after?.length ?? 0))];
    if (after === undefined) shown.length = before.length;
    for (const [at, letter] of [...before, ...(after ?? '')].entries()) {
      const known = sizes.get(letter);
      if (typeof known !== 'number' || known === 1) sizes.set(letter, shown[at]);
    }
  }
  const output = right ?? implicitOutput(left);
  const [before = '', after = ''] = output.split('...');
  const named = (letters: string): Dim[] => [...letters].map(letter => sizes.get(letter));
  return [known(c.dtype(0), [...named(before), ...(output.includes('...') ? ellipsis : []), ...named(after)])];
};

/** The output term without "->": the letters that occur once, in alphabetical order, after "..." if there is one. */
function implicitOutput(left: string): string {
  const letters = [...left].filter(letter => /[A-Za-z]/.test(letter));
  const once = letters.filter(letter => letters.indexOf(letter) === letters.lastIndexOf(letter)).sort();
  return (left.includes('...') ? '...' : '') + once.join('');
}

export const MATRIX: InferTable = {
  Det: det,
  Einsum: einsum,
  Gemm: gemm,
  MatMul: c => [known(c.dtype(0) ?? c.dtype(1), productDims(c, 0, 1))],
  MatMulInteger: c => [known('int32', productDims(c, 0, 1))],
  QLinearMatMul: c => [known(c.dtype(7), productDims(c, 0, 3))],
};
