/** The line about the pipeline while no build runs: it names what failed, wherever the stage is in the graph. */
import { loadComponent } from '../../support/render-component.js';

const textOf = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

const stagesOf = (states: Readonly<Record<string, string>>) =>
  Object.entries(states).map(([id, state]) => ({ id, state, gates: [], why: [] }));

const build = (failed: readonly string[]) => ({
  state: 'ended',
  command: '',
  pid: 1,
  startedMs: 0,
  pending: [],
  stages: Object.fromEntries(failed.map(id => [id, { state: 'failed', endedMs: 100 }])),
});

describe('after a build', () => {
  let render: (props: object) => string;
  beforeAll(async () => {
    render = await loadComponent('builds/build-bar.js', 'RestText');
  });
  const say = (states: Readonly<Record<string, string>>, failed: readonly string[]): string =>
    render({ pipeline: { stages: stagesOf(states), problems: [], readMs: 200 }, build: build(failed) });

  it.each([
    [['c'], '✗ c failed. ○ 3 of 4 stages are not up to date.'],
    [['c', 'd'], '✗ c and another stage failed. ○ 3 of 4 stages are not up to date.'],
    [['b', 'c', 'd'], '✗ b and 2 other stages failed. ○ 3 of 4 stages are not up to date.'],
    [[], '○ 3 of 4 stages are not up to date.'],
  ])('in which %j failed, the line says so', (failed, text) => {
    expect(textOf(say({ a: 'up-to-date', b: 'stale', c: 'stale', d: 'stale' }, failed))).toBe(text);
  });

  it('a stage that is up to date again has not failed', () => {
    expect(textOf(say({ a: 'up-to-date', b: 'up-to-date' }, ['b']))).toBe('✓ All 2 stages are up to date.');
  });
});

it('a build that ended without a word has nothing to open', async () => {
  const render = await loadComponent('builds/build-bar.js', 'EndedText');
  const markupOf = (said: string): string => render({ ended: { pid: 1, exitCode: 1, said }, close: () => undefined });
  expect(textOf(markupOf(' \n'))).toBe('The build ended with exit code 1. Close');
  expect(markupOf(' \n')).not.toContain('<details');
  expect(markupOf('no space left')).toMatch(/<details.*<pre>no space left<\/pre>/s);
});
