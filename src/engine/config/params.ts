/** Values of the pipeline parameters from the file's defaults, params files and `-p`. The later one wins, and each must have the parameter's type. */

import { isJsonList, type Json } from '../../base/json.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import { listOf } from './check-schema.js';
import { findMember, type Located, locateJson, membersOf, toJson } from './located.js';

type ParamType = 'string' | 'number' | 'integer' | 'boolean' | 'list' | 'any';

export interface PipelineParam {
  readonly type: ParamType;
  readonly value: Located;
  readonly choices: readonly Json[] | undefined;
  readonly span: SourceSpan;
}

/** An override and its position; `span` is undefined for the command line. */
export interface ParamOverride {
  readonly name: string;
  readonly value: Located | string;
  readonly span: SourceSpan | undefined;
}

/** Parses the `params` map of a checked pipeline file. */
export function parseParams(declared: Located | undefined, diagnostics: DiagnosticSink): ReadonlyMap<string, PipelineParam> {
  const params = new Map<string, PipelineParam>();
  for (const [name, member] of membersOf(declared)) {
    const long = member.value.kind === 'map';
    const value = long ? findMember(member.value, 'default') : member.value;
    if (value === undefined) continue;
    const choices = long ? toJson(findMember(member.value, 'enum') ?? { kind: 'scalar', value: null, span: member.keySpan }) : null;
    const named = long ? findMember(member.value, 'type') : undefined;
    const type = named?.kind === 'scalar' ? (named.value as ParamType) : typeOf(toJson(value));
    const param: PipelineParam = {
      type,
      value,
      choices: isJsonList(choices) ? choices : undefined,
      span: member.keySpan,
    };
    checkValue(name, param, toJson(value), value.span, diagnostics);
    params.set(name, param);
  }
  return params;
}

/** Returns `params` with the overrides applied in order. Unknown names and wrong types become diagnostics. */
export function overrideParams(
  params: ReadonlyMap<string, PipelineParam>,
  overrides: readonly ParamOverride[],
  diagnostics: DiagnosticSink,
): ReadonlyMap<string, PipelineParam> {
  const result = new Map(params);
  for (const { name, value, span } of overrides) {
    const param = result.get(name);
    if (param === undefined) {
      diagnostics.error('unknown-param', span, `the pipeline has no parameter "${name}"`, () => {
        const closest = findClosest(name, params.keys());
        return closest === undefined ? `its parameters are ${listOf([...params.keys()])}` : `did you mean "${closest}"?`;
      });
      continue;
    }
    const located: Located = typeof value === 'string' ? locateJson(parseText(value, param.type), param.value.span) : value;
    if (checkValue(name, param, toJson(located), span, diagnostics)) result.set(name, { ...param, value: located });
  }
  return result;
}

/** Converts text from the command line to a value of `type`. Text that does not fit stays text, and the check then rejects it. */
function parseText(text: string, type: ParamType): Json {
  if (type === 'number' || type === 'integer') return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.trim()) ? Number(text) : text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  return type === 'list' ? parseList(text) : text;
}

/** A list is given as JSON: `-p 'parts=["a", "b"]'`. */
function parseList(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function checkValue(name: string, param: PipelineParam, value: Json, span: SourceSpan | undefined, diagnostics: DiagnosticSink): boolean {
  if (!fits(value, param.type)) {
    diagnostics.error('bad-param', span, `parameter "${name}" is ${JSON.stringify(value)}; expected ${describe(param.type)}`);
    return false;
  }
  if (param.choices !== undefined && !param.choices.includes(value)) {
    const names = param.choices.map(String);
    const closest = findClosest(String(value), names);
    diagnostics.error(
      'bad-param',
      span,
      `parameter "${name}" is ${JSON.stringify(value)}; expected one of ${listOf(names)}`,
      closest === undefined ? undefined : `did you mean "${closest}"?`,
    );
    return false;
  }
  return true;
}

function typeOf(value: Json): ParamType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'any';
}

function fits(value: Json, type: ParamType): boolean {
  if (type === 'any') return true;
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'list') return Array.isArray(value);
  return typeof value === type;
}

function describe(type: ParamType): string {
  return type === 'integer' ? 'an integer' : type === 'any' ? 'anything' : `a ${type}`;
}
