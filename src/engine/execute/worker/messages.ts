/** The messages between a worker and the engine: closed unions of plain data over IPC. */
import type { Digest } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import type { Failure } from '../../model/failure.js';

/** A request for a part: its name, version and inputs. The engine adds the code digest and the platform class, and computes the key. */
export interface PartQuestion {
  readonly name: string;
  readonly version: number;
  /** Absolute path of the part's module. */
  readonly modulePath: string;
  readonly runsModels: 'always' | 'never';
  readonly manifest: JsonObject;
  readonly blobs: Readonly<Record<string, Digest>>;
  /** Absolute paths here, by role: what a remote worker needs. They are in no key. */
  readonly paths: { readonly blobs: Readonly<Record<string, string>>; readonly unkeyed: Readonly<Record<string, string>> };
}

/**
 * 'found': paths of stored files by name; `made`: before this run, or for it by a remote worker.
 * 'missing': the worker computes the part; `ticket` identifies the request when the result is stored.
 */
export type PartAnswer =
  | { readonly kind: 'found'; readonly files: Readonly<Record<string, string>>; readonly made: 'earlier' | 'remotely' }
  | { readonly kind: 'missing'; readonly ticket: string };

export type FromWorker =
  | { readonly kind: 'log'; readonly level: 'info' | 'warning'; readonly message: string }
  | { readonly kind: 'output'; readonly text: string }
  | { readonly kind: 'progress'; readonly done: number; readonly total: number; readonly what: string }
  /** The identity of the device that the stage measures on. */
  | { readonly kind: 'identity'; readonly identity: JsonObject }
  | { readonly kind: 'find-part'; readonly call: number; readonly question: PartQuestion }
  | {
      readonly kind: 'keep-part';
      readonly call: number;
      readonly ticket: string;
      readonly folder: string;
      readonly names: readonly string[];
    }
  /** The part's result is not stored, for example because its blobs changed while it ran. The run still uses it. */
  | { readonly kind: 'drop-part'; readonly ticket: string; readonly why: string }
  /** How many slots besides its own the worker could use for parts. */
  | { readonly kind: 'slots-wanted'; readonly count: number }
  /** A lent slot is free again. */
  | { readonly kind: 'slot-returned'; readonly slot: number }
  /** Peak memory of the worker in bytes, with its part processes. */
  | { readonly kind: 'usage'; readonly peakBytes: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export type ToWorker =
  | { readonly kind: 'part-answer'; readonly call: number; readonly answer: PartAnswer }
  | { readonly kind: 'part-kept'; readonly call: number; readonly files: Readonly<Record<string, string>> }
  | { readonly kind: 'part-failed'; readonly call: number; readonly failure: Failure }
  | { readonly kind: 'slot-lent'; readonly slot: number }
  /** A stage waits for the slot: the worker returns it after the part that runs in it. */
  | { readonly kind: 'slot-recalled'; readonly slot: number };

/** The answer to a question of a worker. */
export type Answer = Extract<ToWorker, { readonly call: number }>;

const FIELDS: Readonly<Record<FromWorker['kind'], Readonly<Record<string, 'string' | 'number' | 'object'>>>> = {
  log: { level: 'string', message: 'string' },
  output: { text: 'string' },
  progress: { done: 'number', total: 'number', what: 'string' },
  identity: { identity: 'object' },
  'find-part': { call: 'number', question: 'object' },
  'keep-part': { call: 'number', ticket: 'string', folder: 'string', names: 'object' },
  'drop-part': { ticket: 'string', why: 'string' },
  'slots-wanted': { count: 'number' },
  'slot-returned': { slot: 'number' },
  usage: { peakBytes: 'number' },
  done: {},
  failed: { failure: 'object' },
};

/** Whether the value is one of the messages above. A plugin shares the worker's channel, so any value may arrive. */
export function isFromWorker(value: unknown): value is FromWorker {
  if (!isRecord(value) || typeof value.kind !== 'string' || !Object.hasOwn(FIELDS, value.kind)) return false;
  const fields = Object.entries(FIELDS[value.kind as FromWorker['kind']]);
  if (value.kind === 'log' && value.level !== 'info' && value.level !== 'warning') return false;
  return fields.every(([name, type]) => typeof value[name] === type && value[name] !== null);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
