/** The constants of latency estimates in a profile: of a device, and of the host's CPU. */
import { anyList, integer, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

const POSITIVE = number({ exclusiveMinimum: 0 });

export const CONSTANT_SCHEMA = object({ value: POSITIVE, low: POSITIVE, high: POSITIVE, unit: text(), source: text() });

/** A constant of the latency estimate, with the bounds of its likely values. */
export type Constant = FromSchema<typeof CONSTANT_SCHEMA>;

export const ESTIMATE_SCHEMA = object(
  {
    peak: CONSTANT_SCHEMA,
    /** Shares of peak performance that kernels reach. */
    efficiency: object({ conv: CONSTANT_SCHEMA, depthwise: CONSTANT_SCHEMA, other: CONSTANT_SCHEMA }),
    /** To and from the shared main memory. */
    bandwidth: CONSTANT_SCHEMA,
    /** Fixed time per call of a part. */
    fixedMs: CONSTANT_SCHEMA,
    /** Time that a unit on the CPU costs between units on the NPU, besides its own work. */
    handoverMs: CONSTANT_SCHEMA,
  },
  {
    /** Time of each unit on the NPU besides its work. */
    layerMs: CONSTANT_SCHEMA,
    lanes: object({
      inputChannels: integer(1, 'Per group.'),
      outputChannels: integer(1),
      width: integer(1, 'Neighbors in a row of the output.'),
      source: text(),
    }),
    releases: anyList(
      object({ version: text(), factor: CONSTANT_SCHEMA }),
      'Factors of all times on the NPU by version; a version without one has that of the last version before it, else of the first after it.',
    ),
    spread: object(
      {
        factor: number({ minimum: 1 }),
        share: number({ minimum: 0, maximum: 1 }, 'Of measured times that lie within the estimate divided and multiplied by the factor.'),
        source: text(),
      },
      {},
      'Replaces the bounds of single constants as bounds of an estimate.',
    ),
  },
);

export type EstimateProfile = FromSchema<typeof ESTIMATE_SCHEMA>;

export const HOST_SCHEMA = object({
  macs: CONSTANT_SCHEMA,
  /** Elements per second of operators without multiply-accumulates, times their window. */
  elements: CONSTANT_SCHEMA,
  bandwidth: CONSTANT_SCHEMA,
});

/** Constants of the latency estimate of units on the CPU. */
export type HostProfile = FromSchema<typeof HOST_SCHEMA>;
