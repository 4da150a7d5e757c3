/** The contract of runners. A runner executes an action in a worker process, in this process, or on another machine. */
import type { JsonObject } from '../../../base/json.js';
import type { Mask } from '../../../stage/mask.js';
import type { Failure } from '../../model/failure.js';
import type { StandbyPort } from '../../model/ports.js';
import type { RunGuard } from '../guard/guard.js';
import type { RunPartStore } from '../parts/part-service.js';
import type { Starters } from '../starter/starters.js';
import type { ActionDocument, LocalDocument } from '../worker/action-document.js';
import type { LentSlots } from './lent-slots.js';
import type { Reaper } from './reaper.js';
import type { InputLink } from './run-folder.js';

/** One contract test covers all runners: test/contract/runner.test.ts. */
export interface Runner {
  /**
   * Runs the action of the order. The outputs are written to the order's folder.
   * No process that it started is running when it returns.
   * @returns undefined if the action succeeded, else the failure. After the signal was aborted, the result has no meaning.
   */
  run(order: RunOrder): Promise<Failure | undefined>;
}

/** Receives the messages of a running stage from any runner. */
export interface RunListener {
  log(level: 'info' | 'warning' | 'output', text: string): void;
  progress(done: number, total: number, what: string): void;
  /** The identity of the device that the stage measures on. */
  identify(identity: JsonObject): void;
  /** Peak memory of the worker in bytes. Not called if there is no worker. */
  usage(peakBytes: number): void;
}

/** Everything that one run needs. `action` alone determines the result; the other fields supply paths, services and supervision. */
export interface RunOrder {
  readonly action: ActionDocument;
  readonly local: LocalDocument;
  /** The main module of a worker that contains the plugin; undefined if the worker loads the plugin from its module. */
  readonly bundle: string | undefined;
  /** Targets of the input paths of `action`. A runner whose plugin sees these paths creates the links. */
  readonly links: readonly InputLink[];
  /** Absolute. The paths of `action` are relative to it. */
  readonly folder: string;
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly declaredEnv: Readonly<Record<string, string>>;
  readonly partStore: RunPartStore;
  readonly listener: RunListener;
  readonly signal: AbortSignal;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Processes that were started ahead. */
  readonly standby?: StandbyPort | undefined;
  /** Slots for the parts of the stage; undefined if they are computed one after the other, or elsewhere. */
  readonly lentSlots: LentSlots | undefined;
  /** Defined if the processes of the run are guarded. */
  readonly guard: RunGuard | undefined;
  /** Removes the stage's secrets from a text. */
  readonly mask: Mask;
}
