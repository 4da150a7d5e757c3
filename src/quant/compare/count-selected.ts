/** Counts the elements that one model selects, and those of them that another selects too. */
import { getDefined } from '../../base/invariant.js';
import type { NamedTensors } from '../../runtime/session/model-inputs.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { Selection } from './held-selections.js';

export interface SelectedCount {
  readonly selected: number;
  readonly common: number;
}

/** The positions of `selection` among the values of both sides. Where an element stands in the result does not count, but for ArgMax and ArgMin. */
export function countSelected(
  selection: Pick<Selection, 'value' | 'opType' | 'axis'>,
  own: NamedTensors,
  other: NamedTensors,
): SelectedCount {
  const { value, opType, axis } = selection;
  const [left, right] = [getDefined(own[value], value), getDefined(other[value], value)];
  if (opType === 'NonMaxSuppression') return countRows(left, right);
  if (opType === 'NonZero') return countColumns(left, right);
  return opType === 'TopK' ? countInLanes(left, right, axis) : countPlaces(left, right);
}

/** [count, width]: one element per row. */
function countRows(left: Tensor, right: Tensor): SelectedCount {
  const [own, other] = [rowsOf(left), rowsOf(right)];
  let common = 0;
  for (const row of own) if (other.has(row)) common++;
  return { selected: own.size, common };
}

function rowsOf({ dims, data }: Tensor): ReadonlySet<string> {
  const [count = 0, width = 0] = dims;
  return new Set(Array.from({ length: count }, (_, row) => data.slice(row * width, (row + 1) * width).join()));
}

/** [width, count]: one element per column. Both are in row-major order of the elements, as the operator gives them. */
function countColumns(left: Tensor, right: Tensor): SelectedCount {
  const [width = 0, count = 0] = left.dims;
  const others = right.dims[1] ?? 0;
  const compare = (a: number, b: number): number => {
    for (let row = 0; row < width; row++) {
      const [one, two] = [Number(left.data[row * count + a]), Number(right.data[row * others + b])];
      if (one !== two) return one - two;
    }
    return 0;
  };
  let common = 0;
  for (let a = 0, b = 0; a < count && b < others; ) {
    const order = compare(a, b);
    if (order === 0) common++;
    if (order <= 0) a++;
    if (order >= 0) b++;
  }
  return { selected: count, common };
}

/** One position per element: equal ones at equal places. */
function countPlaces({ data: own }: Tensor, { data: other }: Tensor): SelectedCount {
  let common = 0;
  for (let index = 0; index < own.length; index++) if (own[index] === other[index]) common++;
  return { selected: own.length, common };
}

/** The elements that share all coordinates but that along `axis` are one lane, in which order does not count. */
function countInLanes(left: Tensor, right: Tensor, axis: number): SelectedCount {
  const at = axis < 0 ? axis + left.dims.length : axis;
  const inner = left.dims.slice(at + 1).reduce((product, size) => product * size, 1);
  const [size = 1, others = 1] = [left.dims[at], right.dims[at]];
  let common = 0;
  for (let lane = 0; lane * size < left.data.length; lane++) {
    const [outer, column] = [Math.floor(lane / inner), lane % inner];
    const found = new Set<unknown>();
    for (let index = 0; index < others; index++) found.add(right.data[(outer * others + index) * inner + column]);
    for (let index = 0; index < size; index++) if (found.has(left.data[(outer * size + index) * inner + column])) common++;
  }
  return { selected: left.data.length, common };
}
