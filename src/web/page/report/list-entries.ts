/** The results that the view "Report" shows: those that the pipeline connects to its report, else all that there are. */
import type { PipelineView, StageRow } from '../../../report/views/pipeline-data.js';
import type { ReportEntryView, ReportPort } from '../../../report/views/report-data.js';
import { address } from '../api/client.js';

/** Ports by the plugins that write their reports. */
const PORTS: Readonly<Record<string, ReportPort>> = {
  verify: 'verify',
  quantize: 'quantization',
  'correct-biases': 'recovery',
  'round-weights': 'recovery',
  sensitivity: 'sensitivity',
  compile: 'compile',
  bench: 'bench',
};

export function listEntries({ report, stages }: Pick<PipelineView, 'report' | 'stages'>): readonly ReportEntryView[] {
  if (report !== undefined) return report.entries;
  return stages.flatMap(({ id, plugin, outputs }) => {
    const port = Object.hasOwn(PORTS, plugin) ? PORTS[plugin] : undefined;
    return outputs.flatMap((output): readonly ReportEntryView[] => {
      if (port !== undefined && output.port === 'report') return [{ port, name: id, stage: id, output: output.port }];
      return plugin.startsWith('evaluate') && output.kind === 'metrics'
        ? [{ port: 'metrics', name: id, stage: id, output: output.port }]
        : [];
    });
  });
}

/** The row of the stage that an entry is of; undefined for a source. */
export function rowOfEntry({ stage }: ReportEntryView, rows: readonly StageRow[]): StageRow | undefined {
  return rows.find(({ id }) => id === stage);
}

/** Where the content of an entry is; undefined if its stage is not built. */
export function addressOf(entry: ReportEntryView, { report, stages }: PipelineView): string | undefined {
  const { port, name, stage, output } = entry;
  if (stage === undefined) return address('input', { stage: report?.stage ?? '', name: `${port}.${name}` });
  const row = rowOfEntry(entry, stages);
  if (row === undefined || !row.built) return undefined;
  return address('artifact', { stage, port: output, v: row.outputs.find(one => one.port === output)?.digest?.slice(0, 16) });
}
