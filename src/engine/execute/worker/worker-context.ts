/** The context that a plugin receives in a worker: its calls become messages to the engine. */
import { join } from 'node:path';
import { clipText, MAX_PROGRESS_CHARACTERS } from '../../../base/text/clip-text.js';
import type { Context } from '../../../stage/context.js';
import type { Mask } from '../../../stage/mask.js';
import { seededRandom } from '../../../stage/random.js';
import { runTool, startTool } from '../../../stage/tool-runner.js';
import { checkIdentitySize } from '../../model/device-identity.js';
import type { ActionDocument, LocalDocument } from './action-document.js';
import { RUN_LAYOUT } from './action-document.js';
import type { IpcPartStore } from './ipc-part-store.js';
import { type FromWorker, isFromWorker } from './messages.js';
import { openPartProcess } from './open-part-process.js';
import { createMemo, type PartOrigin } from './run-parts.js';
import { createSpreadParts, type Loan } from './spread-parts.js';

/** What a worker process knows: its action, and the connection to the engine. */
export interface WorkerSide {
  /** The run folder, absolute. */
  readonly folder: string;
  readonly action: ActionDocument;
  readonly local: LocalDocument;
  readonly send: (message: FromWorker) => void;
  readonly partStore: IpcPartStore;
  readonly signal: AbortSignal;
  readonly onLoan: (listener: (loan: Loan) => void) => void;
  /** Removes the stage's secrets from a text. */
  readonly mask: Mask;
}

/** Numbers of parts by name. */
export type PartCounts = ReadonlyMap<string, Readonly<Record<PartOrigin, number>>>;

export interface OpenedContext {
  readonly context: Context;
  /** They grow while the plugin runs. */
  readonly partCounts: PartCounts;
  /** Ends the part processes. @returns the sum of their peak memories in bytes. */
  endParts(): number;
}

export function makeContext(side: WorkerSide): OpenedContext {
  const { folder, action, local, send, partStore, signal, mask } = side;
  const sendChecked = makeCheckedSend(send);
  const watched: Pick<Context, 'signal' | 'log'> = {
    signal,
    // Masking precedes clipping, because a part of a secret would not be recognized.
    log: (level, message) =>
      sendChecked(
        { kind: 'log', level, message: typeof message === 'string' ? clipText(mask.apply(message)) : message },
        'context.log expects a level ("info" or "warning") and a text',
      ),
  };
  const known = new Map(Object.entries(local.known).map(([path, entry]) => [join(folder, path), entry]));
  const partCounts = new Map<string, Record<PartOrigin, number>>();
  const count = (part: string, made: PartOrigin): void => {
    const counts = partCounts.get(part) ?? { earlier: 0, remotely: 0, here: 0 };
    counts[made]++;
    partCounts.set(part, counts);
  };
  const spread =
    local.partProcesses === undefined
      ? undefined
      : createSpreadParts({ openProcess: () => openPartProcess(folder, watched.log), most: local.partProcesses, send, context: watched });
  if (spread !== undefined) side.onLoan(spread.receive);
  const memo = createMemo(partStore, join(folder, RUN_LAYOUT.parts), known, watched, count, spread?.compute);
  const programs = {
    signal,
    group: 'shared',
    tools: local.tools,
    mask,
    log: (text: string) => send({ kind: 'output', text }),
  } as const;
  const context: Context = {
    ...watched,
    scratch: join(folder, RUN_LAYOUT.scratch),
    progress: (done, total, what) =>
      sendChecked(
        { kind: 'progress', done, total, what: typeof what === 'string' ? clipText(mask.apply(what), MAX_PROGRESS_CHARACTERS) : what },
        'context.progress expects two numbers and a text',
      ),
    random: label => seededRandom(action.key, label),
    memo,
    partsAtOnce: local.partsAtOnce ?? 1,
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
  return { context, partCounts, endParts: spread?.end ?? (() => 0) };
}

/** JavaScript of third parties may pass any value. The returned function throws a TypeError at the faulty call. */
function makeCheckedSend(send: WorkerSide['send']): (message: FromWorker, contract: string) => void {
  return (message, contract) => {
    if (!isFromWorker(message)) throw new TypeError(contract);
    send(message);
  };
}

function declaredEnvironment(names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.flatMap(name => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? '']])));
}

function ownEnvironment(): Record<string, string> {
  return declaredEnvironment(Object.keys(process.env).filter(name => !name.startsWith('NODE_')));
}
