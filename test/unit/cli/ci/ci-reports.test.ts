/** Reports of builds for CI systems: JUnit XML, annotations of GitHub, Markdown. */
import { parseReports } from '../../../../src/cli/pipeline/report-orders.js';
import type { EndedCommand } from '../../../../src/cli/render/ci/ended-command.js';
import { formatAnnotations } from '../../../../src/cli/render/ci/github.js';
import { formatJunit } from '../../../../src/cli/render/ci/junit.js';
import { formatMarkdown } from '../../../../src/cli/render/ci/markdown.js';
import type { StageId } from '../../../../src/engine/model/plan.js';
import type { BuildReport } from '../../../../src/engine/model/report.js';
import { checkJunit, type XmlElement } from '../../../support/junit-schema.js';
import { failureOf, planWith, reportOf, spanAt } from '../../../support/report-of.js';

const plan = planWith({ make: { uses: 'make' }, judge: { uses: 'judge' }, other: { uses: 'judge' }, last: { uses: 'make' } });
const NASTY = 'a <b> & "c" \'d\' ]]> \u001b[31m\u0000 \ud800 %0A,:: line\nnext | `x` ``` <!-- \r::error::no';
const gate = { metric: 'bbox.AP', operator: '>=', bound: 0.5, span: spanAt(7) } as const;
const FIGURES = Object.fromEntries(
  'AP AP50 AP75 APsmall APmedium APlarge AR1 AR10 AR100 ARsmall ARmedium ARlarge'.split(' ').map((name, i) => [name, 0.25 + i / 100]),
);

function ended(report: BuildReport, rest: Partial<Extract<EndedCommand, { kind: 'built' }>> = {}): EndedCommand {
  return { kind: 'built', plan, report, warnings: [], comparison: undefined, ...rest };
}

const FAILED = ended({
  ...reportOf(
    {
      make: { outcome: { kind: 'executed', durationMs: 1500 } },
      judge: { outcome: { kind: 'failed', failure: failureOf({ code: 'exit-code', message: NASTY, help: NASTY, causes: [NASTY] }) } },
      other: { outcome: { kind: 'skipped', because: 'judge' as StageId }, metrics: { bbox: FIGURES } },
      last: { outcome: { kind: 'cancelled' } },
    },
    {
      conclusion: 'failed',
      gates: [
        { stage: 'other' as StageId, gate, value: 0.75, verdict: 'met' },
        { stage: 'other' as StageId, gate, value: 0.25, verdict: 'missed', reasons: [NASTY] },
        { stage: 'other' as StageId, gate, value: undefined, verdict: 'missed' },
      ],
    },
  ),
  checks: [
    { verdict: 'same', stage: 'make' as StageId },
    { verdict: 'different', stage: 'other' as StageId, differences: [{ kind: 'missing', path: NASTY }] },
    { verdict: 'failed', stage: 'last' as StageId, failure: failureOf({}) },
    { verdict: 'measured', stage: 'judge' as StageId },
    { verdict: 'cancelled', stage: 'judge' as StageId },
  ],
});

const REFUSED: EndedCommand = {
  kind: 'refused',
  diagnostics: [
    { severity: 'error', code: 'unknown-plugin', message: NASTY, span: spanAt(3), help: NASTY },
    { severity: 'warning', code: 'unused-param', message: 'not used', span: undefined, help: undefined },
  ],
};

function find(root: XmlElement, className: string, name: string): XmlElement | undefined {
  return root.children.flatMap(suite => suite.children).find(one => one.attributes.classname === className && one.attributes.name === name);
}

