/** Parses target profiles from JSON. Reports every missing limit and every limit without a source. */

import { type JsonProblem, type JsonResult, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { readerOf, withChecks } from '../../base/schema/schema-reader.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import { REWRITE_RULES } from '../../onnx/rules/rule-table.js';
import type { Constant } from './estimate-constants.js';
import { parseIntegerSet } from './integer-set.js';
import { PROFILE_SCHEMA, type TargetProfile } from './profile.js';

/** Sources, versions, devices and data types that entries name must exist. */
const profileReader = withChecks(readerOf(PROFILE_SCHEMA), profile => [
  ...checkConstants(profile),
  ...checkIntegerSets(profile),
  ...checkReferences(profile),
]);

/** The profile in `json`, or all problems. */
export function readProfile(json: Json): JsonResult<TargetProfile> {
  return readJsonShape(profileReader, json);
}

/** Constants of estimates that are outside of their own bounds. */
function checkConstants({ devices, dtypes, host }: TargetProfile): readonly JsonProblem[] {
  const ofDevices = Object.entries(devices).flatMap(([name, { estimate }]): readonly NamedConstant[] => {
    const { efficiency, layerMs, lanes: _lanes, spread: _spread, releases = [], ...constants } = estimate;
    const at = `devices.${name}.estimate`;
    return [
      ...nameConstants(at, { ...constants, ...(layerMs === undefined ? {} : { layerMs }) }),
      ...nameConstants(`${at}.efficiency`, efficiency),
      ...releases.map(({ version, factor }) => [`${at}.releases[${version}]`, factor] as const),
    ];
  });
  const rates = Object.entries(dtypes).flatMap(([name, { rate }]): readonly NamedConstant[] =>
    rate === undefined ? [] : [[`dtypes.${name}.rate`, rate]],
  );
  return [...ofDevices, ...rates, ...nameConstants('host', host)].flatMap(([path, { low, value, high }]) =>
    low <= value && value <= high ? [] : [{ path, message: `should be within its bounds: ${low} ≤ ${value} ≤ ${high}` }],
  );
}

type NamedConstant = readonly [path: string, constant: Constant];

function nameConstants(at: string, constants: Readonly<Record<string, Constant>>): readonly NamedConstant[] {
  return Object.entries(constants).map(([name, constant]) => [`${at}.${name}`, constant]);
}

/** Sets of integers with a range that ends before it begins. */
function checkIntegerSets({ limits, graph, observations }: TargetProfile): readonly JsonProblem[] {
  const sets: readonly (readonly [string, string | undefined])[] = [
    ...limits.map(
      (limit, index) =>
        [`limits[${index}].allowed`, 'allowed' in limit && typeof limit.allowed === 'string' ? limit.allowed : undefined] as const,
    ),
    ...graph.batches.map(({ allowed }, index) => [`graph.batches[${index}].allowed`, allowed] as const),
    ...observations.map(
      ({ subject }, index) => [`observations[${index}].subject.rank`, subject.kind === 'operator' ? subject.rank : undefined] as const,
    ),
  ];
  return sets.flatMap(([path, set]) =>
    set === undefined || parseIntegerSet(set) !== undefined
      ? []
      : [{ path, message: `should be integers such as "1-9" or "1,2,4", it is ${JSON.stringify(set)}` }],
  );
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
    versions: read.versions,
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
  for (const [name, one] of Object.entries(devices))
    visit({ ...one, version: [one.since.value, one.until?.value ?? one.since.value] }, `devices.${name}`);
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
