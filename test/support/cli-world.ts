/** The world of tests of the command line: a project folder of its own, and the built `tanren` as a process. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DIST } from './world.js';

const TANREN = join(DIST, 'bin/tanren.js');
/** Less than the shortest time limit of a test that waits, so that its failure shows what was printed. */
const WAIT_MS = 200_000;

export interface CliResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliWorld {
  readonly folder: string;
  run(...args: readonly string[]): CliResult;
  start(...args: readonly string[]): CliProcess;
  /** The same project in another environment, after it was moved, or with more time for a run than 5 minutes. */
  with(other: {
    readonly folder?: string;
    readonly environment?: NodeJS.ProcessEnv;
    readonly timeoutMs?: number;
  }): Pick<CliWorld, 'run' | 'start'>;
  write(name: string, text: string): void;
  /** As many editors save: a new file takes the place of the old one. */
  saveByRename(name: string, text: string): void;
  read(name: string): string;
  exists(name: string): boolean;
  unlink(name: string): void;
  /** Every file with its size and times: equal before and after what writes nothing. */
  listing(): readonly string[];
  /** Makes a named pipe, for a stage that tells the test something, or waits for it. */
  makePipe(name: string): string;
  remove(): void;
}

export interface CliProcess {
  /** Resolves with the output since the last wait, once it holds `text`. @throws Error where the process ends before, or is silent too long. */
  waitFor(text: string): Promise<string>;
  /** All output so far. */
  output(): string;
  signal(name: NodeJS.Signals): void;
  /** Stops reading stdout, as `head` does. */
  closeOutput(): void;
  readonly ended: Promise<number | null>;
}

export function givenProject(files: Readonly<Record<string, string>>, environment: NodeJS.ProcessEnv = {}): CliWorld {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-cli-')));
  const running: ChildProcess[] = [];
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, ...environment } };
  const runWith = ({ cwd, env }: typeof options, args: readonly string[], timeout = 300_000): CliResult => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [TANREN, ...args], { cwd, env, encoding: 'utf8', timeout });
    return { exitCode: status, stdout, stderr };
  };
  const startWith = (how: typeof options, args: readonly string[]): CliProcess => {
    const child = spawn(process.execPath, [TANREN, ...args], { ...how, stdio: ['ignore', 'pipe', 'pipe'] });
    running.push(child);
    return followProcess(child);
  };
  return {
    folder,
    run: (...args) => runWith(options, args),
    with(other) {
      const changed = { cwd: other.folder ?? folder, env: { ...options.env, ...other.environment } };
      return { run: (...args) => runWith(changed, args, other.timeoutMs), start: (...args) => startWith(changed, args) };
    },
    start: (...args) => startWith(options, args),
    write,
    saveByRename(name, text) {
      write(`${name}.new`, text);
      renameSync(join(folder, `${name}.new`), join(folder, name));
    },
    read: name => readFileSync(join(folder, name), 'utf8'),
    exists: name => existsSync(join(folder, name)),
    unlink: name => rmSync(join(folder, name)),
    listing: () =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .sort()
        .map(name => {
          const { size, mtimeNs, ctimeNs } = lstatSync(join(folder, name), { bigint: true });
          return `${name} ${size} ${mtimeNs} ${ctimeNs}`;
        }),
    makePipe(name) {
      execFileSync('mkfifo', [join(folder, name)]);
      return join(folder, name);
    },
    remove() {
      for (const child of running) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 }); // a killed process may still write
    },
  };
}

export function followProcess(child: ChildProcess): CliProcess {
  let all = '';
  let seen = 0;
  let wake: (() => void) | undefined;
  let over = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      all += text;
      wake?.();
    });
  }
  const ended = new Promise<number | null>(resolve => {
    child.on('close', code => {
      over = true;
      wake?.();
      resolve(code);
    });
  });
  return {
    async waitFor(text) {
      const until = performance.now() + WAIT_MS;
      for (;;) {
        const at = all.indexOf(text, seen);
        if (at >= 0) {
          const since = all.slice(seen, at + text.length);
          seen = at + text.length;
          return since;
        }
        if (over) throw new Error(`it ended without "${text}":\n${all.slice(seen)}`);
        const leftMs = until - performance.now();
        if (leftMs <= 0) throw new Error(`no "${text}" in ${WAIT_MS / 1000} s, after character ${seen} of:\n${all}`);
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, leftMs);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    },
    output: () => all,
    signal: name => void child.kill(name),
    closeOutput: () => void child.stdout?.destroy(),
    ended,
  };
}

/** A project of `command` stages: upper and length of a text, and a figure with a gate. */
export const TEXT_PROJECT = {
  'notes.txt': 'forge\n',
  'score.txt': '{"quality": {"words": 3}}\n',
  'pipeline.yaml': `version: 1
params: {mode: upper, least: 1}
sources: {notes: notes.txt, score: score.txt}
stages:
  shout:
    uses: command
    with: {run: ["tr a-z A-Z < in.txt > out.txt; echo \${mode} >> out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}
    inputs: {text: "\${sources.notes}"}
  count:
    foreach: [bytes, lines]
    uses: command
    with: {run: ["wc --\${item} < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {number: out.txt}}
    inputs: {text: shout.text}
  judge:
    uses: command
    with: {run: ["cp score.txt metrics.json"], shell: sh, inputs: {score: score.txt}, outputs: {metrics: {path: metrics.json, kind: metrics}}}
    inputs: {score: "\${sources.score}"}
    gate: {quality.words: ">= \${least}"}
`,
} as const;
