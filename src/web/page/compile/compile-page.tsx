/** The view "Compile": where each unit runs and why, what it is estimated to cost, the roofline, and memory over time. */
import { useState } from 'preact/hooks';
import { formatBytes } from '../../../base/text/format.js';
import { formatCount, formatNumber, formatShare } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { FilterField, Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { BatchesTable } from './batches.js';
import { BoardNodes } from './board-nodes.js';
import { BoardTimes } from './board-times.js';
import { type CompiledModel, parseCompileReport } from './compile-report.js';
import { DeviceStrip } from './device-strip.js';
import { Fixes } from './fixes.js';
import { Gantt } from './gantt.js';
import { MemoryChart } from './memory-chart.js';
import { MemoryFacts } from './memory-facts.js';
import { MemoryTable } from './memory-table.js';
import { describeLegality, ModelsTable } from './models-table.js';
import { PartsGraph } from './parts-graph.js';
import { PartsTable } from './parts-table.js';
import { Placement } from './placement.js';
import { Origin, Reasons } from './reasons.js';
import { Roofline } from './roofline.js';
import { type ModelSource, UnitPanel } from './unit-panel.js';
import { unitColumns } from './units-table.js';

export function CompilePage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const stages = pipeline.stages.filter(({ plugin, built, outputs }) => plugin === 'compile' && built && holdsReport(outputs));
  const stage = stages.find(({ id }) => id === query.stage) ?? stages[0];
  if (stage === undefined) return <Empty>No stage that uses “compile” is built, so nothing is placed on a target.</Empty>;
  return <CompiledStage key={stage.id} stage={stage} stages={stages} pipeline={pipeline} />;
}

function holdsReport(outputs: StageRow['outputs']): boolean {
  return outputs.some(({ port, absent }) => port === 'report' && absent !== true);
}

interface StageProps extends ViewProps {
  readonly stage: StageRow;
  readonly stages: readonly StageRow[];
}

function CompiledStage({ stage, stages, pipeline }: StageProps) {
  const { query } = usePlace();
  const digest = stage.outputs.find(({ port }) => port === 'report')?.digest?.slice(0, 16);
  const { data, error } = useData(address('artifact', { stage: stage.id, port: 'report', v: digest }), 'once', parseCompileReport);
  if (data === undefined) return <Waiting error={error} what="the report of the stage" />;
  const model = data.models.find(({ name }) => name === query.model) ?? data.models[0];
  return (
    <View
      title="Compile"
      tools={
        <>
          {stages.length > 1 && (
            <Select
              label="Stage"
              value={stage.id}
              choices={stages.map(({ id }) => id)}
              pick={id => setQuery({ stage: id, model: undefined, unit: undefined, part: undefined })}
            />
          )}
          <Select
            label="Model"
            value={model?.name ?? ''}
            choices={data.models.map(({ name }) => name)}
            pick={name => setQuery({ model: name, unit: undefined, part: undefined })}
          />
          <OutOfDate stage={stage} />
        </>
      }
    >
      <p class="soft">
        {data.target.title}, {data.target.device}, {data.target.dtype}, version {data.target.version}. All times here are estimates, not
        measurements.
      </p>
      {data.models.length > 1 && (
        <ModelsTable
          report={data}
          name={({ name }) => <NameCell name={name} />}
          picked={model?.name}
          pick={({ name }) => setQuery({ model: name, unit: undefined, part: undefined })}
        />
      )}
      {model === undefined ? (
        <Empty>The report has no models.</Empty>
      ) : (
        <ModelReport key={model.name} model={model} stage={stage} pipeline={pipeline} />
      )}
      <MemoryTable report={data} level={2} />
      <Placement report={data} level={2} />
      <BoardTimes report={data} stages={pipeline.stages} />
      <BoardNodes report={data} stages={pipeline.stages} />
    </View>
  );
}

interface ModelProps extends ViewProps {
  readonly model: CompiledModel;
  readonly stage: StageRow;
}

