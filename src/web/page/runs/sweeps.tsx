/** Sweeps: the form that starts one, what a running one does, and the configurations of one that has ended. */
import { useState } from 'preact/hooks';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { SweepView } from '../../project/sweeps.js';
import { type ApiError, address, post } from '../api/client.js';
import { ownBuilds, sweepLine } from '../api/live.js';
import { setQuery, usePlace } from '../api/router.js';
import { useStore } from '../api/store.js';
import { asApiError, useData } from '../api/use-data.js';
import { Failed, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { logText, plainText } from '../parts/text.js';
import { parseSweep } from '../sweeps/parse-sweep.js';
import { SweepRows } from './sweep-rows.js';

export function Sweeps({ pipeline }: { readonly pipeline: PipelineView }) {
  const { data } = useData<{ readonly sweeps: readonly SweepView[] }>('sweeps');
  const { query } = usePlace();
  const sweeps = data?.sweeps ?? [];
  const chosen = sweeps.find(({ name }) => name === query.sweep) ?? sweeps[0];
  return (
    <section>
      <h2>Sweeps</h2>
      <p class="soft">
        A sweep builds every combination of values beside the pipeline: its file, artifacts and history stay as they are. What was built
        before is not built again.
      </p>
      {pipeline.project.access === 'full' && <SweepForm pipeline={pipeline} />}
      {chosen !== undefined && (
        <>
          <div class="tools">
            <Select
              label="Sweep"
              value={chosen.name}
              choices={sweeps.map(
                ({ name, axes, state }) =>
                  [name, `${name}: ${plainText(axes.join(', '))}${state === 'ended' ? '' : `, ${state}`}`] as const,
              )}
              pick={name => setQuery({ sweep: name }, 'replace')}
            />
          </div>
          <ChosenSweep key={`${chosen.name} ${chosen.state}`} sweep={chosen} />
        </>
      )}
    </section>
  );
}

function ChosenSweep({ sweep: { name, state, line, said } }: { readonly sweep: SweepView }) {
  const live = useStore(sweepLine);
  const { data, error } = useData(state === 'ended' ? address('sweep', { name }) : undefined, 'once', parseSweep);
  if (state === 'running') {
    const text = live?.name === name ? live.line : line;
    return (
      <p role="status">
        <span class="info">●</span> {name} runs{text === undefined || text === '' ? ' …' : `: ${logText(text)}`}
      </p>
    );
  }
  return (
    <>
      {state === 'lost' && <p class="warn">{name} has ended without rows.</p>}
      {said !== undefined && (
        <details class="ended" open={state === 'lost'}>
          <summary>What it wrote about problems</summary>
          <pre>{logText(said)}</pre>
        </details>
      )}
      {state === 'ended' &&
        (data === undefined ? (
          <Waiting error={error} what="the configurations" />
        ) : (
          <SweepRows name={name} sweep={data} prefix="" level={3} />
        ))}
    </>
  );
}

interface Axis {
  readonly name: string;
  readonly values: string;
}

const NO_AXIS: Axis = { name: '', values: '' };

function SweepForm({ pipeline }: { readonly pipeline: PipelineView }) {
  const own = useStore(ownBuilds);
  const [axes, setAxes] = useState<readonly Axis[]>([NO_AXIS]);
  const [target, setTarget] = useState('');
  const [error, setError] = useState<ApiError>();
  const params = Object.keys(pipeline.params);
  const change = (index: number, part: Partial<Axis>): void =>
    setAxes(axes.map((axis, at) => (at === index ? { ...axis, ...part } : axis)));
  const isComplete = axes.every(({ name, values }) => name.trim() !== '' && values.trim() !== '');
  const start = (event: Event): void => {
    event.preventDefault();
    setError(undefined);
    const body = {
      axes: axes.map(({ name, values }) => ({ name: name.trim(), values: values.trim() })),
      targets: target === '' ? [] : [target],
    };
    post<{ readonly name: string }>('sweep', body).then(
      ({ name }) => setQuery({ sweep: name }, 'replace'),
      (problem: unknown) => setError(asApiError(problem)),
    );
  };
  return (
    <form class="card sweep-form" onSubmit={start}>
      <datalist id="sweep-names">
        {params.map(name => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {axes.map((axis, index) => (
        <div class="tools" key={index}>
          <label>
            Vary
            <input
              type="text"
              size={26}
              list="sweep-names"
              placeholder="preset or STAGE.SETTING"
              value={axis.name}
              onInput={event => change(index, { name: event.currentTarget.value })}
            />
          </label>
          <label>
            over
            <input
              type="text"
              size={34}
              placeholder="values, separated by commas"
              value={axis.values}
              onInput={event => change(index, { values: event.currentTarget.value })}
            />
          </label>
          {axes.length > 1 && (
            <button
              type="button"
              class="quiet"
              aria-label={`Remove axis ${index + 1}`}
              onClick={() => setAxes(axes.filter((_, at) => at !== index))}
            >
              ✕
            </button>
          )}
        </div>
      ))}
      <div class="tools">
        <button type="button" onClick={() => setAxes([...axes, NO_AXIS])} disabled={axes.length >= 8}>
          Another axis
        </button>
        <Select
          label="Build"
          value={target}
          choices={[...Object.keys(pipeline.groups), ...pipeline.stages.map(({ id }) => id)]}
          none="all that depends on them"
          pick={setTarget}
        />
        <button type="submit" disabled={!isComplete || own.length > 0}>
          Start the sweep
        </button>
      </div>
      {error !== undefined && <Failed error={error} />}
    </form>
  );
}
