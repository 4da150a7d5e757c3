/** The text of graphs, statuses, styles and usage errors, and the streams of the console. */
import { CommanderError } from 'commander';
import { formatGraph } from '../../../src/cli/commands/build/graph.js';
import { formatStatus } from '../../../src/cli/commands/build/status.js';
import { makeConsole } from '../../../src/cli/terminal/console.js';
import { makeStyle } from '../../../src/cli/terminal/style.js';
import { formatUsageError } from '../../../src/cli/terminal/usage-error.js';
import type { StageStatus } from '../../../src/engine/insight/status/stage-status.js';
import type { StageId } from '../../../src/engine/model/plan.js';
import { failureOf, planWith } from '../../support/report-of.js';
import { makeTextConsole } from '../../support/text-console.js';

const plan = planWith({
  export: { uses: 'export' },
  'part@a-b': { uses: 'split', reads: ['export'] },
  'part@a.b': { uses: 'split', reads: ['export', 'part@a-b'] },
});

describe('the graph', () => {
  const stages = [...plan.stages.values()];
  it('as text has one line per stage with its plugin and inputs', () => {
    expect(formatGraph(plan, stages, 'text').split('\n')).toEqual([
      'export    export',
      'part@a-b  split   ← export',
      'part@a.b  split   ← export ← part@a-b',
    ]);
  });
  it('as Mermaid distinguishes ids that differ only in punctuation', () => {
    expect(formatGraph(plan, stages, 'mermaid').split('\n')).toEqual([
      'graph LR',
      '  export["export<br/>export"]',
      '  part_40_a_2d_b["part@a-b<br/>split"]',
      '  part_40_a_2e_b["part@a.b<br/>split"]',
      '  export --> part_40_a_2d_b',
      '  export --> part_40_a_2e_b',
      '  part_40_a_2d_b --> part_40_a_2e_b',
    ]);
  });
  it('as DOT quotes every id', () => {
    expect(formatGraph(plan, stages, 'dot').split('\n')).toEqual([
      'digraph "pipeline" {',
      '  rankdir=LR;',
      '  "export" [label="export\\nexport"];',
      '  "part@a-b" [label="part@a-b\\nsplit"];',
      '  "part@a.b" [label="part@a.b\\nsplit"];',
      '  "export" -> "part@a-b";',
      '  "export" -> "part@a.b";',
      '  "part@a-b" -> "part@a.b";',
      '}',
    ]);
  });
});

describe('a status', () => {
  it.each<[StageStatus, string]>([
    [{ kind: 'up-to-date' }, 'a  up to date'],
    [{ kind: 'restorable', reasons: ['x changed'], changes: [] }, 'a  would be restored: x changed'],
    [{ kind: 'stale', reasons: ['x changed', 'y changed'], changes: [], after: [] }, 'a  would run: x changed; y changed'],
    [{ kind: 'stale', reasons: ['never built'], changes: [], after: ['b' as StageId] }, 'a  would run after b: never built'],
    [{ kind: 'undecided', because: ['b' as StageId, 'c' as StageId], changes: [] }, 'a  depends on the result of b, c'],
    [{ kind: 'undecided', because: [], changes: [], equalStage: 'b' as StageId }, 'a  would run, unless b gives the same result first'],
    [{ kind: 'blocked', because: 'b' as StageId }, 'a  cannot run, because b cannot'],
    [{ kind: 'impossible', failure: failureOf({}) }, 'a  cannot run'],
  ])('%j', (status, line) => expect(formatStatus('a', status, makeTextConsole())).toEqual([line]));
});

describe('color', () => {
  const red = (isTTY: boolean, environment: NodeJS.ProcessEnv): boolean => makeStyle({ isTTY }, environment)('red', 'x') !== 'x';
  it.each<[boolean, boolean, NodeJS.ProcessEnv]>([
    [true, true, {}],
    [false, false, {}],
    [false, true, { TERM: 'dumb' }],
    [false, true, { NO_COLOR: '1' }],
    [true, true, { NO_COLOR: '' }],
    [true, false, { FORCE_COLOR: '1' }],
    [false, true, { FORCE_COLOR: '0' }],
    [false, false, { FORCE_COLOR: '1', NO_COLOR: '1' }],
  ])('is %p on a terminal %p with %j', (expected, isTTY, environment) => expect(red(isTTY, environment)).toBe(expected));
});

describe('the console', () => {
  const stream = (isTTY: boolean) => {
    const written: string[] = [];
    return { written, isTTY, columns: 40, rows: 10, write: (text: string | Uint8Array) => written.push(String(text)) > 0 };
  };
  it('writes results to stdout and problems to stderr', () => {
    const [stdout, stderr] = [stream(false), stream(false)];
    const console = makeConsole({ json: false }, { stdout, stderr } as never, {});
    console.line('a result');
    console.problem('error', 'a problem\nits help');
    expect([stdout.written, stderr.written]).toEqual([['a result\n'], ['a problem\nits help\n']]);
  });
  it('with --json writes only the document to stdout', () => {
    const [stdout, stderr] = [stream(false), stream(false)];
    const console = makeConsole({ json: true }, { stdout, stderr } as never, {});
    console.line('for people');
    console.problem('warning', 'a problem');
    console.json({ x: 1 });
    expect(stdout.written).toEqual(['{\n  "x": 1\n}\n']);
    expect(stderr.written).toEqual(['for people\n', 'a problem\n']);
  });
  it('has a live area and a width on terminals only, and no live area in CI', () => {
    const streams = { stdout: stream(true), stderr: stream(false) } as never;
    expect(makeConsole({ json: false }, streams, {})).toMatchObject({ live: true });
    expect(makeConsole({ json: false }, streams, {}).width()).toBe(40);
    for (const environment of [{ CI: 'true' }, { TERM: 'dumb' }])
      expect(makeConsole({ json: false }, streams, environment)).toMatchObject({ live: false });
    expect(makeConsole({ json: true }, streams, {})).toMatchObject({ live: false });
    expect(makeConsole({ json: true }, streams, {}).width()).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('a usage error', () => {
  it.each([
    [
      'commander.unknownCommand',
      "error: unknown command 'biuld'\n(Did you mean build?)",
      'error[unknown-command]: unknown command \'biuld\'\n  help: did you mean "build"?',
    ],
    [
      'commander.unknownOption',
      "error: unknown option '--x'",
      "error[unknown-option]: unknown option '--x'\n  help: run the command with --help to see its arguments and options",
    ],
    [
      'commander.unknownOption',
      "error: unknown option '--fo'\n(Did you mean one of --force, --file?)",
      'error[unknown-option]: unknown option \'--fo\'\n  help: did you mean "--force" or "--file"?',
    ],
  ])('%s', (code, message, text) => expect(formatUsageError(new CommanderError(1, code, message))).toBe(text));
});
