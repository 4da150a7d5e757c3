/** Rewrite rule `transpose-push`: a Transpose moves behind elementwise operators, until `merge-transposes` cancels it or the model ends. */
import { ints } from '../../../ir/attribute.js';
import type { Node, ValueId } from '../../../ir/model.js';
import { newConstant, newNode, outputOf, patch, type Ref } from '../../../rewrite/patch.js';
import { op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { ELEMENTWISE_OF_ONE, findPerm, isOneNumber } from '../../shared/transposed.js';

const BINARY = ['Add', 'Sub', 'Mul', 'Div', 'Max', 'Min', 'Pow'];

/** Nodes are visited in order, so one application moves a Transpose behind a whole chain. */
export const pushTranspose: RuleCode = {
  proofText: 'Elementwise operators give the same elements before a transposition as after it.',
  pattern: op([...ELEMENTWISE_OF_ONE, ...BINARY]),
  rewrite(match) {
    const { node } = match;
    const [first, second, ...rest] = node.inputs;
    const isBinary = BINARY.includes(node.opType);
    if (isBinary && rest.length > 0) return decline('it has more than two inputs', node);
    const sources = [first, second].map(input => findTransposed(match, input));
    const source = sources.find(found => found !== undefined);
    if (source === undefined || (!isBinary && sources[0] === undefined))
      return decline('its input does not come from a Transpose that it alone reads', node);
    const inputs = isBinary
      ? [first, second].map((input, index) => sources[index]?.x ?? arrange(match, input, source))
      : [source.x, ...node.inputs.slice(1).map(input => (isOneNumber(match, input) ? input : IMMOVABLE))];
    if (inputs.includes(IMMOVABLE))
      return decline('another input is neither transposed in the same way nor a constant that can be reshaped', node);
    if (sources.some(found => found !== undefined && found.perm.join() !== source.perm.join()))
      return decline('its inputs have different permutations', node);
    const moved = newNode(node.opType, {
      name: node.name,
      inputs: inputs.map(input => (input === IMMOVABLE ? undefined : input)),
      attributes: node.attributes,
    });
    const arranged = newNode('Transpose', {
      name: source.nodes[0]?.name ?? '',
      inputs: [outputOf(moved)],
      attributes: { perm: ints(source.perm) },
    });
    const also = sources.flatMap(found => found?.nodes ?? []);
    return patch({ add: [moved, arranged], replace: [[match.output(), outputOf(arranged)]], also });
  },
};

/** Marks an input that cannot be moved before the Transpose. */
const IMMOVABLE = 'immovable';

/** One Transpose, or a chain of Transposes without other readers. */
interface Transposed {
  /** Last one first. */
  readonly nodes: readonly Node[];
  readonly x: ValueId;
  readonly perm: readonly number[];
}

function findTransposed(match: Match, input: ValueId | undefined): Transposed | undefined {
  return input === undefined ? undefined : findBefore(match, input, match.node);
}

function findBefore(match: Match, input: ValueId, reader: Node): Transposed | undefined {
  const node = match.producerOf(input, 'Transpose');
  const x = node?.inputs[0];
  if (node === undefined || x === undefined || match.soleReader(input) !== reader) return undefined;
  const perm = findPerm(match, node);
  if (perm === undefined) return undefined;
  const before = findBefore(match, x, node);
  if (before === undefined) return { nodes: [node], x, perm };
  return { nodes: [node, ...before.nodes], x: before.x, perm: perm.map(axis => before.perm[axis] ?? axis) };
}

/** A constant operand for use before the Transpose: a single number is kept; a constant that varies along one axis is reshaped. */
function arrange(match: Match, input: ValueId | undefined, { perm }: Transposed): Ref | typeof IMMOVABLE {
  const constant = match.constantOf(input);
  if (input === undefined || constant === undefined || constant.dims.length > perm.length) return IMMOVABLE;
  if (constant.dims.every(dim => dim === 1)) return input;
  const dims = [...Array.from({ length: perm.length - constant.dims.length }, () => 1), ...constant.dims];
  if (dims.filter(dim => dim !== 1).length > 1) return IMMOVABLE;
  const before = perm.map(() => 1);
  for (const [axis, from] of perm.entries()) before[from] = dims[axis] ?? 1;
  return newConstant(match.nameOf(input), { ...constant, dims: before });
}
