/** Average precision per class in several runs, from their detections, and the images of two of them. */
import { useMemo } from 'preact/hooks';
import { formatFixed } from '../../../report/numbers.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import { setQuery, usePlace } from '../api/router.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { formatChange } from '../parts/figure-format.js';
import { Link } from '../parts/link.js';
import { Empty } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { useJudgments } from '../results/use-judgments.js';
import { findSides, type ResultSide } from '../results/use-results.js';
import { type ClassRow, listClasses } from './class-rows.js';

interface ComparedProps {
  /** Runs or "now". */
  readonly names: readonly string[];
  readonly pipeline: PipelineView;
}

export function ComparedClasses({ names, pipeline }: ComparedProps) {
  const { query } = usePlace();
  const sides = useMemo(() => findSides(pipeline.stages), [pipeline]);
  const side = sides.find(({ stage }) => stage.id === query.classes);
  if (sides.length === 0) return null;
  return (
    <section>
      <h3>Per class, and images</h3>
      <div class="tools">
        <Select
          label="Detections of"
          value={side?.stage.id ?? ''}
          choices={sides.map(({ stage }) => stage.id)}
          none="choose …"
          pick={id => setQuery({ classes: id || undefined }, 'replace')}
        />
        {side !== undefined && names.length > 1 && (
          <Link view="results" query={{ left: side.stage.id, leftof: names[0], right: side.stage.id, rightof: names.at(-1) }}>
            the images of {names[0]} and {names.at(-1)}
          </Link>
        )}
      </div>
      {side !== undefined && <Classes key={`${side.stage.id} ${names.join()}`} side={side} names={names} />}
    </section>
  );
}

function Classes({ side, names }: { readonly side: ResultSide; readonly names: readonly string[] }) {
  const found = useJudgments(names.map(of => ({ ...side, of })));
  const rows = useMemo(() => (typeof found === 'object' ? listClasses(found.judgments) : []), [found]);
  if (found === undefined) return <Empty>Evaluating the detections …</Empty>;
  if (typeof found === 'string') return <Empty>The detections cannot be evaluated: {plainText(found)}</Empty>;
  return (
    <>
      <p class="soft">Box AP, the mean over IoU 0.50 to 0.95, over the images that each run evaluated.</p>
      <DataTable label="Classes" rows={rows} columns={columnsOf(names)} keyOf={({ id }) => id} visibleRows={14} />
    </>
  );
}

function columnsOf(names: readonly string[]): readonly ColumnSpec<ClassRow>[] {
  return [
    { name: 'class', title: 'Class', rank: ({ name }) => name, cell: ({ name }) => plainText(name) },
    ...names.map(
      (name, index): ColumnSpec<ClassRow> => ({
        name,
        title: name,
        numeric: true,
        first: 'down',
        rank: ({ aps }) => aps[index],
        cell: ({ aps }) => (aps[index] === undefined ? '–' : formatFixed(aps[index], 4)),
      }),
    ),
    {
      name: 'change',
      title: 'Change',
      hint: 'The last minus the first',
      numeric: true,
      first: 'up',
      rank: ({ change }) => change,
      cell: ({ aps, change }) => (change === undefined ? '–' : formatChange(aps[0] ?? 0, aps.at(-1) ?? 0)),
    },
  ];
}