describe('JUnit XML', () => {
  it('follows the schema, with stages, gates and checks as test cases', () => {
    const root = checkJunit(formatJunit(FAILED));
    expect(root.attributes).toEqual({ name: 'tanren', tests: '12', failures: '5', errors: '0', time: '1.234' });
    expect(root.children.map(({ attributes }) => [attributes.name, attributes.tests, attributes.failures, attributes.skipped])).toEqual([
      ['pipeline: stages', '4', '1', '2'],
      ['pipeline: gates', '3', '2', '0'],
      ['pipeline: checks', '5', '2', '2'],
    ]);
    expect(find(root, 'stage', 'make')).toMatchObject({ attributes: { time: '1.500' }, children: [] });
    const [failure] = find(root, 'stage', 'judge')?.children ?? [];
    const clean = NASTY.replaceAll(/[\p{Cc}\ud800]/gu, character => (character === '\n' ? '\n' : '\uFFFD'));
    expect(failure).toMatchObject({ name: 'failure', attributes: { type: 'exit-code', message: clean } });
    expect(failure?.text).toContain('error[exit-code]: judge: a <b> & "c"');
    expect(find(root, 'stage', 'other')?.children).toMatchObject([{ name: 'skipped', attributes: { message: 'judge failed' } }]);
    const missed = root.children[1]?.children.map(one => one.children[0]?.attributes.message);
    expect(missed).toEqual([undefined, 'bbox.AP is 0.2500, expected >= 0.5', 'the metrics have no "bbox.AP"']);
  });

  it('has an error per diagnostic if nothing was built', () => {
    const root = checkJunit(formatJunit(REFUSED));
    expect(root.attributes).toMatchObject({ tests: '2', errors: '1', failures: '0' });
    expect(find(root, 'pipeline.yaml', 'unknown-plugin at 3:3')?.children[0]).toMatchObject({
      name: 'error',
      attributes: { type: 'unknown-plugin' },
    });
  });

  it('reports a defect of the tool as an error', () => {
    const failure = failureOf({ code: 'internal' });
    const root = checkJunit(formatJunit(ended(reportOf({ make: { outcome: { kind: 'failed', failure } } }, { conclusion: 'failed' }))));
    expect(root.attributes).toMatchObject({ errors: '1', failures: '0' });
  });

  it.each([
    ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites tests="2"></testsuites>', 'tests is 2, but there are 0'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><testsuite name="a"/></testsuites>', 'testsuite has no tests'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites><case/></testsuites>', 'case in testsuites'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="a & b"></testsuites>', 'unknown entity'],
    ['<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>', 'not well-formed'],
  ])('the check of this test refuses %s', (document, problem) => {
    expect(() => checkJunit(document)).toThrow(problem);
  });
});

/** As the runner reads a line. @see https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs */
function readCommand(line: string): { readonly command: string; readonly properties: Record<string, string>; readonly data: string } {
  const [, command = '', list = '', data = ''] = /^::([a-z]+)(?: ([^:]*))?::(.*)$/s.exec(line) ?? [];
  const readBack = (text: string, extra: readonly (readonly [string, string])[]): string => {
    let plain = text;
    for (const [from, to] of [['%0D', '\r'], ['%0A', '\n'], ...extra, ['%25', '%']] as const) plain = plain.replaceAll(from, to);
    return plain;
  };
  const properties = list.split(',').map(pair => {
    const equals = pair.indexOf('=');
    return [
      pair.slice(0, equals),
      readBack(pair.slice(equals + 1), [
        ['%3A', ':'],
        ['%2C', ','],
      ]),
    ] as const;
  });
  return { command, properties: Object.fromEntries(properties), data: readBack(data, []) };
}

describe('annotations of GitHub', () => {
  const linesOf = (one: EndedCommand, cwd = '/repo/sub', folder = '/repo') => formatAnnotations(one, cwd, folder);

  it('are one line each, and read back as what they say, at the line of the pipeline file', () => {
    const lines = linesOf(FAILED);
    expect(lines.every(line => !/[\r\n]/.test(line))).toBe(true);
    const commands = lines.map(readCommand);
    expect(commands.map(({ command, properties }) => [command, properties.title, properties.line])).toEqual([
      ['error', 'judge: exit-code', '2'],
      ['error', 'gate of other: bbox.AP >= 0.5', '7'],
      ['error', 'gate of other: bbox.AP >= 0.5', '7'],
      ['error', 'other: non-deterministic', '3'],
      ['error', 'check of last: some-code', '4'],
    ]);
    expect(commands[0]).toMatchObject({ properties: { file: 'sub/pipeline.yaml', col: '3', endColumn: '3', endLine: '2' } });
    expect(commands[0]?.data).toContain('%0A,:: line\n');
  });

  it('have no file outside the repository, and no place for a command line', () => {
    expect(linesOf(REFUSED, '/elsewhere', '/repo').map(readCommand)).toMatchObject([
      { command: 'error', properties: { title: 'unknown-plugin' } },
      { command: 'warning', properties: { title: 'unused-param' }, data: 'not used' },
    ]);
    expect(linesOf(REFUSED, '/elsewhere', '/repo')[0]).not.toContain('file=');
  });

  it('name errors before warnings, because only ten of each are shown', () => {
    const warnings = [{ stage: 'make' as StageId, code: 'remote-cache-failed', message: 'no answer' }];
    const report = reportOf({ make: { outcome: { kind: 'failed', failure: failureOf({}) } } }, { conclusion: 'failed' });
    expect(linesOf(ended(report, { warnings })).map(line => line.slice(0, 9))).toEqual(['::error f', '::warning']);
  });
});

