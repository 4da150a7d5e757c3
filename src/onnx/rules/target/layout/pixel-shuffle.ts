/** Rewrite rule `pixel-shuffle`: DepthToSpace and SpaceToDepth as Reshape, Transpose, Reshape, and the reverse. */
import { findInts, getInt, getString, int, ints, string } from '../../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findIntegers } from '../../../shape-inference/context/constant-elements.js';
import { newInts } from '../../shared/constants.js';

/** Axes of the six-dimensional view, per operator and mode (ONNX DepthToSpace and SpaceToDepth). */
const DCR = { split: (b: number, c: number) => [b, b, c / (b * b)], perm: [0, 3, 4, 1, 5, 2] };
const CRD = { split: (b: number, c: number) => [c / (b * b), b, b], perm: [0, 1, 4, 2, 5, 3] };
const SPACE_TO_DEPTH = [0, 3, 5, 1, 2, 4];

/** Form `decompose`. */
export const decomposePixelShuffle: RuleCode = {
  proofText: 'ONNX defines both operators as this Reshape, Transpose, Reshape: elements move without change.',
  pattern: op(['DepthToSpace', 'SpaceToDepth'], { inputs: [any('x')] }),
  rewrite(match) {
    const dims = match.type(match.value('x')).dims;
    if (dims?.length !== 4 || !dims.slice(1).every(dim => typeof dim === 'number'))
      return decline('channels, height or width of its input are not known', match.node);
    if (match.opset < 5) return decline('it needs opset 5, from which on Reshape takes its shape as an input', match.node);
    const [, channels = 0, height = 0, width = 0] = dims.map(Number);
    const batch = typeof dims[0] === 'number' ? dims[0] : -1;
    const block = getInt(match.node, 'blocksize', 1);
    const view = viewOf(match, block, { channels, height, width });
    const base = match.nameOf(match.output());
    const { name } = match.node;
    const split = newNode('Reshape', {
      name: name && `${name}/split`,
      inputs: [match.value('x'), newInts(`${base}_split_shape`, [batch, ...view.split])],
    });
    const moved = newNode('Transpose', { name: name && `${name}/move`, inputs: [outputOf(split)], attributes: { perm: ints(view.perm) } });
    const joined = newNode('Reshape', { name, inputs: [outputOf(moved), newInts(`${base}_shape`, [batch, ...view.joined])] });
    return patch({ add: [split, moved, joined], replace: [[match.output(), outputOf(joined)]] });
  },
};

interface View {
  readonly split: readonly number[];
  readonly perm: readonly number[];
  readonly joined: readonly number[];
}

function viewOf({ node }: Match, block: number, { channels, height, width }: { channels: number; height: number; width: number }): View {
  if (node.opType === 'SpaceToDepth') {
    const [rows, columns] = [height / block, width / block];
    return { split: [channels, rows, block, columns, block], perm: SPACE_TO_DEPTH, joined: [channels * block * block, rows, columns] };
  }
  const mode = getString(node, 'mode', 'DCR') === 'CRD' ? CRD : DCR;
  const joined = [channels / (block * block), height * block, width * block];
  return { split: [...mode.split(block, channels), height, width], perm: mode.perm, joined };
}

/** Form `fuse`: the three nodes, with constant shapes, become DepthToSpace or SpaceToDepth. */
export const fusePixelShuffle: RuleCode = {
  proofText: 'The three nodes move the elements as DepthToSpace or SpaceToDepth does.',
  pattern: op('Reshape', {
    inputs: [
      op('Transpose', { name: 'move', inputs: [op('Reshape', { name: 'split', inputs: [any('x'), constant('split')] })] }),
      constant('joined'),
    ],
  }),
  rewrite(match) {
    const dims = match.type(match.value('x')).dims;
    const target = match.type(match.output()).dims;
    const split = findIntegers(match.constant('split'));
    const perm = findInts(match.inner('move'), 'perm')?.join();
    if (dims?.length !== 4 || target?.length !== 4 || split?.length !== 6)
      return decline('it does not reshape from rank 4 to rank 6 and back to rank 4', match.node);
    const built = perm === SPACE_TO_DEPTH.join() ? spaceToDepth(dims, split) : depthToSpace(dims, split, perm);
    if (built === undefined) return decline('it moves other axes or blocks than DepthToSpace and SpaceToDepth', match.node);
    if (built.opType === 'DepthToSpace' && built.mode === 'CRD' && match.opset < 11)
      return decline(`DepthToSpace in mode CRD needs opset 11; the model has ${match.opset}`, match.node);
    const expected = expectedDims(dims.map(Number), built);
    if (!expected.every((dim, index) => dim === target[index + 1]))
      return decline('its result has another shape than that of DepthToSpace or SpaceToDepth', match.node);
    const node = newNode(built.opType, {
      name: match.node.name,
      inputs: [match.value('x')],
      attributes: {
        blocksize: int(built.block),
        ...(built.opType === 'DepthToSpace' && match.opset >= 11 ? { mode: string(built.mode) } : {}),
      },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

interface Shuffle {
  readonly opType: 'DepthToSpace' | 'SpaceToDepth';
  readonly mode: 'DCR' | 'CRD';
  readonly block: number;
}

function spaceToDepth(
  dims: readonly unknown[],
  [, channels, rows = 0, block = 0, columns = 0, across]: readonly number[],
): Shuffle | undefined {
  const fits = channels === dims[1] && rows * block === dims[2] && columns * block === dims[3] && across === block;
  return fits && block > 1 ? { opType: 'SpaceToDepth', mode: 'DCR', block } : undefined;
}

function depthToSpace(dims: readonly unknown[], split: readonly number[], perm: string | undefined): Shuffle | undefined {
  const [, first = 0, second = 0, third = 0, height, width] = split;
  if (height !== dims[2] || width !== dims[3] || first * second * third !== dims[1]) return undefined;
  if (perm === DCR.perm.join() && first === second && first > 1) return { opType: 'DepthToSpace', mode: 'DCR', block: first };
  if (perm === CRD.perm.join() && second === third && second > 1) return { opType: 'DepthToSpace', mode: 'CRD', block: second };
  return undefined;
}

function expectedDims([, channels = 0, height = 0, width = 0]: readonly number[], { opType, block }: Shuffle): readonly number[] {
  return opType === 'DepthToSpace'
    ? [channels / (block * block), height * block, width * block]
    : [channels * block * block, height / block, width / block];
}
