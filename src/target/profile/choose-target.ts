/** Chooses a target: a profile with device, data type and software version, and the limits that apply to them. */

import { digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import { formatJsonProblems } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import type { TargetIdentity } from '../report/compile-report.js';
import type { Source } from '../report/finding.js';
import { TargetError } from '../report/target-error.js';
import { BUILT_IN_PROFILES } from './built-in-profiles.js';
import type { HostProfile } from './estimate-constants.js';
import { chooseObservations, type Observed } from './observation.js';
import type {
  ChosenGraphLimits,
  DeviceProfile,
  DTypeProfile,
  Limit,
  OperatorNote,
  OperatorTable,
  Sourced,
  TargetProfile,
  When,
} from './profile.js';
import { readProfile } from './profile-reader.js';

export interface TargetChoice {
  /** Default: that of the profile. The same for the two members below; for `version`, the last one that supports the device. */
  readonly device?: string;
  readonly dtype?: string;
  readonly version?: string;
}

export interface Target {
  readonly identity: TargetIdentity;
  /** All versions of the profile, oldest first. */
  readonly versions: readonly string[];
  readonly device: DeviceProfile;
  readonly dtype: DTypeProfile;
  /** Names of all data types of the profile. */
  readonly dtypes: readonly string[];
  readonly operators: OperatorTable;
  readonly operatorNotes: readonly OperatorNote[];
  readonly observations: readonly Observed[];
  /** The limits for the chosen device, data type and version. */
  readonly limits: readonly Limit[];
  readonly graph: ChosenGraphLimits;
  readonly host: HostProfile;
  sourceOf(key: string): Source;
}

/** A built-in profile. @throws TargetError `unknown-target`. */
export function getBuiltInProfile(name: string): Json {
  const profile = Object.hasOwn(BUILT_IN_PROFILES, name) ? BUILT_IN_PROFILES[name] : undefined;
  if (profile !== undefined) return profile;
  throw unknown('unknown-target', 'target', name, Object.keys(BUILT_IN_PROFILES));
}

/**
 * @param json a built-in profile or a user's profile.
 * @throws TargetError `profile-malformed`, listing every problem; `unknown-device`, `unknown-dtype`, `unknown-version`; `target-combination` if the vendor does
 *   not document the data type for the device, or either for the version; `profile-limit-missing` if an operator has no limit for the choice.
 */
export function chooseTarget(json: Json, choice: TargetChoice): Target {
  const profile = parseProfile(json);
  const wanted = { ...profile.default, ...definedOf(choice) };
  const device = getEntry('unknown-device', 'device', wanted.device, profile.devices);
  const names = { ...wanted, version: choice.version ?? newestVersion(profile, device) };
  const dtype = getEntry('unknown-dtype', 'data type', names.dtype, profile.dtypes);
  if (!profile.versions.includes(names.version)) throw unknown('unknown-version', 'version', names.version, profile.versions);
  checkCombination(profile, names, device, dtype);

  const fits = (when: When | undefined): boolean => applies(profile, when, names);
  const operators = profile.operators.find(table => fits(table.when));
  if (operators === undefined) throw missing(profile, `a table of operators for version ${names.version}`);
  const target: Target = {
    identity: { profile: profile.name, title: profile.title, ...names, digest: digestJson(json) },
    versions: profile.versions,
    device,
    dtype,
    dtypes: Object.keys(profile.dtypes),
    operators,
    observations: chooseObservations(profile.observations, profile.versions, names),
    operatorNotes: profile.operatorNotes.filter(note => fits(note.when)),
    limits: profile.limits.filter(limit => fits(limit.when)),
    host: profile.host,
    graph: chooseGraph(profile, names, fits),
    sourceOf: key => getDefined(profile.sources[key], `source "${key}" of profile ${profile.name}`),
  };
  checkWindowLimits(profile, target, names.dtype);
  checkPositionLimits(profile, dtype, names.dtype);
  return target;
}

function chooseGraph(profile: TargetProfile, { version }: Names, fits: (when: When | undefined) => boolean): ChosenGraphLimits {
  const { graph } = profile;
  const choose = <T>(limit: Sourced<T> | readonly (Sourced<T> & { readonly when?: When })[], name: string): Sourced<T> => {
    const found = [limit].flat().find(entry => !('when' in entry) || fits(entry.when));
    if (found === undefined) throw missing(profile, `graph.${name} for version ${version}`);
    return found;
  };
  return {
    ...graph,
    minConvs: choose(graph.minConvs, 'minConvs'),
    maxSubgraphs: choose(graph.maxSubgraphs, 'maxSubgraphs'),
    trailing: choose(graph.trailing, 'trailing'),
    batches: graph.batches.filter(limit => fits(limit.when)),
    defects: (graph.defects ?? []).filter(defect => fits(defect.when)),
  };
}

function parseProfile(json: Json): TargetProfile {
  const read = readProfile(json);
  if (read.kind === 'ok') return read.value;
  const problems = formatJsonProblems(read.problems);
  throw new TargetError('profile-malformed', `invalid target profile: ${problems.join('; ')}`, {
    details: problems,
    help: 'see docs/npu-compile.md for the format of profiles; the built-in profiles are examples',
  });
}

function definedOf(choice: TargetChoice): TargetChoice {
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}

function getEntry<T>(code: string, what: string, name: string, table: Readonly<Record<string, T>>): T {
  const found = Object.hasOwn(table, name) ? table[name] : undefined;
  if (found !== undefined) return found;
  throw unknown(code, what, name, Object.keys(table));
}

function unknown(code: string, what: string, name: string, known: readonly string[]): TargetError {
  const closest = findClosest(name, known);
  return new TargetError(code, `unknown ${what} "${name}"`, {
    help: `choose one of ${known.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}

type Names = TargetProfile['default'];

/** The profile's default, or an earlier version if the device's support ends before. */
function newestVersion({ versions, default: { version } }: TargetProfile, { until }: DeviceProfile): string {
  return until !== undefined && versions.indexOf(until.value) < versions.indexOf(version) ? until.value : version;
}

function checkCombination(profile: TargetProfile, names: Names, device: DeviceProfile, dtype: DTypeProfile): void {
  const age = (version: string): number => profile.versions.indexOf(version);
  const source = (key: string): string => profile.sources[key]?.title ?? key;
  if (!dtype.devices.value.includes(names.device)) {
    throw new TargetError('target-combination', `${profile.name}: data type ${names.dtype} is not documented for device ${names.device}`, {
      help: `it is documented for ${dtype.devices.value.join(', ')} (${source(dtype.devices.source)})`,
    });
  }
  if (device.until !== undefined && age(names.version) > age(device.until.value)) {
    throw new TargetError('target-combination', `${profile.name}: version ${names.version} does not support device ${names.device}`, {
      help: `choose version ${device.until.value} or earlier (${source(device.until.source)})`,
    });
  }
  const since = [
    [`device ${names.device}`, device.since],
    [`data type ${names.dtype}`, dtype.since],
  ] as const;
  for (const [what, { value, source: key }] of since) {
    if (age(names.version) >= age(value)) continue;
    throw new TargetError(
      'target-combination',
      `${profile.name}: ${what} requires version ${value}, but the chosen version is ${names.version}`,
      {
        help: `choose version ${value} or later (${source(key)})`,
      },
    );
  }
}

/** Whether an entry with this `when` applies to the choice. */
function applies(profile: TargetProfile, when: When | undefined, { device, dtype, version }: Names): boolean {
  if (when === undefined) return true;
  const age = (name: string): number => profile.versions.indexOf(name);
  if (when.devices !== undefined && !when.devices.includes(device)) return false;
  if (when.dtypes !== undefined && !when.dtypes.includes(dtype)) return false;
  if (when.from !== undefined && age(version) < age(when.from)) return false;
  return when.to === undefined || age(version) <= age(when.to);
}

/** Operators with a window. Without a limit on it, every window would pass. */
const WINDOWED = ['Conv', 'DepthwiseConv', 'ConvTranspose', 'MaxPool', 'AveragePool'];

function checkWindowLimits(profile: TargetProfile, { limits, operators }: Target, dtype: string): void {
  const documented = WINDOWED.filter(op => operators.documented[op]?.includes(dtype));
  const wanted = documented.flatMap(op => (['kernel', 'stride'] as const).map(rule => ({ op, rule })));
  const lacking = wanted.filter(({ op, rule }) => !limits.some(limit => limit.rule === rule && limit.ops.includes(op)));
  if (lacking.length > 0) throw missing(profile, lacking.map(({ op, rule }) => `a limit "${rule}" for ${op}`).join(', '));
}

/** Power-of-two data types need bounds on positions. Without them, every shift would pass. */
function checkPositionLimits(profile: TargetProfile, { scale, positions }: DTypeProfile, dtype: string): void {
  if (scale.value === 'power-of-two' && positions === undefined) throw missing(profile, `the bounds "positions" of data type ${dtype}`);
}

function missing(profile: TargetProfile, what: string): TargetError {
  return new TargetError('profile-limit-missing', `target profile ${profile.name} lacks ${what}`, {
    help: 'add the limit with its source; if no limit is published, the widest known value',
  });
}
