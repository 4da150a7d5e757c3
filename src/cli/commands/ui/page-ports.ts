/** What the page needs from this process: plans, ports of the engine, and builds as processes of their own. */
import { spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipelineNameOf } from '../../../engine/config/pipeline-name.js';
import { findProjectFolder } from '../../../engine/config/project-folder.js';
import { readConfigText } from '../../../engine/config/read-text.js';
import { createFileWatcher } from '../../../engine/watch/file-watcher.js';
import type { BuildProcess } from '../../../web/project/build-process.js';
import type { ProjectPorts } from '../../../web/project/project-ports.js';
import type { SweepOrder } from '../../../web/project/sweeps.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { load, loadFrom, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { findInstallRoot } from '../../process/install-root.js';
import { VERSION } from '../../process/version.js';

export function makePagePorts(options: PipelineOptions, access: ProjectPorts['access']): ProjectPorts {
  const path = resolve(options.file);
  return {
    projectFolder: realpathSync(findProjectFolder(path)),
    pipeline: pipelineNameOf(path),
    file: { path, name: options.file },
    sharedCache: findSharedCache(options.cache),
    asked: { params: options.param, paramsFiles: options.paramsFile },
    version: VERSION,
    access,
    async load() {
      const { plan, diagnostics, reads } = await load(options, 'read-only');
      return { plan, diagnostics, reads: reads.paths };
    },
    async check(text) {
      const read = (at: string): string => (resolve(at) === path ? text : readConfigText(at));
      return (await loadFrom(options, read)).diagnostics;
    },
    engine: makeEnginePorts(() => undefined, neverAborted),
    watch: listener => createFileWatcher(listener, 'events'),
    startBuild: (targets, { force }) => start(buildArguments(targets, force, options)),
    startSweep: (order, output, onLine) => start(sweepArguments(order, output, options), onLine),
  };
}

function buildArguments(targets: readonly string[], force: boolean, options: PipelineOptions): readonly string[] {
  return ['build', '--keep-going', ...(force ? ['--force'] : []), ...pipelineArguments(options), '--', ...targets];
}

function sweepArguments({ axes, targets }: SweepOrder, output: string, options: PipelineOptions): readonly string[] {
  const vary = axes.flatMap(({ name, values }) => ['--vary', `${name}=${values}`]);
  return ['sweep', ...vary, '--output', output, ...pipelineArguments(options), '--', ...targets];
}

function pipelineArguments({ file, param, paramsFile, cache }: PipelineOptions): readonly string[] {
  return [
    ...['--file', file],
    ...paramsFile.flatMap(one => ['--params-file', one]),
    ...param.flatMap(one => ['--param', one]),
    ...(cache === undefined ? [] : ['--cache', cache]),
  ];
}

/** The end of what a build writes about problems. */
const MOST_SAID = 8_000;

/** A process group of its own, so that Ctrl-C in the terminal of the page reaches the build only through `cancel`. @param onLine gets the last line of each piece of output. */
function start(words: readonly string[], onLine?: (line: string) => void): BuildProcess {
  const child = spawn(process.execPath, [join(findInstallRoot(), 'bin/tanren.js'), ...words], {
    stdio: ['ignore', onLine === undefined ? 'ignore' : 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, NO_COLOR: '1' },
  });
  if (onLine !== undefined && child.stdout !== null) readLines(child.stdout, onLine);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  const ended = new Promise<Awaited<BuildProcess['ended']>>(end => {
    child.on('error', error => end({ exitCode: undefined, said: error.message }));
    child.on('close', code => end({ exitCode: code ?? undefined, said }));
  });
  return { pid: child.pid ?? 0, cancel: () => void child.kill('SIGINT'), ended };
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-MOST_SAID);
    const last = lines.findLast(line => line.trim() !== '');
    if (last !== undefined) onLine(last.slice(0, 400));
  });
}
