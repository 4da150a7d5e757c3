/** Propagated errors against one ONNX Runtime session per model with every value as an output, and scalar sums. */

import { digestModelContent } from '../../../../src/onnx/analysis/content-digest.js';
import { ints } from '../../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import { getValue } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { addSample } from '../../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../../src/quant/calibration/sketch-model.js';
import { addressValues } from '../../../../src/quant/calibration/value-address.js';
import { openValueComparer } from '../../../../src/quant/compare/compare-values.js';
import { matchValues } from '../../../../src/quant/compare/match-values.js';
import { findPropagatedErrors } from '../../../../src/quant/compare/propagated-error.js';
import { quantizeModel } from '../../../../src/quant/quantize-model.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import type { Sketch } from '../../../../src/quant/sketch/sketch.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

/** Conv and Relu, a branch, and a join, with a Shape whose int64 values are not compared. */
const floatModel = (): Model =>
  smallModel({
    inputs: { x: ['float32', [2, 3, 9, 9]] },
    constants: { w: randomConstant([4, 3, 3, 3], 3), b: randomConstant([4], 4), v: randomConstant([4, 4, 1, 1], 5) },
    nodes: [
      { op: 'Conv', in: ['x', 'w', 'b'], out: ['a'], attributes: { pads: ints([1, 1, 1, 1]) } },
      { op: 'Relu', in: ['a'], out: ['r'] },
      { op: 'Conv', in: ['r', 'v'], out: ['c'] },
      { op: 'Sigmoid', in: ['r'], out: ['s'] },
      { op: 'Mul', in: ['c', 's'], out: ['m'] },
      { op: 'Shape', in: ['m'], out: ['n'] },
      { op: 'Reshape', in: ['m', 'n'], out: ['y'] },
    ],
    outputs: ['y'],
  });

const samples = [1, 2, 3].map(seed => ({ x: randomFloats([2, 3, 9, 9], seed) }));

async function quantized(): Promise<Model> {
  const model = floatModel();
  const sketcher = openSketcher(model, { budgetBytes: 1 << 20, freeDim: 1 });
  const total = new Map<string, Sketch>();
  for (const feeds of samples) addSample(total, await sketcher.sample(feeds));
  await sketcher.close();
  const names = new Map([...addressValues(model)].map(([id, address]) => [address, getValue(model.graph, id).name]));
  const digest = digestModelContent(model);
  const values = new Map([...total].map(([address, sketch]) => [address, { name: names.get(address) ?? '', sketch }]));
  quantizeModel(
    model,
    digest,
    { model: digest, samples: samples.length, values },
    { scheme: PRESETS.u8s8, exclude: [], domain: 'ai.onnx' },
  );
  return model;
}

/** Every float32 value of a model for one sample, by name, read as model outputs. */
async function allValues(model: Model, feeds: (typeof samples)[number]): Promise<Readonly<Record<string, Float32Array>>> {
  const open = cloneModel(model);
  const { graph } = open;
  graph.outputs = [...graph.nodes.values()].flatMap(node => node.outputs.filter(id => id !== undefined));
  const session = await openSession(encodeModel(open), { optimization: 'disabled' });
  const results = { ...(await session.run(feeds)), ...feeds };
  await session.close();
  return Object.fromEntries(
    Object.entries(results).flatMap(([name, { dtype, data }]) => (dtype === 'float32' ? [[name, data as Float32Array]] : [])),
  );
}

async function compare(budgetBytes: number) {
  const comparer = openValueComparer(floatModel(), await quantized(), { budgetBytes, freeDim: 1 });
  for (const feeds of samples) await comparer.compare(feeds);
  const errors = comparer.conclude('part');
  await comparer.close();
  return errors;
}

