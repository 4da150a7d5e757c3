/** A cached plan is used only if everything that determines it is unchanged. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { recordPlanReads } from '../../../../src/engine/action/plan-reads.js';
import { findPlanKey, findStoredPlan, storePlan } from '../../../../src/engine/noop/plan-cache.js';
import { loadPipeline, type PipelineRequest } from '../../../../src/engine/planning/load-pipeline.js';
import { smallRegistry } from '../../../support/pipeline-file.js';

describe('a kept plan', () => {
  let folder = '';
  const request = (assignments: readonly string[] = []): PipelineRequest => ({
    file: 'pipeline.yaml',
    cwd: folder,
    assignments,
    paramsFiles: ['p.yaml'],
    builtIn: smallRegistry,
    loadPlugin: async () => {
      throw new Error('there are none');
    },
  });
  const find = (of: PipelineRequest, code = 'v1') => {
    const key = findPlanKey(of, code, recordPlanReads());
    return key === undefined ? undefined : findStoredPlan(key, of);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tanren-plan-'));
    writeFileSync(
      join(folder, 'pipeline.yaml'),
      'version: 1\nparams: {size: 1, other: 2}\nstages:\n  a: {uses: make, with: {size: "${size}"}}\n  b: {uses: judge, inputs: {model: a.model}, gate: {x: ">= 1"}}\n',
    );
    writeFileSync(join(folder, 'p.yaml'), 'size: 4\n');
    const key = findPlanKey(request(), 'v1', recordPlanReads());
    if (key === undefined) throw new Error('no key');
    await storePlan(key, await loadPipeline(request()));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('is the plan that parsing gives, warnings included', async () => {
    const loaded = await loadPipeline(request());
    const kept = find(request());

    expect(kept?.plan).toEqual(loaded.plan);
    expect(kept?.diagnostics.map(item => item.code)).toEqual(['unused-param']);
  });

  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };

  it.each<[string, () => void, readonly string[], string]>([
    ['another -p', () => undefined, ['size=5'], 'v1'],
    ['other code', () => undefined, [], 'v2'],
    ['an edited pipeline file', () => write('pipeline.yaml', 'version: 1\nstages: {a: {uses: make}}\n'), [], 'v1'],
    ['an edited params file', () => write('p.yaml', 'size: 5\n'), [], 'v1'],
    ['a new file in pipelines/', () => write('pipelines/a.yaml', ''), [], 'v1'],
    ['a new file with the same pipeline name', () => write('pipeline.yml', 'stages: {}\n'), [], 'v1'],
  ])('is not taken after %s', (_what, change, assignments, code) => {
    change();
    expect(find(request(assignments), code)).toBeUndefined();
  });

  it('that is damaged is no plan', () => {
    const path = join(folder, 'cache', 'plans', 'pipeline.json');
    const text = readFileSync(path, 'utf8');
    for (const damaged of ['', text.slice(0, -5), text.replace('"size":4', '"size":7')]) {
      writeFileSync(path, damaged);
      expect(find(request())).toBeUndefined();
    }
  });

  it('is not stored if the pipeline file was saved during planning', async () => {
    rmSync(join(folder, 'cache'), { recursive: true });
    const key = findPlanKey(request(), 'v1', recordPlanReads());
    if (key === undefined) throw new Error('no key');
    write('pipeline.yaml', 'version: 1\nstages: {a: {uses: make}}\n');

    await storePlan(key, await loadPipeline(request()));

    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });

  it('is not stored if the plan has errors', async () => {
    rmSync(join(folder, 'cache'), { recursive: true });
    writeFileSync(join(folder, 'pipeline.yaml'), 'version: 1\nstages: {a: {uses: mak}}\n');
    const key = findPlanKey(request(), 'v1', recordPlanReads());
    if (key === undefined) throw new Error('no key');
    await storePlan(key, await loadPipeline(request()));
    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });
});
