/** Which names of pipeline files are refused, and which files would own one folder of artifacts. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeDiagnosticList } from '../../../../src/engine/model/diagnostic.js';
import { checkNamesakes, findNameProblem } from '../../../../src/engine/planning/check-pipeline-name.js';

const PIPELINE = 'version: 1\nstages: {a: {uses: command}}\n';

let project: string;
beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-names-')));
});
afterEach(() => rmSync(project, { recursive: true }));

function write(name: string, text = PIPELINE): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

function collisionsOf(name: string): readonly string[] {
  const diagnostics = makeDiagnosticList();
  checkNamesakes(join(project, name), diagnostics);
  return diagnostics.items.map(({ code, message }) => `${code}: ${message}`);
}

describe('a pipeline file', () => {
  it.each([
    '',
    '.',
    '..',
    '.staging',
    '.gitignore',
    '.tanren',
    'a/b',
    'a\\b',
    'a\nb',
    'a\u0000',
    'a\u007f',
    'CON',
    'nul',
    'com1',
    'Lpt9.old',
    'a.',
    'a ',
    'a:b',
    'x'.repeat(101),
    'é'.repeat(51),
  ])('may not be called %j', name => expect(findNameProblem(name)).toBeDefined());

  it.each([
    'pipeline',
    'a',
    'a.b',
    'größe',
    'two words',
    '-a',
    '__proto__',
    'console',
    'com10',
    'x'.repeat(100),
  ])('may be called %j', name => expect(findNameProblem(name)).toBeUndefined());
});

describe('a name', () => {
  it.each([
    ['with another ending', 'pipelines/a.yaml', 'pipelines/a.yml'],
    ['without one', 'pipelines/a.yaml', 'pipelines/a'],
    ['in the folder above', 'pipelines/a.yaml', 'a.yaml'],
    ['of the default pipeline', 'pipeline.yaml', 'pipelines/pipeline.yaml'],
    ['that differs by case', 'pipelines/a.yaml', 'pipelines/A.yaml'],
  ])('is refused where another pipeline has it %s, from both sides', (_what, one, other) => {
    write('package.json', '{}');
    for (const name of [one, other]) write(name);

    for (const [file, second] of [
      [one, other],
      [other, one],
    ] as const)
      expect(collisionsOf(file)).toEqual([expect.stringMatching(`^name-collision: ${file} and ${second} have the same name`)]);
  });

  it('is free if the other file is not a pipeline, is a link to this one, or belongs to another project', () => {
    write('package.json', '{}');
    write('pipelines/a.yaml');
    write('a.yaml', 'model: yolact\n');
    write('deeper/a.yaml');
    symlinkSync('a.yaml', join(project, 'pipelines/a.yml'));

    expect(collisionsOf('pipelines/a.yaml')).toEqual([]);
  });

  it.each([
    ['a stage', 'x: {uses: command}', 'x', true],
    ['a stage that differs by case', 'X: {uses: command}', 'x', true],
    ['an instance of a group', 'x: {foreach: [b], uses: command}', 'x@b', true],
    ['a group, which has no folder', 'x: {foreach: [b], uses: command}', 'x', false],
    ['no stage', 'y: {uses: command}', 'x', false],
  ])('is compared with stages of pipeline.yaml: %s', (_what, stages, name, collides) => {
    write('pipeline.yaml', `version: 1\nstages: {${stages}}\n`);
    write(`pipelines/${name}.yaml`);

    expect(collisionsOf(`pipelines/${name}.yaml`)).toEqual(collides ? [expect.stringContaining(`artifacts/${name} would belong to`)] : []);
  });
});
