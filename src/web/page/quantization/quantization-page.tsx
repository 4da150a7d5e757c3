/** The view "Quantization": the values of one model with their ranges and errors, in graph order or by cost, and one of them in detail. */
import { useMemo, useState } from 'preact/hooks';
import type { Json } from '../../../base/json.js';
import { parseQuantizationReport, type QuantizationReport } from '../../../quant/report/report-entries.js';
import { parseSensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import { formatDb, formatNumber, formatShare } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { useLatest } from '../api/use-latest.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { Link } from '../parts/link.js';
import { NameCell } from '../parts/name-cell.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { FilterField, Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { ErrorChart } from './error-chart.js';
import { findPart, listReaders } from './find-part.js';
import { LayerPanel } from './layer-panel.js';
import { joinLayers, type Layer } from './layers.js';
import { Summary } from './summary.js';
import { usePropagated } from './use-propagated.js';
import { Weights } from './weights.js';

export function QuantizationPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const stages = pipeline.stages.filter(({ plugin, outputs }) => plugin === 'quantize' && holdsReport(outputs));
  const stage = stages.find(({ id }) => id === query.stage) ?? stages[0];
  if (stage === undefined) return <NoStage stages={pipeline.stages} />;
  return (
    <View
      title="Quantization"
      tools={
        <>
          <Select
            label="Stage"
            value={stage.id}
            choices={stages.map(({ id }) => id)}
            pick={id => setQuery({ stage: id, value: undefined })}
          />
          <OutOfDate stage={stage} />
        </>
      }
    >
      {stage.built ? (
        <QuantizedModel key={stage.id} stage={stage} all={pipeline.stages} canEdit={pipeline.project.access === 'full'} />
      ) : (
        <Empty>{stage.id} is not built yet. Run it to see its ranges and errors.</Empty>
      )}
    </View>
  );
}

/** A model that was quantized elsewhere has errors too. */
function NoStage({ stages }: { readonly stages: readonly StageRow[] }) {
  return (
    <Empty>
      The pipeline has no stage that uses “quantize”, so there are no ranges to show.
      {stages.some(({ plugin, built }) => plugin === 'verify' && built) && (
        <>
          {' '}
          Errors of inner values that “verify” compared are in{' '}
          <Link view="report" query={{ at: 'verification' }}>
            Report
          </Link>
          .
        </>
      )}
    </Empty>
  );
}

interface ModelProps {
  readonly stage: StageRow;
  readonly all: readonly StageRow[];
  readonly canEdit: boolean;
}

