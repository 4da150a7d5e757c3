/** A frozen build gives what is locked, or says what differs, and never writes the lock. */
import { cpSync, existsSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../../../src/engine/build.js';
import { examineStages } from '../../../src/engine/insight/status/status.js';
import { lockFileOf } from '../../../src/engine/lockfile/lock-path.js';
import { LockRefused } from '../../../src/engine/lockfile/lock-refused.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import { loadState } from '../../../src/engine/store/state-log.js';
import type { StageSpec } from '../../support/plan-of.js';
import { gate } from '../../support/plan-of.js';
import type { Built, World } from '../../support/world.js';
import { givenWorld, untilSettled } from '../../support/world.js';

const STAGES: Readonly<Record<string, StageSpec>> = {
  strip: { uses: 'plain', params: { add: ',' }, inputs: { text: 'source.txt' } },
  model: { uses: 'perClass', params: { add: '.' }, inputs: { text: 'strip.text' } },
  after: { uses: 'plain', params: { add: '!' }, inputs: { text: 'model.text' } },
  bench: { uses: 'measured', inputs: { text: 'after.text' } },
  score: { uses: 'scored', inputs: { text: 'side.txt' } },
};
const SOURCES = { 'source.txt': 'one\n# comment\ntwo', 'side.txt': 'other' };

const worlds: World[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

function given(stages: Readonly<Record<string, StageSpec>> = STAGES, sources: Readonly<Record<string, string>> = SOURCES): World {
  const world = givenWorld(stages, sources);
  worlds.push(world);
  return world;
}

const build = (world: World, use: 'write' | 'frozen', options: Partial<BuildOptions> = {}): Promise<Built> =>
  world.build({ lock: { file: lockFileOf('pipeline.yaml', world.folder), use }, ...options });

/** The same project elsewhere, with the lock and, where it is asked for, with a copy of the cache, but without what was accepted. */
function clone(from: World, cache: 'no cache' | 'cache' | 'blobs alone' = 'no cache'): World {
  const world = given(from.stages, {});
  for (const name of readdirSync(from.folder).filter(one => /\.(txt|lock)$/.test(one))) cpSync(from.path(name), world.path(name));
  const copied = { 'no cache': [], cache: ['cas', 'actions'], 'blobs alone': ['cas'] }[cache];
  for (const name of copied) cpSync(from.path(`cache/${name}`), world.path(`cache/${name}`), { recursive: true });
  return world;
}

const verdicts = ({ report }: Built) => Object.fromEntries([...report.stages].map(([id, { locked }]) => [id, locked]));
const all = (kind: string, stages: object = STAGES) => Object.fromEntries(Object.keys(stages).map(id => [id, kind]));
const failureOf = ({ report }: Built, stage: string) => {
  const outcome = report.stages.get(stage as StageId)?.outcome;
  return outcome?.kind === 'failed' ? outcome.failure : undefined;
};

async function refusal(frozen: Promise<Built>): Promise<readonly string[]> {
  const error: unknown = await frozen.then(
    () => undefined,
    thrown => thrown,
  );
  if (!(error instanceof LockRefused)) throw error ?? new Error('it was built');
  return error.diagnostics.map(({ code, message, span }) => `${span?.file}:${span?.line} ${code} ${message}`);
}

describe('in a fresh clone', () => {
  it('with an empty cache, every stage runs and gives the locked outputs', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    const built = await build(second, 'frozen');

    expect(built.outcomes).toEqual(all('executed'));
    expect(verdicts(built)).toEqual({ ...all('as-locked'), bench: 'by-gates' });
    expect(built.report.conclusion).toBe('built');
    expect(second.read('pipeline.lock')).toBe(first.read('pipeline.lock'));
    expect(second.read('artifacts/after/text')).toBe(first.read('artifacts/after/text'));
  });

  it('with the cache of the first, everything is restored', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first, 'cache');
    const built = await build(second, 'frozen');

    expect(built.outcomes).toEqual(all('restored'));
    expect(verdicts(built)).toEqual({ ...all('as-locked'), bench: 'by-gates' });
  });

  it('with blobs but no records, locked outputs are restored by digest with their metrics; other builds do not reuse them', async () => {
    const first = given({ ...STAGES, score: { ...STAGES.score, uses: 'scored', gate: [gate('lines', '==', 1)] } });
    await build(first, 'write');
    const second = clone(first, 'blobs alone');
    const built = await build(second, 'frozen');

    expect(built.outcomes).toEqual({ ...all('restored'), bench: 'executed' });
    expect(built.report.gates).toMatchObject([{ value: 1, verdict: 'met' }]);
    expect(readdirSync(second.path('cache/actions'), { recursive: true }).filter(name => String(name).endsWith('.json'))).toHaveLength(1);

    await untilSettled(second, () => build(second, 'frozen'));
    const files = snapshot(second);
    const again = await build(second, 'frozen');
    expect(again.outcomes).toEqual(all('up-to-date'));
    expect(verdicts(again)).toEqual({ ...all('as-locked'), bench: 'by-gates' });
    expect(snapshot(second)).toEqual(files);

    const status = await examineStages(await second.plan(), { targets: 'all', force: 'never' }, second.ports());
    expect(status.get('strip' as StageId)?.status).toMatchObject({
      kind: 'stale',
      reasons: ['its result comes from the lock file, and was not made here'],
    });
    expect((await build(second, 'write')).outcomes).toEqual({ ...all('executed'), bench: 'up-to-date' });
    expect((await build(second, 'frozen')).outcomes).toEqual(all('up-to-date'));
  });

  it('with a shared cache, locked outputs are restored from it, with or without records', async () => {
    const first = given();
    const sharedCache = first.path('shared');
    await build(first, 'write', { sharedCache });
    expect((await build(clone(first), 'frozen', { sharedCache })).outcomes).toEqual(all('restored'));

    rmSync(join(sharedCache, 'actions'), { recursive: true });
    const built = await build(clone(first), 'frozen', { sharedCache });
    expect(built.outcomes).toEqual({ ...all('restored'), bench: 'executed' });
    expect(built.warnings).toEqual([]);
  });

  it('a damaged blob is not used: the stage runs', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first, 'blobs alone');
    for (const name of readdirSync(second.path('cache/cas'), { recursive: true, encoding: 'utf8' })) {
      const path = second.path(join('cache/cas', name));
      if (lstatSync(path).isFile()) rmSync(path);
      if (name.length > 60) writeFileSync(path, 'other bytes');
    }
    const built = await build(second, 'frozen');

    expect(built.outcomes).toEqual(all('executed'));
    expect(new Set(built.warnings)).toEqual(new Set(['cache-damaged']));
  });
});

