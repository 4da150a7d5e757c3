/** Readers of the JSON files that the vendor's runtime leaves. Members of other versions are ignored; lists and texts are bounded. */

import { anyList, anyText, either, type JsonReader, maybe, number, readJsonShape, someFields, text } from '../../base/json/json-shape.js';
import { isJsonObject, type Json } from '../../base/json.js';
import { clipText } from '../../base/text/clip-text.js';
import { TargetError } from '../report/target-error.js';
import { type Assignment, type Evidence, NOTHING, type Place, type PlacedNode, type Reason } from './evidence.js';

const MOST_NODES = 200_000;
const MOST_CHARACTERS = 400;

/** Protobuf's JSON omits empty members, and writes 64-bit integers as text. */
const wholeNumber: JsonReader<number> = (value, path, problems) => {
  const found = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof found === 'number' && Number.isSafeInteger(found)) return found;
  problems.push({ path, message: 'should be an integer' });
  return undefined;
};

const NODE = someFields<{
  output: readonly string[];
  input?: readonly string[];
  opDomain?: string;
  opType: string;
  comment?: string;
  device: string;
}>({
  output: anyList(anyText()),
  input: maybe(anyList(anyText())),
  opDomain: maybe(anyText()),
  opType: text(),
  comment: maybe(anyText()),
  device: text(),
});

const REPORT = someFields({
  nodeStat: boundedList(NODE),
  shapeInfo: maybe(
    boundedList(someFields<{ name: string; shape?: readonly number[] }>({ name: text(), shape: maybe(anyList(wholeNumber)) })),
  ),
  subgraphStat: maybe(boundedList(someFields<{ device: string; count?: number }>({ device: text(), count: maybe(wholeNumber) }))),
});

export function isAssignment(json: Json): boolean {
  return isJsonObject(json) && Array.isArray(json.nodeStat);
}

/** @throws TargetError `board-file-malformed`. */
export function readAssignment(json: Json, file: string): Assignment {
  const { nodeStat, shapeInfo, subgraphStat } = read(REPORT, json, file);
  const nodes = nodeStat.flatMap(({ output, input = [], opDomain = '', opType, comment = '', device }): PlacedNode[] => {
    const name = output.find(one => one !== ABSENT);
    if (name === undefined) return [];
    const domain = opDomain === 'ai.onnx' ? '' : opDomain;
    const inputs = input.filter(one => one !== ABSENT);
    return [{ name, device, place: placeOf(device), opType, domain, inputs, outputs: output, comment: clipText(comment, MOST_CHARACTERS) }];
  });
  const shapes = (shapeInfo ?? []).flatMap(({ name, shape }) => (shape === undefined ? [] : [[name, shape] as const]));
  return {
    nodes,
    shapes: new Map(shapes),
    subgraphs: Object.fromEntries((subgraphStat ?? []).map(({ device, count = 0 }) => [device, count])),
  };
}

/** Stands for an omitted optional value in the report. */
const ABSENT = 'VAIP_NOT_EXISTS';

/** Names of the NPU in reports from 1.1 to 1.8. VAIML: the flow for BF16. */
const NPU_NAMES = new Set(['NPU', 'DPU', 'IPU', 'DOD', 'VAIML']);

function placeOf(device: string): Place {
  if (NPU_NAMES.has(device)) return 'npu';
  if (device === 'CPU') return 'cpu';
  return device === 'VITIS_EP_CPU' ? 'host' : 'other';
}

const CONTEXT = someFields({
  config: maybe(someFields<{ onnxPath?: string }>({ onnxPath: maybe(anyText()) })),
});

export function isContext(json: Json): boolean {
  return (
    isJsonObject(json) && !isAssignment(json) && (Array.isArray(json.metaDef) || (isJsonObject(json.config) && 'onnxPath' in json.config))
  );
}

/** @throws TargetError `board-file-malformed`. */
export function readContext(json: Json, file: string): Evidence {
  // A path of the board's machine, which may be Windows.
  const model = read(CONTEXT, json, file).config?.onnxPath?.split(/[\\/]/).at(-1) ?? '';
  return { ...NOTHING, context: model === '' ? {} : { model: clipText(model, MOST_CHARACTERS) } };
}

type Unsupported = string | { node_name?: string; name?: string; op_type?: string; reason?: string; Message?: string };

const UNSUPPORTED: JsonReader<Unsupported> = either(
  (value): value is string => typeof value === 'string',
  text(),
  someFields<Exclude<Unsupported, string>>({
    node_name: maybe(anyText()),
    name: maybe(anyText()),
    op_type: maybe(anyText()),
    reason: maybe(anyText()),
    Message: maybe(anyText()),
  }),
);

/** `aie_unsupported_original_ops.json`: names of nodes; the form "with_reasons" has objects. @throws TargetError `board-file-malformed`. */
export function readUnsupported(json: Json, file: string): Evidence {
  const reasons = read(boundedList(UNSUPPORTED), json, file).map((entry, index): Reason => {
    const one = typeof entry === 'string' ? { name: entry } : entry;
    const subject = one.node_name ?? one.name;
    const why = one.reason ?? one.Message ?? '';
    return {
      kind: 'unsupported',
      text: why === '' ? 'in the list of operators that VAIML does not support' : clipText(why, MOST_CHARACTERS),
      ...(subject === undefined || subject === '' ? {} : { subject }),
      ...(one.op_type === undefined || one.op_type === '' ? {} : { type: one.op_type }),
      at: `${file}[${index}]`,
    };
  });
  return { ...NOTHING, reasons };
}

const PLAN = someFields<{ offload_map: Readonly<Record<string, number>> }>({ offload_map: percentages() });

export function isPlan(json: Json): boolean {
  return isJsonObject(json) && 'offload_map' in json;
}

/** `fail_safe_summary.json`. @throws TargetError `board-file-malformed`. */
export function readPlan(json: Json, file: string): Evidence {
  return { ...NOTHING, plan: read(PLAN, json, file).offload_map };
}

function percentages(): JsonReader<Readonly<Record<string, number>>> {
  const percent = number({ min: 0, max: 100 });
  return (value, path, problems) => {
    if (!isJsonObject(value)) {
      problems.push({ path, message: 'should be an object' });
      return undefined;
    }
    const entries = Object.entries(value).map(([name, member]) => [name, percent(member, `${path}.${name}`, problems) ?? 0] as const);
    return Object.fromEntries(entries);
  };
}

function boundedList<T>(member: JsonReader<T>): JsonReader<readonly T[]> {
  const all = anyList(member);
  return (value, path, problems) => {
    if (!Array.isArray(value) || value.length <= MOST_NODES) return all(value, path, problems);
    problems.push({ path, message: `should have at most ${MOST_NODES} entries, it has ${value.length}` });
    return undefined;
  };
}

const SHOWN_PROBLEMS = 5;

function read<T>(reader: JsonReader<T>, json: Json, file: string): T {
  const result = readJsonShape(reader, json);
  if (result.kind === 'ok') return result.value;
  const problems = result.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  const more = problems.length - SHOWN_PROBLEMS;
  const shown = `${problems.slice(0, SHOWN_PROBLEMS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  throw new TargetError('board-file-malformed', `${file} has another form than expected: ${shown}`, {
    details: problems.slice(0, SHOWN_PROBLEMS),
    help: 'copy the file from the board again, or leave it out',
  });
}