function QuantizedModel({ stage, all, canEdit }: ModelProps) {
  const { query } = usePlace();
  const [filter, setFilter] = useState('');
  const version = versionOf(stage, 'report');
  const report = useLatest(useData(address('artifact', { stage: stage.id, port: 'report', v: version }), 'once', readReport), stage.id);
  const errors = usePropagated(all, { stage: stage.id, port: 'model' });
  const costs = findReader(all, stage.id, 'sensitivity');
  const sensitivity = useLatest(
    useData(
      costs === undefined ? undefined : address('artifact', { stage: costs.id, port: 'report', v: versionOf(costs, 'report') }),
      'once',
      parseSensitivityReport,
    ),
    costs?.id,
  );
  const layers = useMemo(() => {
    if (report.data === undefined) return [];
    const part = findPart(report.data, errors.found?.parts ?? [], errors.found?.entry);
    return joinLayers(report.data, part, sensitivity.data);
  }, [report.data, errors.found?.parts, errors.found?.entry, sensitivity.data]);
  if (report.data === undefined) return <Waiting error={report.error} what="the report of the stage" />;
  const shown = layers.filter(({ name, opType }) => `${name} ${opType}`.toLowerCase().includes(filter.toLowerCase()));
  const absent = new Set([
    ...(sensitivity.data === undefined ? ['cost'] : []),
    ...(layers.some(({ opType }) => opType !== '') ? [] : ['op']),
    ...(layers.some(({ propagated }) => propagated !== undefined) ? [] : ['propagated']),
  ]);
  // Other views know the node, and not the value that is quantized after it.
  const picked = layers.find(({ name }) => name === query.value) ?? layers.find(({ node }) => node !== '' && node === query.node);
  const pick = (name: string): void => setQuery({ value: name === picked?.name ? undefined : name, node: undefined });
  return (
    <div class={picked === undefined ? '' : 'view split wide-panel'}>
      <div class="main-column">
        <Summary report={report.data} errors={errors} sensitivity={costs} isFormer={report.isFormer || sensitivity.isFormer} />
        <ErrorChart layers={layers} picked={picked?.name} pick={pick} />
        <div class="tools">
          <FilterField what="values" hint="filter by name or operator" value={filter} set={setFilter} />
          <span class="soft">
            {shown.length} of {layers.length} values, in graph order; click a head to sort, a row for its histogram.
          </span>
        </div>
        <DataTable
          label="Values"
          rows={shown}
          columns={COLUMNS.filter(({ name }) => !absent.has(name))}
          keyOf={({ name }) => name}
          picked={picked?.name}
          pick={({ name }) => pick(name)}
        />
        <Weights weights={report.data.weights} />
        {report.data.inFloat.length > 0 && (
          <section>
            <h2>In float</h2>
            <ul>
              {report.data.inFloat.map(({ node, opType, reason }) => (
                <li key={node}>
                  <code>{plainText(node)}</code> {opType}: {plainText(reason)}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      {picked !== undefined && (
        <LayerPanel key={picked.name} layer={picked} stage={stage} canEdit={canEdit} close={() => pick(picked.name)} />
      )}
    </div>
  );
}

/** A saved page may lack it. */
function holdsReport(outputs: StageRow['outputs']): boolean {
  return outputs.every(({ port, absent }) => port !== 'report' || absent !== true);
}

/** Also reads former names of fields, without a warning: the next build writes the present ones. */
function readReport(json: Json): QuantizationReport {
  return parseQuantizationReport(json, () => undefined);
}

/** The content decides: an equal artifact is not fetched again. */
function versionOf({ outputs }: StageRow, port: string): string {
  return outputs.find(one => one.port === port)?.digest?.slice(0, 16) ?? '';
}

/** The first of the stages of a plugin that read the quantized model whose report the page holds. */
function findReader(stages: readonly StageRow[], quantize: string, plugin: string): StageRow | undefined {
  return listReaders(stages, quantize, plugin).find(({ outputs }) => holdsReport(outputs));
}

function errorColumn(name: 'own' | 'propagated', title: string, hint: string): ColumnSpec<Layer> {
  return {
    name,
    title,
    hint,
    numeric: true,
    rank: layer => layer[name] ?? undefined,
    cell: ({ [name]: db }) => (db === undefined ? '–' : formatDb(db)),
  };
}

const COLUMNS: readonly ColumnSpec<Layer>[] = [
  {
    name: 'value',
    title: 'Value',
    rank: ({ index }) => index,
    cell: ({ name }) => <NameCell name={name} />,
  },
  { name: 'op', title: 'Operator', rank: ({ opType }) => opType, cell: ({ opType }) => opType },
  errorColumn('own', 'Own', 'SQNR of this value quantized alone, in dB'),
  errorColumn('propagated', 'Propagated', 'SQNR of this value in the quantized model, in dB: with the errors of everything before it'),
  {
    name: 'cost',
    title: 'Cost',
    hint: 'Share in the error of the outputs: measured with this layer alone in float; ≈ to first order',
    numeric: true,
    first: 'down',
    rank: ({ cost }) => cost?.share,
    cell: ({ cost }) => (cost === undefined ? '–' : `${cost.basis === 'measured' ? '' : '≈\u2009'}${formatShare(cost.share)}`),
  },
  {
    name: 'saturation',
    title: 'Saturated',
    numeric: true,
    first: 'down',
    rank: ({ activation }) => activation?.saturationShare,
    cell: ({ activation }) => (activation?.saturationShare === undefined ? '–' : formatShare(activation.saturationShare)),
  },
  {
    name: 'dtype',
    title: 'Type',
    hint: 'Data type of the integers',
    rank: ({ activation }) => activation?.dtype,
    cell: ({ activation, fusedInto }) =>
      activation?.dtype ?? <span class="soft">{fusedInto === undefined ? 'not quantized' : `fused into ${fusedInto}`}</span>,
  },
  {
    name: 'scale',
    title: 'Scale',
    hint: 'Step between two neighboring integers',
    numeric: true,
    rank: ({ activation }) => activation?.scale,
    cell: ({ activation }) => (activation === undefined ? '–' : formatNumber(activation.scale)),
  },
  {
    name: 'range',
    title: 'Range',
    hint: 'Values that the integers can represent; values outside saturate',
    numeric: true,
    rank: ({ activation }) => activation?.range[1],
    cell: ({ activation }) => formatPair(activation?.range),
  },
  {
    name: 'data',
    title: 'Data range',
    numeric: true,
    rank: ({ activation }) => activation?.dataRange?.[1],
    cell: ({ activation }) => formatPair(activation?.dataRange),
  },
  {
    name: 'zero',
    title: 'Zero point',
    numeric: true,
    rank: ({ activation }) => activation?.zeroPoint,
    cell: ({ activation }) => (activation === undefined ? '–' : formatNumber(activation.zeroPoint)),
  },
  {
    name: 'method',
    title: 'Method',
    hint: 'How the range follows from the calibration data',
    rank: ({ activation }) => activation?.method,
    cell: ({ activation }) => activation?.method ?? '–',
  },
];

function formatPair(range: readonly number[] | undefined): string {
  return range === undefined ? '–' : `${formatNumber(range[0] ?? 0)} … ${formatNumber(range[1] ?? 0)}`;
}
