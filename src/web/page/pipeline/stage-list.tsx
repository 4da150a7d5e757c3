/** The stages as a table. */
import { formatDuration } from '../../../base/text/format.js';
import type { PipelineView, StageRow } from '../../../report/views/pipeline-data.js';
import { FigureText } from '../parts/figure.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { StateText } from '../parts/state-text.js';
import { plainText } from '../parts/text.js';
import type { StageState } from './stage-states.js';

interface ListProps {
  readonly pipeline: PipelineView;
  readonly states: ReadonlyMap<string, StageState>;
  readonly picked: string | undefined;
  readonly pick: (stage: string) => void;
}

export function StageList({ pipeline, states, picked, pick }: ListProps) {
  const columns: readonly PlainColumn<StageRow>[] = [
    {
      title: 'Stage',
      cell: ({ id }) => (
        <button type="button" class="as-link" aria-pressed={picked === id} onClick={() => pick(id)}>
          {id}
        </button>
      ),
    },
    { title: 'State', cell: ({ id, state }) => <StateText state={states.get(id)?.state ?? state} /> },
    ...COLUMNS,
  ];
  return <PlainTable label="Stages" rows={pipeline.stages} columns={columns} keyOf={({ id }) => id} picked={picked} width="page" />;
}

const COLUMNS: readonly PlainColumn<StageRow>[] = [
  {
    title: 'Run',
    hint: 'Time of the run that made the result',
    look: 'n',
    cell: ({ durationMs }) => durationMs !== undefined && formatDuration(durationMs),
  },
  {
    title: 'Figures',
    cell: ({ figures }) =>
      figures.map(({ label, value, previous, unit }) => (
        <div key={label}>
          <span class="soft">{label}</span> <FigureText value={value} {...(previous === undefined ? {} : { previous })} unit={unit} />
        </div>
      )),
  },
  {
    title: 'Gates',
    cell: ({ gates }) =>
      gates.map(({ metric, bound, verdict }) => (
        <div key={`${metric} ${bound}`} class={verdict === 'missed' ? 'bad' : verdict === 'met' ? 'good' : 'mute'}>
          {verdict === 'missed' ? '✗' : verdict === 'met' ? '✓' : '·'} {metric} {bound}
        </div>
      )),
  },
  { title: 'Why', look: 't soft', cell: ({ why }) => plainText(why.slice(0, 2).join('; ')) },
];
