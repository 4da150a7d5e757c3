/** The parts of a compiled model: where each runs, what it moves, and after which parts. */
import { formatBytes } from '../../../base/text/format.js';
import { formatCount } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { plainText } from '../parts/text.js';
import type { CompiledModel } from './compile-report.js';

type Part = CompiledModel['parts'][number];

export function PartsTable({ parts }: Pick<CompiledModel, 'parts'>) {
  return <DataTable label="Parts" rows={parts} columns={columnsOf(parts)} keyOf={({ index }) => String(index)} visibleRows={8} />;
}

function columnsOf(parts: readonly Part[]): readonly ColumnSpec<Part>[] {
  const names = new Map(parts.map(({ index, name }) => [index, name]));
  return [
    { name: 'part', title: 'Part', rank: ({ index }) => index, cell: ({ name }) => <code>{plainText(name)}</code> },
    textColumn(
      'Runs on',
      ({ device }) => device.toUpperCase(),
      ({ device }) => <span class={device === 'npu' ? 'good' : 'warn'}>{device.toUpperCase()}</span>,
    ),
    numberColumn('Nodes', ({ nodes }) => nodes, formatCount),
    numberColumn('Units', ({ units }) => units.length, formatCount),
    numberColumn('MACs', ({ macs }) => macs, formatCount),
    numberColumn('Weights', ({ weightBytes }) => weightBytes, formatBytes),
    numberColumn('Moves', ({ transferBytes }) => transferBytes, formatBytes, { hint: 'Bytes that go in and out of the part' }),
    textColumn('After', ({ dependsOn }) => plainText(dependsOn.map(index => names.get(index) ?? String(index)).join(', '))),
  ];
}
