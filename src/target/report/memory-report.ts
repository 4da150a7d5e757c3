/** The memory plan of an NPU part in the compile report: computed from sizes and lifetimes, not measured. */
import { anyList, anyText, integer, number, oneOf, openObject } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

const COUNT = integer(0);
const BYTES = number({ minimum: 0 });

const STRIPS = openObject({
  count: integer(1),
  rows: integer(1, 'Output rows per strip; the last strip may have fewer.'),
  weights: oneOf(
    ['resident', 'streamed'],
    'resident: weights are read once. streamed: they are read again for each strip, one output channel at a time.',
  ),
  trafficBytes: number(
    { minimum: 0 },
    'To and from main memory per run: inputs with the rows that strips share, weights as often as they are read, and outputs.',
  ),
});

/** The strips of output rows of a unit. */
export type RowStrips = FromSchema<typeof STRIPS>;

const STRIP_REPORT = openObject(
  {
    fit: oneOf(
      ['fits', 'rows', 'too-large', 'unknown'],
      'fits: all of it at once. rows: in strips of output rows. too-large: not even single rows. unknown: its rows do not depend on a window of rows.',
    ),
    bytes: number({ minimum: 0 }, 'Inputs, outputs and weights.'),
  },
  { strips: STRIPS },
);

/** How the inputs, outputs and weights of a unit fit into on-chip memory. With `rows`, `strips` are those that move the fewest bytes. */
export type StripReport = FromSchema<typeof STRIP_REPORT>;

export const MEMORY_SCHEMA = openObject(
  {
    alignmentBytes: COUNT,
    peakBytes: number({ minimum: 0 }, 'Size of the arena of all activations of a part, as planned.'),
    boundBytes: number({ minimum: 0 }, 'No arena can be smaller: the largest sum of sizes that are live at one unit.'),
    gapBytes: BYTES,
    sumBytes: number({ minimum: 0 }, 'Without reuse of memory.'),
    peakUnit: integer(0, 'Id of the first unit at which `boundBytes` are live.'),
    units: anyList(COUNT, 'Ids of the units that the device itself runs, in order: the steps of `tensors`.'),
    tensors: anyList(
      openObject({ name: anyText(), bytes: COUNT, offset: COUNT, first: COUNT, last: COUNT }),
      'Activations with their places in the arena. Each is live from step `first` to step `last`, both included.',
    ),
  },
  {
    onChip: openObject({
      bytes: number({ minimum: 0 }, 'Size of on-chip memory by the profile.'),
      units: anyList(STRIP_REPORT, 'One per step.'),
    }),
  },
);

export type MemoryReport = FromSchema<typeof MEMORY_SCHEMA>;
