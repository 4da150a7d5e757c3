/** The recipes of docs/ci.md work: their own commands run in a first clone without an archive, then in a second one that gets it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { DIST } from '../../support/world.js';

const PAGE = readFileSync(join(dirname(DIST), 'docs/ci.md'), 'utf8');
const TANREN = `'${process.execPath}' '${join(DIST, 'bin/tanren.js')}'`;

const PROJECT = {
  'notes.txt': 'forge\n',
  'pipeline.yaml': `version: 1
sources: {notes: notes.txt}
stages:
  shout: {uses: command, with: {run: ["echo shouted; tr a-z A-Z < in > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}, inputs: {in: "\${sources.notes}"}}
`,
};

/** The block of code under a heading. */
function blockUnder(heading: string): string {
  const match = new RegExp(`\n## ${heading}\n[\\s\\S]*?\`\`\`\\w+\n([\\s\\S]*?)\`\`\``).exec(PAGE);
  if (match?.[1] === undefined) throw new Error(`docs/ci.md has no recipe for ${heading}`);
  return match[1];
}

interface Job {
  readonly steps?: readonly { readonly run?: string }[];
  readonly script?: readonly string[];
  readonly after_script?: readonly string[];
}

const RECIPES: Readonly<Record<string, () => readonly string[]>> = {
  'GitHub Actions': () => {
    const { jobs } = parse(blockUnder('GitHub Actions')) as { readonly jobs: { readonly build: Job } };
    return (jobs.build.steps ?? []).flatMap(({ run }) => run ?? []);
  },
  'GitLab CI': () => {
    const { build } = parse(blockUnder('GitLab CI')) as { readonly build: Job };
    return [...(build.script ?? []), ...(build.after_script ?? [])];
  },
  Jenkins: () => [...blockUnder('Jenkins').matchAll(/\bsh '([^']+)'/g)].map(([, command]) => command ?? ''),
};

/** What of a recipe is Tanren's, as a machine of the CI would run it. */
function run(commands: readonly string[], world: CliWorld): string {
  return commands
    .filter(command => command.includes('npx tanren'))
    .map(command => execFileSync('sh', ['-ec', command.replaceAll('npx tanren', TANREN)], { cwd: world.folder, encoding: 'utf8' }))
    .join('');
}

describe.each(Object.keys(RECIPES))('the recipe for %s', name => {
  const worlds: CliWorld[] = [];
  const clone = (files: Readonly<Record<string, string>>): CliWorld => {
    const world = givenProject(files);
    worlds.push(world);
    return world;
  };
  afterEach(() => {
    for (const world of worlds.splice(0)) world.remove();
  });

  it('builds in the first job, and runs nothing in a second job that imports the archive of the first', () => {
    const commands = RECIPES[name]?.() ?? [];
    const author = clone(PROJECT);
    expect(author.run('build').exitCode).toBe(0);
    const committed = { ...PROJECT, 'pipeline.lock': author.read('pipeline.lock') };

    const first = clone(committed);
    expect(run(commands, first)).toContain('1 executed');
    expect(existsSync(join(first.folder, 'warm.tanren'))).toBe(true);

    const second = clone(committed);
    renameSync(join(first.folder, 'warm.tanren'), join(second.folder, 'warm.tanren'));
    const said = run(commands, second);
    expect(said).toContain('1 restored');
    expect(said).not.toContain('executed');
    expect(second.read('artifacts/shout/out')).toBe('FORGE\n');
  });
});
