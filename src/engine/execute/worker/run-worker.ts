/** A worker process. It runs one action: it reads the documents, loads the plugin, runs it, and exits. */
import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InternalError } from '../../../base/invariant.js';
import { type JsonReader, readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { optimizeAfter } from '../../../base/optimize-later.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { makeMask } from '../../../stage/mask.js';
import { toFailure } from '../../model/failure.js';
import { ACTION_DOCUMENT, absoluteInputs, absolutePaths, LOCAL_DOCUMENT, RUN_LAYOUT } from './action-document.js';
import { createIpcPartStore } from './ipc-part-store.js';
import type { LoadedPlugin } from './load-plugin.js';
import type { FromWorker, ToWorker } from './messages.js';
import { PART_PROCESS } from './part-messages.js';
import { runPartProcess } from './part-process.js';
import { type LoadPart, loadPartOf, PARTS_DOCUMENT, PARTS_DOCUMENT_NAME, runPartsOf } from './parts-document.js';
import type { Loan } from './spread-parts.js';
import { makeContext, type WorkerSide } from './worker-context.js';

/** A worker lives for seconds and has one thread: only what runs longest in it is worth the compiler's time. */
const OPTIMIZE_AFTER_BYTES = 1_500_000;

/**
 * @param loadPart returns a part by the path of its module. @param load returns the plugin of this name. `modulePath` is the module that declares it.
 * @param ends 'at-once': nothing waits for the exit of the process, as a plugin of a third party may.
 */
export async function runWorker(
  load: (modulePath: string, name: string) => Promise<LoadedPlugin>,
  loadPart: LoadPart = loadPartOf,
  ends: 'at-once' | 'by-exit' = 'by-exit',
): Promise<void> {
  optimizeAfter(OPTIMIZE_AFTER_BYTES);
  if (process.argv[3] === PART_PROCESS) return runPartProcess(openDocuments(process.argv[2]).local, loadPart);
  const side = openWorker(process.argv[2]);
  const { folder, action, local, send } = side;
  const { context, partCounts, endParts } = makeContext(side);
  const guard = local.modules === undefined ? undefined : await (await import('./module-guard.js')).guardModules(local.modules);
  let last: FromWorker = { kind: 'done' };
  try {
    const parts = join(folder, PARTS_DOCUMENT_NAME);
    if (existsSync(parts)) await runPartsOf(readDocument(parts, readerOf(PARTS_DOCUMENT)), { folder, context, loadPart });
    else {
      const plugin = await load(local.modulePath, action.plugin);
      await plugin.run({
        params: action.params,
        inputs: absoluteInputs(folder, action.inputs),
        outputs: absolutePaths(folder, action.outputs),
        context,
      });
    }
  } catch (error) {
    last = { kind: 'failed', failure: toFailure(error) };
  }
  const refused = guard?.findRefused();
  if (refused !== undefined) last = { kind: 'failed', failure: toFailure(refused) };
  for (const [name, { earlier, remotely, here }] of partCounts) {
    const onWorkers = remotely === 0 ? '' : `, ${remotely} of them on remote workers`;
    context.log('info', `part ${name}: ${earlier} kept from earlier runs, ${here + remotely} computed${onWorkers}`);
  }
  send({ kind: 'usage', peakBytes: process.resourceUsage().maxRSS * 1024 + endParts() });
  // The shell of the sandbox would write "Killed" into the log of a stage that succeeded.
  process.send?.(last, () => endProcess(local.guarded === true ? 'by-exit' : ends));
}

/**
 * Ends this process after its last message. The destructors of native libraries take some tens of milliseconds, for which the build would wait:
 * 'at-once' does without them. A built-in plugin has nothing else to finish: its log goes by messages, and its files are closed.
 */
function endProcess(how: 'at-once' | 'by-exit'): void {
  if (how === 'at-once' && process.platform !== 'win32') process.kill(process.pid, 'SIGKILL');
  process.exit(0);
}

/** Reads the documents of the run, and enters its scratch folder. */
function openDocuments(folder: string | undefined) {
  if (folder === undefined || process.send === undefined) throw new InternalError('a worker is started by the engine, with a run folder');
  const action = readDocument(join(folder, RUN_LAYOUT.action), readerOf(ACTION_DOCUMENT));
  const local = readDocument(join(folder, RUN_LAYOUT.local), readerOf(LOCAL_DOCUMENT));
  process.chdir(join(folder, RUN_LAYOUT.scratch));
  // Files that a plugin writes may have the umask in their permissions. That of the user is in no key.
  process.umask(0o022);
  return { folder, action, local };
}

/** Connects this process with the engine. */
function openWorker(named: string | undefined): WorkerSide {
  const { folder, action, local } = openDocuments(named);

  // A disconnect means that the engine is gone or has closed the channel: nothing waits for this work or for the processes it started.
  // Pid 0 means the worker's process group. In a PID namespace the worker's own number differs from that of the group.
  process.on('disconnect', () => process.kill(process.platform === 'win32' ? process.pid : 0, 'SIGKILL'));

  const send = (message: FromWorker): void => {
    if (process.connected) process.send?.(message);
  };
  const abort = new AbortController();
  const partStore = createIpcPartStore(send);
  const lending = new EventEmitter<{ slot: [Loan] }>();
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'slot-lent' || message.kind === 'slot-recalled') lending.emit('slot', message);
    else partStore.receive(message);
  });
  // A plugin that listens to the signal gets a moment to stop by itself. The engine kills what remains.
  process.on('SIGTERM', () => abort.abort(new Error('the stage was cancelled')));
  const mask = makeMask(action.secrets.map(name => process.env[name]));
  return { folder, action, local, send, partStore, signal: abort.signal, mask, onLoan: listener => lending.on('slot', listener) };
}

/** The engine of this installation wrote it. */
function readDocument<T>(path: string, reader: JsonReader<T>): T {
  const read = readJsonShape(reader, parseJson(readFileSync(path, 'utf8')));
  if (read.kind === 'ok') return read.value;
  throw new InternalError(`${path} is malformed: ${read.problems.map(problem => `${problem.path} ${problem.message}`).join('; ')}`);
}
