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

describe('the list of objects', () => {
  const side = (score: number, more: object = {}) => ({ box: [0, 0, 1, 1], category: '1', score, crowd: false, ...more });
  const nameOf = () => 'square';

  it('has scores of masks where masks have their own', async () => {
    const render = await loadComponent('results/object-table.js', 'ObjectTable');
    const shown = (left: object, right: object) =>
      textOf(render({ shown: [{ index: 0, kind: 'changed', left, right, iou: 0.5 }], nameOf }));
    expect(shown(side(0.5), side(0.25))).toMatch(/Left Right IoU .*square changed 0\.500 0\.250 0\.500/);
    expect(shown(side(0.5, { maskScore: 0.375 }), side(0.25, { maskScore: 0.125 }))).toMatch(
      /Left Right Mask score, left Mask score, right IoU .*square changed 0\.500 0\.250 0\.375 0\.125 0\.500/,
    );
  });
});
