/** The messages between a standby worker and the process that started it. */

import type { StandbyOrder } from '../../model/ports.js';

export interface BeginOrder extends StandbyOrder {
  readonly kind: 'begin';
}

/** The exports of a worker's bundle; scripts/build.mjs writes it. */
export interface WorkerBundle {
  /** Runs the action of the arguments. */
  start(): Promise<void>;
  /** Loads what a run of the plugin loads, and nothing of an action. */
  prepare(): Promise<void>;
}

export interface StandbyReady {
  readonly kind: 'standby-ready';
}

/** What it says first after a `begin`. Before that, nothing of the action has run. */
export interface StandbyBegun {
  readonly kind: 'standby-begun';
}

export function isStandbyReady(message: unknown): message is StandbyReady {
  return kindOf(message) === 'standby-ready';
}

export function isStandbyBegun(message: unknown): message is StandbyBegun {
  return kindOf(message) === 'standby-begun';
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined;
}
