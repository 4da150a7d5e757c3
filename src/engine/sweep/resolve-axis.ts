/** Axes of a sweep: a parameter of the pipeline or a setting of a stage, with the values that it takes. */

import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { listOf } from '../config/check-schema.js';
import { toJson } from '../config/located.js';
import { parseYaml } from '../config/parse-yaml.js';
import { type DiagnosticSink, makeDiagnosticList } from '../model/diagnostic.js';
import type { Plan } from '../model/plan.js';

export interface AxisValue {
  /** As the user wrote it. */
  readonly label: string;
  readonly value: Json;
}

export type Axis = {
  /** As the user wrote it. */
  readonly name: string;
  readonly values: readonly AxisValue[];
} & AxisTarget;

export type AxisTarget =
  | { readonly kind: 'param'; readonly param: string }
  /** `target`: a stage or a group. `path`: the keys under `with`. */
  | { readonly kind: 'setting'; readonly target: string; readonly path: readonly string[] };

export interface GivenAxis {
  readonly address: string;
  /** Text of the command line is read as YAML for a setting, and as `-p` reads it for a parameter. */
  readonly values: readonly ({ readonly text: string } | { readonly json: Json })[];
}

/**
 * Finds what each address means: a parameter of the pipeline; STAGE.SETTING; or a setting that only one stage or group has.
 * Every mistake becomes a diagnostic.
 */
export function resolveAxes(given: readonly GivenAxis[], plan: Plan, diagnostics: DiagnosticSink): readonly Axis[] {
  const axes = given.flatMap(({ address, values }): Axis[] => {
    const target = resolveAddress(address, plan, diagnostics);
    if (target === undefined) return [];
    const schema = target.kind === 'param' ? undefined : schemaOf(target, plan);
    const read = values.map((one): AxisValue => {
      if ('json' in one) return { label: labelOf(one.json), value: one.json };
      return { label: one.text, value: target.kind === 'param' ? one.text : readSetting(one.text, schema) };
    });
    const twice = read.find((one, index) => read.findIndex(other => other.label === one.label) !== index);
    if (twice !== undefined) diagnostics.error('bad-axis', undefined, `"${address}" has the value ${twice.label} twice`);
    return [{ name: address, values: read, ...target }];
  });
  checkOverlaps(axes, plan, diagnostics);
  return axes;
}

/** "quantize.range", or "parameter preset". */
export function describeTarget(target: AxisTarget): string {
  return target.kind === 'param' ? `parameter ${target.param}` : `${target.target}.${target.path.join('.')}`;
}

function resolveAddress(address: string, plan: Plan, diagnostics: DiagnosticSink): AxisTarget | undefined {
  if (Object.hasOwn(plan.params, address)) return { kind: 'param', param: address };
  // Names of instances may contain dots.
  const target = [...plan.targets.keys()].filter(name => address.startsWith(`${name}.`)).sort((a, b) => b.length - a.length)[0];
  if (target !== undefined) {
    const path = address.slice(target.length + 1).split('.');
    if (path.every(key => key !== '')) return { kind: 'setting', target, path };
  }
  const [first = '', ...rest] = address.split('.');
  const owners = ownersOf(first, plan);
  const [owner] = owners;
  if (owner !== undefined && owners.length === 1 && rest.every(key => key !== ''))
    return { kind: 'setting', target: owner, path: [first, ...rest] };
  if (owners.length > 1) {
    const help = `write ${owners.map(name => `${name}.${address}`).join(' or ')}`;
    diagnostics.error('ambiguous-axis', undefined, `several stages have a setting "${first}"`, help);
  } else {
    diagnostics.error(
      'unknown-axis',
      undefined,
      `"${address}" is neither a parameter of the pipeline nor a setting of a stage`,
      helpFor(first, plan),
    );
  }
  return undefined;
}

/** The groups and single stages whose plugin has a setting of that name. */
function ownersOf(setting: string, plan: Plan): readonly string[] {
  const owners = [...plan.stages.values()].filter(({ plugin }) => Object.hasOwn(propertiesOf(plugin.plugin.params), setting));
  return [...new Set(owners.map(({ group }) => group))];
}

function helpFor(name: string, plan: Plan): string {
  const params = Object.keys(plan.params);
  const settings = [...plan.stages.values()].flatMap(({ plugin }) => Object.keys(propertiesOf(plugin.plugin.params)));
  const closest = findClosest(name, [...params, ...settings, ...plan.targets.keys()]);
  if (closest !== undefined) return `did you mean "${closest}"?`;
  return `write STAGE.SETTING; the parameters of the pipeline are ${listOf(params)}`;
}

/** Two axes that set the same value would depend on their order. */
function checkOverlaps(axes: readonly Axis[], plan: Plan, diagnostics: DiagnosticSink): void {
  for (const [index, axis] of axes.entries()) {
    const other = axes.slice(0, index).find(before => overlap(before, axis, plan));
    if (other === undefined) continue;
    const what = other.name === axis.name ? `"${axis.name}" is given twice` : `"${other.name}" and "${axis.name}" set the same setting`;
    diagnostics.error('bad-axis', undefined, what, 'list all its values in one axis');
  }
}

function overlap(a: AxisTarget, b: AxisTarget, plan: Plan): boolean {
  if (a.kind === 'param' || b.kind === 'param') return a.kind === 'param' && b.kind === 'param' && a.param === b.param;
  const inB = new Set(plan.targets.get(b.target));
  const shared = (plan.targets.get(a.target) ?? []).some(stage => inB.has(stage));
  return shared && a.path.every((key, index) => b.path[index] === undefined || b.path[index] === key);
}

/** YAML, so that 99.9, true, [a, b] and {kind: mse} have their types. What is not YAML is text, and so is all that the schema wants as text. */
function readSetting(text: string, schema: JsonObject | undefined): Json {
  const diagnostics = makeDiagnosticList();
  const located = parseYaml('-m', text, diagnostics);
  if (located === undefined || diagnostics.hasErrors()) return text;
  const value = toJson(located);
  if (typeof value === 'string') return findShortForm(value, schema) ?? value;
  return schema?.type === 'string' ? text : value;
}

/** "percentile:99.9" is {kind: percentile, percentile: 99.9}: the first setting of the form of that kind, where the schema has one. */
function findShortForm(text: string, schema: JsonObject | undefined): Json | undefined {
  const [, kind, rest] = /^([A-Za-z][\w-]*):(.+)$/.exec(text) ?? [];
  if (kind === undefined || rest === undefined || !isJsonList(schema?.anyOf)) return undefined;
  const form = schema.anyOf.map(propertiesOf).find(({ kind: one }) => isJsonObject(one) && one.const === kind);
  const knob = Object.keys(form ?? {}).find(name => name !== 'kind');
  return knob === undefined ? undefined : { kind, [knob]: readSetting(rest, undefined) };
}

function schemaOf({ target, path }: AxisTarget & { kind: 'setting' }, plan: Plan): JsonObject | undefined {
  const [first] = plan.targets.get(target) ?? [];
  const plugin = first === undefined ? undefined : plan.stages.get(first)?.plugin.plugin;
  let schema: Json | undefined = plugin?.params;
  for (const key of path) schema = propertiesOf(schema)[key] ?? (isJsonObject(schema) ? schema.additionalProperties : undefined);
  return isJsonObject(schema) ? schema : undefined;
}

function propertiesOf(schema: Json | undefined): JsonObject {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  return isJsonObject(properties) ? properties : {};
}

function labelOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
