/** What the view "Report" shows: results under the names that they have in the pipeline file. */
import type { Json } from '../../base/json.js';

/** Ports of `report` whose entries the view shows. */
export const REPORT_PORTS = ['metrics', 'verify', 'quantization', 'recovery', 'sensitivity', 'compile', 'bench', 'sweeps'] as const;

export type ReportPort = (typeof REPORT_PORTS)[number];

/** An entry of a port: an artifact, or a source of the stage that writes the report. */
export type ReportEntryView = {
  readonly port: ReportPort;
  readonly name: string;
  /** Of an artifact: the stage and its output. */
  readonly stage?: string;
  readonly output?: string;
};

export type ReportView = {
  /** The stage that writes the report: entries without a stage are sources of its inputs. */
  readonly stage: string;
  readonly title: string;
  /** By port, in the order in which tables show them. */
  readonly entries: readonly ReportEntryView[];
};

/** An entry with the content of its file. */
export interface LoadedEntry {
  readonly entry: ReportEntryView;
  readonly value: Json;
}

/** Those named in `order` come first, the others by name, as a record has no order. */
export function orderNames(names: readonly string[], order: readonly string[]): readonly string[] {
  const rank = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...names].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
