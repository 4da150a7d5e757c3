/** The device of each part with its time per image. Measured and estimated times are in separate tables. */
import { formatMs } from '../../../report/numbers.js';
import { sumEstimates } from '../../../target/estimate/estimate.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { Heading } from '../parts/heading.js';
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { CompiledModel, CompileReport } from './compile-report.js';

/** A part with the times that are known of it. */
interface Place {
  readonly part: string;
  readonly device: 'npu' | 'cpu';
  readonly basis: 'measured' | 'estimate' | 'float';
  readonly npuMs?: number;
  readonly cpuMs?: number;
}

/** Nothing where all parts run on the NPU because `place` says nothing. */
export function Placement({ report, level }: { readonly report: CompileReport; readonly level: 2 | 4 }) {
  const places = listPlaces(report);
  if (places.length === 0) return null;
  const { target, models, placements } = report;
  const tables = [
    { basis: 'measured', look: 'good', rows: places.filter(({ basis }) => basis === 'measured') },
    { basis: 'estimate', look: 'warn', rows: places.filter(({ basis }) => basis !== 'measured') },
  ] as const;
  return (
    <section>
      <Heading level={level}>Placement</Heading>
      <p class="soft">
        {placements === undefined ? 'The pipeline file declares the devices' : 'Each part runs where an image takes less time'}: on the NPU
        of {plainText(target.device)}, or on the CPU beside it.
      </p>
      {tables.map(
        ({ basis, look, rows }) =>
          rows.length > 0 && (
            <div key={basis} data-basis={basis}>
              <Heading level={level === 2 ? 3 : 5}>
                Times per image <Badge look={look}>{basis}</Badge>
              </Heading>
              <DataTable label={`Placement, ${basis}`} rows={rows} columns={columnsOf(models)} keyOf={({ part }) => part} />
            </div>
          ),
      )}
    </section>
  );
}

function listPlaces({ models, placements }: CompileReport): readonly Place[] {
  if (placements !== undefined) return placements;
  if (!models.some(({ place }) => place === 'cpu')) return [];
  const onTiles = new Set(models.flatMap(({ replacedBy = [] }) => replacedBy));
  return models.filter(({ name }) => !onTiles.has(name)).map(model => declaredPlace(model, models));
}

/** A part whose device the pipeline file declares: the estimate of that device only. */
function declaredPlace({ name, place, replacedBy = [name] }: CompiledModel, models: readonly CompiledModel[]): Place {
  const images = models.flatMap(({ name: other, estimate: { image } }) =>
    replacedBy.includes(other) && image !== undefined ? [image] : [],
  );
  const row = { part: name, device: place ?? 'npu', basis: 'estimate' } as const;
  if (images.length < replacedBy.length) return row;
  const { ms } = sumEstimates(images.map(({ perImage }) => perImage));
  return { ...row, ...(place === 'cpu' ? { cpuMs: ms } : { npuMs: ms }) };
}

function columnsOf(models: readonly CompiledModel[]): readonly ColumnSpec<Place>[] {
  return [
    textColumn('Part', ({ part }) => plainText(part)),
    textColumn('Runs on', ({ part, device }) => describeDevice(part, device, models)),
    numberColumn('On the NPU (ms)', ({ npuMs }) => npuMs, formatMs),
    numberColumn('On the CPU (ms)', ({ cpuMs }) => cpuMs, formatMs),
    textColumn('', ({ basis }) => (basis === 'float' ? 'its model is not quantized, only the CPU runs it' : '')),
  ];
}

function describeDevice(part: string, device: 'npu' | 'cpu', models: readonly CompiledModel[]): string {
  if (device === 'cpu') return 'CPU';
  const replacedBy = models.find(({ name }) => name === part)?.replacedBy;
  return replacedBy === undefined ? 'NPU' : plainText(`NPU, on tiles (${replacedBy.join(', ')})`);
}
