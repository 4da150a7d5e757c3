/** Writes a lock file: sorted, one fact per line, an empty line between stages. Equal results give equal text on every machine. */
import { assertNever } from '../../base/assert-never.js';
import type { Json, JsonObject } from '../../base/json.js';
import { isJsonObject } from '../../base/json.js';
import type { Content, Contents } from '../model/artifact.js';
import type { Facts, Lock, LockedResults, LockedStage } from './lock.js';
import { encodeOutline } from './outline.js';

export const LOCK_VERSION = 1;

const HEADER = '# What tanren built last with every gate met: docs/lock.md. `tanren build` writes it; commit it, and do not edit it.';

/**
 * Gives the last stage an empty line after it too, so that a branch that removes the stage does not touch the lines of the stage before.
 */
const FOOTER = '# end';

export function encodeLock(lock: Lock): string {
  const stages = [...lock.stages].sort(([a], [b]) => (a < b ? -1 : 1));
  const blocks = stages.map(([id, stage]) => encodeOutline({ [id]: encodeStage(stage) }, 1).join('\n'));
  const body = blocks.length === 0 ? 'stages: {}' : ['stages:', ...blocks, FOOTER].join('\n\n');
  return `${HEADER}\nversion: ${LOCK_VERSION}\n\n${body}\n`;
}

function encodeStage({ facts, results }: LockedStage): JsonObject {
  return { ...encodeFacts(facts), ...encodeResults(results) };
}

function encodeFacts({ plugin, version, code, params, inputs, tools, env }: Facts): JsonObject {
  return {
    plugin,
    version,
    code,
    ...unlessEmpty('params', sorted(params)),
    ...unlessEmpty('inputs', sorted(mapMembers(inputs, input => (isContent(input) ? encodeContent(input) : input)))),
    ...unlessEmpty('tools', sorted(tools)),
    ...(env.length === 0 ? {} : { env: [...env].sort() }),
  };
}

function encodeResults(results: LockedResults): JsonObject {
  switch (results.kind) {
    case 'same':
      return { outputs: encodeContents(results.outputs) };
    case 'measured':
      return { outputs: 'measured' };
    case 'per-class': {
      const classes = [...results.classes].sort(([a], [b]) => (a < b ? -1 : 1));
      return {
        classes: Object.fromEntries(
          classes.map(([name, { inputs, outputs }]) => [
            name,
            { ...unlessEmpty('inputs', encodeContents(inputs)), outputs: encodeContents(outputs) },
          ]),
        ),
      };
    }
    default:
      return assertNever(results);
  }
}

function encodeContents(contents: Contents): JsonObject {
  return sorted(mapMembers(contents, encodeContent));
}

function encodeContent({ kind, digest, executable }: Content): string {
  return `${kind === 'tree' ? 'folder' : 'file'} ${digest}${executable ? ' executable' : ''}`;
}

function isContent(value: Json): value is Json & Content {
  return isJsonObject(value) && typeof value.digest === 'string';
}

function mapMembers<T>(members: Readonly<Record<string, T>>, map: (value: T) => Json): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]));
}

/** Sorts objects by name at every level. Lists keep their order. */
function sorted(members: JsonObject): JsonObject {
  const entries = Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, value]) => [name, isJsonObject(value) ? sorted(value) : value]));
}

function unlessEmpty(name: string, members: JsonObject): JsonObject {
  return Object.keys(members).length === 0 ? {} : { [name]: members };
}
