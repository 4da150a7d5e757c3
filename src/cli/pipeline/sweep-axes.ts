/** The axes of a sweep: those of the command line, else those under `sweep:` in the pipeline file. */
import { resolve } from 'node:path';
import { findMember, membersOf, toJson } from '../../engine/config/located.js';
import { parseYaml } from '../../engine/config/parse-yaml.js';
import { readConfigText } from '../../engine/config/read-text.js';
import { type DiagnosticSink, makeDiagnosticList } from '../../engine/model/diagnostic.js';
import type { Plan } from '../../engine/model/plan.js';
import { parseAxis } from '../../engine/sweep/parse-axis.js';
import { type Axis, type GivenAxis, resolveAxes } from '../../engine/sweep/resolve-axis.js';

/** Every mistake becomes a diagnostic, also if there is no axis at all. */
export function readAxes(
  { file, vary }: { readonly file: string; readonly vary: readonly string[] },
  plan: Plan,
  diagnostics: DiagnosticSink,
): readonly Axis[] {
  const given = vary.length > 0 ? vary.flatMap(text => axisOf(text, diagnostics)) : axesIn(file);
  if (given.length === 0 && vary.length === 0)
    diagnostics.error(
      'bad-axis',
      undefined,
      `a sweep needs at least one axis: no -m was given, and ${file} has no "sweep"`,
      'write -m NAME=VALUE,VALUE, for example -m preset=xint8,a8w8',
    );
  return resolveAxes(given, plan, diagnostics);
}

function axisOf(text: string, diagnostics: DiagnosticSink): readonly GivenAxis[] {
  const axis = parseAxis(text, diagnostics);
  return axis === undefined ? [] : [{ address: axis.address, values: axis.values.map(value => ({ text: value })) }];
}

/** The structure of the file was checked when its plan was made. */
function axesIn(file: string): readonly GivenAxis[] {
  const root = parseYaml(file, readConfigText(resolve(file)), makeDiagnosticList());
  return [...membersOf(findMember(root, 'sweep'))].map(([address, { value }]) => ({
    address,
    values: value.kind === 'list' ? value.items.map(item => itemOf(toJson(item))) : [],
  }));
}

/** Text in the file is read as on the command line, so that "percentile:99.9" is the same in both. */
function itemOf(json: ReturnType<typeof toJson>): GivenAxis['values'][number] {
  return typeof json === 'string' ? { text: json } : { json };
}
