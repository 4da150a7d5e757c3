/** Lock files of two branches that change different stages merge without a conflict to a lock with both changes. Git performs the merge. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { digestBytes } from '../../../../src/base/digest.js';
import { encodeLock } from '../../../../src/engine/lockfile/encode-lock.js';
import type { Lock, LockedStage } from '../../../../src/engine/lockfile/lock.js';
import { LockRefused } from '../../../../src/engine/lockfile/lock-refused.js';
import { parseLock } from '../../../../src/engine/lockfile/parse-lock.js';

const folder = mkdtempSync(join(tmpdir(), 'tanren-merge-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const hasGit = spawnSync('git', ['--version']).status === 0;

/** A stage whose facts and results all derive from one word. */
function stage(word: string): LockedStage {
  const content = (of: string) => ({ kind: 'file' as const, digest: digestBytes(`${of} ${word}`), executable: false });
  return {
    facts: {
      plugin: 'command',
      version: 1,
      code: digestBytes('the same of all'),
      params: { run: ['cp', word], shell: 'none' },
      inputs: { text: { ...content('in') } },
      tools: { cp: digestBytes('cp') },
      env: [],
    },
    results: { kind: 'same', outputs: { text: content('out') } },
  };
}

function lockOf(words: ReadonlyMap<string, string>): Lock {
  return { stages: new Map([...words].map(([id, word]) => [id, stage(word)])) };
}

function merge(ours: Lock, base: Lock, theirs: Lock): { readonly conflicts: number | null; readonly text: string } {
  for (const [name, lock] of Object.entries({ ours, base, theirs })) writeFileSync(join(folder, name), encodeLock(lock));
  const { status, stdout } = spawnSync('git', ['merge-file', '-p', 'ours', 'base', 'theirs'], { cwd: folder, encoding: 'utf8' });
  return { conflicts: status, text: stdout };
}

const ids = Array.from({ length: 12 }, (_, index) => `stage-${String.fromCharCode(97 + index)}`);

/** The change of each stage by each branch. Both branches cannot remove adjacent stages, because Git treats them as one place. */
const histories = fc
  .array(fc.constantFrom('nothing', 'ours edits', 'theirs edits', 'ours removes', 'theirs removes'), {
    minLength: ids.length,
    maxLength: ids.length,
  })
  .map(all => all.map((what, index) => (what.endsWith('removes') && all[index - 1]?.endsWith('removes') === true ? 'nothing' : what)));

(hasGit ? describe : describe.skip)('two branches', () => {
  it('that change different stages merge without a conflict', () => {
    fc.assert(
      fc.property(histories, history => {
        const base = new Map(ids.map(id => [id, `${id} at first`]));
        const [ours, theirs, both] = [new Map(base), new Map(base), new Map(base)];
        for (const [index, what] of history.entries()) {
          const id = ids[index] ?? '';
          const branch = what.startsWith('ours') ? ours : theirs;
          for (const words of what === 'nothing' ? [] : [branch, both]) {
            if (what.endsWith('removes')) words.delete(id);
            else words.set(id, `${id} by ${what}`);
          }
        }
        const merged = merge(lockOf(ours), lockOf(base), lockOf(theirs));
        expect(merged).toEqual({ conflicts: 0, text: encodeLock(lockOf(both)) });
      }),
      { numRuns: 60 },
    );
  });

  it('that add stages at different places merge without a conflict', () => {
    const base = new Map(ids.map(id => [id, id]));
    const ours = new Map([...base, ['stage-b2', 'ours']]);
    const theirs = new Map([...base, ['stage-g2', 'theirs']]);
    const both = new Map([...ours, ...theirs]);

    expect(merge(lockOf(ours), lockOf(base), lockOf(theirs))).toEqual({ conflicts: 0, text: encodeLock(lockOf(both)) });
  });

  it('that change the same stage conflict at its line', () => {
    const base = new Map(ids.map(id => [id, id]));
    const { conflicts, text } = merge(
      lockOf(new Map([...base, ['stage-c', 'ours']])),
      lockOf(base),
      lockOf(new Map([...base, ['stage-c', 'theirs']])),
    );
    const line = text.split('\n').findIndex(one => one.startsWith('<<<<<<<')) + 1;

    expect(conflicts).toBeGreaterThan(0);
    expect(() => parseLock(text, 'pipeline.lock')).toThrow(LockRefused);
    expect(() => parseLock(text, 'pipeline.lock')).toThrow(
      expect.objectContaining({
        code: 'lock-conflict',
        diagnostics: [expect.objectContaining({ span: expect.objectContaining({ line }) })],
      }),
    );
  });
});