describe('a difference from the lock', () => {
  it('is reported with all others, each at its line, before anything runs', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    second.append('source.txt', '\nthree');
    second.stages = {
      ...STAGES,
      model: { ...STAGES.model, uses: 'perClass', params: { add: ';' } },
      more: { uses: 'plain', inputs: { text: 'side.txt' } },
    };
    const { score: _, ...others } = second.stages;
    second.stages = others;
    const lock = second.read('pipeline.lock').split('\n');
    const line = (text: string, after = '') => lock.findIndex((one, index) => index > lock.indexOf(after) && one.startsWith(text)) + 1;

    expect(await refusal(build(second, 'frozen'))).toEqual([
      `pipeline.lock:${line('      text: file', '  strip:')} lock-differs stage "strip": source source.txt (input "text") differs from the locked content`,
      `pipeline.lock:${line('      add:', '  model:')} lock-differs stage "model": params.add: "." → ";"`,
      'pipeline.yaml:1 lock-differs stage "more" is not in pipeline.lock',
      `pipeline.lock:${line('  score:')} lock-differs stage "score" is in the lock file, but not in the pipeline`,
    ]);
    expect(existsSync(second.path('artifacts'))).toBe(false);
    expect(second.read('pipeline.lock')).toBe(first.read('pipeline.lock'));
  });

  it('is found for changed plugin code and for another program', async () => {
    const stages = { tool: { uses: 'tool', params: { run: ['copies'] }, inputs: { text: 'side.txt' } } };
    const program = (world: World, text: string): void => {
      writeFileSync(world.path('copies'), text, { mode: 0o755 });
      world.environment = { ...process.env, PATH: `${world.folder}:${process.env.PATH}` };
    };
    const first = given(stages);
    program(first, '#!/bin/sh\ncp "$1" "$2"\n');
    expect((await build(first, 'write')).report.conclusion).toBe('built');
    const second = clone(first);
    program(second, '#!/bin/sh\ncat "$1" > "$2"\n');
    expect(await refusal(build(second, 'frozen'))).toEqual([
      expect.stringContaining('stage "tool": program "copies" differs from the locked one'),
    ]);

    program(second, '#!/bin/sh\ncp "$1" "$2"\n');
    second.append('plugins/letters.mjs', '\n// other code\n');
    expect(await refusal(build(second, 'frozen'))).toEqual([
      expect.stringMatching(/^pipeline\.lock:\d+ lock-differs plugin "tool" has different code than the locked one \(stage "tool"\)$/),
    ]);
  });

  it('is reported once per plugin for changed code, and as a count if there are many', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 103 }, (_, index): [string, StageSpec] => [
        `s${index}`,
        { uses: 'plain', params: { add: 'a' }, inputs: { text: 'side.txt' } },
      ]),
    );
    const first = given(many);
    await build(first, 'write');
    const second = clone(first);
    second.append('plugins/letters.mjs', '\n// other code\n');
    expect(await refusal(build(second, 'frozen'))).toEqual([
      expect.stringMatching(
        /^pipeline\.lock:\d+ lock-differs plugin "plain" has different code than the locked one \(stage "s0" and 102 more stages\)$/,
      ),
    ]);

    second.stages = Object.fromEntries(Object.entries(many).map(([id, spec]) => [id, { ...spec, params: { add: 'b' } }]));
    const messages = await refusal(build(second, 'frozen'));
    expect(messages).toHaveLength(101);
    expect(messages.at(-1)).toBe('undefined:undefined lock-differs and 4 more differences');
  });

  it('is found for a removed input and for an input from another stage', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    rmSync(second.path('side.txt'));
    second.stages = { ...STAGES, after: { ...STAGES.after, uses: 'plain', inputs: { text: 'strip.text' } } };

    const messages = await refusal(build(second, 'frozen'));
    expect(messages).toEqual([
      expect.stringContaining('stage "after": input "text" reads strip.text, but is locked as model.text'),
      expect.stringContaining('input-missing stage "score": source side.txt does not exist'),
    ]);
  });

  it('is found if a build of targets left inconsistent entries in the lock', async () => {
    const stages: Readonly<Record<string, StageSpec>> = {
      a: { uses: 'plain', inputs: { text: 'source.txt' } },
      b: { uses: 'plain', inputs: { text: 'a.text' } },
      model: { uses: 'perClass', inputs: { text: 'a.text' } },
      after: { uses: 'plain', inputs: { text: 'model.text' } },
    };
    const first = given(stages);
    await build(first, 'write');
    first.append('source.txt', '\nthree');
    await build(first, 'write', { targets: ['model' as StageId] });

    expect(await refusal(build(clone(first), 'frozen'))).toEqual([
      expect.stringContaining('stage "b": it is locked with another a.text than a is'),
      expect.stringContaining('stage "after": it is locked with another model.text than the one that is locked for this platform class'),
    ]);
    expect((await build(clone(first), 'frozen', { targets: ['model' as StageId] })).report.conclusion).toBe('built');
  });

  it('is only reported for stages that are built', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    second.append('side.txt', 'more');

    expect((await build(second, 'frozen', { targets: ['after' as StageId] })).report.conclusion).toBe('built');
    expect(await refusal(build(second, 'frozen'))).toHaveLength(1);
  });

  it('is a missing lock too', async () => {
    expect(await refusal(build(given(), 'frozen'))).toEqual([
      'undefined:undefined lock-missing pipeline.lock: file not found; --frozen needs a lock file',
    ]);
  });

  it('fails the stage if a source is edited after the comparison', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    let edits = 0;
    const built = await second.build(
      { lock: { file: lockFileOf('pipeline.yaml', second.folder), use: 'frozen' }, jobs: 1 },
      { emit: event => void (event.kind === 'stage-started' && edits++ === 0 && second.append('side.txt', 'more')) },
    );

    expect(built.report.conclusion).toBe('failed');
    expect(failureOf(built, 'score')).toMatchObject({
      code: 'lock-differs',
      message: 'source side.txt (input "text") differs from the locked content',
    });
  });
});

