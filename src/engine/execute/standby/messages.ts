/** The messages between a standby worker and the process that started it. */

import type { StandbyOrder } from '../../model/ports.js';

export interface BeginOrder extends StandbyOrder {
  readonly kind: 'begin';
}

export interface StandbyReady {
  readonly kind: 'standby-ready';
}

export function isStandbyReady(message: unknown): message is StandbyReady {
  return typeof message === 'object' && message !== null && 'kind' in message && message.kind === 'standby-ready';
}
