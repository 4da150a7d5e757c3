/** The plan of a pipeline file after expansion. */
import { headsOf, planText } from '../../../support/pipeline-file.js';

describe('a plan', () => {
  it('has one instance per item of foreach, which can be named individually and as a group', async () => {
    const { plan } = await planText(
      `version: 1\nstages:\n  a: {uses: make, foreach: [x, y]}\n  b: {uses: judge, foreach: {p: a@x.model, q: a@y.model}, inputs: {model: "\${item}"}}\n`,
    );

    expect([...(plan?.stages.keys() ?? [])]).toEqual(
      ['a@x', 'b@p', 'a@y', 'b@q'].sort((m, n) => ['a@x', 'a@y', 'b@p', 'b@q'].indexOf(m) - ['a@x', 'a@y', 'b@p', 'b@q'].indexOf(n)),
    );
    expect(plan?.targets.get('b')).toEqual(['b@p', 'b@q']);
    expect(plan?.stages.get('b@q' as never)?.inputs.model).toMatchObject({ kind: 'artifact', stage: 'a@y', port: 'model' });
  });

  it('has an instance per combination of matrix', async () => {
    const { plan } = await planText(
      `version: 1\nstages:\n  a: {uses: make, matrix: {size: [1, 2], mode: [fast, exact]}, with: {size: "\${matrix.size}", mode: "\${matrix.mode}"}}\n`,
    );

    expect([...(plan?.stages.values() ?? [])].map(stage => [stage.id, stage.params])).toEqual([
      ['a@1-fast', { size: 1, mode: 'fast' }],
      ['a@1-exact', { size: 1, mode: 'exact' }],
      ['a@2-fast', { size: 2, mode: 'fast' }],
      ['a@2-exact', { size: 2, mode: 'exact' }],
    ]);
  });

  it('keeps the type of a whole reference, and makes text of one inside text', async () => {
    const { plan } = await planText(
      `version: 1\nparams: {n: 4, kind: fa}\nstages:\n  a: {uses: make, with: {size: "\${n}", mode: "\${kind}st"}}\n`,
    );
    expect(plan?.stages.get('a' as never)?.params).toEqual({ size: 4, mode: 'fast' });
  });

  it('reads a parameter from the file, then the params file, then -p', async () => {
    const text = `version: 1\nparams: {size: 1, mode: fast}\nstages: {a: {uses: make, with: {size: "\${size}", mode: "\${params.mode}"}}}\n`;
    const files = { 'p.yaml': 'size: 2\nmode: exact\n' };
    const { plan } = await planText(text, { files, paramsFiles: ['p.yaml'], params: ['size=5'] });
    expect(plan?.stages.get('a' as never)?.params).toEqual({ size: 5, mode: 'exact' });
  });

  it('reads a list on the command line as JSON', async () => {
    const text = `version: 1\nparams: {sizes: [1]}\nstages: {a: {uses: make, with: {list: "\${sizes}"}, foreach: "\${sizes}"}}\n`;
    const { plan } = await planText(text, { params: ['sizes=[2, 3]'] });
    expect([...(plan?.stages.values() ?? [])].map(stage => [stage.id, stage.params.list])).toEqual([
      ['a@2', [2, 3]],
      ['a@3', [2, 3]],
    ]);

    const wrong = await planText(text, { params: ['sizes=2,3'] });
    expect(headsOf(wrong)).toEqual(['error[bad-param]: parameter "sizes" is "2,3"; expected a list']);
  });

  it('fills in the defaults of the plugin', async () => {
    const { plan } = await planText('version: 1\nstages: {a: {uses: make}}\n');
    expect(plan?.stages.get('a' as never)?.params).toEqual({ size: 3, mode: 'fast' });
  });

  it('has ports that depend on the params', async () => {
    const { plan } = await planText(
      `version: 1\nsources: {s: f}\nstages:\n  a: {uses: make}\n  b: {uses: judge, with: {parts: [extra]}, inputs: {model: a.model, extra: "\${sources.s}"}}\n`,
    );
    expect(plan?.stages.get('b' as never)?.inputs.extra).toMatchObject({ kind: 'source', name: 's', path: 'f' });
  });

  it('orders stages after their dependencies, ties in file order', async () => {
    const { plan } = await planText(
      `version: 1\nstages:\n  last: {uses: judge, inputs: {model: first.model}}\n  other: {uses: make}\n  first: {uses: make}\n`,
    );
    expect([...(plan?.stages.keys() ?? [])]).toEqual(['first', 'last', 'other']);
  });

  it('connects a whole source record, gates, resources, priority, timeout, retries and env', async () => {
    const { plan } = await planText(
      `version: 1\nsources: {val: {annotations: v.json, images: v}}\npools: {npu: 2}\nstages:\n  a: {uses: make}\n  b:\n    uses: judge\n    inputs: {model: a.model, data: "\${sources.val}"}\n    gate: {delta.bbox.AP: ">= -0.006"}\n    resources: {npu: 2, memory: 1.5GB}\n    priority: 7\n    timeout: 1.5m\n    retries: 2\n    env: [HOME]\n`,
    );
    expect(plan?.stages.get('b' as never)).toMatchObject({
      inputs: { data: { kind: 'record', entries: { annotations: { name: 'val.annotations', path: 'v.json' }, images: { path: 'v' } } } },
      gate: [{ metric: 'delta.bbox.AP', operator: '>=', bound: -0.006 }],
      resources: { cpu: 1, npu: 2, memory: 1_500_000_000 },
      priority: 7,
      timeoutMs: 90_000,
      retries: 2,
      env: ['HOME'],
    });
  });

  it('reads anchors and merge keys', async () => {
    const loaded = await planText(`version: 1\nstages:\n  a: &base {uses: make, with: {size: 7}}\n  b: {<<: *base, retries: 1}\n`);
    expect(headsOf(loaded)).toEqual([]);
    expect(loaded.plan?.stages.get('b' as never)).toMatchObject({ params: { size: 7, mode: 'fast' }, retries: 1 });
  });

  it('of a file in pipelines/ is named after it, and belongs to the project above', async () => {
    const { plan } = await planText('version: 1\nstages: {a: {uses: make}}\n', {
      file: 'pipelines/fast.yaml',
      files: { 'pipeline.yaml': '' },
    });
    expect(plan?.pipeline).toBe('fast');
    expect(plan?.projectFolder.endsWith('pipelines')).toBe(false);
  });
});