describe('an output that differs from the locked digest', () => {
  it.each(['strip', 'model', 'after'])('fails %s, and is not stored', async stage => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    const text = second.read('pipeline.lock');
    const entry = text.indexOf(`\n  ${stage}:\n`);
    const digest = text.indexOf('text: file ', text.indexOf('outputs:', entry)) + 'text: file '.length;
    const locked = text.slice(digest, digest + 64);
    // Whoever reads it is told the same, so that the lock is of one mind.
    second.write('pipeline.lock', text.replaceAll(locked, '0'.repeat(64)));
    const built = await build(second, 'frozen', { failures: 'keep-going' });

    expect(built.report.conclusion).toBe('failed');
    expect(failureOf(built, stage)).toMatchObject({
      code: 'locked-output-differs',
      message: expect.stringContaining(`output "text": file ${locked}, locked: file ${'0'.repeat(64)}`),
    });
    expect(existsSync(second.path(`artifacts/${stage}`))).toBe(false);
    expect(built.outcomes.score).toBe('executed');
  });

  it('fails even if it is already under artifacts/ and in the records', async () => {
    const world = given();
    await build(world, 'write');
    const text = world.read('pipeline.lock');
    const digest = / {2}score:[\s\S]*?metrics: file ([0-9a-f]{64})/.exec(text)?.[1] ?? '';
    world.write('pipeline.lock', text.replace(digest, '1'.repeat(64)));

    expect(failureOf(await build(world, 'frozen'), 'score')).toMatchObject({ code: 'locked-output-differs' });
    expect(world.read('pipeline.lock')).toContain('1'.repeat(64));
  });

  it('fails on the class of the lock, and not on another', async () => {
    const stages = { model: { uses: 'moodyClass', params: { says: '' }, inputs: { text: 'source.txt' } }, after: STAGES.after } as Record<
      string,
      StageSpec
    >;
    const first = given(stages, { ...SOURCES, 'mood.txt': 'glad' });
    stages.model = { ...stages.model, uses: 'moodyClass', params: { says: first.path('mood.txt') } };
    first.stages = stages;
    await build(first, 'write');
    first.write('mood.txt', 'sad');

    const second = clone(first);
    expect(failureOf(await build(second, 'frozen'), 'model')).toMatchObject({ code: 'locked-output-differs' });
    second.platformClass = 'class-2';
    const built = await build(second, 'frozen');
    expect(built.report.conclusion).toBe('built');
    expect(verdicts(built)).toEqual({ model: 'rebuilt', after: 'rebuilt' });
    expect((await build(second, 'frozen')).outcomes).toEqual(all('up-to-date', stages));
  });
});

