/** The stages as a table. */
import { formatDuration } from '../../../base/text/format.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { build as buildStore } from '../api/live.js';
import { useStore } from '../api/store.js';
import { FigureText } from '../parts/figure.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { StateText } from '../parts/state-text.js';
import { clip, plainText } from '../parts/text.js';
import { cacheOutcomeOf, describeOutcome } from './cache-outcome.js';
import type { StageState } from './stage-states.js';

interface ListProps {
  readonly stages: readonly StageRow[];
  readonly states: ReadonlyMap<string, StageState>;
  readonly picked: string | undefined;
  readonly pick: (stage: string) => void;
}

export function StageList({ stages, states, picked, pick }: ListProps) {
  const build = useStore(buildStore);
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
    {
      title: 'Last build',
      hint: 'What the last build that the stage was part of did: it ran, its result came from a cache, or nothing had changed',
      cell: stage => {
        const outcome = cacheOutcomeOf(stage, build);
        return outcome !== undefined && <span class="soft one-line">{describeOutcome(outcome)}</span>;
      },
    },
    ...COLUMNS,
  ];
  return <PlainTable label="Stages" rows={stages} columns={columns} keyOf={({ id }) => id} picked={picked} width="page" />;
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
        <div key={label} class="roomy">
          <span class="soft">{label}</span> <FigureText value={value} {...(previous === undefined ? {} : { previous })} unit={unit} />
        </div>
      )),
  },
  {
    title: 'Gates',
    cell: ({ gates }) =>
      gates.map(({ metric, bound, verdict }) => (
        <div key={`${metric} ${bound}`} class={`roomy ${verdict === 'missed' ? 'bad' : verdict === 'met' ? 'good' : 'mute'}`}>
          {verdict === 'missed' ? '✗' : verdict === 'met' ? '✓' : '·'} {metric} {bound}
        </div>
      )),
  },
  {
    title: 'Why',
    look: 't why soft',
    cell: ({ why }) => <span title={plainText(why.join('\n'))}>{clip(plainText(why.slice(0, 2).join('; ')), LONGEST)}</span>,
  },
];

/** Characters of a reason: one may name many files, and the panel of the stage has all of it. */
const LONGEST = 200;
