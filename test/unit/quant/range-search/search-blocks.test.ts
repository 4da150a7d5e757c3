/** Blocks of a network whose ranges are searched together. */
import type { Model } from '../../../../src/onnx/ir/model.js';
import { cutSearchBlocks } from '../../../../src/quant/range-search/search-blocks.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { findSteps } from '../../../../src/quant/sensitivity/find-steps.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { randomConstants, randomFloats, smallModel } from '../../../support/small-model.js';

const IMAGE = [1, 4, 6, 6];
const conv = (name: string, input: string) => ({ op: 'Conv', name, in: [input, `w_${name}`], out: [name] });

/** Convs `names` with 4 channels, and the nodes of each case. */
async function blocksOf(
  convs: Readonly<Record<string, string>>,
  others: Parameters<typeof smallModel>[0]['nodes'],
  outputs: string[],
  most: number,
) {
  const names = Object.keys(convs);
  const weights = Object.fromEntries(names.map(name => [`w_${name}`, [4, 4, 1, 1]]));
  const nodes = [...Object.entries(convs).map(([name, input]) => conv(name, input)), ...others];
  const float: Model = smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: randomConstants(weights),
    nodes: sortNodes(nodes),
    outputs,
  });
  const quantized = await quantizeOn(float, { x: randomFloats(IMAGE, 3) }, PRESETS.u8s8);
  return cutSearchBlocks(findSteps(float, quantized), most).map(({ steps, ends }) => [
    steps.map(({ value }) => value.name),
    ends.map(({ value }) => value.name),
  ]);
}

/** Nodes after what they read. */
function sortNodes(nodes: Parameters<typeof smallModel>[0]['nodes']): typeof nodes {
  const made = new Set(['x']);
  const open = [...nodes];
  const sorted: (typeof open)[number][] = [];
  while (open.length > 0) {
    const index = open.findIndex(node => node.in.every(name => made.has(name) || name.startsWith('w_')));
    const [node] = open.splice(index, 1);
    if (node === undefined) break;
    sorted.push(node);
    for (const name of node.out) made.add(name);
  }
  return sorted;
}

it('a chain is cut behind every layer', async () => {
  expect(await blocksOf({ a: 'x', b: 'a', y: 'b' }, [], ['y'], 4)).toEqual([
    [['x', 'a'], ['a']],
    [['b'], ['b']],
    [['y'], ['y']],
  ]);
});

it('a residual block stays together, up to its sum', async () => {
  const sums = [{ op: 'Add', name: 's', in: ['b', 'first'], out: ['s'] }];
  expect(await blocksOf({ first: 'x', a: 'first', b: 'a', y: 's' }, sums, ['y'], 4)).toEqual([
    [['x', 'first'], ['first']],
    [['a', 'b', 's'], ['s']],
    [['y'], ['y']],
  ]);
});

it('a block has at most the given number of layers, and ends with all values that are read behind it', async () => {
  const sums = [{ op: 'Add', name: 's', in: ['c', 'first'], out: ['s'] }];
  expect(await blocksOf({ first: 'x', a: 'first', b: 'a', c: 'b', y: 's' }, sums, ['y'], 2)).toEqual([
    [['x', 'first'], ['first']],
    [['a', 'b'], ['b']],
    [['c'], ['c']],
    [['s', 'y'], ['y']],
  ]);
});

it('outputs of the network are ends', async () => {
  expect(await blocksOf({ a: 'x', b: 'a', c: 'a' }, [], ['a', 'b', 'c'], 4)).toEqual([
    [['x', 'a'], ['a']],
    [
      ['b', 'c'],
      ['b', 'c'],
    ],
  ]);
});
