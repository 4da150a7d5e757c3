/** What a machine proves before it runs an action: its runtime, its system, its platform class and its programs. */
import { existsSync, lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../../base/json.js';
import { resolveTool } from '../../action/tools.js';
import { messageOf } from '../../model/engine-error.js';
import { digestPath } from '../../store/files/digest-file.js';
import { type ExecutionDocument, systemOf } from './execution-document.js';
import type { Refusal } from './execution-messages.js';
import { RUNTIME_DOCUMENT_NAME } from './promised-runtime.js';

/** This machine does not run the action; another one may. */
export class Refused extends Error {
  readonly reason: Refusal;

  constructor(reason: Refusal, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** An image may have the runtime of another version. @throws Refused. */
export function assertRuntime({ runtime }: ExecutionDocument, installRoot: string): void {
  if (runtime === undefined) return;
  const path = join(installRoot, '..', RUNTIME_DOCUMENT_NAME);
  const document = existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
  const own = isJsonObject(document) && typeof document.digest === 'string' ? document.digest : 'not stated';
  if (own !== runtime) throw new Refused('document', `the runtime of this worker is ${own}, expected ${runtime}`);
}

/** The bytes of an exact stage are equal only on machines of one class. @throws Refused. */
export async function assertMachine({ system, platformClass }: ExecutionDocument, computeClass: () => Promise<string>): Promise<void> {
  const own = systemOf(process);
  if (system !== own) throw new Refused('system', `this worker is ${own}, expected ${system}`);
  if (platformClass === undefined) return;
  const found = await computeClass().catch((error: unknown) => {
    throw new Refused('platform-class', `the platform class of this worker cannot be computed: ${messageOf(error)}`);
  });
  if (found !== platformClass)
    throw new Refused('platform-class', `this worker is of the platform class "${found}", expected "${platformClass}"`);
}

/** Paths of the declared programs. @throws Refused if one is missing or has other content. */
export async function findTools({ tools }: ExecutionDocument, root: string, path: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const [name, expected] of Object.entries(tools)) {
    const at = resolveOrRefuse(name, root, path);
    const digest = await digestPath(at, lstatSync(realpathSync(at)).size);
    if (digest !== expected) throw new Refused('tool', `${at} on this worker has the digest ${digest}, expected ${expected} for "${name}"`);
    found[name] = at;
  }
  return found;
}

function resolveOrRefuse(name: string, root: string, path: string): string {
  try {
    return resolveTool(name, root, path);
  } catch (error) {
    throw new Refused('tool', `on this worker, ${messageOf(error)}`);
  }
}
