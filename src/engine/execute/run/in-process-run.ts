/** The runner for plugins that only start programs. It needs no worker, because the programs are separate processes. */
import { join } from 'node:path';
import { clipText, MAX_PROGRESS_CHARACTERS } from '../../../base/text/clip-text.js';
import type { Context } from '../../../stage/context.js';
import { type StagePlugin, withCheckedParams } from '../../../stage/define-stage.js';
import { seededRandom } from '../../../stage/random.js';
import { baseEnvironment, runTool, startTool } from '../../../stage/tool-runner.js';
import { checkIdentitySize } from '../../model/device-identity.js';
import type { Failure } from '../../model/failure.js';
import { toFailure } from '../../model/failure.js';
import { absolutePaths, mapInputs, RUN_LAYOUT } from '../worker/action-document.js';
import { createMemo } from '../worker/run-parts.js';
import type { Runner, RunOrder } from './runner.js';

/** Runs actions of one plugin in this process. */
export function inProcessRunner(plugin: StagePlugin): Runner {
  return { run: order => runInProcess(plugin, order) };
}

async function runInProcess(declared: StagePlugin, order: RunOrder): Promise<Failure | undefined> {
  const plugin = withCheckedParams(declared);
  const { action } = order;
  // The inputs are read in place, because no program sees these paths.
  const places = new Map(order.links.map(({ link, to }) => [link, to]));
  const scratch = join(order.folder, RUN_LAYOUT.scratch);
  const { listener } = order;
  const watched: Pick<Context, 'signal' | 'log'> = {
    signal: order.signal,
    log: (level, message) => listener.log(level, clipText(message)),
  };
  const programs = {
    env: { ...baseEnvironment(order.environment, scratch), ...order.declaredEnv },
    signal: order.signal,
    group: 'own',
    log: (text: string) => listener.log('output', text),
    watch: order.reaper.watch,
    start: order.starters.start,
    tools: order.local.tools,
    mask: order.mask,
    ...(order.guard === undefined ? {} : { wrap: order.guard.wrap }),
  } as const;
  const context: Context = {
    ...watched,
    scratch,
    progress: (done, total, what) => listener.progress(done, total, clipText(what, MAX_PROGRESS_CHARACTERS)),
    random: label => seededRandom(action.key, label),
    memo: createMemo(order.partStore, join(order.folder, RUN_LAYOUT.parts), new Map(), watched, () => undefined),
    partsAtOnce: 1,
    build: action.build,
    env: order.declaredEnv,
    spawn: (command, options) => runTool(command, options, programs),
    start: (command, options) => startTool(command, options, programs),
    identify(identity) {
      checkIdentitySize(identity);
      listener.identify(identity);
    },
  };
  try {
    await plugin.run({
      params: action.params,
      inputs: mapInputs(action.inputs, link => places.get(link) ?? join(order.folder, link)),
      outputs: absolutePaths(order.folder, action.outputs),
      context,
    });
    return undefined;
  } catch (error) {
    return toFailure(error);
  } finally {
    order.partStore.release();
  }
}
