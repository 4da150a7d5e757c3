/** Execution of one action over gRPC: the stream of its operation is followed, and taken up again when it breaks. */
import { setTimeout as wait } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { after } from '../../base/after.js';
import { onAbort } from '../../base/on-abort.js';
import { clipText } from '../../base/text/clip-text.js';
import { broken, isPassing, isTrouble, RemoteError } from '../error/remote-error.js';
import type { Patience, Traffic } from '../transport/remote-cache.js';
import type { ActionDigest, Executed, ExecutionStage, HowToExecute } from '../transport/remote-execution.js';
import { EXECUTE_METADATA, EXECUTE_RESPONSE, type Operation } from '../wire/reapi.js';
import { missingIn } from './call-status.js';
import type { Channel } from './channel.js';
import { METHODS } from './methods.js';

export interface Execution {
  readonly channel: Channel;
  readonly instance: string;
  readonly patience: Patience;
  readonly traffic: Traffic;
}

/** A server that is alive sends messages about an action that waits or runs. After this silence the operation is asked for again. */
const SILENCE_MS = 120_000;

/** How long an interrupted call waits for the name of its operation. */
const NAME_MS = 500;

/** An operation that the server forgets so often is not executed any more. */
const MOST_FORGOTTEN = 3;

/** What is known of an execution so far. */
interface Followed {
  /** The operation's name; undefined before the server has accepted the action. */
  name: string | undefined;
  /** Broken streams since the last message. */
  broken: number;
  forgotten: number;
  /** The stream of standard output that is, or was, followed. */
  output: string | undefined;
}

/** @throws RemoteError; the reason of the abort. */
export async function executeAction(execution: Execution, action: ActionDigest, how: HowToExecute): Promise<Executed> {
  const { patience } = execution;
  const followed: Followed = { name: undefined, broken: 0, forgotten: 0, output: undefined };
  for (;;) {
    try {
      how.signal.throwIfAborted();
      const done = await followOnce(execution, action, how, followed);
      if (done !== undefined) return readEnd(done, execution.channel.mask);
    } catch (error) {
      if (how.signal.aborted) {
        await cancel(execution, followed.name);
        throw how.signal.reason;
      }
      const missing = error instanceof RemoteError ? error.missingBlobs : undefined;
      if (missing !== undefined) return { kind: 'missing', blobs: missing, message: (error as Error).message };
      if (isTrouble(error, 'missing') && ++followed.forgotten <= MOST_FORGOTTEN) {
        // A new call finds the result of an action that ended in the meantime.
        if (followed.name === undefined) return { kind: 'missing', blobs: [], message: (error as Error).message };
        followed.name = undefined;
        continue;
      }
      if (!isPassing(error) || ++followed.broken >= patience.attempts) throw error;
      const waitMs = error.waitMs ?? patience.firstWaitMs * 2 ** (followed.broken - 1);
      if (waitMs > patience.longestWaitMs) throw error;
      await wait(waitMs, undefined, { signal: how.signal }).catch(() => undefined);
    }
  }
}

