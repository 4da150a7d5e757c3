/** Differences between the constants of two models: type, elements, name. */
import { digestBytes } from '../../base/digest.js';
import { byteLength } from '../../tensor/dtype.js';
import { countElements } from '../../tensor/shape.js';
import type { Constant, Graph, Value, ValueId } from '../ir/model.js';
import { byteLengthOf } from '../serde/file-constant.js';
import { describeType } from '../text/describe-type.js';
import { formatElements } from '../text/elements.js';
import { changed, type Difference, type Partners } from './difference.js';

export function diffConstants(before: Graph, after: Graph, partners: Partners): Difference[] {
  const found: Difference[] = [];
  const paired = new Set<ValueId>();
  for (const value of before.values.values()) {
    if (value.constant === undefined) continue;
    const other = partners.get(value.id);
    if (other?.constant === undefined) {
      found.push({ kind: 'removed', what: 'constant', name: value.name, is: describeConstant(value.constant) });
      continue;
    }
    paired.add(other.id);
    found.push(...diffConstant(value, value.constant, other.name, other.constant));
  }
  for (const { id, name, constant } of after.values.values()) {
    if (constant !== undefined && !paired.has(id)) found.push({ kind: 'added', what: 'constant', name, is: describeConstant(constant) });
  }
  return found;
}

const describeConstant = ({ dtype, dims }: Constant): string => describeType({ kind: 'tensor', dtype, dims });

function diffConstant({ name }: Value, before: Constant, otherName: string, after: Constant): Difference[] {
  const types = changed('constant', name, 'type', describeConstant(before), describeConstant(after));
  if (types.length > 0) return types;
  return [
    ...changed('constant', name, 'name', name, otherName),
    ...(hasSameContent(before, after) ? [] : changed('constant', name, 'content', describeContent(before), describeContent(after, before))),
  ];
}

function hasSameContent(a: Constant, b: Constant): boolean {
  if ('data' in a || 'data' in b) return 'data' in a && 'data' in b && a.data.every((text, index) => text === b.data[index]);
  return byteLengthOf(a) === byteLengthOf(b) && Buffer.compare(a.bytes, b.bytes) === 0;
}

/** The number of elements, or of those that differ from another constant of the same type. */
function describeContent(constant: Constant, other?: Constant): string {
  const count = countElements(constant.dims);
  if (other === undefined || !('bytes' in constant) || !('bytes' in other)) return `${count} elements`;
  const [a, b] = [constant.bytes, other.bytes];
  const size = byteLength(constant.dtype, count) / Math.max(1, count);
  if (!Number.isInteger(size)) return `${count} elements with other values`;
  let differing = 0;
  for (let at = 0; at < a.byteLength; at += size) {
    for (let inner = 0; inner < size; inner++) {
      if (a[at + inner] === b[at + inner]) continue;
      differing++;
      break;
    }
  }
  return `${differing} of ${count} elements differ`;
}

/** Maximum number of elements shown. */
const MAX_SHOWN = 8;

/** Type and first elements; for larger constants also the start of the digest. */
export function describeTensor(constant: Constant): string {
  const shown = formatElements(constant, MAX_SHOWN);
  const count = countElements(constant.dims);
  const rest = count <= MAX_SHOWN || 'data' in constant ? '' : `, … ${digestBytes(constant.bytes).slice(0, 12)}`;
  return `${describeConstant(constant)} {${shown.join(', ')}${rest}}`;
}
