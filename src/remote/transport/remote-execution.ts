/** Remote execution: workers of a server run actions whose inputs were uploaded. */
import type { Digest } from '../../base/digest.js';
import type { WireResult } from '../wire/reapi.js';

export interface ActionDigest {
  readonly hash: Digest;
  readonly sizeBytes: number;
}

export interface RemoteExecution {
  /**
   * Runs an action, and follows it through broken connections to its end. An abort cancels it, where the server offers that.
   * @throws RemoteError if the server cannot be reached, refuses the action, or does not execute actions; the abort's reason.
   */
  execute(action: ActionDigest, how: HowToExecute): Promise<Executed>;
}

export interface HowToExecute {
  /** 'skip': the server runs the action although it has a result of it. */
  readonly lookup: 'use' | 'skip';
  readonly signal: AbortSignal;
  /** Called when the action changes between waiting and running. */
  readonly onStage?: (stage: ExecutionStage) => void;
  /** Called with standard output while the command runs, from its first byte on, where the server offers that. What is lost is in the result. */
  readonly onOutput?: (data: Uint8Array) => void;
}

export type ExecutionStage = 'queued' | 'running';

export type Executed =
  /** The command ended, with any exit code. */
  | { readonly kind: 'ended'; readonly result: WireResult }
  /** The worker lacks inputs. `blobs`: those that the server names, as "hash/size"; empty if it names none. */
  | { readonly kind: 'missing'; readonly blobs: readonly string[]; readonly message: string }
  /** The server ended the command at the action's timeout. */
  | { readonly kind: 'timed-out'; readonly message: string }
  /** The worker could not run the action. Another attempt may succeed. */
  | { readonly kind: 'failed'; readonly message: string };
