/** The project of most scenarios: four stages of programs whose runs leave a trace, and a plain function that says what must come out. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { hasCode } from '../../src/base/system-error.js';
import { type CliProcess, type CliResult, type CliWorld, givenProject } from '../support/cli-world.js';

/** a → b → c, and lone on its own. `a` leaves comments out; `b` takes a folder, where files come and go, and a variable of the environment. */
const pipeline = (b: string): string => `version: 1
sources: {a: a.txt, b: b.txt, parts: parts, lone: lone.txt}
stages:
  a:
    uses: command
    with: {run: ["echo a >> $TRACE; . $HOOKS/a; sed /^#/d in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}, env: {TRACE: TRACE_PATH, HOOKS: HOOKS_PATH}}
    inputs: {text: "\${sources.a}"}
  b:
    uses: command
    with: {run: ["${b}"], shell: sh, inputs: {a: a.txt, b: b.txt, parts: parts}, outputs: {text: out.txt}, env: {TRACE: TRACE_PATH, HOOKS: HOOKS_PATH}}
    inputs: {a: a.text, b: "\${sources.b}", parts: "\${sources.parts}"}
    env: [TEMPER]
  c:
    uses: command
    with: {run: ["echo c >> $TRACE; . $HOOKS/c; mkdir out; cp in.txt out/copy.txt; wc -l < in.txt > out/lines.txt; chmod 755 out/lines.txt"], shell: sh, inputs: {text: in.txt}, outputs: {all: out}, env: {TRACE: TRACE_PATH, HOOKS: HOOKS_PATH}}
    inputs: {text: b.text}
  lone:
    uses: command
    with: {run: ["echo lone >> $TRACE; . $HOOKS/lone; tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}, env: {TRACE: TRACE_PATH, HOOKS: HOOKS_PATH}}
    inputs: {text: "\${sources.lone}"}
`;

export const B = 'echo b >> $TRACE; . $HOOKS/b; cat a.txt b.txt parts/* > out.txt; echo $TEMPER >> out.txt';

export interface Forge {
  readonly project: CliWorld;
  /** Builds, and gives the names of the stages that ran, in the order of their names. */
  build(...args: readonly string[]): CliResult & { readonly ran: readonly string[] };
  start(...args: readonly string[]): CliProcess;
  /** A line of shell at the start of a stage's runs, unseen by its key: how the scenario makes it wait or fail. */
  hook(stage: string, script: string): void;
  /** Stages that ran since this was asked last. */
  ran(): readonly string[];
  /** Another script for `b`. */
  setScript(script: string): void;
  /** Everything under artifacts/ is what a clean build would make of the sources as they are. */
  expectRight(temper?: string): void;
  path(name: string): string;
}

export async function withForge(
  scene: (forge: Forge) => Promise<void> | void,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const project = givenProject(
    { 'a.txt': 'one\n# note\n', 'b.txt': 'two\n', 'parts/1.txt': 'three\n', 'lone.txt': 'lone\n' },
    { TEMPER: 'hard', ...environment },
  );
  const path = (name: string): string => `${project.folder}/${name}`;
  const trace = path('.trace');
  const setScript = (script: string): void =>
    project.write('pipeline.yaml', pipeline(script).replaceAll('TRACE_PATH', trace).replaceAll('HOOKS_PATH', path('.hooks')));
  let seen = 0;
  const ran = (): readonly string[] => {
    const lines = existsSync(trace)
      ? readFileSync(trace, 'utf8')
          .split('\n')
          .filter(line => line !== '')
      : [];
    const since = lines.slice(seen);
    seen = lines.length;
    return since.sort();
  };
  const forge: Forge = {
    project,
    build: (...args) => ({ ...project.run('build', ...args), ran: ran() }),
    start: (...args) => project.start('build', ...args),
    hook: (stage, script) => project.write(`.hooks/${stage}`, `${script}\n`),
    ran,
    setScript,
    expectRight: (temper = environment.TEMPER ?? 'hard') => expectRight(project, temper),
    path,
  };
  for (const stage of ['a', 'b', 'c', 'lone']) forge.hook(stage, '');
  setScript(B);
  try {
    await scene(forge);
  } finally {
    project.remove();
  }
}

function expectRight(project: CliWorld, temper: string): void {
  const a = project
    .read('a.txt')
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .join('\n');
  const parts = readdirSync(`${project.folder}/parts`).sort();
  const b = `${a}${project.read('b.txt')}${parts.map(name => project.read(`parts/${name}`)).join('')}${temper}\n`;
  strictEqual(project.read('artifacts/a/text'), a, 'a');
  strictEqual(project.read('artifacts/b/text'), b, 'b');
  deepStrictEqual([...readdirSync(`${project.folder}/artifacts/c/all`)].sort(), ['copy.txt', 'lines.txt'], 'what c holds');
  strictEqual(project.read('artifacts/c/all/copy.txt'), b, 'c');
  strictEqual(project.read('artifacts/c/all/lines.txt').trim(), String(b.split('\n').length - 1), 'lines of c');
  strictEqual(project.read('artifacts/lone/text'), project.read('lone.txt').toUpperCase(), 'lone');
}

/** Appends a line to a file of the project. */
export function append(forge: Forge, name: string, line: string): void {
  appendFileSync(forge.path(name), `${line}\n`);
}

export function removeAll(forge: Forge, name: string): void {
  for (let tries = 0; ; tries++) {
    try {
      rmSync(forge.path(name), { recursive: true, force: true });
      return;
    } catch (error) {
      // A watcher may restore files while they are removed.
      if (tries === 20 || !hasCode(error, 'ENOTEMPTY')) throw error;
    }
  }
}

export function makeFolder(forge: Forge, name: string): void {
  mkdirSync(forge.path(name), { recursive: true });
}
