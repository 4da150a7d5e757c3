/** Rows of a constant table, which take its scale: what they cost, whether a search moves them, and in rules of positions. */
import { planQuantization } from '../../../src/quant/placement/plan-quantization.js';
import { checkEffect, resolveOverrides } from '../../../src/quant/placement/resolve-overrides.js';
import { findPositionProblem } from '../../../src/quant/positions/find-problem.js';
import { cutSearchBlocks } from '../../../src/quant/range-search/search-blocks.js';
import { findSearchedTensors } from '../../../src/quant/range-search/searched-tensors.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { measureStepErrors } from '../../../src/quant/sensitivity/error-flow.js';
import { findSteps } from '../../../src/quant/sensitivity/find-steps.js';
import { findWideBlocks } from '../../../src/quant/widening/wide-blocks.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { dpuLimits } from '../../support/position-graphs.js';
import { quantizeAndReport } from '../../support/quantize-small.js';
import { randomConstants, randomFloats, smallModel } from '../../support/small-model.js';
import { rangesOf, type SmallGraph, smallGraph, valueNamed } from './small-graph.js';

/** Two of five rows of four elements, plus an input. */
async function rowsOfTable() {
  const float = smallModel({
    inputs: { x: ['float32', [2, 4]], at: ['int64', [2]] },
    constants: randomConstants({ table: [5, 4] }),
    nodes: [
      { op: 'Gather', in: ['table', 'at'], out: ['rows'] },
      { op: 'Add', in: ['rows', 'x'], out: ['y'] },
    ],
    outputs: ['y'],
  });
  const feeds = { x: randomFloats([2, 4], 3), at: makeTensor('int64', [2], BigInt64Array.of(1n, 4n)) };
  const { model, report } = await quantizeAndReport(float, feeds, PRESETS.u8s8);
  const models = findSteps(float, model);
  return { models, report, errors: await measureStepErrors(models, [async () => feeds]) };
}

it.each([
  ['int16', 8 + 20, 8],
  ['float', 3 * (8 + 20), 3 * 8],
] as const)('as %s, wider rows cost the bytes of their table too', async (to, ofTable, ofInput) => {
  const { blocks } = findWideBlocks({ ...(await rowsOfTable()), to, cost: 'bytes' });
  const table = blocks.find(({ name }) => name === 'table');
  expect(table?.tensors).toEqual(['table', 'rows']);
  expect([...(table?.items.values() ?? [])]).toEqual([ofTable]);
  expect([...(blocks.find(({ name }) => name === 'x')?.items.values() ?? [])]).toEqual([ofInput]);
});

it('a search of ranges lists the rows among what it leaves alone', async () => {
  const { models, report } = await rowsOfTable();
  const { byBlock, skipped } = findSearchedTensors({ models, blocks: cutSearchBlocks(models, 4), report, weights: true });
  expect(skipped).toEqual(['rows']);
  expect(
    byBlock
      .flat()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(['x', 'y']);
});

/** One row of three is added to an input. */
function tableGraph(): SmallGraph {
  const small = smallGraph();
  small.input('x', [1, 2]);
  small.floats('table', [3, 2], [-2, 0.5, 1, 0.25, 0.75, 1]);
  small.ints('at', [1]);
  small.node('Gather table at -> rows');
  small.node('Add rows x -> y');
  small.output('y');
  return small;
}

it('an override of the rows says what can be set of the table', () => {
  const { model } = tableGraph();
  const observations = rangesOf(model, { low: -1, high: 1 });
  const plan = planQuantization(model.graph, { scheme: PRESETS.u8s8, observations, excluded: new Set() });
  const check = (tensor: string): void =>
    checkEffect(model.graph, plan, resolveOverrides(model.graph, [{ tensor, set: { dtype: 'uint16' } }], PRESETS.u8s8));
  expect(() => check('rows')).toThrow(
    'it takes scale and zero point from "table", a constant: there, set `dtype`, `symmetric`, `reduceRange`, `scale`, a fixed `range`',
  );
  expect(() => check('table')).not.toThrow();
});

it('rules of positions tie the table where nodes read its rows', () => {
  const small = tableGraph();
  const { graph } = small.model;
  const observations = rangesOf(small.model, { low: -1, high: 1 });
  const plan = planQuantization(graph, { scheme: PRESETS.xint8, observations, excluded: new Set() });
  const { tensors, rules } = findPositionProblem(graph, plan, { limits: dpuLimits(), observations, settings: new Map() });
  const read = rules.find(({ kind }) => kind === 'shift-read');
  const inputs = read?.kind === 'shift-read' ? read.inputs.map(index => tensors[index]) : [];
  expect(inputs).toEqual([
    { value: valueNamed(small.model, 'table').id, role: 'weight' },
    { value: valueNamed(small.model, 'x').id, role: 'activation' },
  ]);
});