function ModelReport({ model, stage, pipeline }: ModelProps) {
  const { query } = usePlace();
  const [filter, setFilter] = useState('');
  const { units, parts, estimate, findings } = model;
  const part = parts.find(({ index }) => String(index) === query.part);
  const pickPart = (index: number): void => setQuery({ part: String(index) === query.part ? undefined : String(index) }, 'replace');
  const shown = units.filter(
    unit => (part === undefined || unit.part === part.index) && `${unit.name} ${unit.opType}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const picked = units.find(({ id }) => String(id) === query.unit);
  const pick = (id: number): void => setQuery({ unit: String(id) === query.unit ? undefined : String(id) }, 'replace');
  const onCpu = units.filter(({ device }) => device === 'cpu');
  const explained = units.filter(({ device, findings: own }) => device === 'cpu' || own.length > 0);
  const isWhole = [...findings, ...onCpu].length === 0;
  return (
    <div class={picked === undefined ? '' : 'view split wide-panel'}>
      <div class="main-column">
        <Tiles model={model} />
        {isWhole && <p class="good">✓ No unit is left to the CPU.</p>}
        {[...findings, ...explained].length > 0 && <Reasons units={explained} findings={findings} pick={pick} />}
        {!isWhole && model.place !== 'cpu' && pipeline.project.access !== 'saved' && (
          <Fixes stage={stage.id} model={model.name} digest={model.digest} canEdit={pipeline.project.access === 'full'} />
        )}
        <section>
          <h2>One call over time</h2>
          <DeviceStrip model={model} />
          <Gantt model={model} picked={picked?.id} pick={pick} />
        </section>
        <section>
          <h2>Parts</h2>
          <PartsGraph parts={parts} picked={part?.index} pick={pickPart} />
          <PartsTable parts={parts} />
        </section>
        <section>
          <h2>Roofline</h2>
          <Roofline model={model} picked={picked?.id} pick={pick} />
        </section>
        <section>
          <h2>Units</h2>
          <div class="tools">
            <FilterField what="units" hint={`filter ${units.length} units`} value={filter} set={setFilter} />
            {part !== undefined && (
              <button type="button" onClick={() => pickPart(part.index)}>
                {`part ${plainText(part.name)} alone: ${shown.length === 1 ? '1 unit' : `${formatCount(shown.length)} units`} ✕`}
              </button>
            )}
          </div>
          <DataTable
            label="Units"
            rows={shown}
            columns={unitColumns(estimate.image?.perCall.ms)}
            keyOf={({ id }) => String(id)}
            picked={query.unit}
            pick={({ id }) => pick(id)}
            visibleRows={12}
          />
        </section>
        <BatchesTable model={model} />
        {parts.map(
          part =>
            part.memory !== undefined && (
              <section key={part.index}>
                <h2>
                  Memory of part {part.name}: {formatBytes(part.memory.peakBytes)} at its peak
                </h2>
                <MemoryChart memory={part.memory} units={units} picked={picked?.id} pick={pick} />
                <MemoryFacts memory={part.memory} units={units} />
              </section>
            ),
        )}
        {estimate !== undefined && (
          <details>
            <summary>Basis of the estimate</summary>
            <p>
              <code>{estimate.basis.formula}</code>
            </p>
            <PlainTable label="Constants of the estimate" rows={estimate.basis.constants} columns={CONSTANTS} keyOf={({ name }) => name} />
          </details>
        )}
      </div>
      {picked !== undefined && (
        <UnitPanel key={picked.id} unit={picked} source={findSource(stage, model.name, pipeline.stages)} close={() => pick(picked.id)} />
      )}
    </div>
  );
}

/** The artifact that became the model: an input of the stage. */
function findSource({ inputs }: StageRow, model: string, stages: readonly StageRow[]): ModelSource | undefined {
  const input = inputs.find(({ name }) => name === `models.${model}`) ?? inputs.find(({ name }) => name === 'model');
  const stage = stages.find(({ id }) => id === input?.stage);
  return stage === undefined || input?.port === undefined ? undefined : { stage, port: input.port };
}

function Tiles({ model: { counts, parts, estimate, legal, units } }: { readonly model: CompiledModel }) {
  const perImage = estimate?.image?.perImage;
  return (
    <dl class="facts tiles">
      <Fact
        term="On the NPU"
        value={`${formatShare(counts.npuMacShare)} of the work`}
        note={`${formatCount(counts.npuUnits)} of ${formatCount(counts.units)} units, ${formatCount(counts.cpuUnits)} on the CPU`}
      />
      <Fact
        term="Legal"
        value={legal ? 'all units' : 'not all units'}
        note={legal ? 'none is refused or undocumented' : describeLegality(units)}
      />
      <Fact term="Parts" value={formatCount(parts.length)} note={`${formatCount(counts.npuParts)} on the NPU`} />
      <Fact term="Multiply-accumulates" value={formatCount(counts.macs)} note="per call" />
      {perImage !== undefined && (
        <Fact
          term="Time per image, estimated"
          value={`${formatNumber(perImage.ms)} ms`}
          note={`${formatNumber(perImage.lowMs)} … ${formatNumber(perImage.highMs)} ms, ${formatCalls(estimate?.image?.calls ?? 1)}`}
        />
      )}
    </dl>
  );
}

function Fact({ term, value, note }: { readonly term: string; readonly value: string; readonly note: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <b>{value}</b>
        <div class="soft">{note}</div>
      </dd>
    </div>
  );
}

type Constant = NonNullable<CompiledModel['estimate']>['basis']['constants'][number];

const CONSTANTS: readonly PlainColumn<Constant>[] = [
  { cell: ({ name }) => name },
  { look: 'n', cell: ({ value, unit }) => `${formatNumber(value)} ${unit}` },
  {
    look: 'n soft',
    cell: ({ low, high }) =>
      low !== undefined && high !== undefined && low !== high ? `${formatNumber(low)} … ${formatNumber(high)}` : '',
  },
  { look: 'soft t', cell: ({ source }) => <Origin source={source} /> },
];

function formatCalls(calls: number): string {
  return calls === 1 ? '1 call' : `${formatNumber(calls)} calls`;
}
