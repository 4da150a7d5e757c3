/** The identity of the device that a run measures on. It is stored as soon as the run reports it, and checked when the run has ended. */

import type { Digest } from '../../base/digest.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import type { JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import { describeChange, findChanges } from '../action/changes.js';
import { describeDevice } from '../action/declared.js';
import type { Session } from '../action/session.js';
import { checkIdentitySize } from '../model/device-identity.js';
import { EngineError, messageOf } from '../model/engine-error.js';
import type { PlannedStage } from '../model/plan.js';

export interface DeviceWatch {
  identify(identity: JsonObject): void;
  /** Returns the identity if the stage declares a device. @throws EngineError `device-unidentified`, `device-changed`, `device-undeclared`. */
  get(): JsonObject | undefined;
}

/** Watches the device of one run. Other stages and later builds know a reported identity even if the run fails. */
export function watchDevice(session: Session, stage: PlannedStage): DeviceWatch {
  const description = describeDevice(stage);
  const identities: JsonObject[] = [];
  let refused: unknown;
  return {
    identify(identity) {
      try {
        checkIdentitySize(identity);
      } catch (error) {
        refused = error;
        return;
      }
      if (description !== undefined && isJsonObject(identity)) note(session, stage, description, identity);
      identities.push(identity);
    },
    get() {
      if (refused !== undefined) throw refused;
      const [first, ...others] = identities;
      if (description === undefined) {
        if (first !== undefined) throw new EngineError('device-undeclared', 'the plugin identifies a device that it does not declare');
        return undefined;
      }
      if (first === undefined)
        throw new EngineError('device-unidentified', 'the stage ended without identifying the device that it measured');
      const changes = others.flatMap(other => findChanges(first, other)).map(describeChange);
      if (changes.length === 0) return first;
      throw new EngineError('device-changed', `the device changed while the stage ran: ${changes.join('; ')}`, {
        details: { identities },
        help: 'its metrics belong to no single device; build again',
      });
    },
  };
}

function note({ state, writer, ports }: Session, stage: PlannedStage, description: Digest, identity: JsonObject): void {
  const before = state.devices.get(description);
  // The order of the keys has no meaning, but it would change a manifest's quick key. The stored identity is therefore kept if it is equal.
  const isSame = before !== undefined && encodeCanonicalJson(before.identity) === encodeCanonicalJson(identity);
  if (before !== undefined && !isSame) {
    const changes = findChanges(before.identity, identity).map(describeChange).join('; ');
    const message = `the device has changed since ${before.seen}: ${changes}; all other results measured on it are now out of date`;
    ports.emit({ kind: 'warning', stage: stage.id, code: 'device-changed', message });
  }
  try {
    writer?.noteDevice(description, { identity: isSame ? before.identity : identity, seen: new Date(ports.nowMs()).toISOString() });
    writer?.flush();
  } catch (error) {
    const message = `the state cannot be written: ${messageOf(error)}; the next build does not know the device`;
    ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message });
  }
}
