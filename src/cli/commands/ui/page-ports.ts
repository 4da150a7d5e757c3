/** What the page needs from this process: plans, ports of the engine, and builds as processes of their own. */
import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { bundlePath } from '../../../engine/action/code/code-table.js';
import { pipelineNameOf } from '../../../engine/config/pipeline-name.js';
import { findProjectFolder } from '../../../engine/config/project-folder.js';
import { readConfigText } from '../../../engine/config/read-text.js';
import { createFileWatcher } from '../../../engine/watch/file-watcher.js';
import type { ProjectPorts } from '../../../web/project/project-ports.js';
import type { SweepOrder } from '../../../web/project/sweeps.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { load, loadFrom, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { findInstallRoot } from '../../process/install-root.js';
import { VERSION } from '../../process/version.js';
import { openBuildStarter } from './build-starter.js';

export function makePagePorts(options: PipelineOptions, access: ProjectPorts['access']): ProjectPorts {
  const path = resolve(options.file);
  const starter = openBuildStarter(options);
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
    startBuild: (targets, { force }) => starter.start(buildArguments(targets, force, options)),
    startSweep: (order, output, onLine) => starter.start(sweepArguments(order, output, options), onLine),
    keepReady: starter.keepReady,
    prepareBuild: plugins => {
      const bundles = plugins.map(({ modulePath }) => bundlePath(findInstallRoot(), modulePath));
      starter.prepare(bundles.filter(path => existsSync(path)));
    },
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
