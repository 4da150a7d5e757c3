/** Execution by the workers of a server: upload of what they lack, the call itself, its messages, and download of the outputs. */
import { RemoteError } from '../../../remote/error/remote-error.js';
import type { BlobDigest, RemoteCache } from '../../../remote/transport/remote-cache.js';
import type { Executed, HowToExecute, RemoteExecution } from '../../../remote/transport/remote-execution.js';
import { ACTION, COMMAND, type WireResult } from '../../../remote/wire/reapi.js';
import { EXECUTION_EXIT } from './execution-document.js';
import type { FromExecution } from './execution-messages.js';
import { addBytes, type BlobSources, type InputRoot } from './input-root.js';
import { checkDigest } from './list-outputs.js';
import { createSaidMessages, type SaidMessages } from './said-messages.js';
import { createUploader } from './upload.js';

/** What a worker runs. Nothing in it depends on this machine. */
export interface ExecutionOrder {
  readonly arguments: readonly string[];
  readonly root: InputRoot;
  /** Paths that it writes, relative to the input root. */
  readonly outputs: readonly string[];
  readonly timeoutMs: number | undefined;
  /** Properties of the worker, by name. */
  readonly properties: Readonly<Record<string, string>>;
  /** 'skip': a result that the server has does not count, and the new one is not for others. */
  readonly lookup: 'use' | 'skip';
  readonly salt: string;
  /** Takes the outputs of a command that succeeded. It throws RemoteError for content that the server lost or damaged: the action then runs again. */
  readonly take: (result: WireResult, cache: RemoteCache) => Promise<void>;
  readonly onMessage: (message: FromExecution) => void;
  /** Called when the command runs, or when the server does not say that it still waits. */
  readonly onRunning: () => void;
  readonly signal: AbortSignal;
}

export type ExecutionEnd =
  /** The command ended by itself, and its outputs are here. `last`: what it said about its end. */
  | {
      readonly kind: 'ended';
      readonly exitCode: number;
      readonly last: FromExecution | undefined;
      readonly worker: string;
      readonly stderr: string;
    }
  | { readonly kind: 'timed-out'; readonly message: string }
  /** No attempt succeeded. */
  | { readonly kind: 'failed'; readonly message: string };

export interface RemoteExecutor {
  /** @throws RemoteError if the server cannot be used; the reason of the abort. */
  execute(order: ExecutionOrder): Promise<ExecutionEnd>;
}

/** Attempts to run one action on workers that fail without an end, or that lack inputs. */
const MOST_ATTEMPTS = 4;

/** Workers that are tried if they refuse an action, or end its process without an end. */
const MOST_WORKERS = 2;

/** Whether the action itself ended, with or without success. */
function saysEnd({ exitCode, last }: Extract<ExecutionEnd, { readonly kind: 'ended' }>): boolean {
  return exitCode === EXECUTION_EXIT.done || last?.kind === 'failed';
}

/** Larger outputs of a command are not read. */
const MOST_SAID_BYTES = 64 << 20;

export function createRemoteExecutor(cache: RemoteCache, execution: RemoteExecution): RemoteExecutor {
  const uploader = createUploader(cache);
  return {
    async execute(order) {
      const blobs: BlobSources = new Map(order.root.blobs);
      const action = addAction(blobs, order);
      let lookup = order.lookup;
      let problem = '';
      let unfit = 0;
      await uploader.send(blobs);
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
        order.signal.throwIfAborted();
        const said = createSaidMessages(order.onMessage);
        const end = await execution.execute(action, { ...howOf(order, lookup), onOutput: said.hear });
        if (end.kind === 'timed-out') return end;
        if (end.kind === 'ended') {
          const ended = await takeEnd(cache, end, order, said);
          if (ended.kind === 'ended' && (saysEnd(ended) || ++unfit >= MOST_WORKERS)) return ended;
          if (ended.kind === 'ended') continue;
          problem = ended.message;
          // A result whose content is gone is made again.
          lookup = 'skip';
          continue;
        }
        problem = end.message;
        await uploader.sendAgain(blobs, end.kind === 'missing' ? end.blobs : []);
      }
      return { kind: 'failed', message: problem };
    },
  };
}

function howOf({ signal, onRunning }: ExecutionOrder, lookup: HowToExecute['lookup']): HowToExecute {
  return {
    lookup,
    signal,
    onStage: stage => {
      if (stage === 'running') onRunning();
    },
  };
}

function addAction(blobs: BlobSources, order: ExecutionOrder): BlobDigest {
  const { properties, root, timeoutMs, lookup, salt } = order;
  const named = Object.entries(properties).map(([name, value]) => ({ name, value }));
  const platform = { properties: named.sort((a, b) => (a.name < b.name ? -1 : 1)) };
  const outputPaths = [...order.outputs].sort();
  // Servers of REAPI 2.0 read the older list of files. A path in it must not be in that of folders, so they make no outputs that are folders.
  const command = addBytes(
    blobs,
    COMMAND.encode({ arguments: order.arguments, outputFiles: outputPaths, outputPaths, ...(named.length === 0 ? {} : { platform }) }),
  );
  return addBytes(
    blobs,
    ACTION.encode({
      commandDigest: command,
      inputRootDigest: root.digest,
      // Servers reject a timeout above their own limit, so a stage without one gets the server's default.
      ...(timeoutMs === undefined ? {} : { timeout: { seconds: Math.floor(timeoutMs / 1000), nanos: (timeoutMs % 1000) * 1e6 } }),
      doNotCache: lookup === 'skip',
      salt: Buffer.from(salt),
      ...(named.length === 0 ? {} : { platform }),
    }),
  );
}

type TakenEnd = Exclude<ExecutionEnd, { readonly kind: 'timed-out' }>;

/** Passes on what the command said, and brings its outputs. */
async function takeEnd(
  cache: RemoteCache,
  { result }: Extract<Executed, { kind: 'ended' }>,
  order: ExecutionOrder,
  said: SaidMessages,
): Promise<TakenEnd> {
  const { exitCode, executionMetadata } = result;
  try {
    const stdout = await readSaid(cache, result.stdoutRaw, result.stdoutDigest, order);
    const stderr = await readSaid(cache, result.stderrRaw, result.stderrDigest, order);
    if (exitCode === EXECUTION_EXIT.done) await order.take(result, cache);
    return { kind: 'ended', exitCode, last: said.end(stdout), worker: executionMetadata?.worker ?? '', stderr: stderr.toString() };
  } catch (error) {
    // Content that is lost or damaged on the server: the action runs again.
    if (error instanceof RemoteError && (error.trouble === 'missing' || error.code === 'remote-damaged'))
      return { kind: 'failed', message: error.message };
    throw error;
  }
}

async function readSaid(
  cache: Pick<RemoteCache, 'readBlobs'>,
  raw: Uint8Array,
  digest: WireResult['stdoutDigest'],
  { onMessage }: Pick<ExecutionOrder, 'onMessage'>,
): Promise<Buffer> {
  if (raw.length > 0 || digest === undefined || digest.sizeBytes === 0) return Buffer.from(raw);
  const blob = checkDigest(digest, 'what the command said');
  if (blob.sizeBytes > MOST_SAID_BYTES) {
    const message = `the command wrote ${blob.sizeBytes} bytes of output, more than ${MOST_SAID_BYTES}, so its log and progress are not read`;
    onMessage({ kind: 'log', level: 'warning', message });
    return Buffer.alloc(0);
  }
  return Buffer.from((await cache.readBlobs([blob])).get(blob.hash) ?? '');
}
