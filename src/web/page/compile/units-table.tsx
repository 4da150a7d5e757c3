/** The columns of the table of units. */
import { formatBytes } from '../../../base/text/format.js';
import { formatCount, formatNumber, formatShare } from '../../../report/numbers.js';
import { boundOf } from '../../../target/estimate/layer-rows.js';
import { numberColumn } from '../parts/columns.js';
import type { ColumnSpec } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { wordsOfBound } from './bounds.js';
import type { Unit } from './compile-report.js';

/** @param perCallMs of the whole model, estimated. */
export function unitColumns(perCallMs: number | undefined): readonly ColumnSpec<Unit>[] {
  const share = numberColumn<Unit>('Share', ({ callMs }) => shareOf(callMs, perCallMs), formatShare, {
    hint: 'Of the estimated time of a call',
  });
  return [...COLUMNS, share];
}

function shareOf(callMs: number | undefined, perCallMs: number | undefined): number | undefined {
  return callMs === undefined || perCallMs === undefined || perCallMs === 0 ? undefined : callMs / perCallMs;
}

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
    cell: ({ macs }) => (macs === 0 ? '–' : formatCount(macs)),
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
  { name: 'bound', title: 'Bound by', rank: boundOf, cell: wordsOfBound },
];

function bytesOf({ weightBytes, inputBytes, outputBytes }: Unit): number {
  return weightBytes + inputBytes + outputBytes;
}
