/** Sections of the view "Report", as its markup. */
import { textOf } from '../../support/read-markup.js';
import { loadComponent } from '../../support/render-component.js';

describe('the section "Cost per layer"', () => {
  const layer = (name: string, share: number) => ({
    values: [name],
    nodes: [{ name, opType: 'Conv' }],
    ownSqnrDb: 20.5,
    share,
    shares: {},
  });
  const value = {
    format: 'tanren-sensitivity/1',
    samples: 4,
    outputs: [{ name: 'boxes', noise: 1, sqnrDb: 31.25 }],
    layers: [{ ...layer('a', 0.25), alone: { cost: 0.4, outputs: [] } }, layer('b', 0.75)],
  };

  it('has of each layer what was measured beside its share to first order, and the SQNR of each output', async () => {
    const render = await loadComponent('report/sensitivity.js', 'Sensitivity');
    const text = textOf(render({ sensitivity: [{ name: 'backbone', stage: undefined, value }] }));
    expect(text).toContain('2 layers on 4 samples. SQNR of the outputs: boxes 31.3 dB.');
    expect(text).toMatch(/a Conv 40\.0\s% 25\.0\s% 20\.5 overrides/);
    expect(text).toMatch(/b Conv – 75\.0\s% 20\.5 overrides/);
  });
});

