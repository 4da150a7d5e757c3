/** Concats of unlike ranges: found from sketches, reported with the fix, and kept in float on request. */
import { digestModelContent } from '../../../src/onnx/analysis/content-digest.js';
import { int } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { addSample, type ModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import { openSketcher } from '../../../src/quant/calibration/sketch-model.js';
import { type QuantizeOptions, quantizeModel } from '../../../src/quant/quantize-model.js';
import { warnOfJoin } from '../../../src/quant/report/describe-joins.js';
import { parseQuantizationReport, type QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import type { Sketch } from '../../../src/quant/sketch/sketch.js';
import { compareArrays, sqnrDbOf } from '../../../src/tensor/compare.js';
import { runModel } from '../../support/look-at-model.js';
import { floats, randomConstant, randomFloats, type SmallModel, smallModel } from '../../support/small-model.js';

const FEEDS = { x: randomFloats([1, 2, 16, 16], 3) };

/** Boxes of ±`far`, and scores of 0 … 1, joined along the channels. */
const joined = (far: number, after: SmallModel['nodes'] = []): Model =>
  smallModel({
    inputs: { x: ['float32', [1, 2, 16, 16]] },
    constants: { factor: floats([], [far]), w: randomConstant([3, 4, 1, 1]) },
    nodes: [
      { op: 'Mul', in: ['x', 'factor'], out: ['boxes'] },
      { op: 'Sigmoid', in: ['x'], out: ['scores'] },
      { op: 'Concat', in: ['boxes', 'scores'], out: ['joined'], attributes: { axis: int(1) } },
      ...after,
    ],
    outputs: [after.at(-1)?.out[0] ?? 'joined'],
  });

const MOVED: SmallModel['nodes'] = [
  { op: 'Flatten', in: ['joined'], out: ['flat'], attributes: { axis: int(2) } },
  { op: 'Transpose', in: ['flat'], out: ['y'] },
];
const COMPUTED: SmallModel['nodes'] = [{ op: 'Conv', in: ['joined', 'w'], out: ['y'] }];

async function quantize(model: Model, options: Partial<QuantizeOptions> = {}): Promise<QuantizationReport> {
  const sketcher = openSketcher(model, { budgetBytes: 1 << 20, freeDim: 1 });
  const total = new Map<string, Sketch>();
  addSample(total, await sketcher.sample(FEEDS));
  await sketcher.close();
  const values: ModelSketches['values'] = new Map([...total].map(([address, sketch]) => [address, { name: '', sketch }]));
  const digest = digestModelContent(model);
  const settings = { scheme: PRESETS.u8s8, exclude: [], domain: 'ai.onnx' as const, ...options };
  const report = quantizeModel(model, digest, { model: digest, samples: 1, values }, settings);
  expect(parseQuantizationReport(JSON.parse(JSON.stringify(report)), message => expect(message).toBe('no warning'))).toEqual(
    JSON.parse(JSON.stringify(report)),
  );
  return report;
}

/** SQNR in dB of the scores, which are the second half of the output. */
async function scoresSqnr(model: Model, reference: Model): Promise<number> {
  const scores = async (of: Model): Promise<Float32Array> => {
    const [y] = Object.values(await runModel(of, FEEDS));
    const data = y?.data as Float32Array;
    return y?.dims.length === 2 ? data.filter((_, at) => at % 4 >= 2) : data.subarray(data.length / 2);
  };
  return sqnrDbOf(compareArrays(await scores(reference), await scores(model)));
}

describe('a Concat of unlike ranges', () => {
  it('is reported with ranges and losses, and loses the smaller values at one scale', async () => {
    const model = joined(400);
    const { joins = [] } = await quantize(model);
    expect(joins).toMatchObject([
      {
        node: 'joined',
        output: 'joined',
        inputs: [
          { name: 'boxes', dataRange: [expect.closeTo(-400, -1), expect.closeTo(400, -1)], sqnrDb: expect.closeTo(48, -1) },
          { name: 'scores', sqnrDb: expect.any(Number), ownSqnrDb: expect.any(Number) },
        ],
        separable: true,
        separated: false,
      },
    ]);
    expect(joins[0]?.inputs[1]?.sqnrDb).toBeLessThan(3);
    expect(joins[0]?.inputs[1]?.ownSqnrDb).toBeGreaterThan(45);
    expect(await scoresSqnr(model, joined(400))).toBeLessThan(3);
  });

  it('names the values, the loss and the fix in one sentence', async () => {
    const [join] = (await quantize(joined(400))).joins ?? [];
    expect(join === undefined ? '' : warnOfJoin(join, 8)).toMatch(
      /^Concat "joined" joins values of unlike ranges: "boxes" \(-[\d.]+ … [\d.]+\), "scores" \(0\.\d+ … 0\.\d+\); 8 bits at one scale leave "scores" -?[\d.]+ dB, at its own [\d.]+ dB: quantize with `joins: separate` keeps a scale for each$/,
    );
  });

  it('is explained by the value that loses most to the shared scale, not by one that is coarse at any', () => {
    const input = (name: string, sqnrDb: number, ownSqnrDb: number) => ({ name, dataRange: [-1, 1], sqnrDb, ownSqnrDb });
    const inputs = [input('coarse', 15, 15), input('small', 20, 45)];
    const text = warnOfJoin({ node: 'joined', output: 'y', inputs, separable: true, separated: false }, 8);
    expect(text).toContain('8 bits at one scale leave "small" 20 dB, at its own 45 dB');
  });

  it('stays in float with `joins: separate`, with all that only moves its result, and every input keeps its scale', async () => {
    const model = joined(400, MOVED);
    const { joins = [], inFloat } = await quantize(model, { joins: 'separate' });
    expect(joins).toMatchObject([{ separable: true, separated: true }]);
    expect(inFloat.map(({ node }) => node)).toEqual(['joined', 'flat', 'y']);
    expect(await scoresSqnr(model, joined(400, MOVED))).toBeGreaterThan(40);
  });

  it('is not separable if a node computes with its result: the fix is 16 bits', async () => {
    const { joins = [], inFloat } = await quantize(joined(400, COMPUTED), { joins: 'separate' });
    expect(joins).toMatchObject([{ separable: false, separated: false }]);
    expect(inFloat).toEqual([]);
    const [join] = joins;
    expect(join === undefined ? '' : warnOfJoin(join, 8)).toMatch(/overrides: \[\{tensor: "joined", set: \{dtype: int16\}\}\]/);
  });

  it.each<[string, Model, Partial<QuantizeOptions>]>([
    ['like ranges', joined(2), {}],
    ['16 bits', joined(400), { scheme: PRESETS.a16w8, domain: 'com.microsoft' }],
    [
      'a result of 16 bits by an override',
      joined(400),
      { overrides: [{ tensor: 'joined', set: { dtype: 'uint16' } }], domain: 'com.microsoft' },
    ],
    ['an excluded Concat', joined(400), { exclude: ['joined'] }],
  ])('is not found: %s', async (_, model, options) => {
    expect((await quantize(model, options)).joins).toBeUndefined();
  });
});