describe('propagated errors', () => {
  it('a quantized value is compared after DequantizeLinear', async () => {
    const other = await quantized();
    const { pairs, unmatched } = matchValues(floatModel(), other);
    const byName = Object.fromEntries(pairs.map(pair => [pair.original.name, pair.other.name]));
    expect(byName).toMatchObject({
      x: 'x_DequantizeLinear_Output',
      r: 'r_DequantizeLinear_Output',
      c: 'c_DequantizeLinear_Output',
      s: 's_DequantizeLinear_Output',
      y: 'y',
    });
    // The Relu was fused into the Conv.
    expect(unmatched.map(value => value.name)).toEqual(['a']);
  });

  it('values of two quantized models are compared by name', async () => {
    const other = await quantized();
    const { pairs, unmatched } = matchValues(other, cloneModel(other), 'as-computed');
    expect(pairs.filter(pair => pair.original.name !== pair.other.name)).toEqual([]);
    expect(pairs.length).toBeGreaterThan(8);
    expect(unmatched).toEqual([]);
  });

  it('figures equal scalar sums over all samples', async () => {
    const errors = await compare(1 << 20);
    const other = await quantized();
    const pairs: [string, string][] = errors.values.map(({ value, comparedWith }) => [value, comparedWith]);
    expect(pairs.map(([value]) => value)).toEqual(['x', 'r', 'c', 's', 'm', 'y']);
    const runs: [Readonly<Record<string, Float32Array>>, Readonly<Record<string, Float32Array>>][] = [];
    for (const feeds of samples) runs.push([await allValues(floatModel(), feeds), await allValues(other, feeds)]);
    for (const [index, [value, comparedWith]] of pairs.entries()) {
      const a = runs.flatMap(([left]) => [...(left[value] ?? [])]);
      const b = runs.flatMap(([, right]) => [...(right[comparedWith] ?? [])]);
      expect(a.length).toBe(b.length);
      const sum = (of: (x: number, i: number) => number) => a.reduce((total, x, i) => total + of(x, i), 0);
      const noise = sum((x, i) => (x - (b[i] ?? 0)) ** 2);
      const mean = sum(x => x) / a.length;
      const found = errors.values[index];
      expect(found?.elements).toBe(a.length);
      expect(found?.maxAbs).toBe(Math.max(...a.map((x, i) => Math.abs(x - (b[i] ?? 0)))));
      // Sums in double, in another order: 1e-9 relative.
      expect(found?.sqnrDb).toBeCloseTo(10 * Math.log10(sum(x => x * x) / noise), 8);
      expect(found?.standardDeviation).toBeCloseTo(Math.sqrt(sum(x => (x - mean) ** 2) / a.length), 9);
      expect(found?.sqnrDb).toBeGreaterThan(20);
    }
  });

  it('do not depend on the segments', async () => {
    expect(await compare(1)).toEqual(await compare(1 << 20));
  });

  it('are the same after encoding and decoding', async () => {
    const errors = await compare(1 << 20);
    const report = JSON.parse(JSON.stringify({ values: {}, propagated: [errors] }));
    expect(findPropagatedErrors(report)).toEqual([errors]);
    expect(findPropagatedErrors({ values: {} })).toBeUndefined();
    expect(() => findPropagatedErrors({ propagated: [{ part: 'x' }] })).toThrow('should be');
  });

  it('are zero for a model against itself, also after renaming', async () => {
    const renamed = floatModel();
    for (const [index, value] of [...renamed.graph.values.values()].entries()) value.name = `v${index}`;
    const comparer = openValueComparer(floatModel(), renamed, { budgetBytes: 1, freeDim: 1 });
    for (const feeds of samples) await comparer.compare(feeds);
    const { values, unmatched } = comparer.conclude('part');
    await comparer.close();
    expect(unmatched).toEqual([]);
    expect(values.map(({ value, maxAbs, sqnrDb }) => [value, maxAbs, sqnrDb])).toEqual(
      ['x', 'a', 'r', 'c', 's', 'm', 'y'].map(value => [value, 0, 'equal']),
    );
  });
});
