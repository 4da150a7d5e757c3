/** Checks of the ports that a plugin declares. */
import { findMeeting } from '../../stage/fold-name.js';
import { ARTIFACT_KINDS, type Ports } from '../../stage/ports.js';
import { listOf } from '../config/check-schema.js';
import { MAX_NAME } from './check-folders.js';

const PORT_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * A third-party plugin's JavaScript may declare any value, and a port's name becomes a file name.
 * @throws Error that names the port and its expected value.
 */
export function checkPorts(ports: Ports): Ports {
  if (typeof ports !== 'object' || ports === null) throw new Error(`ports are an object of port() by name; it gives ${String(ports)}`);
  const meeting = findMeeting(Object.keys(ports));
  if (meeting !== undefined) throw new Error(`the ports "${meeting[0]}" and "${meeting[1]}" differ by case alone`);
  for (const [name, declared] of Object.entries(ports)) {
    if (!PORT_NAME.test(name))
      throw new Error(`"${name}" is not a valid port name: use letters, digits, "_" and "-", with a letter or "_" first`);
    if (name.length > MAX_NAME)
      throw new Error(`the port "${name.slice(0, 40)}…" has ${name.length} characters; it may have at most ${MAX_NAME}`);
    if (typeof declared !== 'object' || declared === null || typeof declared.entryKinds !== 'object' || declared.entryKinds === null)
      throw new Error(`port "${name}" is not declared by port() or recordPort()`);
    const { kind, entryKinds } = declared;
    for (const used of [kind, ...Object.values(entryKinds)]) {
      if (!Object.hasOwn(ARTIFACT_KINDS, used))
        throw new Error(`port "${name}" is of unknown kind "${used}"; known kinds: ${listOf(Object.keys(ARTIFACT_KINDS))}`);
    }
  }
  return ports;
}
