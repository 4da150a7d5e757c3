/** The values of a quantized model in several runs: the error of each, and what changed. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Json } from '../../../base/json.js';
import { parseQuantizationReport, type QuantizationReport } from '../../../quant/report/report-entries.js';
import { formatDb } from '../../../report/numbers.js';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import { type ApiError, address, getJson } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { asApiError } from '../api/use-data.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { formatChange } from '../parts/figure-format.js';
import { Link } from '../parts/link.js';
import { Empty, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { joinRuns, type LayerRow } from './layer-rows.js';

interface ComparedProps {
  /** Runs or "now". */
  readonly names: readonly string[];
  readonly pipeline: PipelineView;
}

export function ComparedLayers({ names, pipeline }: ComparedProps) {
  const { query } = usePlace();
  const stages = pipeline.stages.filter(({ plugin }) => plugin === 'quantize');
  const stage = stages.find(({ id }) => id === query.layers);
  if (stages.length === 0) return null;
  return (
    <section>
      <h3>Per layer</h3>
      <div class="tools">
        <Select
          label="Values of"
          value={stage?.id ?? ''}
          choices={stages.map(({ id }) => id)}
          none="choose …"
          pick={id => setQuery({ layers: id || undefined }, 'replace')}
        />
      </div>
      {stage !== undefined && <Layers key={`${stage.id} ${names.join()}`} stage={stage.id} names={names} />}
    </section>
  );
}

function Layers({ stage, names }: { readonly stage: string; readonly names: readonly string[] }) {
  const { reports, error } = useReports(stage, names);
  const rows = useMemo(() => (reports === undefined ? [] : joinRuns(reports)), [reports]);
  const columns = useMemo(() => columnsOf(stage, names), [stage, names.join()]);
  if (reports === undefined) return <Waiting error={error} what="the reports" />;
  if (rows.length === 0) return <Empty>The reports have no values.</Empty>;
  const changed = rows.filter(({ change }) => change !== 0).length;
  return (
    <>
      <p class="soft">
        SQNR of each value quantized alone, in dB. {changed} of {rows.length} values differ between {names[0]} and {names.at(-1)}; those
        that lost most come first.
      </p>
      <DataTable
        label="Values"
        rows={rows}
        columns={columns.filter(({ name }) => name !== 'op' || rows.some(({ opType }) => opType !== ''))}
        keyOf={({ name }) => name}
        visibleRows={14}
      />
    </>
  );
}

function useReports(
  stage: string,
  names: readonly string[],
): { readonly reports: readonly QuantizationReport[] | undefined; readonly error: ApiError | undefined } {
  const [found, setFound] = useState<{ readonly reports?: readonly QuantizationReport[]; readonly error?: ApiError }>({});
  useEffect(() => {
    const controller = new AbortController();
    const read = async (of: string): Promise<QuantizationReport> =>
      parseQuantizationReport(await getJson<Json>(address('artifact', { stage, port: 'report', of }), controller.signal), () => undefined);
    Promise.all(names.map(read)).then(
      reports => setFound({ reports }),
      (error: unknown) => !controller.signal.aborted && setFound({ error: asApiError(error) }),
    );
    return () => controller.abort();
  }, []);
  return { reports: found.reports, error: found.error };
}

function columnsOf(stage: string, names: readonly string[]): readonly ColumnSpec<LayerRow>[] {
  return [
    {
      name: 'value',
      title: 'Value',
      rank: ({ name }) => name,
      cell: ({ name }) => (
        <Link view="quantization" query={{ stage, value: name }} class="one-line">
          {plainText(name)}
        </Link>
      ),
    },
    { name: 'op', title: 'Operator', rank: ({ opType }) => opType, cell: ({ opType }) => opType },
    ...names.flatMap((name, index): readonly ColumnSpec<LayerRow>[] => [
      {
        name: `own ${name}`,
        title: name,
        numeric: true,
        rank: ({ own }) => own[index],
        cell: ({ own, dtypes }) => (own[index] === undefined ? <span class="soft">{dtypes[index] ?? 'float'}</span> : formatDb(own[index])),
      },
    ]),
    {
      name: 'change',
      title: 'Change, dB',
      hint: 'The last minus the first',
      numeric: true,
      first: 'up',
      rank: ({ change }) => change,
      cell: ({ change, own }) =>
        change === 0 ? '' : Number.isFinite(change) ? formatChange(own[0] ?? 0, own.at(-1) ?? 0) : change > 0 ? '+∞' : '−∞',
    },
  ];
}
