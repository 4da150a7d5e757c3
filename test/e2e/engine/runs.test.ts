/** Ways in which a run ends, of which only success is ever kept. */
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { findStageLog } from '../../../src/engine/insight/history/stage-log.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { isAlive, until } from '../../support/until.js';
import type { World } from '../../support/world.js';
import { givenWorld } from '../../support/world.js';

let world: World;
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'one\ntwo', 'side.txt': 'side' });
});
afterEach(() => world.remove());

describe('a failure', () => {
  it('is never stored: dependents are skipped, and the next build tries again', async () => {
    world.stages = {
      first: { uses: 'act', params: { failUnless: world.path('go') } },
      second: { uses: 'strip', inputs: { text: 'first.text' } },
    };
    const failed = await world.build();
    const again = await world.build();
    world.write('go', '');
    const built = await world.build();

    expect(failed.outcomes).toEqual({ first: 'failed', second: 'skipped' });
    expect(failed.report.conclusion).toBe('failed');
    expect(failed.report.stages.get('second' as StageId)?.outcome).toEqual({ kind: 'skipped', because: 'first' });
    expect(again.outcomes).toEqual({ first: 'failed', second: 'skipped' });
    expect(built.outcomes).toEqual({ first: 'executed', second: 'executed' });
  });

  it.each([
    ['keep-going', 'executed'],
    ['stop', 'skipped'],
  ] as const)('with %s: what has not started yet is %s', async (failures, outcome) => {
    world.stages = {
      bad: { uses: 'act', params: { failUnless: '/nowhere/at/all' } },
      good: { uses: 'act', params: { until: world.path('go') } },
      late: { uses: 'strip', inputs: { text: 'good.text' } },
    };
    const emit = (event: BuildEvent): void => {
      if (event.kind === 'outcome' && event.outcome.kind === 'failed') world.write('go', '');
    };

    expect((await world.build({ failures }, { emit })).outcomes).toEqual({ bad: 'failed', good: 'executed', late: outcome });
  });

  it.each([
    ['abort', 'worker-died'],
    ['kill', 'worker-died'],
    ['memory', 'worker-memory'],
    ['throw', 'stage-crashed'],
    ['nothing', 'output-missing'],
    ['folder', 'output-form'],
    ['link', 'output-escapes'],
  ])('by "%s" has the code %s, and leaves other stages alone', async (end, code) => {
    world.stages = { bad: { uses: 'act', params: { end } }, good: { uses: 'strip', inputs: { text: 'source.txt' } } };
    const { report, outcomes } = await world.build({ failures: 'keep-going' });

    expect(outcomes).toEqual({ bad: 'failed', good: 'executed' });
    expect(report.stages.get('bad' as StageId)?.outcome).toMatchObject({ failure: { code } });
    expect(existsSync(world.path('artifacts/bad'))).toBe(false);
  });

  it('caused by metrics that are not an object has an error code', async () => {
    world.stages = { bad: { uses: 'unmeasured', inputs: { text: 'source.txt' } } };

    expect((await world.build()).report.stages.get('bad' as StageId)?.outcome).toMatchObject({ failure: { code: 'metrics-malformed' } });
  });

  it('caused by a source that links to itself has an error code', async () => {
    symlinkSync('itself', world.path('itself'));
    world.stages = { strip: { uses: 'strip', inputs: { text: 'itself' } } };

    expect((await world.build()).report.stages.get('strip' as StageId)?.outcome).toMatchObject({ failure: { code: 'input-missing' } });
  });

  it('of a folder whose link leaves it', async () => {
    world.stages = { folders: { uses: 'folders', inputs: { text: 'source.txt' }, params: { link: '../../../../etc/passwd' } } };

    expect((await world.build()).report.stages.get('folders' as StageId)?.outcome).toMatchObject({ failure: { code: 'output-escapes' } });
  });

  it('by a timeout kills the run, even if it ignores signals', async () => {
    world.stages = { bad: { uses: 'act', params: { end: 'hang', pid: world.path('pid') }, timeoutMs: 3_000 } };
    const { report } = await world.build();

    expect(report.stages.get('bad' as StageId)?.outcome).toMatchObject({ failure: { code: 'timeout' } });
    expect(isAlive(Number(world.read('pid')))).toBe(false);
  });

  it('caused by a missing source names the source', async () => {
    world.stages = { strip: { uses: 'strip', inputs: { text: 'missing.txt' } } };

    expect((await world.build()).report.stages.get('strip' as StageId)?.outcome).toMatchObject({
      failure: { code: 'input-missing', message: 'source missing.txt does not exist' },
    });
  });

  it('is tried again as often as `retries` states', async () => {
    world.stages = { act: { uses: 'act', params: { failUnless: world.path('go'), trace: world.path('trace') }, retries: 1 } };
    const { outcomes, events } = await world.build({}, { emit: event => event.kind === 'retrying' && world.write('go', '') });

    expect(outcomes).toEqual({ act: 'executed' });
    expect(events.filter(event => event.kind === 'stage-started')).toHaveLength(2);
  });

  it('keeps its log', async () => {
    world.stages = { parts: { uses: 'parts', inputs: { text: 'source.txt' }, params: { failUnless: '/nowhere/at/all' } } };
    const { report } = await world.build();

    expect(report.stages.get('parts' as StageId)?.outcome).toMatchObject({ failure: { logPath: 'cache/logs/pipeline/parts.log' } });
    expect(findStageLog(await world.plan(), 'parts' as StageId)).toContain('one: computed');
  });
});

