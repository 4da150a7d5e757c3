/** The stage `quantize`: models, reports, exclusions, errors. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { int, ints, tensor } from '../../../src/onnx/ir/attribute.js';
import { addNode } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { addSample, encodeModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { parseQuantizationReport } from '../../../src/quant/report/report-entries.js';
import type { Sketch } from '../../../src/quant/sketch/sketch.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { quantize } from '../../../stages/quantize/stage.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, parseParams, runStage } from '../../support/run-stage.js';
import { smallGraph } from '../quant/small-graph.js';

const feeds = (): Record<string, Tensor> => ({
  x: makeTensor(
    'float32',
    [1, 2, 4, 4],
    Float32Array.from({ length: 32 }, (_, i) => Math.sin(i)),
  ),
});

function twoConvs(scale = 1): Model {
  const small = smallGraph();
  small.input('x', [1, 2, 4, 4]);
  small.floats(
    'w',
    [2, 2, 3, 3],
    Array.from({ length: 36 }, (_, i) => scale * Math.cos(i)),
  );
  small.floats('b', [2], [0.5, -0.25]);
  small.node('Conv x w b -> a', { pads: ints([1, 1, 1, 1]) });
  small.node('Relu a -> r');
  small.node('Conv r w b -> c', { pads: ints([1, 1, 1, 1]) });
  small.node('Softmax c -> y');
  small.output('y');
  return small.model;
}

describe('quantize', () => {
  const folder = givenFolder('quantize');
  let model: string;
  let sketches: string;

  beforeAll(async () => {
    model = await write('model.onnx', twoConvs());
    sketches = join(folder.path, 'sketches.json');
    await writeFile(sketches, JSON.stringify(await sketchesOf(twoConvs())));
  });

  async function write(name: string, content: Model): Promise<string> {
    const path = join(folder.path, name);
    await writeModel(path, content);
    return path;
  }

  async function sketchesOf(content: Model): Promise<JsonObject> {
    const sketcher = openSketcher(content, { budgetBytes: 1e9, freeDim: 1 });
    const total = new Map<string, Sketch>();
    addSample(total, await sketcher.sample(feeds()));
    await sketcher.close();
    const values = new Map([...total].map(([address, sketch]) => [address, { name: 'a value', sketch }]));
    return encodeModelSketches({ model: digestModelContent(content), samples: 1, values });
  }

  async function run(params: JsonObject, inputs: { model?: string; sketches?: string } = {}) {
    const { outputs, log } = await runStage(quantize, { params, inputs: { model, sketches, ...inputs }, folder: folder.path });
    const report = JSON.parse(await readFile(outputs.report ?? '', 'utf8'));
    return { path: outputs.model ?? '', model: await readModel(outputs.model ?? ''), report, log };
  }

  const opTypes = ({ graph }: Model) => [...graph.nodes.values()].map(node => node.opType);

  describe('values that calibration did not reach', () => {
    /** The second Conv runs on no row at all: Slice takes rows 0 to 0. */
    function withEmpty(): Model {
      const small = smallGraph();
      small.input('x', [1, 2, 4, 4]);
      const weights = Array.from({ length: 36 }, (_, i) => Math.cos(i));
      small.floats('w', [2, 2, 3, 3], weights);
      small.ints('from', [0]);
      small.ints('to', [0]);
      small.ints('axes', [2]);
      small.node('Conv x w -> a', { pads: ints([1, 1, 1, 1]) });
      small.node('Slice a from to axes -> empty');
      small.node('Relu empty -> none');
      small.node('Add none none -> twice');
      small.output('a');
      small.output('twice');
      return small.model;
    }

    it('stay in float, with a warning that names them', async () => {
      const content = withEmpty();
      const path = join(folder.path, 'empty.json');
      await writeFile(path, JSON.stringify(await sketchesOf(content)));
      const { report, log, model: result } = await run({ preset: 'u8s8' }, { model: await write('empty.onnx', content), sketches: path });
      expect(report.unreached).toEqual(['empty', 'none', 'twice']);
      expect(log).toContain(
        'warning: calibration saw no element of "empty", "none", "twice": the nodes around stay in float; calibrate with samples that reach them',
      );
      expect(report.inFloat).toContainEqual(expect.objectContaining({ opType: 'Add', reason: 'calibration saw no element of "none"' }));
      expect(parseQuantizationReport(report, () => undefined).unreached).toHaveLength(3);
      const session = await openSession(
        await readFile((await run({ preset: 'u8s8' }, { model: await write('again.onnx', content), sketches: path })).path),
        {
          optimization: 'all',
        },
      );
      const outputs = await session.run(feeds());
      await session.close();
      expect(outputs.twice?.dims).toEqual([1, 2, 0, 4]);
      expect(opTypes(result).filter(op => op === 'QuantizeLinear')).not.toHaveLength(0);
    });

    it('are an error only where there is nothing else', async () => {
      const small = smallGraph();
      small.input('x', [0, 2]);
      small.node('Relu x -> y');
      small.output('y');
      const sketcher = openSketcher(small.model, { budgetBytes: 1e9, freeDim: 1 });
      const total = new Map<string, Sketch>();
      addSample(total, await sketcher.sample({ x: makeTensor('float32', [0, 2], new Float32Array(0)) }));
      await sketcher.close();
      const all = new Map([...total].map(([address, sketch]) => [address, { name: 'a value', sketch }]));
      const path = join(folder.path, 'nothing.json');
      await writeFile(path, JSON.stringify(encodeModelSketches({ model: digestModelContent(small.model), samples: 1, values: all })));
      expect(
        await failureOf(async () => run({ preset: 'u8s8' }, { model: await write('nothing.onnx', small.model), sketches: path })),
      ).toMatchObject({
        code: 'no-elements',
      });
    });
  });

  it('gives a model close to the float one, and reports every tensor', async () => {
    const { path, report } = await run({});
    const [float, int8] = [await openSession(model, { optimization: 'all' }), await openSession(path, { optimization: 'all' })];
    const [exact, near] = [await float.run(feeds()), await int8.run(feeds())];
    const worst = Math.max(...[...(exact.y?.data as Float32Array)].map((x, i) => Math.abs(x - ((near.y?.data as Float32Array)[i] ?? 1))));
    // Softmax outputs have steps of 1/255; two quantized convolutions before it add a few steps.
    expect(worst).toBeLessThan(0.03);
    await float.close();
    await int8.close();
    expect(report).toMatchObject({
      samples: 1,
      counts: { nodes: 4, activations: 4, weights: 1, biases: 2, removedActivationFunctions: 1, nodesInFloat: 0 },
    });
    expect(report.activations.map(({ name, dtype }: JsonObject) => [name, dtype])).toEqual([
      ['x', 'uint8'],
      ['r', 'uint8'],
      ['c', 'uint8'],
      ['y', 'uint8'],
    ]);
    expect(report.activations[3]).toMatchObject({ method: 'min-max', range: [0, 1], scale: Math.fround(1 / 255), zeroPoint: 0 });
    expect(report.weights[0]).toMatchObject({ name: 'w', role: 'weight', dtype: 'int8', zeroPoint: [0] });
    expect(report.weights[0].sqnrDb).toBeGreaterThan(40);
    expect(report.removed).toEqual([{ node: 'Relu_r', opType: 'Relu', input: 'a', reason: expect.any(String) }]);
    const warnings: string[] = [];
    expect(parseQuantizationReport(report, message => warnings.push(message))).toEqual(report);
    expect(warnings).toEqual([]);
  });

  it('equal inputs give equal bytes', async () => {
    const [a, b] = [await run({}), await run({})];
    expect((await readFile(a.path)).equals(await readFile(b.path))).toBe(true);
  });

  it.each([
    [{ preset: 'a8w8' }, { activation: { dtype: 'int8', symmetric: true } }],
    [{ activation: { dtype: 'int8' } }, { activation: { dtype: 'int8', symmetric: false } }],
    [
      { weight: { perChannel: true, reduceRange: true } },
      { weight: { dtype: 'int8', symmetric: true, perChannel: true, reduceRange: true } },
    ],
    [{ opTypes: ['Conv'] }, { opTypes: ['Conv'] }],
    [{ activation: { dtype: 'int16' }, qdqDomain: 'com.microsoft' }, { qdqDomain: 'com.microsoft' }],
  ])('%j gives this scheme, and the model runs', async (params, scheme) => {
    const { path, report } = await run(params);
    expect(report.scheme).toMatchObject(scheme);
    const session = await openSession(path, { optimization: 'all' });
    expect((await session.run(feeds())).y?.dims).toEqual([1, 2, 4, 4]);
    await session.close();
  });

  it('excluded nodes stay in float, with the reason in the report', async () => {
    const { report } = await run({ exclude: [{ op: 'Softmax' }, 'Conv_c'] });
    expect(report.inFloat).toEqual([
      { node: 'Conv_c', opType: 'Conv', reason: 'excluded' },
      { node: 'Softmax_y', opType: 'Softmax', reason: 'excluded' },
    ]);
  });

  it('operators that neither the model nor a preset has cause a warning', async () => {
    const { log } = await run({ opTypes: ['Conv', 'Relo', 'Gemm'], placement: { floatOutputs: ['Foo'] } });
    expect(log.filter(line => line.startsWith('warning'))).toEqual([
      'warning: opTypes names Relo, but the model has no such node; did you mean "Relu"?',
      'warning: placement.floatOutputs names Foo, but the model has no such node',
    ]);
  });

  it('a weight in a Constant node is quantized as a weight', async () => {
    const constant = twoConvs();
    const weight = [...constant.graph.values.values()].find(({ name }) => name === 'w');
    if (weight?.constant === undefined) throw new Error('a weight');
    const { constant: content } = weight;
    weight.constant = undefined;
    const [first] = constant.graph.nodes.keys();
    addNode(constant, constant.graph, {
      opType: 'Constant',
      inputs: [],
      outputs: [weight.id],
      attributes: { value: tensor(content) },
      ...(first === undefined ? {} : { before: first }),
    });
    const path = join(folder.path, 'constant-sketches.json');
    await writeFile(path, JSON.stringify(await sketchesOf(constant)));
    const { report } = await run({}, { model: await write('constant.onnx', constant), sketches: path });
    expect(report.weights.map(({ name, role }: JsonObject) => [name, role])).toEqual([['w', 'weight']]);
    expect(report.counts).toEqual((await run({})).report.counts);
  });

  it('an exclusion with matches: any may match nothing', async () => {
    const exclude = [
      { select: { op: 'ConvTranspose' }, matches: 'any' },
      { select: 'Conv_c', matches: 'any' },
    ];
    expect((await run({ exclude })).report.inFloat.map(({ node }: JsonObject) => node)).toEqual(['Conv_c']);
  });

  it('sketches of the same model with other names are accepted', async () => {
    const renamed = twoConvs();
    for (const value of renamed.graph.values.values()) value.name = `renamed ${value.name}`;
    const path = await write('renamed.onnx', renamed);
    expect(opTypes((await run({}, { model: path })).model)).toEqual(opTypes((await run({})).model));
  });

  it.each([
    [
      'sketches of a model with other weights',
      async () => ({ model: await write('other.onnx', twoConvs(2)) }),
      'sketches-of-another-model',
    ],
    ['an already quantized model', async () => ({ model: (await run({})).path }), 'already-quantized'],
    [
      'a sketches file of another format',
      async () => {
        const path = join(folder.path, 'bad.json');
        await writeFile(path, '{"format": "tanren-sketches", "version": 2}');
        return { sketches: path };
      },
      'bad-sketches',
    ],
    [
      'a sketches file that is cut off',
      async () => {
        const path = join(folder.path, 'cut.json');
        await writeFile(path, (await readFile(sketches, 'utf8')).slice(0, 300));
        return { sketches: path };
      },
      'json-malformed',
    ],
  ])('%s is refused', async (_what, inputs, code) => {
    const given = await inputs();
    expect((await failureOf(() => run({}, given))).code).toBe(code);
  });

  it.each([
    ['an exclusion that matches nothing', { exclude: ['Conv_d'] }, 'selector-matches-nothing'],
    ['everything excluded', { exclude: ['*'] }, 'nothing-to-quantize'],
    ['16-bit activations below opset 21', { activation: { dtype: 'int16' } }, 'opset-too-old'],
  ])('%s is refused', async (_what, params, code) => {
    expect((await failureOf(() => run(params))).code).toBe(code);
  });

  it('an unknown preset or setting is refused', () => {
    expect(() => parseParams(quantize, { preset: 'u9s9' })).toThrow();
    expect(() => parseParams(quantize, { weight: { perchannel: true } })).toThrow();
  });

  describe('refine', () => {
    /** Branches of very different sizes, joined by a Concat and an average. */
    const joined = (): Model => {
      const small = smallGraph();
      small.input('x', [1, 2, 4, 4]);
      small.floats('w', [2, 2, 1, 1], [0.01, 0.02, -0.015, 0.01]);
      small.node('Conv x w -> a', { kernel_shape: ints([1, 1]) });
      small.node('Concat x a -> c', { axis: int(1) });
      small.node('GlobalAveragePool c -> y');
      small.output('y');
      return small.model;
    };
    let given: { model: string; sketches: string };
    beforeAll(async () => {
      given = { model: await write('joined.onnx', joined()), sketches: join(folder.path, 'joined.json') };
      await writeFile(given.sketches, JSON.stringify(await sketchesOf(joined())));
    });
    const positionsOf = (report: { activations: { name: string; position: number }[] }): Record<string, number> =>
      Object.fromEntries(report.activations.map(({ name, position }) => [name, position]));

    it.each(['quark', 'joint'])('%s gives a Concat one position and lists each move with its price', async refine => {
      const before = positionsOf((await run({ preset: 'xint8', refine: 'none' }, given)).report);
      const { report, log } = await run({ preset: 'xint8', refine }, given);
      const after = positionsOf(report);
      expect(new Set(Object.values(after)).size).toBe(1);
      const moved = Object.keys(after).filter(name => after[name] !== before[name]);
      expect(moved.length).toBeGreaterThan(0);
      const { moves, unmet } = parseQuantizationReport(report, () => undefined).positions ?? { moves: [], unmet: ['no report'] };
      expect(moves.map(({ name, from, to }) => [name, from, to])).toEqual(moved.sort().map(name => [name, before[name], after[name]]));
      for (const { price, sqnrDbBefore, sqnrDbAfter } of moves) {
        expect(10 ** (-(sqnrDbAfter ?? 0) / 10) - 10 ** (-(sqnrDbBefore ?? 0) / 10)).toBeCloseTo(price, 9);
      }
      expect(unmet).toEqual([]);
      expect(log.join('\n')).toContain(`refine ${refine}: ${moves.length} scales moved for the shifts of the NPU`);
    });

    it('is quark for xint8, and nothing for other scales and presets', async () => {
      expect((await run({ preset: 'xint8' }, given)).report.positions.method).toBe('quark');
      expect((await run({ preset: 'xint8', range: 'mse' }, given)).report.positions).toBeUndefined();
      expect((await run({ preset: 'a8w8' }, given)).report.positions).toBeUndefined();
    });

    it('is refused for scales that are no powers of two', () => {
      expect(() => parseParams(quantize, { preset: 'a8w8', refine: 'joint' })).toThrow(
        'refine: joint moves powers of two: set a power-of-two range and weight.range, or refine none',
      );
    });

    it('moves nothing that the user fixed, and says what is then violated', async () => {
      const overrides = [
        { tensor: 'a', set: { scale: 2 ** -10 } },
        { tensor: 'x', set: { scale: 2 ** -4 } },
      ];
      const { report, log } = await run({ preset: 'xint8', refine: 'joint', overrides }, given);
      expect(positionsOf(report)).toMatchObject({ x: 4, a: 10 });
      expect(report.positions.unmet).toEqual([{ rule: 'position-aligned', node: 'Concat_c', opType: 'Concat' }]);
      expect(log.join('\n')).toContain('Concat "Concat_c" still violates position-aligned: remove the overrides that fix its scales');
    });
  });
});