describe('the bars of costs', () => {
  const layer = (name: string, share: number, cost?: number) => ({
    values: [name],
    nodes: [],
    ownSqnrDb: 20,
    share,
    shares: {},
    ...(cost === undefined ? {} : { alone: { cost, outputs: [] } }),
  });
  const draw = async (layers: readonly object[]) =>
    (await loadComponent('report/cost-bars.js', 'CostBars'))({ layers, nameOf: ({ values }: { values: string[] }) => values[0] });

  it('have the cost of each layer as text and length, and tell measured ones from shares', async () => {
    const markup = await draw([layer('a', 0.2, 0.5), layer('b', 0.25), layer('c', 0.1, -0.0004)]);
    const bars = [...markup.matchAll(/class="cost ([a-z-]+)"><title>([^<]+)<.*?width="([\d.]+)"/g)].map(([, look, title, width]) => [
      look,
      title?.replace(/\s/g, ' '),
      Math.round(Number(width)),
    ]);
    // 0.0004 below zero has no length, and 420 pixels have 0.5004.
    expect(bars).toEqual([
      ['measured', 'a: 50.0 %, measured', 420],
      ['first-order', 'b: 25.0 %, share to first order', 210],
      ['measured', 'c: 0.0 %, measured', 1],
    ]);
  });

  it('are at most 16, the first ones', async () => {
    const markup = await draw(Array.from({ length: 40 }, (_, index) => layer(`v${index}`, 1 / (index + 1))));
    expect(markup.match(/class="cost /g)).toHaveLength(16);
    expect(markup).toContain('Cost of the 16 most expensive of 40 layers. First: v0');
    expect(await draw([])).toBe('');
  });
});

describe('a connected sweep', () => {
  const configuration = (number: number, preset: string, ap: number, sizeBytes: number, onFront: boolean) => ({
    number,
    params: { preset },
    status: 'built',
    onFront,
    metrics: { 'eval.AP': ap, 'eval.AP50': ap },
    gatesMissed: [],
    problems: [],
    sizeBytes,
  });
  const sweep = {
    pipeline: 'pipeline',
    axes: [{ name: 'preset', sets: 'preset', values: ['xint8', 'a8w8'] }],
    objectives: [
      { metric: 'eval.AP', goal: 'maximize' },
      { metric: 'eval.AP50', goal: 'maximize' },
      { metric: 'size', goal: 'minimize' },
    ],
    configurations: [
      configuration(1, 'a16w8', 0.7, 200, true),
      configuration(2, 'xint8', 0.6, 100, true),
      configuration(3, 'a8w8', 0.5, 150, false),
    ],
  };

  it('is drawn without a script: accuracy over size, with the values of those on the front', async () => {
    const markup = (await loadComponent('report/swept.js', 'Swept'))({ sweeps: [{ name: 'presets', stage: undefined, value: sweep }] });
    expect(markup).toContain('eval.AP over size of 3; 2 are on the Pareto front');
    expect(markup.match(/class="dot best"/g)).toHaveLength(2);
    expect(markup.match(/class="dot"/g)).toHaveLength(1);
    expect([...markup.matchAll(/<text class="soft-text"[^>]*>(xint8|a8w8|a16w8)</g)].map(([, name]) => name)).toEqual(['xint8', 'a16w8']);
    expect(markup).not.toContain('role="button"');
  });
});

describe('the section "Quantization"', () => {
  const activation = (name: string) => ({ name, method: 'min-max', range: [0, 1], dtype: 'uint8', scale: 1, zeroPoint: 0, sqnrDb: 30 });
  const quantized = (...names: readonly string[]) => ({
    scheme: {},
    samples: 1,
    counts: {},
    activations: names.map(activation),
    weights: [],
    biases: [],
    removed: [],
    fused: [],
    inFloat: [],
    accumulators: [],
  });
  const costs = (name: string, layers: readonly object[]) => ({
    name,
    stage: undefined,
    value: { format: 'tanren-sensitivity/1', samples: 1, outputs: [], layers },
  });
  const layer = (name: string, share: number, cost?: number) => ({
    values: [name],
    nodes: [],
    ownSqnrDb: 20,
    share,
    shares: {},
    ...(cost === undefined ? {} : { alone: { cost, outputs: [] } }),
  });

  it('names the dearest measured value with its share and basis, and has no links of a source', async () => {
    const render = await loadComponent('report/quantized.js', 'Quantized');
    const markup = render({
      results: {
        pipeline: { stages: [] },
        verify: [],
        quantization: [{ name: 'head', stage: undefined, value: quantized('input', 'x', 'y') }],
        sensitivity: [costs('backbone', [layer('input', 0.99)]), costs('head', [layer('x', 0.9), layer('y', 0.1, 0.3)])],
      },
    });
    expect(textOf(markup)).toMatch(/y 30\.0\s% measured$/);
    expect(markup).not.toContain('<a ');
  });
});

describe('the section "Verification"', () => {
  const comparison = { sqnrDb: 20, cosine: 0.99, maxAbs: 0.5 };
  const error = (value: string, sqnrDb: number) => ({
    value,
    comparedWith: value,
    node: value,
    opType: 'Conv',
    standardDeviation: 1,
    ...comparison,
    sqnrDb,
  });
  const step = (...parts: readonly object[]) => ({
    name: 'quantize',
    stage: undefined,
    value: { values: { out: comparison }, propagated: parts },
  });
  const part = (name: string, ...values: readonly object[]) => ({ part: name, samples: 2, values, unmatched: ['gone'] });
  const quantized = (name: string, ...values: readonly string[]) => ({
    name,
    stage: undefined,
    value: { activations: values.map(value => ({ name: value })), fused: [] },
  });
  const draw = async (quantization: readonly object[], verify: readonly object[]) =>
    (await loadComponent('report/verification.js', 'Verification'))({ results: { pipeline: { stages: [] }, verify, quantization } });

  it('has inner values of models whose ranges no report tells, with the lowest by name and a chart', async () => {
    const verify = [step(part('backbone', error('a', 30), error('b', 12.5), error('c', 20)), part('head', error('x', 9)))];
    const markup = await draw([quantized('head', 'x')], verify);
    const text = textOf(markup);
    expect(text).toContain('Inner values, quantize');
    expect(text).toContain('backbone: 3 values on 2 samples, against the model before the step; 1 has no counterpart');
    expect(text).toContain('Lowest: b 12.5 dB , c 20.0 dB , a 30.0 dB .');
    expect(markup).toContain('Errors of 3 values; the lowest propagated SQNR is 12.5 dB');
    expect(text).toMatch(/b Conv 12\.5 0\.990000 0\.5/);
    // The view "Quantization" has those of the head.
    expect(text).not.toContain('head: ');
  });

  it('has none where the view "Quantization" shows all', async () => {
    const verify = [step(part('backbone', error('a', 30), error('b', 12.5)))];
    expect(textOf(await draw([quantized('backbone', 'a', 'b')], verify))).not.toContain('Inner values');
  });
});

describe('the list of objects', () => {
  const side = (score: number, more: object = {}) => ({ box: [0, 0, 1, 1], category: '1', score, crowd: false, ...more });
  const nameOf = () => 'square';

  it('has scores of masks where masks have their own', async () => {
    const render = await loadComponent('results/object-table.js', 'ObjectTable');
    const shown = (left: object, right: object) =>
      textOf(render({ shown: [{ index: 0, kind: 'changed', left, right, iou: 0.5 }], nameOf }));
    expect(shown(side(0.5), side(0.25))).toMatch(/^Object No\. What Left Right IoU square 1 changed 0\.500 0\.250 0\.500/);
    expect(shown(side(0.5, { maskScore: 0.375 }), side(0.25, { maskScore: 0.125 }))).toMatch(
      /Left Right Mask score, left Mask score, right IoU square 1 changed 0\.500 0\.250 0\.375 0\.125 0\.500/,
    );
  });
});