/** Follows one stream. @returns the operation that is done; undefined if the stream was silent for long, and is taken up again. */
async function followOnce(
  execution: Execution,
  action: ActionDigest,
  how: HowToExecute,
  followed: Followed,
): Promise<Operation | undefined> {
  const { channel, instance, patience, traffic } = execution;
  let done: Operation | undefined;
  let stage: ExecutionStage | undefined;
  const stop = new AbortController();
  const fallSilent = (): void => {
    isSilent = true;
    stop.abort();
  };
  let isSilent = false;
  // The server accepts an action soon. An operation that is followed may have no news for long.
  let stopTimer = followed.name === undefined ? after(patience.callMs, () => stop.abort()) : after(SILENCE_MS, fallSilent);
  let stopGrace: (() => void) | undefined;
  const output = new AbortController();
  // An operation whose name has not arrived yet could not be cancelled.
  const forget = onAbort(how.signal, () => {
    if (followed.name === undefined) stopGrace = after(NAME_MS, () => stop.abort());
    else stop.abort();
  });
  const onMessage = (operation: Operation): void => {
    stopTimer();
    stopTimer = after(SILENCE_MS, fallSilent);
    followed.broken = 0;
    if (operation.name !== '') followed.name = operation.name;
    if (how.signal.aborted) stop.abort();
    if (operation.done) done = operation;
    const { at, stdoutStream } = progressOf(operation);
    if (stdoutStream !== '') void followOutput(execution, stdoutStream, how, followed, output.signal);
    if (at === undefined || at === stage) return;
    stage = at;
    how.onStage?.(at);
  };
  const { signal } = stop;
  traffic.calls++;
  try {
    if (followed.name === undefined) {
      const question = { instanceName: instance, actionDigest: action, skipCacheLookup: how.lookup === 'skip' };
      await channel.listen(METHODS.execute, question, { onMessage, signal });
    } else await channel.listen(METHODS.waitExecution, { name: followed.name }, { onMessage, signal });
  } catch (error) {
    // What broke after the last message changes nothing, and silence is no trouble.
    if (done === undefined && !isSilent) throw error;
  } finally {
    forget();
    stopTimer();
    stopGrace?.();
    output.abort();
  }
  if (done !== undefined || (isSilent && !how.signal.aborted)) return done;
  throw new RemoteError('remote-unavailable', 'passing', 'Execute: the stream ended before the action did');
}

function progressOf({ metadata }: Operation): { readonly at: ExecutionStage | undefined; readonly stdoutStream: string } {
  if (metadata === undefined || !metadata.typeUrl.endsWith('ExecuteOperationMetadata')) return { at: undefined, stdoutStream: '' };
  const { stage, stdoutStreamName } = EXECUTE_METADATA.decode(metadata.value);
  const at = stage === 2 ? 'queued' : stage === 3 ? 'running' : undefined;
  return { at, stdoutStream: stdoutStreamName };
}

/** Follows the standard output of a command once per execution. The result has all of it, so trouble with the stream is none. */
async function followOutput(
  { channel, traffic }: Execution,
  resourceName: string,
  { onOutput }: HowToExecute,
  followed: Followed,
  signal: AbortSignal,
): Promise<void> {
  if (onOutput === undefined || followed.output !== undefined) return;
  followed.output = resourceName;
  traffic.calls++;
  await channel.listen(METHODS.read, { resourceName }, { onMessage: ({ data }) => onOutput(data), signal }).catch(() => undefined);
}

/** @throws RemoteError `remote-broken` if the operation has no response, or one that says that no attempt would succeed. */
function readEnd({ response, error }: Operation, mask: Channel['mask']): Executed {
  if (error !== undefined && error.code !== 0) return endOfStatus(error, mask);
  if (response === undefined) throw broken('Execute: the operation ended without a response');
  const { result, status: end } = EXECUTE_RESPONSE.decode(response.value);
  if (end !== undefined && end.code !== 0) return endOfStatus(end, mask);
  if (result === undefined) throw broken('Execute: the response has no result');
  return { kind: 'ended', result };
}

type EndStatus = NonNullable<Operation['error']>;

function endOfStatus({ code, message: text, details }: EndStatus, mask: Channel['mask']): Executed {
  const message = `${status[code] ?? `status ${code}`} (${clipText(mask(text)).slice(0, 400)})`;
  const missing = missingIn(details);
  if (missing !== undefined) return { kind: 'missing', blobs: missing, message };
  // The reference worker has no violations: it says that a blob is not found.
  if (code === status.NOT_FOUND) return { kind: 'missing', blobs: [], message };
  if (code === status.DEADLINE_EXCEEDED) return { kind: 'timed-out', message };
  return { kind: 'failed', message };
}

/** Asks the server to stop an operation. Many servers do not offer that, and then it ends by itself. */
async function cancel({ channel, traffic }: Execution, name: string | undefined): Promise<void> {
  if (name === undefined) return;
  traffic.calls++;
  try {
    await channel.ask(METHODS.cancel, { name }, 0);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
  }
}
