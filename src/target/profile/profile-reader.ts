/** Parses target profiles from JSON. Reports every missing limit and every limit without a source. */
import { findClosest } from '../../base/did-you-mean.js';
import { isJsonObject, type Json } from '../../base/json.js';
import {
  either,
  fields,
  type JsonProblem,
  type JsonReader,
  type JsonResult,
  list,
  literal,
  maybe,
  number,
  readJsonShape,
  record,
  text,
} from '../../base/json-shape.js';
import { REWRITE_RULES } from '../../onnx/rules/rule-table.js';
import type { Source } from '../report/finding.js';
import { parseIntegerSet } from './integer-set.js';
import type {
  ActivationLimit,
  AttributeLimit,
  BatchLimit,
  Constant,
  ConstantInputLimit,
  DeviceProfile,
  DTypeProfile,
  EstimateProfile,
  GraphLimits,
  GroupLimit,
  Limit,
  Observation,
  OperatorNote,
  OperatorTable,
  PositionLimits,
  SizeLimit,
  Sourced,
  TargetProfile,
  When,
} from './profile.js';
import { PROFILE_FORMAT } from './profile.js';

/** The profile in `json`, or all problems. Sources, versions, devices and data types that entries name must exist. */
export function readProfile(json: Json): JsonResult<TargetProfile> {
  const read = readJsonShape(profile, json);
  if (read.kind === 'problems') return read;
  const problems = checkReferences(read.value);
  return problems.length > 0 ? { kind: 'problems', problems } : read;
}

const SEVERITY = literal('refused', 'undocumented', 'warning');

/** A list that may be empty. */
function anyList<T>(member: JsonReader<T>): JsonReader<readonly T[]> {
  return (value, path, problems) => (Array.isArray(value) && value.length === 0 ? [] : list(member)(value, path, problems));
}

const anyName = (): undefined => undefined;
const texts = anyList(text());

function sourced<T>(value: JsonReader<T>): JsonReader<Sourced<T>> {
  return fields<Sourced<unknown>>({ value, source: text(), note: maybe(text()) }) as JsonReader<Sourced<T>>;
}

const bounds: JsonReader<readonly [number, number]> = (value, path, problems) => {
  const [low, high] = list(number(), { length: 2 })(value, path, problems) ?? [];
  return low === undefined || high === undefined ? undefined : [low, high];
};

const when = fields<When>({ devices: maybe(texts), dtypes: maybe(texts), from: maybe(text()), to: maybe(text()) });

const constantFields = fields<Constant>({
  value: number({ above: 0 }),
  low: number({ above: 0 }),
  high: number({ above: 0 }),
  unit: text(),
  source: text(),
});

const constant: JsonReader<Constant> = (value, path, problems) => {
  const read = constantFields(value, path, problems);
  if (read !== undefined && (read.low > read.value || read.value > read.high)) {
    problems.push({ path, message: `should be within its bounds: ${read.low} ≤ ${read.value} ≤ ${read.high}` });
  }
  return read;
};

const estimate = fields<EstimateProfile>({
  peak: constant,
  efficiency: fields<EstimateProfile['efficiency']>({ conv: constant, depthwise: constant, other: constant }),
  bandwidth: constant,
  fixedMs: constant,
});

const device = fields<DeviceProfile>({ title: text(), since: sourced(text()), estimate });

const positions = fields<PositionLimits>({
  source: text(),
  cut: bounds,
  bias: bounds,
  read: number({ min: 0 }),
  addWrite: bounds,
  mulWrite: bounds,
  aligned: texts,
});

const isText = (value: Json | undefined): value is Json => typeof value === 'string';

const dtype = fields<DTypeProfile>({
  title: text(),
  devices: sourced(list(text())),
  since: sourced(text()),
  activations: sourced(list(text())),
  weights: sourced(list(text())),
  biases: sourced(list(text())),
  scale: sourced(literal('any', 'power-of-two')),
  zeroPoint: sourced(either(isText, literal('any'), record(number(), anyName))),
  perChannel: sourced(literal('allowed', 'refused', 'undocumented')),
  positions: maybe(positions),
});

const operatorTable = fields<OperatorTable>({ when: maybe(when), source: text(), documented: record(texts, anyName) });
const operatorNote = fields<OperatorNote>({ ops: list(text()), when: maybe(when), note: text(), fixIts: texts });

const limitBase = {
  ops: list(text()),
  source: text(),
  when: maybe(when),
  severity: maybe(SEVERITY),
  note: maybe(text()),
  fixIts: maybe(texts),
};
const scalars = list(either(isText, text(), number()));

