/** Estimated time per image of a head by its batch size. */
import { formatFixed, formatMs } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import type { CompiledModel } from './compile-report.js';

type Batches = NonNullable<CompiledModel['estimate']['batches']>;
type Row = Batches['rows'][number];

/** Nothing for models without RoIs. */
export function BatchesTable({ model: { name, estimate } }: { readonly model: CompiledModel }) {
  const { batches } = estimate;
  if (batches === undefined) return null;
  return (
    <section>
      <h2>Batch sizes, estimated</h2>
      <DataTable
        label={`Estimated milliseconds per image by batch size of ${name}`}
        rows={batches.rows}
        columns={columnsOf(batches)}
        keyOf={({ batch }) => String(batch)}
      />
    </section>
  );
}

function columnsOf({ rows, best }: Batches): readonly ColumnSpec<Row>[] {
  return [
    numberColumn('Batch', ({ batch }) => batch, String),
    numberColumn(
      'Calls per image',
      ({ calls }) => calls,
      one => formatFixed(one, 1),
    ),
    numberColumn(
      'Padded RoIs',
      ({ padded }) => padded,
      one => formatFixed(one, 1),
    ),
    numberColumn('Estimate (ms)', ({ perImage }) => perImage.ms, formatMs),
    numberColumn('Lower bound', ({ perImage }) => perImage.lowMs, formatMs),
    numberColumn('Upper bound', ({ perImage }) => perImage.highMs, formatMs),
    textColumn(
      '',
      ({ batch }) => (rows.length > 1 && batch === best ? 'best' : ''),
      ({ batch }) => rows.length > 1 && batch === best && <span class="good">✓ best</span>,
    ),
  ];
}
