/** What makes the figures of a sweep outdated: changes of the stages that it builds and of their sources, and nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyOf } from '../../../src/engine/action/manifest.js';
import type { Explanation } from '../../../src/engine/insight/explain/explain-stages.js';
import type { AcceptedStage } from '../../../src/engine/model/accepted-stage.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { basisOf } from '../../../src/web/project/sweep-basis.js';
import { planText } from '../../support/pipeline-file.js';

const TEXT = `version: 1
sources: {text: text.txt}
stages:
  a: {uses: make}
  b: {uses: judge, inputs: {model: a.model}}
  c: {uses: judge, inputs: {model: "\${sources.text}"}}
`;

describe('the basis of a sweep', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sweep-basis-'));
    writeFileSync(join(folder, 'text.txt'), 'one');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const basis = async (targets: readonly string[], text = TEXT, manifest = {}, built: 'built' | 'stale' = 'stale') => {
    const { plan, diagnostics } = await planText(text);
    if (plan === undefined) throw new Error(JSON.stringify(diagnostics));
    // An examination gives no manifest of what is up to date.
    const explanation = built === 'built' ? { status: { kind: 'up-to-date' } } : { status: { kind: 'stale' }, manifest };
    const ids = [...plan.stages.keys()];
    const explained = new Map(ids.map((id: StageId) => [id, explanation as Explanation]));
    const accepted = new Map(built === 'built' ? ids.map(id => [id, { key: keyOf(manifest) } as AcceptedStage]) : []);
    return basisOf({ plan: { ...plan, projectFolder: folder }, explained, accepted }, targets);
  };

  it('follows params and connections of the targets and of the stages before them', async () => {
    const before = await basis(['b']);
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    expect(await basis(['b'], TEXT.replace('uses: make', 'uses: make, with: {size: 7}'))).not.toBe(before);
    expect(await basis(['b'], TEXT, { code: 'other' })).not.toBe(before);
    expect(await basis(['b'], TEXT.replace('stages:', '# a comment\nstages:'))).toBe(before);
    expect(await basis(['b'], TEXT.replace('c: {', 'c: {priority: 2, '))).toBe(before);
    expect(await basis(['b'], TEXT, {}, 'built')).toBe(before);
    expect(basisOf({ plan: undefined, explained: new Map(), accepted: new Map() }, ['b'])).toBeUndefined();
  });

  it('follows sources of the targets alone', async () => {
    const before = await Promise.all([basis(['b']), basis(['c']), basis([])]);
    writeFileSync(join(folder, 'text.txt'), 'three');
    const after = await Promise.all([basis(['b']), basis(['c']), basis([])]);
    expect(after.map((one, index) => one === before[index])).toEqual([true, false, false]);
  });
});
