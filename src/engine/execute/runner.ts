/** The contract of what runs an action: a worker process, this process, or another machine. */
import type { JsonObject } from '../../base/json.js';
import type { Mask } from '../../stage/mask.js';
import type { Failure } from '../model/failure.js';
import type { RunGuard } from './guard/guard.js';
import type { RunKeeper } from './part-service.js';
import type { Reaper } from './reaper.js';
import type { InputLink } from './run-folder.js';
import type { Starters } from './starter/starters.js';
import type { ActionDocument, LocalDocument } from './worker/action-document.js';

/** One contract test holds for all of them: test/contract/runner.test.ts. */
export interface Runner {
  /**
   * Runs the action of the order. Its outputs are written in the order's folder.
   * When it returns, nothing that it started still runs.
   * @returns undefined where it succeeded, else the failure. After the signal was aborted, it says nothing.
   */
  run(order: RunOrder): Promise<Failure | undefined>;
}

/** What a running stage says, whoever runs it. */
export interface RunListener {
  log(level: 'info' | 'warning' | 'output', text: string): void;
  progress(done: number, total: number, what: string): void;
  /** Of the device that the stage measures on. */
  identify(identity: JsonObject): void;
  /** The most memory that the worker had at a time; nothing where there is no worker. */
  usage(peakBytes: number): void;
}

/** Everything that one run needs. What decides its result is in `action`; the rest says where and under whose eyes it runs. */
export interface RunOrder {
  readonly action: ActionDocument;
  readonly local: LocalDocument;
  /** What the input paths of `action` lead to. A runner whose plugin sees the paths themselves makes these links. */
  readonly links: readonly InputLink[];
  /** Absolute. The paths of `action` are relative to it. */
  readonly folder: string;
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly declaredEnv: Readonly<Record<string, string>>;
  readonly keeper: RunKeeper;
  readonly listener: RunListener;
  readonly signal: AbortSignal;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Where what the run starts is to be watched. */
  readonly guard: RunGuard | undefined;
  /** Takes the stage's secrets out of a text. */
  readonly mask: Mask;
}
