/** Where each param of a stage comes from: the plugin's default, the pipeline file, or a parameter that the file refers to. */

import { assertNever } from '../../base/assert-never.js';
import { findMember, type Located } from '../../engine/config/located.js';
import { parseYaml } from '../../engine/config/parse-yaml.js';
import { makeDiagnosticList } from '../../engine/model/diagnostic.js';
import type { PlannedStage } from '../../engine/model/plan.js';
import type { Origin } from '../../report/views/stage-data.js';

const REFERENCE = /\$\$\{|\$\{([^{}]*)\}/g;

/** @returns the origin of a param by its dotted path. A file with errors gives defaults only. */
export function originsOf(
  { group }: Pick<PlannedStage, 'group'>,
  { name, text }: { readonly name: string; readonly text: string },
): (path: string) => Origin {
  const root = parseYaml(name, text, makeDiagnosticList());
  const stages = root === undefined ? undefined : findMember(root, 'stages');
  const given = findMember(findMember(stages, group), 'with');
  return path => (given === undefined ? { kind: 'default' } : originIn(given, path.split('.')));
}

function originIn(given: Located, [key, ...rest]: readonly string[]): Origin {
  if (key !== undefined && given.kind === 'map') {
    const member = findMember(given, key);
    return member === undefined ? { kind: 'default' } : originIn(member, rest);
  }
  const [line, refers] = [given.span.line, [...new Set(referencesIn(given))]];
  return refers.length === 0 ? { kind: 'file', line } : { kind: 'reference', line, refers };
}

/** Also those of the values in a list or map: a param is one value. */
function referencesIn(given: Located): readonly string[] {
  switch (given.kind) {
    case 'scalar':
      return typeof given.value === 'string' ? [...given.value.matchAll(REFERENCE)].flatMap(([, inner]) => inner ?? []) : [];
    case 'list':
      return given.items.flatMap(referencesIn);
    case 'map':
      return [...given.members.values()].flatMap(({ value }) => referencesIn(value));
    default:
      return assertNever(given);
  }
}
