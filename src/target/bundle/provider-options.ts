/** Options of the vendor's software for each version and device: rows of a data file, each with its sources. */
import type { Source } from '../report/finding.js';
import ryzenAi from './ryzen-ai-options.json' with { type: 'json' };

/** `${CACHE_DIR}`, `${CACHE_KEY}` and names of environment variables are replaced on the board. */
export interface ProviderOptions {
  readonly version: string;
  readonly device: string;
  readonly provider: string;
  readonly providerOptions: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** To write the compiled model as an EPContext model. */
  readonly sessionOptions: Readonly<Record<string, string>>;
  /** The file of the operator assignment, inside the cache folder of the model. */
  readonly report: string;
  readonly sources: readonly Source[];
  readonly notes: readonly string[];
}

interface Row {
  readonly versions: readonly string[];
  readonly device: string;
  readonly providerOptions: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly sources: readonly string[];
  readonly notes: readonly string[];
}

const ROWS: readonly Row[] = ryzenAi.rows;
const SOURCES: Readonly<Record<string, unknown>> = ryzenAi.sources;

/** All versions and devices of AMD Ryzen AI with known options, by ascending version. */
export function listRyzenAiOptions(): readonly ProviderOptions[] {
  const all = ROWS.flatMap(row => row.versions.map(version => optionsOf(row, version)));
  return all.sort((a, b) => compareVersions(a.version, b.version) || (a.device < b.device ? -1 : 1));
}

function optionsOf(row: Row, version: string): ProviderOptions {
  const { from, options } = ryzenAi.sessionOptions;
  return {
    version,
    device: row.device,
    provider: ryzenAi.provider,
    providerOptions: present(row.providerOptions),
    environment: present(row.environment),
    sessionOptions: compareVersions(version, from) >= 0 ? options : {},
    report: ryzenAi.report,
    sources: row.sources.map(name => SOURCES[name] as Source),
    notes: row.notes,
  };
}

/** Removes absent members: the type of a JSON module lists every row's names in every row. */
function present(record: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

/** Versions have the form "major.minor". */
function compareVersions(a: string, b: string): number {
  const [major = 0, minor = 0] = a.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = b.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
}