describe('on another platform class', () => {
  it('outputs locked for the first class are restored from the cache, and a build without --frozen computes its own', async () => {
    const first = given();
    await build(first, 'write');
    for (const cache of ['cache', 'blobs alone'] as const) {
      const second = clone(first, cache);
      second.platformClass = 'class-2';
      const built = await build(second, 'frozen');
      expect(built.outcomes).toMatchObject({ strip: 'restored', model: 'restored', after: 'restored' });
      expect(verdicts(built)).toEqual({ ...all('as-locked'), bench: 'by-gates' });

      expect((await build(second, 'frozen')).outcomes).toEqual(all('up-to-date'));
      const state = loadState(second.path('cache/state/pipeline.log')).state;
      const recorded = Object.keys(STAGES).filter(id =>
        existsSync(cacheFolderAt(second.path('cache')).record(state.stages.get(id)?.key ?? '')),
      );
      expect(recorded).toEqual(cache === 'cache' ? Object.keys(STAGES) : ['bench']);

      const own = await build(second, 'write');
      expect(own.outcomes.model).toBe('executed');
      expect(second.read('pipeline.lock')).toContain('class-2');
    }
  });

  it('outputs missing from the cache are computed here, reported as equal or not, and checked by gates', async () => {
    const first = given();
    await build(first, 'write');
    const second = clone(first);
    second.platformClass = 'class-2';
    second.stages = { ...STAGES, score: { ...STAGES.score, uses: 'scored', gate: [gate('lines', '>', 7)] } };
    const built = await build(second, 'frozen');

    expect(built.outcomes).toEqual(all('executed'));
    expect(verdicts(built)).toEqual({ ...all('as-locked'), bench: 'by-gates' });
    expect(built.report.conclusion).toBe('gate-missed');
  });

  it('the entries of its own class apply if the lock has both', async () => {
    const first = given();
    await build(first, 'write');
    first.platformClass = 'class-2';
    await build(first, 'write');
    const second = clone(first);
    second.platformClass = 'class-2';
    second.write(
      'pipeline.lock',
      second.read('pipeline.lock').replace(/(class-2:\n +outputs:\n +text: file )[0-9a-f]{64}/, `$1${'0'.repeat(64)}`),
    );

    expect(await refusal(build(second, 'frozen'))).toEqual([
      expect.stringContaining('stage "after": it is locked with another model.text'),
    ]);
    expect(failureOf(await build(second, 'frozen', { targets: ['model' as StageId] }), 'model')).toMatchObject({
      code: 'locked-output-differs',
    });
  });
});