describe('a progress text', () => {
  it.each(['reportsInWorker', 'reportsHere'])('of %s is cut at 200 characters', async uses => {
    const stage = (characters: number) => ({ uses, params: { characters }, inputs: { text: 'source.txt' } });
    world.stages = { short: stage(200), long: stage(1_000_000) };
    const { events } = await world.build();

    const texts = new Map(events.flatMap(event => (event.kind === 'progress' ? [[event.stage as string, event.what] as const] : [])));
    expect(texts.get('short')).toBe('é'.repeat(200));
    expect(texts.get('long')?.slice(0, 202)).toBe(`${'é'.repeat(200)}… `);
    expect(texts.get('long')?.length).toBeLessThan(300);
  });
});

describe('the log of a restored result', () => {
  it('is that of the run that made it', async () => {
    world.stages = { count: { uses: 'count', inputs: { text: 'source.txt' } } };
    await world.build();
    rmSync(world.path('cache/logs'), { recursive: true });
    rmSync(world.path('artifacts'), { recursive: true });
    rmSync(world.path('cache/state'), { recursive: true });

    expect((await world.build()).outcomes).toEqual({ count: 'restored' });
    expect(findStageLog(await world.plan(), 'count' as StageId)).toBe('counted 2 lines\n');
  });
});

describe('parts', () => {
  const traceOf = () => (existsSync(world.path('trace')) ? world.read('trace').split('\n').length - 1 : 0);
  const stage = (extra = {}) => ({
    parts: { uses: 'parts', inputs: { text: 'source.txt' }, params: { trace: world.path('trace'), ...extra } },
  });

  it('are stored even if the stage fails later', async () => {
    world.stages = stage({ failUnless: world.path('go') });
    expect((await world.build()).outcomes).toEqual({ parts: 'failed' });
    world.write('go', '');
    const { outcomes } = await world.build();

    expect(outcomes).toEqual({ parts: 'executed' });
    expect(traceOf()).toBe(2);
    expect(world.read('artifacts/parts/text')).toBe('3\n3');
  });

  it('are computed only if they are new: one more line costs one more part', async () => {
    world.stages = stage();
    await world.build();
    world.append('source.txt', '\nthree');
    await world.build();

    expect(traceOf()).toBe(3);
    expect(world.read('artifacts/parts/text')).toBe('3\n3\n5');
  });

  it('are computed again after a change of their code or damage to a blob', async () => {
    world.stages = stage();
    await world.build();
    world.append('plugins/letters.mjs', '\nexport const changed = 1;\n');
    await world.build();
    expect(traceOf()).toBe(4);

    world.append('source.txt', '\n');
    for (const blob of ['3']) writeFileSync(blobPath(blob), '4', { flag: 'r+' });
    const { warnings } = await world.build();
    expect(warnings).toContain('cache-damaged');
    expect(world.read('artifacts/parts/text')).toBe('3\n3\n0');
  });

  it('are computed again by a forced run', async () => {
    world.stages = stage();
    await world.build();
    await world.build({ force: 'targets' });

    expect(traceOf()).toBe(4);
  });

  function blobPath(content: string): string {
    const digest = { '3': '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce' }[content] ?? '';
    return world.path(`cache/cas/${digest.slice(0, 2)}/${digest}`);
  }
});

