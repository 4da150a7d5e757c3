/** The stages of the pipeline as a table: how each ended, what it made, and what it reads. */
import { formatBytes, formatDuration } from '../../../base/text/format.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { StateText } from '../parts/state-text.js';
import { plainText, shortDigest } from '../parts/text.js';
import { outcomeOf } from './outcomes.js';
import { CaptionedTable, ReportSection } from './report-section.js';
import { StageName } from './stage-name.js';

export function Stages({ stages }: { readonly stages: readonly StageRow[] }) {
  if (stages.length === 0) return null;
  return (
    <ReportSection id="pipeline" title="Pipeline" view={['pipeline', 'Pipeline']}>
      <details>
        <summary>All {stages.length} stages with what they read</summary>
        <CaptionedTable
          caption="Stages in topological order. Run: duration of the run that made the result, possibly in an earlier build."
          rows={stages}
          columns={COLUMNS}
          keyOf={({ id }) => id}
        />
      </details>
    </ReportSection>
  );
}

const COLUMNS: readonly ColumnSpec<StageRow>[] = [
  textColumn(
    'Stage',
    ({ id }) => id,
    ({ id }) => <StageName name={id} stage={id} />,
  ),
  textColumn('Plugin', ({ plugin }) => plugin),
  textColumn('Outcome', outcomeOf, stage => <StateText state={outcomeOf(stage)} />),
  numberColumn('Run', ({ durationMs }) => durationMs, formatDuration, { hint: 'Time of the run that made the result' }),
  numberColumn('Artifacts', sizeOf, formatBytes),
  textColumn(
    'Key',
    ({ key = '' }) => key,
    ({ key }) => key !== undefined && <code title={key}>{shortDigest(key)}</code>,
    {
      hint: 'The beginning of the action key: the digest of everything that the result depends on',
    },
  ),
  textColumn('Reads', readsOf),
];

function sizeOf({ outputs }: StageRow): number | undefined {
  const sizes = outputs.flatMap(({ sizeBytes }) => (sizeBytes === undefined ? [] : [sizeBytes]));
  return sizes.length === 0 ? undefined : sizes.reduce((sum, bytes) => sum + bytes, 0);
}

function readsOf({ inputs }: StageRow): string {
  return plainText(
    [...new Set(inputs.map(({ stage, port, path }) => (stage === undefined ? `source ${path}` : `${stage}.${port}`)))].join(', '),
  );
}
