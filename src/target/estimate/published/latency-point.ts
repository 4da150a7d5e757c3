/** Measured times of networks, and the work of their units: what constants are fitted to. */
import { anyList, anyText, constant, integer, list, mapOf, number, object, oneOf, text, tuple } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { SOURCE_SCHEMA } from '../../report/finding.js';
import type { PlacedWork } from '../unit-time.js';

const SIZE = number({ minimum: 0 });

/** Equal units: their number, where and on what they run, MACs, elements, bytes of weights, inputs and outputs; then the sizes of the layer's shape. */
const UNITS = tuple(
  [integer(1), oneOf(['npu', 'cpu', 'edge']), oneOf(['conv', 'depthwise', 'other']), SIZE, SIZE, SIZE, SIZE, SIZE],
  [integer(1), integer(1), integer(1)],
);

export type UnitRow = FromSchema<typeof UNITS>;

export const NETWORKS_SCHEMA = object({
  format: constant('tanren-network-work/1'),
  networks: list(
    object({
      network: text(),
      targets: list(object({ device: text(), software: list(text()) }), 'Where its units are placed so.'),
      units: list(UNITS),
    }),
  ),
});

export type NetworkWork = FromSchema<typeof NETWORKS_SCHEMA>['networks'][number];

const POINT = object(
  { network: text(), dtype: text(), device: text(), ms: number({ exclusiveMinimum: 0 }), source: text('Key of the source.') },
  {
    /** Absent: the source does not name it; such a point is compared, and not fitted. */
    software: text(),
    note: anyText(),
  },
);

export const POINTS_SCHEMA = object({
  format: constant('tanren-latency-points/1'),
  sources: mapOf(SOURCE_SCHEMA, { description: 'By key.' }),
  points: anyList(POINT),
});

export type PublishedPoint = FromSchema<typeof POINT>;

/** A measured time with the units that ran. */
export interface LatencyPoint {
  readonly network: string;
  readonly device: string;
  readonly software: string;
  readonly ms: number;
  readonly source: string;
  readonly units: readonly PlacedWork[];
  /** Points of one group share a factor; the version if absent. */
  readonly group?: string;
  /** Standard deviation of the logarithm of the time around its estimate; that of published points if absent. */
  readonly noise?: number;
}

/** Units with equal work as one row, in the order of first use. */
export function packUnits(units: readonly PlacedWork[]): readonly UnitRow[] {
  const counts = new Map<string, { readonly unit: PlacedWork; count: number }>();
  for (const unit of units) {
    const key = JSON.stringify(rowOf(unit, 1));
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { unit, count: unit.count ?? 1 });
    else known.count += unit.count ?? 1;
  }
  return [...counts.values()].map(({ unit, count }) => rowOf(unit, count));
}

function rowOf({ work, where }: PlacedWork, count: number): UnitRow {
  const { engine, macs, elements, weightBytes, inputBytes, outputBytes, shape } = work;
  const sizes = shape === undefined ? ([] as const) : ([shape.inputChannels, shape.outputChannels, shape.width] as const);
  return [count, where, engine, macs, elements, weightBytes, inputBytes, outputBytes, ...sizes];
}

export function unpackUnits(rows: readonly UnitRow[]): readonly PlacedWork[] {
  return rows.map(([count, where, engine, macs, elements, weightBytes, inputBytes, outputBytes, inputs, outputs, width]) => ({
    where,
    count,
    work: {
      engine,
      macs,
      elements,
      weightBytes,
      inputBytes,
      outputBytes,
      ...(inputs === undefined || outputs === undefined || width === undefined
        ? {}
        : { shape: { inputChannels: inputs, outputChannels: outputs, width } }),
    },
  }));
}
