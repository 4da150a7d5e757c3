/** Simplify rule `cancel-transposes`: two opposite Transposes with elementwise operators and Slices between them; the second one goes. */
import type { Node, ValueId } from '../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findIntegers } from '../../shape-inference/context/constant-elements.js';
import { newInts } from '../shared/constants.js';
import { BOUNDS_INPUTS } from '../shared/slice-bounds.js';
import { ELEMENTWISE_OF_ONE, findPerm, isOneNumber } from '../shared/transposed.js';

export const cancelTransposes: RewriteRule = {
  name: 'cancel-transposes',
  proof: 'exact',
  proofText: 'Elementwise operators and Slices between two opposite Transposes give the same elements without both.',
  pattern: op('Transpose', { inputs: [any('x')] }),
  rewrite(match) {
    const chain = findChain(match, match.value('x'));
    if (chain === undefined) return decline('no chain of elementwise operators and Slices leads to a Transpose', match.node);
    const { first, nodes, x } = chain;
    const [before, after] = [findPerm(match, first), findPerm(match, match.node)];
    if (before === undefined || after === undefined || after.some((axis, index) => before[axis] !== index))
      return decline('the two Transposes are not opposite', match.node);
    const added: PatchNode[] = [];
    let last: Ref = x;
    for (const node of nodes) {
      const inputs = node.opType === 'Slice' ? sliceInputs(match, node, before) : node.inputs.slice(1);
      if (inputs === undefined) return decline('the axes of a Slice are not constant', match.node);
      const moved: PatchNode = newNode(node.opType, { name: node.name, inputs: [last, ...inputs], attributes: node.attributes });
      added.push(moved);
      last = outputOf(moved);
    }
    return patch({ add: added, replace: [[match.output(), last]], also: [...nodes, first] });
  },
};

interface Chain {
  readonly first: Node;
  /** In order of computation; nothing else reads their outputs. */
  readonly nodes: readonly Node[];
  /** What the first Transpose reads. */
  readonly x: ValueId;
}

function findChain(match: Match, end: ValueId): Chain | undefined {
  const nodes: Node[] = [];
  for (let value: ValueId | undefined = end; value !== undefined; ) {
    const node = match.producerOf(value);
    if (node === undefined) return undefined;
    const [x] = node.inputs;
    if (node.opType === 'Transpose' && node.domain === '') {
      return x === undefined || nodes.length === 0 ? undefined : { first: node, nodes, x };
    }
    if (!canMove(match, node) || match.isOutput(value) || match.useCount(value) !== 1) return undefined;
    nodes.unshift(node);
    value = x;
  }
  return undefined;
}

function canMove(match: Match, node: Node): boolean {
  if (node.domain !== '' || node.outputs.length !== 1) return false;
  if (node.opType === 'Slice') return match.opset >= BOUNDS_INPUTS;
  return ELEMENTWISE_OF_ONE.includes(node.opType) && node.inputs.slice(1).every(input => isOneNumber(match, input));
}

/** The inputs of the Slice before the Transpose with permutation `perm`, but for the data. */
function sliceInputs(match: Match, node: Node, perm: readonly number[]): readonly (Ref | undefined)[] | undefined {
  const [, starts, ends, axes, steps] = node.inputs;
  const count = starts === undefined ? undefined : match.type(starts).dims?.[0];
  const given = axes === undefined ? undefined : findIntegers(match.constantOf(axes));
  const listed = given ?? (axes === undefined && typeof count === 'number' ? Array.from({ length: count }, (_, axis) => axis) : undefined);
  if (listed === undefined) return undefined;
  const moved = listed.map(axis => perm[axis < 0 ? axis + perm.length : axis] ?? 0);
  return [starts, ends, newInts(`${match.nameOf(match.output())}_axes`, moved), ...(steps === undefined ? [] : [steps])];
}
