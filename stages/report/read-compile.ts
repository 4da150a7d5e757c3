/** Reads the parts of a `compile` report that the page needs. */
import { anyList, anyText, constant, flag, integer, number, oneOf, openObject, text } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { COMPILE_REPORT_FORMAT, type CompileReport } from '../../src/target/report/compile-report.js';
import { MEMORY_SCHEMA } from '../../src/target/report/memory-report.js';
import { parserOf, type ViewOf } from './entries.js';

const COUNT = integer(0);
const POSITIVE = number({ minimum: 0 });
const DEVICE = oneOf(['npu', 'cpu']);
const LATENCY_SCHEMA = openObject({ ms: POSITIVE, lowMs: POSITIVE, highMs: POSITIVE });

const FINDING_SCHEMA = openObject(
  {
    rule: text(),
    severity: oneOf(['error', 'refused', 'undocumented', 'warning']),
    message: text(),
    measured: anyText(),
    limit: anyText(),
    source: openObject({ title: anyText(), ref: anyText() }),
    fixIts: anyList(openObject({ rule: text(), effect: oneOf(['exact', 'rounding', 'approximate']), note: anyText() }, { form: text() })),
  },
  { note: text() },
);

export type FindingView = FromSchema<typeof FINDING_SCHEMA>;

const COUNTS_SCHEMA = openObject({
  nodes: COUNT,
  npuNodes: COUNT,
  cpuNodes: COUNT,
  edgeNodes: COUNT,
  units: COUNT,
  npuUnits: COUNT,
  cpuUnits: COUNT,
  parts: COUNT,
  npuParts: COUNT,
  macs: POSITIVE,
  npuMacShare: number({ minimum: 0, maximum: 1 }),
});

const UNIT_SCHEMA = openObject(
  {
    id: COUNT,
    opType: text(),
    name: anyText(),
    device: DEVICE,
    edge: flag(),
    part: COUNT,
    macs: POSITIVE,
    findings: anyList(FINDING_SCHEMA),
  },
  { activation: text(), demoted: text() },
);

export type UnitView = FromSchema<typeof UNIT_SCHEMA>;

const PART_SCHEMA = openObject(
  {
    index: COUNT,
    name: text(),
    device: DEVICE,
    nodes: COUNT,
    dependsOn: anyList(COUNT),
    macs: POSITIVE,
    transferBytes: POSITIVE,
    units: anyList(COUNT),
  },
  // `memory` is absent in reports of 0.1, and for parts on the CPU.
  { estimate: LATENCY_SCHEMA, memory: MEMORY_SCHEMA },
);

const BATCHES_SCHEMA = openObject({
  rows: anyList(openObject({ batch: COUNT, calls: number(), padded: number(), perImage: LATENCY_SCHEMA })),
  best: integer(0, 'A batch size.'),
});

const IMAGE_SCHEMA = openObject(
  { calls: POSITIVE, perImage: LATENCY_SCHEMA },
  { tiles: integer(1, 'RoIs that a call serves, of a model on tiles.') },
);

export type ImageView = FromSchema<typeof IMAGE_SCHEMA>;

const MODEL_SCHEMA = openObject(
  {
    name: text(),
    legal: flag(),
    counts: COUNTS_SCHEMA,
    findings: anyList(FINDING_SCHEMA),
    units: anyList(UNIT_SCHEMA),
    parts: anyList(PART_SCHEMA),
    estimate: openObject(
      { basis: openObject({ formula: text() }) },
      // `image` is absent in reports of 0.1, which estimated one run of the NPU parts instead.
      {
        image: IMAGE_SCHEMA,
        batches: BATCHES_SCHEMA,
      },
    ),
  },
  { place: constant('cpu'), replacedBy: anyList(text()) },
);

export type CompiledModel = FromSchema<typeof MODEL_SCHEMA>;

const PLACEMENT_SCHEMA = openObject(
  { part: text(), device: DEVICE, basis: oneOf(['measured', 'estimate', 'float']), cpuMs: POSITIVE },
  { npuMs: POSITIVE },
);

const COMPILE_SCHEMA = openObject(
  {
    format: constant(COMPILE_REPORT_FORMAT),
    target: openObject({ title: text(), device: text(), dtype: text(), version: anyText() }),
    models: anyList(MODEL_SCHEMA),
  },
  { placements: anyList(PLACEMENT_SCHEMA) },
);

export type CompileView = ViewOf<CompileReport, FromSchema<typeof COMPILE_SCHEMA>>;

/** @throws StageError `report-input`. */
export const parseCompile = parserOf(COMPILE_SCHEMA, 'compile');