describe('a dry run of a frozen build', () => {
  const dryRun = async (world: World): Promise<unknown> => {
    const lock = lockFileOf('pipeline.yaml', world.folder);
    const examined = await examineStages(await world.plan(), { targets: 'all', force: 'never', lock }, world.ports());
    return Object.fromEntries([...examined].map(([id, { status }]) => [id, status.kind]));
  };

  it('reports stages that would be restored and that would run, as far as the lock predicts outputs, and writes nothing', async () => {
    const first = given();
    await build(first, 'write');
    for (const [cache, kind] of [
      ['no cache', 'stale'],
      ['blobs alone', 'restorable'],
      ['cache', 'restorable'],
    ] as const) {
      const second = clone(first, cache);
      const files = snapshot(second);
      expect(await dryRun(second)).toEqual({ ...all(kind), bench: cache === 'cache' ? 'restorable' : 'stale' });
      expect(snapshot(second)).toEqual(files);
    }
    expect(await dryRun(first)).toEqual(all('up-to-date'));
    const third = clone(first);
    third.platformClass = 'class-2';
    expect(await dryRun(third)).toEqual({ strip: 'stale', model: 'stale', after: 'undecided', bench: 'undecided', score: 'stale' });
    third.append('side.txt', 'more');
    await expect(dryRun(third)).rejects.toThrow(LockRefused);
  });
});

describe('a lock without differences', () => {
  it('is only compared: everything is up to date, no action lock is taken, nothing is written', async () => {
    const world = given();
    await untilSettled(world, () => build(world, 'write'));
    const files = snapshot(world);
    const built = await build(world, 'frozen');

    expect(built.outcomes).toEqual(all('up-to-date'));
    expect(verdicts(built)).toEqual({ ...all('as-locked'), bench: 'by-gates' });
    expect(snapshot(world)).toEqual(files);
  });

  it('is compared with the outputs of a forced run', async () => {
    const world = given();
    await build(world, 'write');

    expect((await build(world, 'frozen', { force: 'targets' })).outcomes).toEqual(all('executed'));
  });

  it('restores edited artifacts', async () => {
    const world = given();
    await build(world, 'write');
    writeFileSync(world.path('artifacts/strip/text'), 'edited');
    const built = await build(world, 'frozen');

    expect(built.outcomes.strip).toBe('restored');
    expect(built.warnings).toEqual(['artifact-edited']);
    expect(readFileSync(world.path('artifacts/strip/text'), 'utf8')).toBe(`${SOURCES['source.txt']},`);
  });
});

function snapshot(world: World): readonly string[] {
  return readdirSync(world.folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map(name => {
      const { size, mtimeNs, ctimeNs } = lstatSync(world.path(name), { bigint: true });
      return `${name} ${size} ${mtimeNs} ${ctimeNs}`;
    });
}