describe('Markdown', () => {
  it('has gates, failures, the COCO table and the stages, and nothing in it is markup', () => {
    const text = formatMarkdown(FAILED);
    expect(text).toContain('### ✗ Tanren: failed\n');
    expect(text).toContain('`pipeline`: 1 executed, 1 failed, 1 skipped, 1 cancelled (1.2 s)');
    expect(text).toContain('| ✗ | other: bbox.AP | &gt;= 0.5 | 0.2500; a &lt;b&gt; &amp; "c"');
    expect(text).toContain('\n````text\nerror[exit-code]: judge: ');
    expect(text).toMatch(
      /\| stage \| {2}\| AP \| AP50 \| AP75 \| APsmall \|.*\| ARlarge \|\n\|( --- \|){14}\n\| other \| bbox \| 0\.2500 \| 0\.2600 \|/,
    );
    // Every row of a table has the cells of its head.
    for (const block of text.split('\n\n').filter(part => part.startsWith('|'))) {
      const cells = block.split('\n').map(line => line.replaceAll('\\|', '').split('|').length);
      expect(new Set(cells).size).toBe(1);
    }
  });

  it('states the differences from a base', () => {
    const report = reportOf({ judge: { metrics: { bbox: FIGURES } } });
    const comparison = {
      before: 'main_1',
      after: 'now',
      params: [],
      notes: ['a *note*'],
      stages: [
        {
          stage: 'judge',
          presence: 'both',
          params: [{ label: 'preset', before: 'a', after: 'b|c' }],
          metrics: [
            { metric: 'bbox.AP', before: 0.2, after: 0.25 },
            { metric: 'bbox.AP50', before: 0.26, after: 0.26 },
          ],
          gates: [],
          unknown: [],
        },
      ],
    } as const;
    const text = formatMarkdown(ended(report, { comparison }));
    expect(text).toContain('| judge | bbox | 0.2500 (+0.0500) | 0.2600 | 0.2700 |');
    expect(text).toContain('#### Changes since main\\_1');
    expect(text).toContain('| judge | preset | "a" | "b\\|c" |  |\n| judge | bbox.AP | 0.2000 | 0.2500 | +0.0500 |');
    expect(text).toContain('a \\*note\\*');
    expect(text).not.toContain('| judge | bbox.AP50 |');
  });

  it('says that nothing was built', () => {
    expect(formatMarkdown(REFUSED)).toContain(
      '### ✗ Tanren: nothing was built\n\n````text\npipeline.yaml:3:3: error[unknown-plugin]: a <b>',
    );
  });
});

describe('the orders of --report', () => {
  it('are separated by commas, which may also be part of a file name', () => {
    expect(parseReports('junit=a,b.xml,github,markdown,json=out/x=1.json')).toEqual([
      { form: 'junit', path: 'a,b.xml' },
      { form: 'github', path: undefined },
      { form: 'markdown', path: undefined },
      { form: 'json', path: 'out/x=1.json' },
    ]);
  });

  it.each(['junit', 'json=', 'github=x', 'html=x', ''])('refuse %j', text => {
    expect(() => parseReports(text)).toThrow();
  });
});
