/** A no-op record never holds where an ordinary look finds something to do: random changes to a project, and both are asked after each. */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { digestBytes } from '../../../src/base/digest.js';
import { makeBuiltInRegistry } from '../../../src/cli/pipeline/plugins.js';
import { findSettled, openSession } from '../../../src/engine/action/session.js';
import { build } from '../../../src/engine/build.js';
import type { Plan } from '../../../src/engine/model/plan.js';
import type { EnginePorts } from '../../../src/engine/model/ports.js';
import { isCurrent } from '../../../src/engine/noop/check-no-op-record.js';
import { noOpRecordPath, readNoOpRecord } from '../../../src/engine/noop/no-op-record.js';
import { loadPipeline } from '../../../src/engine/planning/load-pipeline.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { NO_STAMPS } from '../../../src/engine/store/files/recorded-stamps.js';
import { DIST } from '../../support/world.js';

const PIPELINE = `version: 1
sources: {notes: notes.txt, words: words}
stages:
  shout: {uses: command, env: [TASTE], with: {run: ["tr a-z A-Z < in > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: "\${sources.notes}"}}
  folder: {uses: command, with: {run: ["cp -r words out; cp in out/in"], shell: sh, inputs: {in: in, words: words}, outputs: {out: out}}, inputs: {in: shout.out, words: "\${sources.words}"}}
  last: {uses: command, with: {run: ["ls in > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: folder.out}}
`;

interface Project {
  readonly folder: string;
  readonly plan: Plan;
  readonly environment: Record<string, string | undefined>;
}

async function givenBuilt(): Promise<Project> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-no-op-')));
  mkdirSync(join(folder, 'words/more'), { recursive: true });
  mkdirSync(join(folder, 'bin'));
  for (const [name, text] of Object.entries({
    'pipeline.yaml': PIPELINE,
    'notes.txt': 'forge\n',
    'words/one': '1\n',
    'words/more/two': '2\n',
  }))
    writeFileSync(join(folder, name), text);
  const loaded = await loadPipeline({
    file: 'pipeline.yaml',
    cwd: folder,
    assignments: [],
    paramsFiles: [],
    builtIn: makeBuiltInRegistry(DIST),
    loadPlugin: () => Promise.reject(new Error('there are none')),
  });
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.diagnostics));
  const environment = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` };
  return { folder, plan: loaded.plan, environment };
}

function portsOf({ environment }: Project): EnginePorts {
  return {
    installRoot: DIST,
    environment,
    platformClass: { guard: () => 'guard', compute: async () => 'class' },
    emit: () => undefined,
    nowMs: Date.now,
    signal: new AbortController().signal,
  };
}

async function rebuild(project: Project): Promise<void> {
  const noOp = { request: 'all', stamps: NO_STAMPS };
  const { conclusion } = await build(project.plan, { targets: 'all', failures: 'stop', force: 'never', noOp }, portsOf(project));
  expect(conclusion).toBe('built');
}

/** The stamps of files that were just written prove nothing yet: a build some milliseconds later writes a record. */
async function buildUntilRecorded(project: Project): Promise<void> {
  const started = performance.now();
  do {
    if (performance.now() - started > 60_000) throw new Error('no build writes a no-op record');
    await rebuild(project);
    await wait(20);
  } while (!recordIsCurrent(project));
}

function recordIsCurrent({ folder, environment }: Project): boolean {
  const record = readNoOpRecord(noOpRecordPath(folder, 'pipeline'));
  if (record === undefined) return false;
  try {
    return isCurrent(record, { request: 'all', projectFolder: folder, environment, guard: () => 'guard', digest: digestBytes });
  } catch {
    return false;
  }
}

function isSettled(project: Project): boolean {
  const session = openSession(project.plan, portsOf(project), cacheFolderAt(join(project.folder, 'cache')), 'read');
  const stages = [...project.plan.stages.values()];
  return findSettled(session, stages, new Set()).size === stages.length;
}

/** What people and programs do to a project; where there is nothing to do it to, nothing. */
const CHANGES: Readonly<Record<string, (project: Project) => void>> = {
  'an edit': ({ folder }) => writeFileSync(join(folder, 'notes.txt'), 'anvil\n'),
  'an edit back': ({ folder }) => writeFileSync(join(folder, 'notes.txt'), 'forge\n'),
  'an edit with forged times': ({ folder }) => {
    const { atime, mtime } = statSync(join(folder, 'notes.txt'));
    writeFileSync(join(folder, 'notes.txt'), 'gorfe\n');
    utimesSync(join(folder, 'notes.txt'), atime, mtime);
  },
  'a save by rename': ({ folder }) => {
    writeFileSync(join(folder, 'notes.new'), readFileSync(join(folder, 'notes.txt')));
    renameSync(join(folder, 'notes.new'), join(folder, 'notes.txt'));
  },
  'a source made executable': ({ folder }) => chmodSync(join(folder, 'notes.txt'), 0o755),
  'a file more in a source folder': ({ folder }) => writeFileSync(join(folder, 'words/more/three'), '3\n'),
  'a file less in a source folder': ({ folder }) => rmSync(join(folder, 'words/more/three'), { force: true }),
  'a source folder behind a link': ({ folder }) => {
    if (lstatSync(join(folder, 'words')).isSymbolicLink()) return;
    cpSync(join(folder, 'words'), join(folder, 'aside'), { recursive: true, dereference: true });
    rmSync(join(folder, 'words'), { recursive: true });
    symlinkSync('aside', join(folder, 'words'));
  },
  'an edited artifact': ({ folder }) => writeFileSync(join(folder, 'artifacts/shout/out'), 'no\n'),
  'an artifact less': ({ folder }) => rmSync(join(folder, 'artifacts/shout/out'), { force: true }),
  'a foreign file beside an artifact': ({ folder }) => writeFileSync(join(folder, 'artifacts/last/stranger'), ''),
  'the foreign file gone': ({ folder }) => rmSync(join(folder, 'artifacts/last/stranger'), { force: true }),
  'a foreign file in an artifact': ({ folder }) => writeFileSync(join(folder, 'artifacts/folder/out/stranger'), ''),
  'a variable': ({ environment }) => {
    environment.TASTE = 'sour';
  },
  'the variable unset': ({ environment }) => {
    delete environment.TASTE;
  },
  'another sh': ({ folder }) => writeFileSync(join(folder, 'bin/sh'), '#!/bin/sh\nexec /bin/sh "$@"\n', { mode: 0o755 }),
  'the other sh gone': ({ folder }) => rmSync(join(folder, 'bin/sh'), { force: true }),
  'a lost state': ({ folder }) => rmSync(join(folder, 'cache/state/pipeline.log'), { force: true }),
};

describe('a no-op record', () => {
  it('is never valid if a full check finds something to do', async () => {
    const steps = fc.array(fc.constantFrom('a build', 'nothing', ...Object.keys(CHANGES)), { minLength: 4, maxLength: 10 });
    let held = 0;
    await fc.assert(
      fc.asyncProperty(steps, async names => {
        const project = await givenBuilt();
        try {
          await buildUntilRecorded(project);
          for (const name of names) {
            if (name === 'a build') await rebuild(project);
            else CHANGES[name]?.(project);
            if (!recordIsCurrent(project)) continue;
            held += 1;
            expect(isSettled(project)).toBe(true);
          }
        } finally {
          rmSync(project.folder, { recursive: true, force: true });
        }
      }),
      { numRuns: 8, examples: [[['nothing', 'a foreign file beside an artifact', 'an edit', 'a build']]] },
    );
    // Else nothing was shown.
    expect(held).toBeGreaterThan(0);
  });
});