describe('an input that is edited while its stage runs', () => {
  it('is noticed: the run is discarded, and another run uses the edited input', async () => {
    world.stages = {
      act: { uses: 'act', inputs: { text: 'source.txt' }, params: { until: world.path('go'), trace: world.path('trace') } },
    };
    const started = onStart(() => {
      world.write('source.txt', 'edited');
      world.write('go', '');
    });
    const { outcomes, warnings } = await world.build({}, { emit: started });

    expect(outcomes).toEqual({ act: 'executed' });
    expect(warnings).toEqual(['input-changed']);
    expect(world.read('artifacts/act/text')).toBe('edited');
    world.write('source.txt', 'one\ntwo');
    await world.build();
    expect(world.read('artifacts/act/text')).toBe('one\ntwo');
  });

  it('and edited again during the second run is an error', async () => {
    world.stages = { act: { uses: 'act', inputs: { text: 'source.txt' }, params: { trace: world.path('trace') } } };
    let edits = 0;
    const emit = (event: BuildEvent): void => {
      if (event.kind === 'stage-started') world.write('source.txt', `edit ${edits++}`);
    };

    expect((await world.build({}, { emit })).report.stages.get('act' as StageId)?.outcome).toMatchObject({
      failure: { code: 'input-changed' },
    });
  });

  it('and edited while an earlier stage runs, stores no wrong result', async () => {
    world.stages = {
      early: { uses: 'act', inputs: { text: 'side.txt' }, params: { until: world.path('go') } },
      late: { uses: 'act', inputs: { text: 'source.txt', more: { early: 'early.text' } } },
    };
    const emit = onStart(() => {
      world.write('source.txt', 'edited');
      world.write('go', '');
    });
    await world.build({}, { emit });
    expect(world.read('artifacts/late/text')).toBe('edited');
    world.write('source.txt', 'one\ntwo');
    await world.build();

    expect(world.read('artifacts/late/text')).toBe('one\ntwo');
  });
});

describe('cancelling', () => {
  it('kills every process of the run at once, publishes nothing, and the next build is correct', async () => {
    world.stages = {
      first: { uses: 'strip', inputs: { text: 'source.txt' } },
      act: {
        uses: 'act',
        inputs: { text: 'first.text' },
        params: { child: world.path('child'), pid: world.path('pid'), until: world.path('go') },
      },
      last: { uses: 'strip', inputs: { text: 'act.text' } },
    };
    const abort = new AbortController();
    const running = world.build({}, { signal: abort.signal });
    await until(() => existsSync(world.path('child')));
    const started = performance.now();
    abort.abort();
    const { outcomes, report } = await running;

    // Seconds on a busy machine; the stage itself waits for ever.
    expect(performance.now() - started).toBeLessThan(15_000);
    expect(outcomes).toEqual({ first: 'executed', act: 'cancelled', last: 'cancelled' });
    expect(report.conclusion).toBe('cancelled');
    for (const name of ['pid', 'child']) await until(() => !isAlive(Number(world.read(name))));
    expect(existsSync(world.path('artifacts/act'))).toBe(false);

    world.write('go', '');
    expect((await world.build()).outcomes).toEqual({ first: 'up-to-date', act: 'executed', last: 'executed' });
  });

  it('kills programs of in-process stages too', async () => {
    const script = "require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000);";
    world.stages = {
      tool: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: ['node', '-e', script, '--', world.path('pid')] } },
    };
    const abort = new AbortController();
    const running = world.build({}, { signal: abort.signal });
    await until(() => existsSync(world.path('pid')) && world.read('pid') !== '');
    abort.abort();

    expect((await running).outcomes).toEqual({ tool: 'cancelled' });
    expect(isAlive(Number(world.read('pid')))).toBe(false);
  });
});

describe('a tool', () => {
  it('is found on the PATH, its digest is in the key, and a missing tool is reported', async () => {
    world.stages = { tool: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: ['cp'] } } };
    await world.build();
    expect(world.read('artifacts/tool/text')).toBe('one\ntwo');

    world.stages = { tool: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: ['no-such-program'] } } };
    expect((await world.build()).report.stages.get('tool' as StageId)?.outcome).toMatchObject({ failure: { code: 'tool-missing' } });
  });

  it('that changes runs the stage again', async () => {
    writeFileSync(world.path('mine'), '#!/bin/sh\ncp "$1" "$2"\n', { mode: 0o755 });
    world.stages = { tool: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: [world.path('mine')] } } };
    await world.build();
    writeFileSync(world.path('mine'), '#!/bin/sh\necho new > "$2"\n');

    expect((await world.build()).outcomes).toEqual({ tool: 'executed' });
    expect(world.read('artifacts/tool/text')).toBe('new\n');
  });
});

function onStart(action: () => void): (event: BuildEvent) => void {
  let done = false;
  return event => {
    if (event.kind !== 'stage-started' || done) return;
    done = true;
    action();
  };
}
