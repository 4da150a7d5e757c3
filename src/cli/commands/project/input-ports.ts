/** The input ports of a plugin whose ports depend on its params, as far as JSON Schema can state them: per value of a param. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import type { InputPorts, PortNames, PortRule } from '../../../engine/config/pipeline-schema.js';
import type { StagePlugin } from '../../../stage/define-stage.js';
import type { Ports } from '../../../stage/ports.js';

/** Combinations of values that are tried at most. */
const MOST_TRIALS = 5000;

/** @returns undefined if names of ports are free: the params state them, as those of `command`. */
export function listInputPorts({ inputs, params }: StagePlugin): InputPorts | undefined {
  if (typeof inputs !== 'function') return { ...namesOf(inputs), rules: [] };
  const properties = isJsonObject(params.properties) ? params.properties : {};
  const read = new Set<string>();
  const portsOf = (values: JsonObject): PortNames => {
    const given = new Proxy(values, {
      get(target, name) {
        read.add(String(name));
        return Reflect.get(target, name);
      },
    });
    // The function takes the params that the schema describes, and `values` are such.
    return namesOf(inputs(given as never));
  };
  let trials: readonly JsonObject[] = [{}];
  for (const [name, schema] of Object.entries(properties)) {
    const samples = isJsonObject(schema) ? samplesOf(schema) : [];
    trials = trials.map(values => ({ ...values, ...firstOf(name, samples) }));
  }
  // The first call shows which params matter; further ones may depend on more of them.
  for (let known = -1; known < read.size; ) {
    known = read.size;
    trials = combine(params, read, trials[0] ?? {});
    if (trials.length > MOST_TRIALS) return undefined;
    for (const values of trials) portsOf(values);
  }
  // Members of maps have free names, on which ports may depend.
  if ([...read].some(name => hasFreeNames(properties[name] ?? null))) return undefined;
  const tried = trials.map(values => ({ values, ports: portsOf(values) }));
  const all = joinPorts(tried);
  return { ...all, rules: [...read].flatMap(param => rulesOf(param, properties[param], tried, all)) };
}

interface Trial {
  readonly values: JsonObject;
  readonly ports: PortNames;
}

function rulesOf(param: string, schema: Json | undefined, tried: readonly Trial[], all: PortNames): readonly PortRule[] {
  const given = isJsonObject(schema) ? schema.default : undefined;
  const values = new Set(tried.map(trial => trial.values[param]).filter(value => value === undefined || typeof value === 'string'));
  return [...values].flatMap((value): PortRule[] => {
    // Of params that are not text, only the absence is a value.
    if (value !== undefined && !(isJsonObject(schema) && isJsonList(schema.enum))) return [];
    const ports = joinPorts(tried.filter(trial => trial.values[param] === value));
    if (ports.names.length === all.names.length && ports.required.length === all.required.length) return [];
    return [{ param, value, isDefault: value === given, ...ports }];
  });
}

function namesOf(ports: Ports): PortNames {
  return { names: Object.keys(ports), required: Object.keys(ports).filter(name => ports[name]?.optional === false) };
}

/** The ports of any of these trials, and those that all of them require. */
function joinPorts(trials: readonly Trial[]): PortNames {
  const names = [...new Set(trials.flatMap(({ ports }) => ports.names))];
  return { names, required: names.filter(name => trials.every(({ ports }) => ports.required.includes(name))) };
}

/** All combinations of the samples of the params in `read`, and absence where it is allowed. The others are as in `base`. */
function combine({ properties, required }: JsonObject, read: ReadonlySet<string>, base: JsonObject): readonly JsonObject[] {
  let trials: readonly JsonObject[] = [base];
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!read.has(name) || !isJsonObject(schema)) continue;
    const samples = samplesOf(schema);
    const isRequired = isJsonList(required) && required.includes(name);
    const absent = schema.default === undefined && !isRequired ? [undefined] : [];
    trials = trials.flatMap(values =>
      [...samples, ...absent].map(sample => {
        const { [name]: _former, ...others } = values;
        return sample === undefined ? others : { ...others, [name]: sample };
      }),
    );
    if (trials.length > MOST_TRIALS) return trials;
  }
  return trials;
}

function firstOf(name: string, [first]: readonly Json[]): JsonObject {
  return first === undefined ? {} : { [name]: first };
}

/** Values that the schema allows: every value of enums, every form, and one of all others. */
function samplesOf(schema: JsonObject): readonly Json[] {
  const forms = schema.anyOf ?? schema.oneOf;
  if (isJsonList(schema.enum)) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  if (isJsonList(forms)) return forms.filter(isJsonObject).flatMap(form => samplesOf(form));
  if (schema.type === 'boolean') return [false, true];
  if (schema.type === 'integer' || schema.type === 'number') return [1];
  if (schema.type === 'array') return [isJsonObject(schema.items) ? samplesOf(schema.items).slice(0, 1) : []];
  if (schema.type !== 'object') return ['x'];
  return objectsOf(schema);
}

/** An object with only the fields that must be there or have a default, and one with all fields. */
function objectsOf(schema: JsonObject): readonly Json[] {
  const fields = Object.entries(isJsonObject(schema.properties) ? schema.properties : {});
  const required = isJsonList(schema.required) ? schema.required : [];
  const sampleOf = (field: Json): Json => (isJsonObject(field) ? (field.default ?? samplesOf(field)[0] ?? null) : null);
  const pick = (some: readonly (readonly [string, Json])[]): JsonObject =>
    Object.fromEntries(some.map(([name, field]) => [name, sampleOf(field)]));
  const least = pick(fields.filter(([name, field]) => required.includes(name) || (isJsonObject(field) && field.default !== undefined)));
  return [least, pick(fields)];
}

/** Whether values of the schema hold maps anywhere. */
function hasFreeNames(schema: Json): boolean {
  if (isJsonList(schema)) return schema.some(hasFreeNames);
  if (!isJsonObject(schema)) return false;
  return isJsonObject(schema.additionalProperties) || Object.values(schema).some(hasFreeNames);
}
