/** Parsers of durations, sizes, gates and references, as written in pipeline files and on the command line. */
import { parseBound } from '../../base/bound.js';
import type { Gate } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A number and a unit of time. */
export const DURATION = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/;

/** Parses "90s", "10m", "1.5h", "30d" or "500ms" to milliseconds; undefined for any other form. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

const SIZES: Readonly<Record<string, number>> = { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 };

/** Parses "500MB", "2 GB" or "1.5GB" to bytes, with decimal units; undefined for any other form. */
export function parseSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(B|kB|MB|GB|TB)$/i.exec(text.trim());
  const unit = Object.entries(SIZES).find(([name]) => name.toLowerCase() === match?.[2]?.toLowerCase())?.[1];
  return match === null || unit === undefined ? undefined : Math.round(Number(match[1]) * unit);
}

/** Parses ">= -0.008" to an operator and a bound; undefined for any other form. */
export function parseGate(metric: string, text: string, span: SourceSpan): Gate | undefined {
  const bound = parseBound(text);
  return bound === undefined ? undefined : { metric, ...bound, span };
}

export interface ArtifactReference {
  readonly group: string;
  /** undefined: the stage has one instance. */
  readonly item: string | undefined;
  readonly port: string;
}

/** "stage.port" or "stage@item.port". */
export const ARTIFACT_REFERENCE = /^([A-Za-z_][\w-]*)(?:@([\w.-]+?))?\.([A-Za-z_][\w-]*)$/;

/** Parses "export.model" or "quantize@backbone.model"; undefined if `text` has another form. */
export function parseArtifactReference(text: string): ArtifactReference | undefined {
  const match = ARTIFACT_REFERENCE.exec(text);
  return match === null ? undefined : { group: match[1] ?? '', item: match[2], port: match[3] ?? '' };
}

/** Parses "${sources.val.images}" to { name: 'val', key: 'images' }; undefined if `text` is not a source reference. */
export function parseSourceReference(text: string): { readonly name: string; readonly key: string | undefined } | undefined {
  const match = /^\$\{\s*sources\.([A-Za-z_][\w-]*)(?:\.([A-Za-z_][\w-]*))?\s*\}$/.exec(text);
  return match === null ? undefined : { name: match[1] ?? '', key: match[2] };
}
