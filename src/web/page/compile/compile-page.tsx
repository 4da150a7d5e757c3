/** The view "Compile": where each unit runs and why, what it is estimated to cost, the roofline, and memory over time. */
import { useState } from 'preact/hooks';
import { formatBytes } from '../../../base/text/format.js';
import { formatCount, formatNumber, formatShare } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { type PlainColumn, PlainTable } from '../parts/plain-table.js';
import { FilterField, Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { type CompiledModel, parseCompileReport, type Unit } from './compile-report.js';
import { MemoryChart } from './memory-chart.js';
import { Roofline } from './roofline.js';

export function CompilePage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const stages = pipeline.stages.filter(({ plugin, built, outputs }) => plugin === 'compile' && built && holdsReport(outputs));
  const stage = stages.find(({ id }) => id === query.stage) ?? stages[0];
  if (stage === undefined) return <Empty>No stage that uses “compile” is built, so nothing is placed on a target.</Empty>;
  return <CompiledStage key={stage.id} stage={stage} stages={stages} />;
}

function holdsReport(outputs: StageRow['outputs']): boolean {
  return outputs.some(({ port, absent }) => port === 'report' && absent !== true);
}

function CompiledStage({ stage, stages }: { readonly stage: StageRow; readonly stages: readonly StageRow[] }) {
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
              pick={id => setQuery({ stage: id, model: undefined })}
            />
          )}
          <Select
            label="Model"
            value={model?.name ?? ''}
            choices={data.models.map(({ name }) => name)}
            pick={name => setQuery({ model: name, unit: undefined })}
          />
          <OutOfDate stage={stage} />
        </>
      }
    >
      <p class="soft">
        {data.target.title}, {data.target.device}, {data.target.dtype}, version {data.target.version}. All times here are estimates, not
        measurements.
      </p>
      {model === undefined ? <Empty>The report has no models.</Empty> : <ModelReport key={model.name} model={model} />}
    </View>
  );
}