const size = fields<SizeLimit>({
  rule: literal('kernel', 'stride', 'dilation', 'rank', 'outputs'),
  ...limitBase,
  allowed: integerSetText,
});

const LIMITS: Readonly<Record<Limit['rule'], JsonReader<Limit>>> = {
  kernel: size,
  stride: size,
  dilation: size,
  rank: size,
  outputs: size,
  groups: fields<GroupLimit>({ rule: literal('groups'), ...limitBase, allowed: list(literal('one', 'divisible')) }),
  attribute: fields<AttributeLimit>({ rule: literal('attribute'), ...limitBase, name: text(), default: scalars, allowed: scalars }),
  'constant-input': fields<ConstantInputLimit>({
    rule: literal('constant-input'),
    ...limitBase,
    inputs: list(number({ min: 0 })),
    presence: literal('required', 'optional'),
  }),
  activation: fields<ActivationLimit>({ rule: literal('activation'), ...limitBase, allowed: texts }),
};

const RULES = Object.keys(LIMITS) as Limit['rule'][];

const limit: JsonReader<Limit> = (value, path, problems) => {
  const named = isJsonObject(value) ? value.rule : undefined;
  const rule = literal(...RULES)(named, `${path}.rule`, problems);
  return rule === undefined ? undefined : LIMITS[rule](value, path, problems);
};

const source = fields<Source>({
  kind: literal('vendor-doc', 'vendor-source', 'observed', 'assumption', 'user'),
  title: text(),
  ref: text(),
});

const graph = fields<GraphLimits>({
  minConvs: sourced(number({ min: 0 })),
  maxSubgraphs: sourced(number({ min: 0 })),
  trailing: sourced(texts),
  batches: anyList(fields<BatchLimit>({ allowed: integerSetText, source: text(), when: maybe(when), note: maybe(text()) })),
  staticShapes: sourced(literal('required')),
});

const profile = fields<TargetProfile>({
  format: literal(PROFILE_FORMAT),
  name: text(),
  title: text(),
  sources: record(source, anyName),
  versions: list(text()),
  default: fields<TargetProfile['default']>({ device: text(), dtype: text(), version: text() }),
  devices: record(device, anyName),
  dtypes: record(dtype, anyName),
  operators: list(operatorTable),
  operatorNotes: anyList(operatorNote),
  observations: anyList(fields<Observation>({ ops: list(text()), when: maybe(when), source: text(), note: text() })),
  limits: anyList(limit),
  graph,
});

function integerSetText(value: Json | undefined, path: string, problems: JsonProblem[]): string | undefined {
  const read = text()(value, path, problems);
  if (read !== undefined && parseIntegerSet(read) === undefined) {
    problems.push({ path, message: `should be integers such as "1-9" or "1,2,4", it is ${JSON.stringify(read)}` });
  }
  return read;
}

/** Names in `source`, `devices`, `dtypes`, `from`, `to`, `fixIts` that the profile does not define. */
function checkReferences(read: TargetProfile): readonly JsonProblem[] {
  const problems: JsonProblem[] = [];
  const known: Readonly<Record<string, readonly string[]>> = {
    source: Object.keys(read.sources),
    device: Object.keys(read.devices),
    devices: Object.keys(read.devices),
    dtype: Object.keys(read.dtypes),
    dtypes: Object.keys(read.dtypes),
    version: read.versions,
    from: read.versions,
    to: read.versions,
    fixIts: REWRITE_RULES.map(rule => rule.name),
  };
  const visit = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const own = Array.isArray(value) ? `[${name}]` : `.${name}`;
      const here = path === '' ? name : `${path}${own}`;
      const names = known[name];
      if (names === undefined || (name === 'sources' && path === '')) visit(member, here);
      else for (const one of toTexts(member)) if (!names.includes(one)) problems.push({ path: here, message: unknownName(one, names) });
    }
  };
  const { sources: _sources, devices, dtypes, ...rest } = read;
  visit(rest, '');
  for (const [name, one] of Object.entries(devices)) visit({ ...one, version: one.since.value }, `devices.${name}`);
  for (const [name, { devices: on, ...one }] of Object.entries(dtypes)) {
    visit({ ...one, version: one.since.value, devices: on.value, source: on.source }, `dtypes.${name}`);
  }
  return problems;
}

function toTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : [];
}

function unknownName(name: string, known: readonly string[]): string {
  const closest = findClosest(name, known);
  return `names ${JSON.stringify(name)}, which the profile does not have${closest === undefined ? '' : `; did you mean ${JSON.stringify(closest)}?`}`;
}
