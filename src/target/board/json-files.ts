/** Readers of the JSON files that the vendor's runtime leaves. Members of other versions are ignored; lists and texts are bounded. */

import { formatJsonProblems, type JsonReader, type JsonResult, readJsonShape } from '../../base/json/json-shape.js';
import { isJsonList, isJsonObject, type Json } from '../../base/json.js';
import { anyList, anyOf, anyText, integer, mapOf, matching, number, openObject, text } from '../../base/schema/build-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { clipText } from '../../base/text/clip-text.js';
import { TargetError } from '../report/target-error.js';
import { type Assignment, type Evidence, NOTHING, type Place, type PlacedNode, type Reason } from './evidence.js';

const MOST_NODES = 200_000;
const MOST_CHARACTERS = 400;

/** Protobuf's JSON omits empty members, and writes 64-bit integers as text. */
const INTEGER = anyOf([integer(Number.MIN_SAFE_INTEGER), matching(/^-?\d{1,15}$/, 'an integer')]);

const NODE = openObject(
  { output: anyList(anyText()), opType: text(), device: text() },
  { input: anyList(anyText()), opDomain: anyText(), comment: anyText() },
);

const REPORT = openObject(
  { nodeStat: anyList(NODE) },
  {
    shapeInfo: anyList(openObject({ name: text() }, { shape: anyList(INTEGER) })),
    subgraphStat: anyList(openObject({ device: text() }, { count: INTEGER })),
  },
);

export function isAssignment(json: Json): boolean {
  return isJsonObject(json) && Array.isArray(json.nodeStat);
}

/** @throws TargetError `board-file-malformed`. */
export function readAssignment(json: Json, file: string): Assignment {
  const { nodeStat, shapeInfo, subgraphStat } = read(readReport, json, file);
  const nodes = nodeStat.flatMap(({ output, input = [], opDomain = '', opType, comment = '', device }): PlacedNode[] => {
    const name = output.find(one => one !== ABSENT);
    if (name === undefined) return [];
    const domain = opDomain === 'ai.onnx' ? '' : opDomain;
    const inputs = input.filter(one => one !== ABSENT);
    return [{ name, device, place: placeOf(device), opType, domain, inputs, outputs: output, comment: clipText(comment, MOST_CHARACTERS) }];
  });
  const shapes = (shapeInfo ?? []).flatMap(({ name, shape }) => (shape === undefined ? [] : [[name, shape.map(Number)] as const]));
  return {
    nodes,
    shapes: new Map(shapes),
    subgraphs: Object.fromEntries((subgraphStat ?? []).map(({ device, count = 0 }) => [device, Number(count)])),
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

const CONTEXT = openObject({}, { config: openObject({}, { onnxPath: anyText() }) });

export function isContext(json: Json): boolean {
  return (
    isJsonObject(json) && !isAssignment(json) && (Array.isArray(json.metaDef) || (isJsonObject(json.config) && 'onnxPath' in json.config))
  );
}

/** @throws TargetError `board-file-malformed`. */
export function readContext(json: Json, file: string): Evidence {
  // A path of the board's machine, which may be Windows.
  const model = read(readContextFile, json, file).config?.onnxPath?.split(/[\\/]/).at(-1) ?? '';
  return { ...NOTHING, context: model === '' ? {} : { model: clipText(model, MOST_CHARACTERS) } };
}

const UNSUPPORTED = anyList(
  anyOf([text(), openObject({}, { node_name: anyText(), name: anyText(), op_type: anyText(), reason: anyText(), Message: anyText() })]),
);

/** `aie_unsupported_original_ops.json`: names of nodes; the form "with_reasons" has objects. @throws TargetError `board-file-malformed`. */
export function readUnsupported(json: Json, file: string): Evidence {
  const reasons = read(readUnsupportedFile, json, file).map((entry, index): Reason => {
    const one: Exclude<typeof entry, string> = typeof entry === 'string' ? { name: entry } : entry;
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

const PLAN = openObject({ offload_map: mapOf(number({ minimum: 0, maximum: 100 }), { description: 'Percentages.' }) });

export function isPlan(json: Json): boolean {
  return isJsonObject(json) && 'offload_map' in json;
}

/** `fail_safe_summary.json`. @throws TargetError `board-file-malformed`. */
export function readPlan(json: Json, file: string): Evidence {
  return { ...NOTHING, plan: read(readPlanFile, json, file).offload_map };
}

const [readReport, readContextFile, readUnsupportedFile, readPlanFile] = [
  readerOf(REPORT),
  readerOf(CONTEXT),
  readerOf(UNSUPPORTED),
  readerOf(PLAN),
];

/** The length of the longest list at the top, which is checked before anything is read. */
function findLongest(json: Json): number {
  const lists = isJsonObject(json) ? Object.values(json) : [json];
  return Math.max(0, ...lists.map(value => (isJsonList(value) ? value.length : 0)));
}

const SHOWN_PROBLEMS = 5;

function tooLong(length: number): JsonResult<never> {
  return { kind: 'problems', problems: [{ path: '', message: `a list should have at most ${MOST_NODES} entries, it has ${length}` }] };
}

function read<T>(reader: JsonReader<T>, json: Json, file: string): T {
  const length = findLongest(json);
  const result = length > MOST_NODES ? tooLong(length) : readJsonShape(reader, json);
  if (result.kind === 'ok') return result.value;
  const problems = formatJsonProblems(result.problems);
  const more = problems.length - SHOWN_PROBLEMS;
  const shown = `${problems.slice(0, SHOWN_PROBLEMS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
  throw new TargetError('board-file-malformed', `${file} has another form than expected: ${shown}`, {
    details: problems.slice(0, SHOWN_PROBLEMS),
    help: 'copy the file from the board again, or leave it out',
  });
}