function ModelReport({ model }: { readonly model: CompiledModel }) {
  const { query } = usePlace();
  const [filter, setFilter] = useState('');
  const { counts, units, parts, estimate, findings } = model;
  const perImage = estimate?.image?.perImage;
  const shown = units.filter(({ name, opType }) => `${name} ${opType}`.toLowerCase().includes(filter.toLowerCase()));
  const picked = units.find(({ id }) => String(id) === query.unit);
  const pick = (id: number): void => setQuery({ unit: String(id) === query.unit ? undefined : String(id) }, 'replace');
  const onCpu = units.filter(({ device }) => device === 'cpu');
  return (
    <>
      <dl class="facts tiles">
        <Fact
          term="On the NPU"
          value={`${formatShare(counts.npuMacShare)} of the work`}
          note={`${formatCount(counts.npuUnits)} of ${formatCount(counts.units)} units`}
        />
        <Fact term="Parts" value={formatCount(parts.length)} note={`${formatCount(counts.npuParts)} on the NPU`} />
        <Fact term="Multiply-accumulates" value={formatNumber(counts.macs)} note="per call" />
        {perImage !== undefined && (
          <Fact
            term="Time per image, estimated"
            value={`${formatNumber(perImage.ms)} ms`}
            note={`${formatNumber(perImage.lowMs)} … ${formatNumber(perImage.highMs)} ms, ${formatNumber(estimate?.image?.calls ?? 1)} calls`}
          />
        )}
      </dl>
      {[...findings, ...onCpu.flatMap(unit => unit.findings)].length === 0 && onCpu.length === 0 ? (
        <p class="good">✓ No unit is left to the CPU.</p>
      ) : (
        <Reasons units={onCpu} findings={findings} />
      )}
      <section>
        <h2>Roofline</h2>
        <Roofline model={model} picked={picked?.id} pick={pick} />
      </section>
      <section>
        <h2>Units</h2>
        <div class="tools">
          <FilterField what="units" hint={`filter ${units.length} units`} value={filter} set={setFilter} />
        </div>
        <DataTable
          label="Units"
          rows={shown}
          columns={COLUMNS}
          keyOf={({ id }) => String(id)}
          picked={query.unit}
          pick={({ id }) => pick(id)}
          visibleRows={12}
        />
      </section>
      {parts.map(
        part =>
          part.memory !== undefined && (
            <section key={part.index}>
              <h2>
                Memory of part {part.name}: {formatBytes(part.memory.peakBytes)} at its peak
              </h2>
              <MemoryChart memory={part.memory} units={units} picked={picked?.id} pick={pick} />
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
    </>
  );
}

function Fact({ term, value, note }: { readonly term: string; readonly value: string; readonly note: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>
        <b>{value}</b> <span class="soft">{note}</span>
      </dd>
    </div>
  );
}

function Reasons({ units, findings }: { readonly units: readonly Unit[]; readonly findings: CompiledModel['findings'] }) {
  return (
    <section>
      <h2>Not on the NPU</h2>
      <ul>
        {findings.map((finding, index) => (
          <li key={index}>{plainText(finding.message)}</li>
        ))}
        {units.map(({ id, opType, name, findings: own, demoted }) => (
          <li key={id}>
            {opType} <code>{plainText(name)}</code>: {plainText(demoted ?? own.map(({ message }) => message).join('; '))}
            {own.map(({ source }, index) => (
              <span key={index} class="soft">
                {' '}
                ({plainText(`${source.title} ${source.ref}`)})
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
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
  { look: 'soft t', cell: ({ source }) => plainText(`${source.title} ${source.ref}`) },
];

const COLUMNS: readonly ColumnSpec<Unit>[] = [
  {
    name: 'unit',
    title: 'Unit',
    rank: ({ id }) => id,
    cell: ({ name }) => <NameCell name={name} />,
  },
  {
    name: 'op',
    title: 'Operator',
    rank: ({ opType }) => opType,
    cell: ({ opType, activation }) => (activation === undefined ? opType : `${opType} + ${activation}`),
  },
  {
    name: 'device',
    title: 'Device',
    rank: ({ device }) => device,
    cell: ({ device, edge }) => <span class={device === 'npu' ? 'good' : 'warn'}>{edge ? 'edge' : device.toUpperCase()}</span>,
  },
  { name: 'part', title: 'Part', numeric: true, rank: ({ part }) => part, cell: ({ part }) => part },
  { name: 'shape', title: 'Output', cell: ({ outputs }) => <code>[{outputs[0]?.dims.join(', ')}]</code> },
  {
    name: 'macs',
    title: 'MACs',
    numeric: true,
    first: 'down',
    rank: ({ macs }) => macs,
    cell: ({ macs }) => (macs === 0 ? '–' : formatNumber(macs)),
  },
  { name: 'bytes', title: 'Bytes', numeric: true, first: 'down', rank: bytesOf, cell: unit => formatBytes(bytesOf(unit)) },
  {
    name: 'ms',
    title: 'Estimate, ms',
    numeric: true,
    first: 'down',
    rank: ({ estimate, callMs }) => estimate?.ms ?? callMs,
    cell: ({ estimate, callMs }) =>
      estimate !== undefined ? formatNumber(estimate.ms) : callMs === undefined ? '–' : formatNumber(callMs),
  },
  {
    name: 'range',
    title: 'Between',
    numeric: true,
    cell: ({ estimate }) => (estimate === undefined ? '–' : `${formatNumber(estimate.lowMs)} … ${formatNumber(estimate.highMs)}`),
  },
  { name: 'bound', title: 'Bound by', rank: ({ estimate }) => estimate?.bound, cell: ({ estimate }) => estimate?.bound ?? '–' },
];

export function bytesOf({ weightBytes, inputBytes, outputBytes }: Unit): number {
  return weightBytes + inputBytes + outputBytes;
}
