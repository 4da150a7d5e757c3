/** `tanren watch` builds again after every save, once for many, whatever way an editor saves. */
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';

const READY = 'watching; Ctrl-C ends';

describe('watch', () => {
  let world: CliWorld;
  beforeEach(() => {
    world = givenProject(TEXT_PROJECT);
  });
  afterEach(() => world.remove());

  it('builds again when a source is saved, also by rename, and twice in a row', async () => {
    const watch = world.start('watch');
    await watch.waitFor(READY);
    for (const word of ['anvil', 'hammer', 'tongs']) {
      world.saveByRename('notes.txt', `${word}\n`);
      await watch.waitFor(READY);
      expect(world.read('artifacts/shout/text')).toBe(`${word.toUpperCase()}\nupper\n`);
    }
    world.write('notes.txt', 'bellows\n');
    await watch.waitFor(READY);
    expect(world.read('artifacts/shout/text')).toBe('BELLOWS\nupper\n');
  });

  it('reports nothing to do after a save without a change, and writes nothing', async () => {
    const watch = world.start('watch');
    await watch.waitFor(READY);
    world.write('notes.txt', 'anvil\n');
    await watch.waitFor(READY);
    const before = world.listing().filter(line => line.startsWith('cache'));
    world.saveByRename('notes.txt', 'anvil\n');

    expect(await watch.waitFor(READY)).toContain('nothing to do: 4 stages up to date');
    expect(world.listing().filter(line => line.startsWith('cache'))).toEqual(before);
  });

  it('shows old and new metrics next to each other', async () => {
    const watch = world.start('watch');
    await watch.waitFor(READY);
    world.write('score.txt', '{"quality": {"words": 5}}\n');

    expect(await watch.waitFor(READY)).toContain('quality.words  5 was 3');
  });

  it.each([
    [[], true],
    [['--stop'], false],
  ])('with %j after a failure runs the stages that do not depend on the failed one: %s', async (options, runs) => {
    const touch = (name: string, inputs = ''): string =>
      `  ${name}: {uses: command, with: {run: [sh, -c, "touch out"], outputs: {out: out}}${inputs}}\n`;
    const broken = '  a: {uses: command, with: {run: ["false"], outputs: {out: out}}}\n';
    world.write('pipeline.yaml', `version: 1\nstages:\n${broken}${touch('b')}${touch('c')}`);
    const watch = world.start('watch', '--jobs', '1', ...options);
    const output = await watch.waitFor(READY);

    expect(output).toContain('error[command-failed]: a: ');
    expect([world.exists('artifacts/b/out'), world.exists('artifacts/c/out')]).toEqual([runs, runs]);
  });

  it('reports the errors of a broken pipeline file, and continues when they are fixed', async () => {
    const watch = world.start('watch');
    await watch.waitFor(READY);
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('uses: command', 'uses: comand'));
    expect(await watch.waitFor(READY)).toContain('pipeline.yaml:6:11: error[unknown-plugin]');

    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('mode: upper', 'mode: edited'));
    await watch.waitFor(READY);
    expect(world.read('artifacts/shout/text')).toBe('FORGE\nedited\n');
  });

  const starts = (output: string): number => output.split('▸ shout').length - 1;

  it.each<[string, (word: string) => void, string]>([
    ['a source', word => world.write('notes.txt', `${word}\n`), 'THREE\nupper\n'],
    ['the pipeline file', word => editMode(word), 'FORGE\nthree\n'],
  ])('edits of %s during a run cause exactly one more run, which sees the last of them', async (_what, edit, result) => {
    editMode('upper');
    world.write('hold', '');
    const watch = world.start('watch', 'shout');
    await watch.waitFor('▸ shout');
    for (const word of ['one', 'two', 'three']) edit(word);
    world.unlink('hold');
    while (!world.exists('artifacts/shout/text') || world.read('artifacts/shout/text') !== result) await watch.waitFor(READY);
    expect(starts(watch.output())).toBe(2);

    // Whatever the watcher still had to do comes before what it does for this.
    world.write('notes.txt', 'last\n');
    while (!world.read('artifacts/shout/text').startsWith('LAST')) await watch.waitFor(READY);
    expect(starts(watch.output())).toBe(3);
  });

  /** The pipeline whose stage `shout` does not end while there is a file `hold`. */
  function editMode(mode: string): void {
    const held = `run: ["while test -e '${world.folder}/hold'; do :; done; tr a-z`;
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('mode: upper', `mode: ${mode}`).replace('run: ["tr a-z', held));
  }

  it('builds again when a local plugin, or a module that it imports, is saved', async () => {
    world.write('plugins/word.js', "export const word = 'old';\n");
    world.write(
      'plugins/say.js',
      `import { writeFileSync } from 'node:fs';
import { word } from './word.js';
export const say = {
  name: 'say', version: 1, description: 'Says a word.', determinism: 'exact', runsModels: 'never',
  params: { type: 'object', additionalProperties: false, properties: {} },
  inputs: {}, outputs: { text: { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' } },
  run: async ({ outputs }) => writeFileSync(outputs.text, word),
};
`,
    );
    world.write('package.json', '{"type": "module"}');
    world.write('pipeline.yaml', 'version: 1\nplugins: {say: ./plugins/say.js}\nstages: {say: {uses: say}}\n');
    const watch = world.start('watch');
    await watch.waitFor(READY);
    expect(world.read('artifacts/say/text')).toBe('old');

    world.write('plugins/word.js', "export const word = 'new';\n");
    await watch.waitFor(READY);
    expect(world.read('artifacts/say/text')).toBe('new');

    world.write(
      'plugins/say.js',
      world
        .read('plugins/say.js')
        .replace('outputs.text, word', 'outputs.text, `${word}!`')
        .replace('properties: {}', "properties: { loud: { type: 'string' } }"),
    );
    world.write('pipeline.yaml', 'version: 1\nplugins: {say: ./plugins/say.js}\nstages: {say: {uses: say, with: {loud: "yes"}}}\n');
    for (; world.read('artifacts/say/text') !== 'new!'; ) await watch.waitFor(READY);
    expect(watch.output()).not.toContain('unknown-setting');
  });

  it('exits with 2 if a target is not a stage', () => {
    const { exitCode, stderr } = world.run('watch', 'nope');

    expect(exitCode).toBe(2);
    expect(stderr).toContain('error[unknown-stage]: unknown stage "nope"');
  });

  it('exits with 130 on Ctrl-C', async () => {
    const watch = world.start('watch');
    await watch.waitFor(READY);
    watch.signal('SIGINT');
    expect(await watch.ended).toBe(130);
  });
});
