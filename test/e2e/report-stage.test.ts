/** The report stage shows the stages before it: a build without work keeps the page, a build with work writes a new one. */
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { textOf } from '../support/read-markup.js';

const PIPELINE = `version: 1
sources: {figures: figures.json}
stages:
  measure:
    uses: command
    with: {run: [cp, in.json, metrics.json], inputs: {figures: in.json}, outputs: {metrics: {path: metrics.json, kind: metrics}}}
    inputs: {figures: "\${sources.figures}"}
    gate: {bbox.AP: ">= 0.5"}
  report:
    uses: report
    with: {title: Measured}
    inputs: {metrics: {int8: measure.metrics}}
`;
const NAMES = ['AP', 'AP50', 'AP75', 'APsmall', 'APmedium', 'APlarge', 'AR1', 'AR10', 'AR100', 'ARsmall', 'ARmedium', 'ARlarge'];
const figures = (ap: number): string => JSON.stringify({ bbox: Object.fromEntries(NAMES.map(name => [name, ap])), images: 3 });

let world: CliWorld;
beforeEach(() => {
  world = givenProject({ 'pipeline.yaml': PIPELINE, 'figures.json': figures(0.625) });
});
afterEach(() => world.remove());

const page = (): string => world.read('artifacts/report/page.html');
/** What is shown before the page's script runs, as text. */
const shown = (): string => textOf(page().slice(page().indexOf('<body>'), page().indexOf('<div id="app"')));

it('a second build does nothing; a stage that runs again, or a missed gate, writes a new page', () => {
  expect(world.run('build')).toMatchObject({ exitCode: 0 });
  const first = page();
  expect(first).toContain('<h1>Measured</h1>');
  expect(shown()).toContain('0.6250');
  expect(shown()).toContain('✓ 1 of 1 met');
  expect(shown()).toMatch(/measure command ✓ built \d+ ms/);

  const again = world.run('build');
  expect(again.stdout).toContain('nothing to do: 2 stages up to date');
  expect(again.stdout).not.toContain('executed');
  expect(page()).toBe(first);

  world.write('pipeline.yaml', PIPELINE.replace('>= 0.5', '>= 0.7'));
  expect(world.run('explain', 'report').stdout).toContain('the state of measure changed');
  expect(world.run('build')).toMatchObject({ exitCode: 1 });
  expect(shown()).toContain('✗ 1 of 1 missed');
  expect(shown()).toMatch(/measure command ✓ up to date \d+ ms/);

  world.write('figures.json', figures(0.75));
  expect(world.run('build')).toMatchObject({ exitCode: 0 });
  expect(shown()).toContain('0.7500');
  expect(shown()).toMatch(/measure command ✓ built \d+ ms/);
});

describe('a stage before the page fails', () => {
  const PARTIAL = 'cache/partial/pipeline/report/page.html';
  const WITH_BENCH = PIPELINE.replace(
    '  report:',
    `  slow:
    uses: command
    with: {run: [sh, check.sh], inputs: {script: check.sh}, outputs: {metrics: {path: metrics.json, kind: metrics}}}
    inputs: {script: "\${sources.script}"}
  report:`,
  )
    .replace('sources: {', 'sources: {script: check.sh, ')
    .replace('{int8: measure.metrics}', '{int8: measure.metrics, slow: slow.metrics}');
  const WORKS = `echo '{"bbox": {}, "images": 3}' > metrics.json\n`;

  beforeEach(() => {
    world.write('pipeline.yaml', WITH_BENCH);
    world.write('check.sh', 'echo broken; exit 3\n');
  });

  it('with --keep-going a partial page shows what there is, and says what it lacks', () => {
    const { exitCode, stdout } = world.run('build', '--keep-going');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`partial report, without slow: ${PARTIAL}\n`);
    const partial = textOf(world.read(PARTIAL));
    expect(partial).toContain('0.6250');
    expect(partial).toContain('partial This page lacks the results of a stage');
    expect(partial).toContain('slow failed: sh ended with exit code 3');
  });

  it('a partial page is no result: not published, not restored, not locked, and replaced by the whole page', () => {
    world.run('build', '--keep-going');
    expect(world.exists('artifacts/report/page.html')).toBe(false);
    expect(world.exists('pipeline.lock')).toBe(false);
    expect(world.run('status').stdout).toMatch(/report .*slow/);

    world.write('check.sh', WORKS);
    const built = world.run('build');
    expect(built).toMatchObject({ exitCode: 0 });
    expect(built.stdout).toMatch(/✓ report +executed/);
    expect(shown()).not.toContain('This page lacks');
    expect(world.exists(PARTIAL)).toBe(false);
  });

  it('without --keep-going there is no partial page', () => {
    expect(world.run('build').stdout).not.toContain('partial');
    expect(world.exists(PARTIAL)).toBe(false);
  });

  it('watch shows a partial page, and the whole one after the fix', async () => {
    const watch = world.start('watch');
    await watch.waitFor('partial report, without slow');
    world.write('check.sh', WORKS);
    await watch.waitFor('report: artifacts/report/page.html');
    watch.signal('SIGINT');
    await watch.ended;
    expect(world.exists(PARTIAL)).toBe(false);
  }, 60_000);
});
