import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';
import type { Plan } from '../../../../src/engine/model/plan.js';
import { combine } from '../../../../src/engine/sweep/configurations.js';
import { describeTarget, type GivenAxis, resolveAxes } from '../../../../src/engine/sweep/resolve-axis.js';
import { quantize } from '../../../../stages/quantize/stage.js';
import { planText, smallRegistry } from '../../../support/pipeline-file.js';

const registry = {
  ...smallRegistry,
  find: (name: string) =>
    name === 'quantize' ? { name, plugin: quantize, modulePath: '/q.js', origin: 'built-in' as const } : smallRegistry.find(name),
};

const TEXT = `version: 1
params: {mode: fast, count: 2}
sources: {model: m.onnx, sketches: s.json}
stages:
  a: {uses: make, foreach: [x, v1.5], with: {mode: "\${mode}", size: "\${count}"}}
  other: {uses: judge, inputs: {model: a@x.model}}
  quantize: {uses: quantize, inputs: {model: "\${sources.model}", sketches: "\${sources.sketches}"}}
`;

async function planOf(text = TEXT): Promise<Plan> {
  const { plan, diagnostics } = await planText(text, { builtIn: registry });
  if (plan === undefined) throw new Error(JSON.stringify(diagnostics));
  return plan;
}

const given = (address: string, ...values: readonly string[]): GivenAxis => ({ address, values: values.map(text => ({ text })) });

async function resolve(axes: readonly GivenAxis[], text = TEXT) {
  const diagnostics = makeDiagnosticList();
  return { axes: resolveAxes(axes, await planOf(text), diagnostics), diagnostics: diagnostics.items };
}

describe('the address of an axis', () => {
  it.each([
    ['mode', 'parameter mode'],
    ['a.mode', 'a.mode'],
    ['a@x.mode', 'a@x.mode'],
    ['a@v1.5.mode', 'a@v1.5.mode'],
    ['size', 'a.size'],
    ['range', 'quantize.range'],
    ['weight.range', 'quantize.weight.range'],
  ])('%s is %s', async (address, target) => {
    const { axes, diagnostics } = await resolve([given(address, '1')]);
    expect(diagnostics).toEqual([]);
    expect(axes.map(describeTarget)).toEqual([target]);
  });

  it('a setting that two stages have is ambiguous', async () => {
    const text = TEXT.replace('other: {uses: judge, inputs: {model: a@x.model}}', 'b: {uses: make}');
    const { axes, diagnostics } = await resolve([given('size', '1')], text);
    expect(axes).toEqual([]);
    expect(diagnostics).toMatchObject([{ code: 'ambiguous-axis', help: 'write a.size or b.size' }]);
  });

  it.each([
    ['rang', 'did you mean "range"?'],
    ['quantise.range', 'did you mean "quantize"?'],
  ])('%s is unknown, with help', async (address, help) => {
    expect((await resolve([given(address, '1')])).diagnostics).toMatchObject([{ code: 'unknown-axis', help }]);
  });

  it('two axes cannot set the same value', async () => {
    const { diagnostics } = await resolve([given('a.mode', 'fast'), given('a@x.mode', 'exact'), given('a@x.size', '2')]);
    expect(diagnostics.map(({ message }) => message)).toEqual(['"a.mode" and "a@x.mode" set the same setting']);
  });
});

describe('the values of a setting', () => {
  it.each([
    ['mse', 'mse'],
    ['percentile:99.9', { kind: 'percentile', percentile: 99.9 }],
    ['mse:200', { kind: 'mse', candidates: 200 }],
    ['{kind: percentile, percentile: 99, sides: each}', { kind: 'percentile', percentile: 99, sides: 'each' }],
    ['min-max:3', 'min-max:3'],
  ])('%s', async (text, value) => {
    expect((await resolve([given('quantize.range', text)])).axes[0]?.values).toEqual([{ label: text, value }]);
  });

  it('are numbers, lists and truth values as in YAML', async () => {
    const { axes } = await resolve([given('a.size', '3'), given('quantize.exclude', '[{tensor: "x"}]')]);
    expect(axes.map(({ values }) => values[0]?.value)).toEqual([3, [{ tensor: 'x' }]]);
  });
});

describe('configurations', () => {
  it('are every combination, the first axis changing slowest', async () => {
    const { axes } = await resolve([given('mode', 'fast', 'exact'), given('a@x.size', '3', '4')]);
    expect(combine(axes).map(({ number, assignments, settings }) => [number, assignments, settings.map(({ value }) => value)])).toEqual([
      [1, ['mode=fast'], [3]],
      [2, ['mode=fast'], [4]],
      [3, ['mode=exact'], [3]],
      [4, ['mode=exact'], [4]],
    ]);
  });
});
