/** The size limit of a device identity, which is part of keys, records and messages. */
import type { JsonObject } from '../../base/json.js';
import { EngineError } from './engine-error.js';

const MAX_CHARACTERS = 1 << 16;

/** @throws EngineError `device-unidentified` if the identity has more characters as JSON than the limit. */
export function checkIdentitySize(identity: JsonObject): void {
  const characters = JSON.stringify(identity).length;
  if (characters <= MAX_CHARACTERS) return;
  const message = `the identity of the device has ${characters} characters as JSON; it may have at most ${MAX_CHARACTERS}`;
  throw new EngineError('device-unidentified', message, { help: 'name the device and its versions, and log the rest' });
}
