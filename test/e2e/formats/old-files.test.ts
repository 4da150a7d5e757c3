/** What Tanren 0.1 left behind is read by today's Tanren: it loads, or is a miss that one line names, and nothing fails. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import type { CliResult, CliWorld } from '../../support/cli-world.js';
import { givenOldProject, OLD_ARCHIVE, OLD_REPORT } from '../../support/old-project.js';

const worlds: CliWorld[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.remove();
});

function given(): CliWorld {
  const world = givenOldProject();
  worlds.push(world);
  return world;
}

const PIPELINES = ['pipeline.yaml', 'pipelines/plain.yaml', 'pipelines/detector.yaml'] as const;

/** Text files that stages published, whose bytes no later version of Tanren may change. */
const ARTIFACTS = ['shout/text', 'shout/all/text.txt', 'shout/all/deep/program', 'count@words/metrics.json', 'letters/text', 'sign/signed'];

const digestsOf = (world: CliWorld): readonly string[] => ARTIFACTS.map(name => digestBytes(world.read(join('artifacts', name))));

const warningsOf = ({ stdout, stderr }: CliResult): readonly string[] =>
  `${stdout}${stderr}`.split('\n').filter(line => line.includes('warning['));

interface Report {
  readonly conclusion: string;
  readonly stages: readonly { readonly stage: string; readonly outcome: { readonly kind: string } }[];
}

const outcomesOf = ({ stdout }: CliResult): Readonly<Record<string, string>> =>
  Object.fromEntries((JSON.parse(stdout) as Report).stages.map(({ stage, outcome }) => [stage, outcome.kind]));

describe('a project with the cache and artifacts of 0.1', () => {
  it.each(PIPELINES)('is built: %s', file => {
    const world = given();
    const before = digestsOf(world);
    const built = world.run('build', '-f', file, '--json');
    // The detector of 0.1 has one Conv: compile now says that it stays on the CPU.
    const warns = file === 'pipelines/detector.yaml' ? [expect.stringContaining('compile: detector: nothing runs on the NPU: ')] : [];
    expect([built.exitCode, built.stderr, warningsOf(built)]).toEqual([0, expect.anything(), warns]);
    for (const outcome of Object.values(outcomesOf(built))) expect(['up-to-date', 'restored', 'executed']).toContain(outcome);
    expect(digestsOf(world)).toEqual(before);
    // Stamps of files that were just unpacked prove nothing for some ticks: only the outcome is the same.
    const again = world.run('build', '-f', file, '--json');
    expect(new Set(Object.values(outcomesOf(again)))).toEqual(new Set(['up-to-date']));
  });

  it('reports for each stage that it is unchanged, or what changed', () => {
    const { stdout, stderr, exitCode } = given().run('status');
    expect([exitCode, stderr]).toEqual([0, '']);
    const stages = ['shout', 'count@words', 'count@lines', 'letters', 'sign'];
    for (const stage of stages) expect(stdout).toMatch(new RegExp(`^${stage} +(up to date|restored|would run|depends on)`, 'm'));
    expect(stdout).not.toContain('never built');
  });

  it('restores missing artifacts from the cache', () => {
    const world = given();
    const before = digestsOf(world);
    rmSync(join(world.folder, 'artifacts'), { recursive: true });
    const built = world.run('build', '--json');
    expect([built.exitCode, warningsOf(built)]).toEqual([0, []]);
    expect(digestsOf(world)).toEqual(before);
  });

  it('runs a stage again only after a change of code', () => {
    const world = given();
    world.run('build');
    const { stdout } = world.run('history', 'letters', 'shout');
    expect(stdout).toContain('r6');
    expect(stdout).not.toContain('never built');
  });
});

describe('records of 0.1 are read', () => {
  const cases: readonly (readonly [what: string, args: readonly string[], says: RegExp])[] = [
    ['history', ['history'], /^r3 .*failed: 1 failed, 4 up to date .*-p break=yes$/m],
    ['a missed gate', ['history'], /^r4 .*a gate was missed.*-p shortest=30$/m],
    ['figures', ['metrics'], /longest\.line +12/],
    ['the baseline', ['diff', 'first'], /baseline first and last results: no difference/],
    ['a run', ['diff', 'r1'], /letters +18 +→ +21|letters.*18.*21/s],
    ['the profile of a run', ['profile', 'r1'], /critical path/],
    ['the log of a stage', ['log', 'letters'], /strike now: (computed|kept)/],
    ['the log of an earlier result', ['log', 'letters', '--run', 'r1'], /strike: computed/],
    ['why a stage ran or is as it was', ['explain', 'letters'], /letters/],
    ['what the cache holds', ['cache', 'stats'], /part letters +5/],
    ['every byte of the cache', ['cache', 'verify'], /77 blobs and 27 records: all intact/],
    ['what is garbage', ['cache', 'gc', '-n'], /94 B/],
  ];
  it.each(cases)('%s', (_what, args, says) => {
    const { exitCode, stdout, stderr } = given().run(...args);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(says);
  });

  it('the secret is in none of them', () => {
    const world = given();
    expect(world.run('log', 'sign').stdout).toContain('signs as ***, in fair weather');
  });
});

describe('a lock of 0.1', () => {
  it.each(PIPELINES)('is reproduced, or every difference is reported at its line: %s', file => {
    const { exitCode, stdout, stderr } = given().run('build', '-f', file, '--frozen');
    const codes = [...stderr.matchAll(/error\[([^\]]+)\]/g)].map(match => match[1]);
    expect([exitCode, new Set(codes)]).toEqual(codes.length > 0 ? [2, new Set(['lock-differs'])] : [0, new Set()]);
    if (exitCode === 0) expect(stdout).toContain('as locked');
  });

  it('names a changed parameter', () => {
    const { exitCode, stderr } = given().run('build', '--frozen', '-p', 'shortest=2');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/pipeline\.lock:\d+:\d+: error\[lock-differs\]: .*shortest/);
  });
});

describe('an archive of 0.1', () => {
  it('is imported completely, and serves a fresh clone', () => {
    const [from, fresh] = [given(), given()];
    const before = digestsOf(from);
    for (const name of ['cache', 'artifacts']) rmSync(join(fresh.folder, name), { recursive: true });
    cpSync(OLD_ARCHIVE, join(fresh.folder, 'results.tanren'));
    const taken = fresh.run('cache', 'import', 'results.tanren');
    expect([taken.exitCode, taken.stderr, taken.stdout]).toEqual([0, '', expect.stringMatching(/7 results/)]);
    const built = fresh.run('build', '--json');
    expect([built.exitCode, warningsOf(built)]).toEqual([0, []]);
    expect(digestsOf(fresh)).toEqual(before);
  });
});

describe('the report of 0.1', () => {
  it('has only fields that the current report has', () => {
    const today = given().run('build', '--json', '--force');
    expect(missingFields(JSON.parse(readFileSync(OLD_REPORT, 'utf8')), JSON.parse(today.stdout), '')).toEqual([]);
  });
});

/** Paths of members that `old` has and `now` lacks, or has as another type. */
function missingFields(old: unknown, now: unknown, path: string): readonly string[] {
  if (Array.isArray(old))
    return Array.isArray(now) ? old.flatMap((item, index) => missingFields(item, now[index], `${path}[${index}]`)) : [path];
  if (typeof old === 'object' && old !== null) {
    if (typeof now !== 'object' || now === null) return [path];
    const members = new Map(Object.entries(now));
    return Object.entries(old).flatMap(([name, item]) => missingFields(item, members.get(name), `${path}.${name}`));
  }
  return typeof old === typeof now ? [] : [path];
}
