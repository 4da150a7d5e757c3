/** The view "Pipeline": the graph or list of stages, the timeline of the last run, and the stage that was picked. */

import type { PipelineView } from '../../../report/views/pipeline-data.js';
import { setQuery, usePlace } from '../api/router.js';
import { Badge, Empty } from '../parts/notice.js';
import { FilterField } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import type { ViewProps } from '../parts/view-props.js';
import { PipelineGraph } from './pipeline-graph.js';
import { StageList } from './stage-list.js';
import { StagePanel } from './stage-panel.js';
import { useStageStates } from './stage-states.js';
import { stagesAround } from './stages-around.js';
import { Timeline } from './timeline.js';

/** A graph in a narrower window shows two boxes. */
const NARROW_PX = 700;

export function PipelinePage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const states = useStageStates(pipeline);
  const form = query.as === 'list' || (query.as === undefined && innerWidth < NARROW_PX) ? 'list' : 'graph';
  const picked = pipeline.stages.some(({ id }) => id === query.stage) ? query.stage : undefined;
  const pick = (stage: string | undefined): void => setQuery({ stage: stage === picked ? undefined : stage });
  const flip = (name: 'fit' | 'only'): void => setQuery({ [name]: query[name] === 'yes' ? undefined : 'yes' }, 'replace');
  const { stages } = pipeline;
  const wanted = (query.find ?? '').toLowerCase();
  const isFound = new Set(stages.flatMap(({ id, plugin }) => (`${id} ${plugin}`.toLowerCase().includes(wanted) ? [id] : [])));
  return (
    <div class={picked === undefined ? 'view' : 'view split'}>
      <div class="main-column">
        <h1 class="sr">Pipeline</h1>
        <Problems pipeline={pipeline} />
        {query.stage !== undefined && picked === undefined && <Empty>The pipeline has no stage “{query.stage}”.</Empty>}
        {stages.length > 0 && (
          <>
            <div class="tools">
              <fieldset class="choice">
                <legend class="sr">Form</legend>
                {(['graph', 'list'] as const).map(one => (
                  <button type="button" key={one} aria-pressed={one === form} onClick={() => setQuery({ as: one })}>
                    {one === 'graph' ? 'Graph' : 'List'}
                  </button>
                ))}
              </fieldset>
              <FilterField
                what="stages"
                hint="find a stage"
                value={query.find ?? ''}
                set={find => setQuery({ find: find || undefined }, 'replace')}
              />
              {form === 'graph' && (
                <>
                  <label>
                    <input type="checkbox" checked={query.fit === 'yes'} onChange={() => flip('fit')} /> all at once
                  </label>
                  {picked !== undefined && (
                    <label title="Only stages that it needs, and stages that need it">
                      <input type="checkbox" checked={query.only === 'yes'} onChange={() => flip('only')} /> only around {picked}
                    </label>
                  )}
                </>
              )}
              <span class="soft">
                {pipeline.project.access === 'saved'
                  ? 'Pick a stage for its inputs and outputs.'
                  : 'Pick a stage for its params, inputs, log and history.'}
              </span>
            </div>
            {isFound.size === 0 && <Empty>No stage has “{plainText(query.find ?? '')}” in its name or plugin.</Empty>}
            {form === 'graph' ? (
              <PipelineGraph
                stages={picked !== undefined && query.only === 'yes' ? stagesAround(picked, stages) : stages}
                critical={pipeline.lastRun?.criticalPath ?? []}
                states={states}
                isFound={isFound}
                fit={query.fit === 'yes' ? 'all' : 'size'}
                picked={picked}
                pick={pick}
              />
            ) : (
              <StageList stages={stages.filter(({ id }) => isFound.has(id))} states={states} picked={picked} pick={pick} />
            )}
            {pipeline.project.access !== 'saved' && <Timeline pipeline={pipeline} picked={picked} pick={pick} />}
          </>
        )}
      </div>
      {picked !== undefined && (
        <StagePanel key={picked} id={picked} pipeline={pipeline} state={states.get(picked)} close={() => pick(undefined)} />
      )}
    </div>
  );
}

function Problems({ pipeline: { problems } }: { readonly pipeline: PipelineView }) {
  if (problems.length === 0) return null;
  return (
    <section class="card" aria-label="Problems of the pipeline file">
      <h2>The pipeline file</h2>
      <ul class="problems">
        {problems.map(({ severity, code, message, help, file, line, column }, index) => (
          <li key={index}>
            <Badge look={severity === 'error' ? 'bad' : 'warn'}>{severity}</Badge>{' '}
            {file !== undefined && (
              <code>
                {file}:{line}:{column}
              </code>
            )}{' '}
            {plainText(message)} <code class="soft">{code}</code>
            {help !== undefined && <div class="soft">help: {plainText(help)}</div>}
          </li>
        ))}
      </ul>
    </section>
  );
}
