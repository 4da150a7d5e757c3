/** Options of the vendor's software for each version and device: rows of a data file, each with its sources. */
import type { JsonObject } from '../../base/json.js';
import type { Source } from '../report/finding.js';
import { TargetError } from '../report/target-error.js';
import ryzenAi from './ryzen-ai-options.json' with { type: 'json' };

/** `${BUNDLE}`, `${CACHE_DIR}`, `${CACHE_KEY}` and names of environment variables are replaced on the board. */
export interface ProviderOptions {
  readonly version: string;
  readonly device: string;
  readonly provider: string;
  readonly providerOptions: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** The content of the file that the option `config_file` names in the bundle, for data types that need one. */
  readonly configFile?: JsonObject;
  /** To write the compiled model as an EPContext model. */
  readonly sessionOptions: Readonly<Record<string, string>>;
  /** The file of the operator assignment, inside the cache folder of the model; empty where none is documented. */
  readonly report: string;
  readonly sources: readonly Source[];
  readonly notes: readonly string[];
}

/** What the ONNX Runtime of a version reads. */
export interface RuntimeLimits {
  readonly version: string;
  readonly onnxruntime: string;
  /** The newest IR version and operator set. */
  readonly ir: number;
  readonly opset: number;
  readonly source: Source;
}

/** The limits of a version; undefined for a version that is not known. */
export function findRuntime(version: string): RuntimeLimits | undefined {
  const found = ryzenAi.runtimes.find(({ versions }) => versions.includes(version));
  if (found === undefined) return undefined;
  const { onnxruntime, ir, opset, source } = found;
  return { version, onnxruntime, ir, opset, source: SOURCES[source] as Source };
}

interface Row {
  readonly versions: readonly string[];
  readonly device: string;
  /** Absent: the data types in integers. */
  readonly dtype?: string;
  readonly configFile?: JsonObject;
  readonly providerOptions: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly sources: readonly string[];
  readonly notes: readonly string[];
}

const ROWS: readonly Row[] = ryzenAi.rows;
const SOURCES: Readonly<Record<string, unknown>> = ryzenAi.sources;

/** Options that the user sets for one version and device. */
export interface OwnOptions {
  readonly version: string;
  readonly device: string;
  readonly providerOptions: Readonly<Record<string, string>>;
}

/**
 * All versions and devices of AMD Ryzen AI with known options for a data type, by ascending version, with `own` in its row.
 * @throws TargetError `provider-option`.
 */
export function listRyzenAiOptions(own?: OwnOptions, dtype?: string): readonly ProviderOptions[] {
  if (own !== undefined) checkOwnOptions(own);
  const hasRows = ROWS.some(row => row.dtype === dtype);
  const all = ROWS.filter(row => row.dtype === (hasRows ? dtype : undefined))
    .flatMap(row => row.versions.map(version => optionsOf(row, version)))
    .map(row =>
      row.version === own?.version && row.device === own.device
        ? { ...row, providerOptions: { ...row.providerOptions, ...own.providerOptions } }
        : row,
    );
  return all.sort((a, b) => compareVersions(a.version, b.version) || (a.device < b.device ? -1 : 1));
}

interface Settable {
  readonly values: readonly string[];
  readonly from: string;
  /** The last version that has the option; absent: the newest one has it too. */
  readonly to?: string;
}

const SETTABLE: Readonly<Record<string, Settable>> = ryzenAi.settable;
/** The runner sets them, so that no stale compiled model can run. */
const RESERVED = ['cache_dir', 'cache_key', 'cacheDir', 'cacheKey'];

function checkOwnOptions({ version, device, providerOptions }: OwnOptions): void {
  for (const [name, value] of Object.entries(providerOptions)) {
    const problem = RESERVED.includes(name) ? 'is set by the runner' : findProblem(name, value, { version, device });
    if (problem === undefined) continue;
    throw new TargetError('provider-option', `provider option "${name}" ${problem}`, { help: 'change `providerOptions`' });
  }
}

function findProblem(name: string, value: string, { version, device }: Pick<OwnOptions, 'version' | 'device'>): string | undefined {
  if (name === 'target' && value === 'X2' && device === 'phx-hpt') return 'is "X2"; device phx-hpt has X1 only';
  if (name === 'xclbin' && device === 'stx-krk' && compareVersions(version, '1.6') >= 0)
    return 'is for phx-hpt only from version 1.6 on; on stx-krk the software chooses the overlay';
  const settable = Object.hasOwn(SETTABLE, name) ? SETTABLE[name] : undefined;
  if (settable === undefined) return undefined;
  const { values, from, to } = settable;
  if (compareVersions(version, from) < 0) return `exists from version ${from}; the chosen version is ${version}`;
  if (to !== undefined && compareVersions(version, to) > 0) return `exists up to version ${to}; the chosen version is ${version}`;
  return values.includes(value) ? undefined : `is "${value}"; it can be ${values.join(', ')}`;
}

/** In options of several versions. */
const VERSION = '$' + '{VERSION}';

function optionsOf(row: Row, version: string): ProviderOptions {
  const { from, options } = ryzenAi.sessionOptions;
  return {
    version,
    device: row.device,
    provider: ryzenAi.provider,
    providerOptions: Object.fromEntries(
      Object.entries(present(row.providerOptions)).map(([name, value]) => [name, value.replaceAll(VERSION, version)]),
    ),
    environment: present(row.environment),
    sessionOptions: compareVersions(version, from) >= 0 ? options : {},
    report: row.dtype === undefined ? ryzenAi.report : '',
    ...(row.configFile === undefined ? {} : { configFile: row.configFile }),
    sources: row.sources.map(name => SOURCES[name] as Source),
    notes: row.notes,
  };
}

/** Removes absent members: the type of a JSON module lists every row's names in every row. */
function present(record: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Versions have the form "major.minor" or "major.minor.patch". */
function compareVersions(a: string, b: string): number {
  const [major = 0, minor = 0, patch = 0] = a.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0, otherPatch = 0] = b.split('.').map(Number);
  return major - otherMajor || minor - otherMinor || patch - otherPatch;
}
