/**
 * Other build tools that are measured on the same graph.
 * These are the installed ones and, with `--peers`, those that npm installs into a temporary folder.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, type Program, runProgram } from './run-program.js';
import type { TrivialGraph, TrivialStage } from './trivial-graph.js';

export interface Peer {
  /** With its version. */
  readonly name: string;
  /** Writes the graph as a project of this tool, and returns the command that builds it. */
  write(folder: string, graph: TrivialGraph): Program;
  /** The files of a build that let the next one do less. */
  readonly leaves: readonly string[];
  /** The output of a build that found nothing to do. */
  readonly nothing: (graph: TrivialGraph) => string;
  /** The largest graph that the tool is measured on, in stages. */
  readonly most: number;
}

export interface Peers {
  /** Finds or fetches the tools on the first call. */
  get(): readonly Peer[];
  remove(): void;
}

const FROM_NPM = ['turbo', 'wireit', 'nx'];

/** @param choice 'installed': nothing is fetched. */
export function makePeers(choice: 'installed' | 'npm'): Peers {
  let found: readonly Peer[] | undefined;
  let folder: string | undefined;
  return {
    get() {
      if (found !== undefined) return found;
      if (choice === 'npm') folder = mkdtempSync(join(tmpdir(), 'tanren-peers-'));
      else console.log(`${FROM_NPM.join(', ')} are measured with --peers, which fetches them into a temporary folder`);
      found = [...findNative(), ...(folder === undefined ? [] : fetchFromNpm(folder))];
      return found;
    },
    remove() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function findNative(): readonly Peer[] {
  const makers = { ninja: makeNinja, make: makeMake };
  return Object.entries(makers).flatMap(([name, make]) => {
    if (isInstalled(name)) return [make()];
    console.log(`${name} is not installed: not measured`);
    return [];
  });
}

function fetchFromNpm(folder: string): readonly Peer[] {
  writeFileSync(join(folder, 'package.json'), '{ "name": "peers", "private": true }\n');
  const install = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...FROM_NPM], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (install.status !== 0) {
    console.log(
      `npm does not bring ${FROM_NPM.join(', ')} here: not measured (${install.stderr?.trim().split('\n').at(-1) ?? 'there is no npm'})`,
    );
    return [];
  }
  const modules = join(folder, 'node_modules');
  return [makeTurbo(modules), makeWireit(modules), makeNx(modules)];
}

/** The script of a stage, the same for all tools: creates a folder, writes the stage's name, and checks that its inputs exist. */
function scriptOf({ id, reads }: TrivialStage): string {
  const files = reads.length === 0 ? ['source.txt'] : reads.map(read => `out/${read}`);
  return `mkdir -p out && echo ${id} > out/${id} && test -s ${files.join(' -a -s ')}`;
}

function filesOf({ reads }: TrivialStage): string {
  return reads.length === 0 ? 'source.txt' : reads.map(read => `out/${read}`).join(' ');
}

function makeNinja(): Peer {
  return {
    name: `ninja ${runProgram({ command: 'ninja', args: ['--version'], cwd: '.' }).trim()}`,
    write(folder, { stages }) {
      const edges = stages.map(stage => `build out/${stage.id}: run ${filesOf(stage)}\n  script = ${scriptOf(stage)}\n`);
      writeFileSync(join(folder, 'build.ninja'), `rule run\n  command = $script\n${edges.join('')}`);
      return { command: 'ninja', args: [], cwd: folder };
    },
    leaves: ['out', '.ninja_log', '.ninja_deps'],
    nothing: () => 'no work to do',
    most: 10_000,
  };
}

function makeMake(): Peer {
  return {
    name: runProgram({ command: 'make', args: ['--version'], cwd: '.' }).split('\n', 1)[0] ?? 'make',
    write(folder, { stages }) {
      const rules = stages.map(stage => `out/${stage.id}: ${filesOf(stage)}\n\t@${scriptOf(stage)}\n`);
      writeFileSync(join(folder, 'Makefile'), `all: ${stages.map(({ id }) => `out/${id}`).join(' ')}\n${rules.join('')}`);
      return { command: 'make', args: ['-j2'], cwd: folder };
    },
    leaves: ['out'],
    nothing: () => 'Nothing to be done',
    most: 10_000,
  };
}

function makeTurbo(modules: string): Peer {
  return {
    name: `turbo ${versionOf(modules, 'turbo')}`,
    write(folder, { stages }) {
      symlinkSync(modules, join(folder, 'node_modules'));
      const scripts = Object.fromEntries(stages.map(stage => [stage.id, scriptOf(stage)]));
      writeJson(folder, 'package.json', { name: 't', private: true, packageManager: 'npm@10.0.0', scripts: { all: 'true', ...scripts } });
      writeJson(folder, 'package-lock.json', { name: 't', lockfileVersion: 3, requires: true, packages: { '': { name: 't' } } });
      const tasks = stages.map(stage => {
        const inputs = stage.reads.length === 0 ? ['source.txt'] : [];
        return [stage.id, { dependsOn: stage.reads, inputs, outputs: [`out/${stage.id}`] }];
      });
      const all = { dependsOn: stages.map(({ id }) => id), cache: false };
      writeJson(folder, 'turbo.json', { tasks: { all, ...Object.fromEntries(tasks) } });
      writeFileSync(join(folder, '.gitignore'), 'node_modules\nout\n.turbo\n');
      const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1', DO_NOT_TRACK: '1' };
      return { command: join(modules, '.bin/turbo'), args: ['run', 'all', '--output-logs=none', '--concurrency=2'], cwd: folder, env };
    },
    leaves: ['out', '.turbo', 'node_modules/.cache'],
    nothing: ({ stages }) => `${stages.length} cached`,
    // Turbo starts npm for every task.
    most: 100,
  };
}

/** Started without npm, which alone takes some 300 ms. */
function makeWireit(modules: string): Peer {
  return {
    name: `wireit ${versionOf(modules, 'wireit')}`,
    write(folder, { stages }) {
      symlinkSync(modules, join(folder, 'node_modules'));
      const scripts = Object.fromEntries(['all', ...stages.map(({ id }) => id)].map(name => [name, 'wireit']));
      const wireit = stages.map(stage => {
        const files = stage.reads.length === 0 ? ['source.txt'] : [];
        return [stage.id, { command: scriptOf(stage), files, output: [`out/${stage.id}`], dependencies: stage.reads }];
      });
      const all = { dependencies: stages.map(({ id }) => id) };
      writeJson(folder, 'package.json', { name: 'w', private: true, scripts, wireit: { all, ...Object.fromEntries(wireit) } });
      const env = {
        ...process.env,
        npm_lifecycle_event: 'all',
        npm_package_json: join(folder, 'package.json'),
        npm_config_user_agent: 'npm/10',
      };
      return { command: join(modules, '.bin/wireit'), args: [], cwd: folder, env: { ...env, WIREIT_PARALLEL: '2' } };
    },
    leaves: ['out', '.wireit'],
    nothing: ({ stages }) => `skipped ${stages.length}`,
    most: 1_000,
  };
}

function makeNx(modules: string): Peer {
  return {
    name: `nx ${versionOf(modules, 'nx')}`,
    write(folder, { stages }) {
      symlinkSync(modules, join(folder, 'node_modules'));
      writeJson(folder, 'package.json', { name: 'n', private: true, devDependencies: { nx: '*' } });
      writeJson(folder, 'nx.json', { neverConnectToCloud: true, analytics: false, parallel: 2, cacheDirectory: '.nx/cache' });
      writeFileSync(join(folder, '.gitignore'), 'node_modules\nout\n.nx\n');
      const targets = stages.map(stage => {
        const inputs = stage.reads.length === 0 ? ['{projectRoot}/source.txt'] : [{ dependentTasksOutputFiles: '**/*' }];
        const options = { command: scriptOf(stage), cwd: '{projectRoot}' };
        const outputs = [`{projectRoot}/out/${stage.id}`];
        return [stage.id, { executor: 'nx:run-commands', cache: true, options, dependsOn: stage.reads, inputs, outputs }];
      });
      const all = { executor: 'nx:noop', dependsOn: stages.map(({ id }) => id) };
      writeJson(folder, 'project.json', { name: 'w', root: '.', targets: { all, ...Object.fromEntries(targets) } });
      // The daemon would keep running after the measurement.
      const env = { ...process.env, NX_DAEMON: 'false', NX_NO_CLOUD: 'true', DO_NOT_TRACK: '1', NX_TUI: 'false' };
      return { command: join(modules, '.bin/nx'), args: ['run', 'w:all'], cwd: folder, env };
    },
    leaves: ['out', '.nx'],
    nothing: ({ stages }) => `${stages.length} out of`,
    most: 100,
  };
}

function versionOf(modules: string, name: string): string {
  const manifest = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as { readonly version: string };
  return manifest.version;
}

function writeJson(folder: string, name: string, value: unknown): void {
  writeFileSync(join(folder, name), `${JSON.stringify(value, null, 1)}\n`);
}
