/** The contents of action keys, and the differences between two manifests. */
import { digestBytes } from '../../../../src/base/digest.js';
import { describeChange, findChanges } from '../../../../src/engine/action/changes.js';
import type { ActionFacts } from '../../../../src/engine/action/manifest.js';
import { keyOf, makeManifest } from '../../../../src/engine/action/manifest.js';

const artifact = { kind: 'file', digest: digestBytes('model'), sizeBytes: 5, executable: false } as const;
const facts: ActionFacts = {
  plugin: 'quantize',
  version: 1,
  code: digestBytes('code'),
  params: { preset: 'u8s8', percentile: 99.9, nested: { a: 1, b: [1, 2] } },
  inputs: { model: artifact, data: { entries: { images: { ...artifact, kind: 'tree', digest: digestBytes('images') } } } },
  tools: { cp: digestBytes('cp') },
  env: { TOKEN: 'secret' },
  secrets: {},
  platformClass: 'linux-x64',
  host: undefined,
  build: undefined,
  device: undefined,
};

describe('the key', () => {
  it('does not depend on the order in which facts are given', () => {
    const shuffled = { ...facts, params: { nested: { b: [1, 2], a: 1 }, percentile: 99.9, preset: 'u8s8' } };
    expect(keyOf(makeManifest(shuffled))).toBe(keyOf(makeManifest(facts)));
  });

  it.each<[string, Partial<ActionFacts>, string]>([
    ['plugin', { plugin: 'other' }, 'the plugin: "quantize" → "other"'],
    ['version', { version: 2 }, "the plugin's version: 1 → 2"],
    ['code', { code: digestBytes('new') }, "the plugin's code changed"],
    ['a param', { params: { ...facts.params, percentile: 99.99 } }, 'params.percentile: 99.9 → 99.99'],
    ['a nested param', { params: { ...facts.params, nested: { a: 2, b: [1, 2] } } }, 'params.nested.a: 1 → 2'],
    ['an input', { inputs: { ...facts.inputs, model: { ...artifact, digest: digestBytes('x') } } }, 'inputs.model changed'],
    ['an entry of an input', { inputs: { ...facts.inputs, data: { entries: { images: artifact } } } }, 'inputs.data.images changed'],
    ['the executable bit of an input', { inputs: { ...facts.inputs, model: { ...artifact, executable: true } } }, 'inputs.model changed'],
    ['a tool', { tools: { cp: digestBytes('other') } }, 'tools.cp changed'],
    ['the environment', { env: { TOKEN: 'other' } }, 'env.TOKEN changed'],
    ['the platform class', { platformClass: 'linux-arm64' }, 'the platform class: "linux-x64" → "linux-arm64"'],
    ['the host of a measurement', { host: 'board' }, 'the host was added: "board"'],
  ])('changes with %s, and the change is named', (_name, change, words) => {
    const before = makeManifest(facts);
    const after = makeManifest({ ...facts, ...change });

    expect(keyOf(after)).not.toBe(keyOf(before));
    expect(findChanges(before, after).map(describeChange)).toEqual([words]);
  });

  it('that changes far inside a long value shows the changed position', () => {
    const script = (word: string): string => `${'x'.repeat(100)} the ${word} is hot ${'y'.repeat(100)}`;
    const before = makeManifest({ ...facts, params: { run: [script('iron')] } });
    const after = makeManifest({ ...facts, params: { run: [script('steel')] } });

    expect(findChanges(before, after).map(describeChange)).toEqual([
      `params.run: …${'x'.repeat(15)} the iron is hot ${'y'.repeat(60 - 32)}… → …${'x'.repeat(15)} the steel is hot ${'y'.repeat(60 - 33)}…`,
    ]);
  });

  it('contains no secret: only digests of environment variables', () => {
    expect(JSON.stringify(makeManifest(facts))).not.toContain('secret');
  });

  it('contains no sizes, because the digest is sufficient', () => {
    expect(keyOf(makeManifest({ ...facts, inputs: { ...facts.inputs, model: { ...artifact, sizeBytes: 6 } } }))).toBe(
      keyOf(makeManifest(facts)),
    );
  });
});
