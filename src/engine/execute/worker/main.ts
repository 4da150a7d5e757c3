/** The main module of a worker process. It runs one action: it reads the documents, imports the plugin, runs it, and exits. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clipText, MAX_PROGRESS_CHARACTERS } from '../../../base/clip-text.js';
import { InternalError } from '../../../base/invariant.js';
import type { Context } from '../../../stage/context.js';
import { makeMask } from '../../../stage/mask.js';
import { seededRandom } from '../../../stage/random.js';
import { runTool, startTool } from '../../../stage/tool-runner.js';
import { checkIdentitySize } from '../../model/device-identity.js';
import { toFailure } from '../../model/failure.js';
import type { ActionDocument, LocalDocument } from './action-document.js';
import { absoluteInputs, absolutePaths, RUN_LAYOUT } from './action-document.js';
import { createIpcKeeper } from './ipc-keeper.js';
import { loadPlugin } from './load-plugin.js';
import { type FromWorker, isFromWorker, type ToWorker } from './messages.js';
import { createMemo } from './run-parts.js';

const folder = process.argv[2];
if (folder === undefined || process.send === undefined) throw new InternalError('a worker is started by the engine, with a run folder');

// A disconnect means that the engine is gone or has closed the channel: nothing waits for this work or for the processes it started.
// Pid 0 means the worker's process group. In a PID namespace the worker's own number differs from that of the group.
process.on('disconnect', () => process.kill(process.platform === 'win32' ? process.pid : 0, 'SIGKILL'));

const send = (message: FromWorker): void => {
  if (process.connected) process.send?.(message);
};
const abort = new AbortController();
const keeper = createIpcKeeper(send);
process.on('message', (message: ToWorker) => keeper.receive(message));
// A plugin that listens to the signal gets a moment to stop by itself. The engine kills what remains.
process.on('SIGTERM', () => abort.abort(new Error('the stage was cancelled')));

const action = JSON.parse(readFileSync(join(folder, RUN_LAYOUT.action), 'utf8')) as ActionDocument;
const local = JSON.parse(readFileSync(join(folder, RUN_LAYOUT.local), 'utf8')) as LocalDocument;
const scratch = join(folder, RUN_LAYOUT.scratch);
process.chdir(scratch);

const mask = makeMask(action.secrets.map(name => process.env[name]));
const watched: Pick<Context, 'signal' | 'log'> = {
  signal: abort.signal,
  // Masking precedes clipping, because a part of a secret would not be recognized.
  log: (level, message) =>
    sendChecked(
      { kind: 'log', level, message: typeof message === 'string' ? clipText(mask.apply(message)) : message },
      'context.log expects a level ("info" or "warning") and a text',
    ),
};
const known = new Map(Object.entries(local.known).map(([path, entry]) => [join(folder, path), entry]));
const programs = {
  signal: abort.signal,
  group: 'shared',
  tools: local.tools,
  mask,
  log: (text: string) => send({ kind: 'output', text }),
} as const;
const context: Context = {
  ...watched,
  scratch,
  progress: (done, total, what) =>
    sendChecked(
      { kind: 'progress', done, total, what: typeof what === 'string' ? clipText(mask.apply(what), MAX_PROGRESS_CHARACTERS) : what },
      'context.progress expects two numbers and a text',
    ),
  random: label => seededRandom(action.key, label),
  memo: countParts(createMemo(keeper, join(folder, RUN_LAYOUT.parts), known, watched)),
  build: action.build,
  env: declaredEnvironment(action.env),
  spawn: (command, options) => runTool(command, options, { ...programs, env: ownEnvironment() }),
  start: (command, options) => startTool(command, options, { ...programs, env: ownEnvironment() }),
  identify: identity => {
    const message: FromWorker = { kind: 'identity', identity };
    if (isFromWorker(message)) checkIdentitySize(identity);
    sendChecked(message, 'context.identify expects an object');
  },
};

const tally = new Map<string, { kept: number; computed: number }>();
const guard = local.modules === undefined ? undefined : await (await import('./module-guard.js')).guardModules(local.modules);
let last: FromWorker = { kind: 'done' };
try {
  const plugin = await loadPlugin(local.modulePath, action.plugin);
  await plugin.run({
    params: action.params,
    inputs: absoluteInputs(folder, action.inputs),
    outputs: absolutePaths(folder, action.outputs),
    context,
  });
} catch (error) {
  last = { kind: 'failed', failure: toFailure(error) };
}
const refused = guard?.findRefused();
if (refused !== undefined) last = { kind: 'failed', failure: toFailure(refused) };
for (const [name, { kept, computed }] of tally) watched.log('info', `part ${name}: ${kept} kept from earlier runs, ${computed} computed`);
send({ kind: 'usage', peakBytes: process.resourceUsage().maxRSS * 1024 });
process.send(last, () => process.exit(0));

/** JavaScript of third parties may pass any value. @throws TypeError at the faulty call. */
function sendChecked(message: FromWorker, contract: string): void {
  if (!isFromWorker(message)) throw new TypeError(contract);
  send(message);
}

/** Counts the parts, so that the log can report how many were reused. */
function countParts(memo: Context['memo']): Context['memo'] {
  return async (part, request) => {
    const result = await memo(part, request);
    const counts = tally.get(part.name) ?? { kept: 0, computed: 0 };
    counts[result.from] += 1;
    tally.set(part.name, counts);
    return result;
  };
}

function declaredEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])));
}

function ownEnvironment(): Record<string, string> {
  return declaredEnvironment(Object.keys(process.env).filter(name => !name.startsWith('NODE_')));
}
