/** Everything about one stage: why it runs, params with their origin, inputs, outputs, figures, log and history. */
import { useEffect, useRef } from 'preact/hooks';
import { formatDuration } from '../../../base/text/format.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import type { StageView } from '../../../report/views/stage-data.js';
import { address } from '../api/client.js';
import { build as buildStore, ownBuilds } from '../api/live.js';
import { useStore } from '../api/store.js';
import { useData } from '../api/use-data.js';
import { BuildButtons } from '../builds/build-bar.js';
import { Link } from '../parts/link.js';
import { MetricsTable } from '../parts/metrics-table.js';
import { Waiting } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { StateText } from '../parts/state-text.js';
import { formatTime, plainText } from '../parts/text.js';
import { Digest } from './digest.js';
import { ParamChanges } from './param-change.js';
import { StageLog } from './stage-log.js';
import { StageOutputs } from './stage-outputs.js';
import type { StageState } from './stage-states.js';

interface PanelProps {
  readonly id: string;
  readonly pipeline: PipelineView;
  readonly state: StageState | undefined;
  readonly close: () => void;
}

export function StagePanel({ id, pipeline, state, close }: PanelProps) {
  const { data, error } = useData<StageView>(address('stage', { id }));
  const build = useStore(buildStore);
  const own = useStore(ownBuilds);
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => head.current?.focus({ preventScroll: false }), []);
  return (
    <Panel what="stage" name={id} headRef={head} close={close}>
      <p>
        <StateText state={state?.state ?? 'undecided'} />
        {state?.live?.message !== undefined && <span class="soft">: {plainText(state.live.message)}</span>}
      </p>
      {pipeline.project.access === 'full' && (
        <BuildButtons targets={[id]} label="Run this stage" running={build?.state === 'running' || own.length > 0} own={own.length > 0} />
      )}
      {data === undefined ? <Waiting error={error} what="the stage" /> : <Details stage={data} pipeline={pipeline} />}
      {pipeline.project.access !== 'saved' && <StageLog stage={id} isRunning={state?.state === 'running'} />}
    </Panel>
  );
}

function Details({ stage, pipeline }: { readonly stage: StageView; readonly pipeline: PipelineView }) {
  const { plugin, description, file, line, why, params, inputs, metrics, history, key, determinism } = stage;
  // A saved page has neither the pipeline file nor the history.
  const isKept = file === '';
  return (
    <>
      <p class="soft">
        <code>{plugin}</code>
        {description !== '' && <>: {plainText(description)}</>}
        {file !== '' && (
          <>
            {' '}
            Defined in{' '}
            <code>
              {file}:{line}
            </code>
          </>
        )}
        {determinism === 'measured' ? '; its results are measured on this machine.' : '.'}
      </p>
      {why.length > 0 && (
        <section>
          <h3>Why it is not up to date</h3>
          <ul>
            {why.map(reason => (
              <li key={reason}>{plainText(reason)}</li>
            ))}
          </ul>
        </section>
      )}
      {!isKept && (
        <section>
          <h3>Params</h3>
          <PlainTable label="Params" rows={params} columns={PARAMS} keyOf={({ name }) => name} none="The stage has no params." />
          {pipeline.project.access === 'full' && <ParamChanges params={params} values={pipeline.params} />}
        </section>
      )}
      <section>
        <h3>Inputs</h3>
        <PlainTable label="Inputs" rows={inputs} columns={INPUTS} keyOf={({ name }) => name} none="The stage reads no file." />
      </section>
      <section>
        <h3>Outputs</h3>
        <StageOutputs stage={stage} pipeline={pipeline} />
        {key !== undefined && (
          <p class="soft">
            Action key <Digest digest={key} what="the action key" />
          </p>
        )}
      </section>
      {metrics !== undefined && (
        <section>
          <h3>Figures</h3>
          <MetricsTable metrics={metrics} />
        </section>
      )}
      {!isKept && (
        <section>
          <h3>History</h3>
          <PlainTable label="History" rows={history} columns={HISTORY} keyOf={({ run }) => run} none="No recorded build ran this stage." />
        </section>
      )}
    </>
  );
}

const PARAMS: readonly PlainColumn<StageView['params'][number]>[] = [
  { cell: ({ name }) => <code>{name}</code> },
  { cell: ({ value }) => <code>{plainText(JSON.stringify(value))}</code> },
  { look: 'soft', cell: ({ origin }) => describeOrigin(origin) },
];

function describeOrigin(origin: StageView['params'][number]['origin']): string {
  if (origin.kind === 'default') return 'default';
  return origin.kind === 'file' ? `line ${origin.line}` : `\${${origin.refers.join('}, ${')}}, line ${origin.line}`;
}

const INPUTS: readonly PlainColumn<StageView['inputs'][number]>[] = [
  { cell: ({ name }) => <code>{name}</code> },
  {
    cell: ({ from }) =>
      from.kind === 'source' ? (
        <code>{plainText(from.path)}</code>
      ) : (
        <Link view="pipeline" query={{ stage: from.stage }}>
          {from.stage}.{from.port}
        </Link>
      ),
  },
  { look: 'soft', cell: ({ name, digest }) => digest !== undefined && <Digest digest={digest} what={`the digest of ${name}`} /> },
];

const HISTORY: readonly PlainColumn<StageView['history'][number]>[] = [
  {
    cell: ({ run }) => (
      <Link view="runs" query={{ of: run }}>
        {run}
      </Link>
    ),
  },
  { cell: ({ outcome }) => <StateText state={outcome} /> },
  { look: 'n', cell: ({ durationMs }) => durationMs !== undefined && formatDuration(durationMs) },
  {
    look: 'soft',
    cell: ({ started, failure, reasons }) => (
      <>
        <span title={started}>{formatTime(started)}</span>
        {(failure ?? reasons[0]) !== undefined && <>: {plainText(failure ?? reasons.join('; '))}</>}
      </>
    ),
  },
];
