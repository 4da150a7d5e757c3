/** The report of the `compile` plugin, with units, findings, parts and estimates: one schema for its writer and its readers. */

import type { JsonObject } from '../../base/json.js';
import { anyList, anyText, constant, flag, integer, list, number, oneOf, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { FINDING_SCHEMA, SOURCE_SCHEMA } from './finding.js';
import { MEMORY_SCHEMA } from './memory-report.js';

export const COMPILE_REPORT_FORMAT = 'tanren-compile-report/1';

const COUNT = integer(0);
const POSITIVE = number({ minimum: 0 });

const DEVICE = oneOf(['npu', 'cpu']);

export type Device = FromSchema<typeof DEVICE>;

const LATENCY = openObject(
  { ms: POSITIVE, lowMs: POSITIVE, highMs: POSITIVE },
  {},
  'An estimate, not a measurement. `lowMs` and `highMs` bound the likely values, not the possible ones.',
);

export type LatencyEstimate = FromSchema<typeof LATENCY>;

const UNIT_ESTIMATE = openObject(
  { ...LATENCY.properties, bound: oneOf(['compute', 'memory']) },
  { computeMs: POSITIVE, memoryMs: POSITIVE },
  '`ms` is the longer of `computeMs` and `memoryMs`, and the time of a layer besides its work.',
);

export type UnitEstimate = FromSchema<typeof UNIT_ESTIMATE>;

const TENSOR = openObject({ name: anyText(), dtype: text(), dims: anyList(COUNT) }, { scale: number(), zeroPoint: number() });

export type TensorReport = FromSchema<typeof TENSOR>;

const UNIT_KIND = oneOf(
  ['quantized', 'quantize', 'dequantize', 'requantize', 'plain'],
  'quantized: DQ… → operator (→ activation) → Q…, integers in and out. quantize, dequantize: a separate Q or DQ. requantize: DQ → Q. plain: a node that does not compute on quantized values (a float island, or shape arithmetic).',
);

export type UnitKind = FromSchema<typeof UNIT_KIND>;

const WORK = openObject(
  {
    engine: oneOf(['conv', 'depthwise', 'other']),
    elements: number({ minimum: 0 }, 'Of a unit without multiply-accumulates: output elements times window.'),
  },
  { shape: openObject({ inputChannels: integer(1, 'Per group.'), outputChannels: integer(1), width: integer(1, 'Of the output.') }) },
);

const UNIT = openObject(
  {
    id: COUNT,
    kind: UNIT_KIND,
    opType: text(),
    name: anyText("Name of the operator's node, or of its first output if the node has none."),
    nodes: anyList(anyText(), "First output of every node, which is how the vendor's report names nodes."),
    device: DEVICE,
    edge: flag('Q or DQ at an end of an NPU part: see `edgeNodes`.'),
    part: COUNT,
    findings: anyList(FINDING_SCHEMA, 'All failures, not only the first. Units on the NPU have only warnings.'),
    outputs: anyList(TENSOR),
    macs: POSITIVE,
    weightBytes: POSITIVE,
    inputBytes: POSITIVE,
    outputBytes: POSITIVE,
  },
  {
    activation: text('The activation function fused with the operator.'),
    demoted: text('Why a legal unit is on the CPU: "its part has 1 Conv; …".'),
    /** For one run on the device; only for units on the NPU. */
    estimate: UNIT_ESTIMATE,
    callMs: number(
      { minimum: 0 },
      'Estimate of its share of one call, on the device that runs it: its time, and a hand-over of a unit on the CPU.',
    ),
    /** What else the estimate rests on. Reports of 0.2 have neither this nor `callMs`. */
    work: WORK,
  },
);

export type UnitReport = FromSchema<typeof UNIT>;

const PART = openObject(
  {
    index: COUNT,
    name: text('"00.npu", "01.cpu": also the file name without extension.'),
    device: DEVICE,
    units: anyList(COUNT),
    nodes: COUNT,
    inputs: anyList(TENSOR),
    outputs: anyList(TENSOR),
    dependsOn: anyList(COUNT, 'Parts whose outputs this part reads.'),
    macs: POSITIVE,
    weightBytes: POSITIVE,
    transferBytes: number({ minimum: 0 }, 'Bytes into and out of the part, per run.'),
  },
  {
    estimate: LATENCY,
    /** Only for parts on the NPU whose sizes are known. Reports of 0.1 have none. */
    memory: MEMORY_SCHEMA,
  },
);

export type PartReport = FromSchema<typeof PART>;

const COUNTS = openObject({
  nodes: COUNT,
  npuNodes: COUNT,
  cpuNodes: COUNT,
  edgeNodes: integer(
    0,
    "Q and DQ at the ends of NPU parts, which the vendor's runtime runs on the host. Nodes on NPU, CPU and edges are all nodes.",
  ),
  units: COUNT,
  npuUnits: COUNT,
  cpuUnits: COUNT,
  parts: COUNT,
  npuParts: COUNT,
  macs: POSITIVE,
  npuMacShare: number({ minimum: 0, maximum: 1 }, 'For a model without MACs or with unknown sizes: 1 if every unit is on the NPU, else 0.'),
});

export type ModelCounts = FromSchema<typeof COUNTS>;

const ESTIMATE_CONSTANT = openObject(
  { name: text(), value: number(), unit: anyText(), source: SOURCE_SCHEMA },
  { low: number(), high: number() },
);

export type EstimateConstant = FromSchema<typeof ESTIMATE_CONSTANT>;

const BASIS = openObject(
  { formula: text(), constants: anyList(ESTIMATE_CONSTANT) },
  {},
  'The constants of the estimate, each with its source.',
);

export type EstimateBasis = FromSchema<typeof BASIS>;

const BATCH_ROW = openObject({
  batch: integer(1),
  calls: number({ minimum: 0 }, 'Per image, mean over the counts.'),
  padded: number({ minimum: 0 }, 'Padded RoIs: computed and discarded, because the last call is not full. Mean per image.'),
  perCall: LATENCY,
  /** Mean. */
  perImage: LATENCY,
});

export type BatchRow = FromSchema<typeof BATCH_ROW>;

const BATCHES = openObject({
  /** Per image. */
  rois: openObject({ from: oneOf(['params', 'captured']), counts: anyList(COUNT), mean: POSITIVE }),
  rows: anyList(BATCH_ROW, 'One per batch size. A call of `batch` RoIs costs the fixed time once.'),
  best: integer(0, 'The batch size with the smallest mean.'),
});

export type BatchEstimate = FromSchema<typeof BATCHES>;

const IMAGE = openObject(
  {
    calls: number({ minimum: 0 }, 'Mean over the RoI counts; 1 for a model that runs once per image.'),
    perCall: LATENCY,
    perImage: LATENCY,
  },
  { tiles: integer(1, 'RoIs that a call serves, of a model that runs on tiles.') },
  'All calls for one image, units on the CPU at a stated rate and transfers included.',
);

export type ImageEstimate = FromSchema<typeof IMAGE>;

const ROOF = openObject(
  { macsPerSecond: POSITIVE, bytesPerSecond: POSITIVE, layerMs: POSITIVE },
  {},
  'What bounds a layer on the NPU: multiply-accumulates of Conv without padding, bytes to and from memory, and the time besides its work.',
);

const ESTIMATE = openObject(
  {
    /** Of the NPU parts, one run each, in sequence. */
    npu: LATENCY,
    image: IMAGE,
    basis: BASIS,
  },
  {
    /** For a model that runs once per RoI: the same RoIs at several batch sizes. */
    batches: BATCHES,
    roof: ROOF,
  },
);

/** Reports of 0.1 estimated one run of the NPU parts only. */
const ESTIMATE_OF_ANY_VERSION = openObject({ basis: BASIS }, { npu: LATENCY, image: IMAGE, batches: BATCHES, roof: ROOF });

export type ModelEstimate = FromSchema<typeof ESTIMATE>;

function modelWith<const Estimate extends JsonObject>(estimate: Estimate) {
  return openObject(
    {
      name: text(),
      digest: text("SHA-256 of the model's content: structure, weights and scales, without names."),
      legal: flag('Whether no unit is refused or undocumented.'),
      counts: COUNTS,
      findings: anyList(FINDING_SCHEMA, 'About the model as a whole.'),
      units: anyList(UNIT, 'In topological order; `id` is the position.'),
      parts: anyList(PART, 'In execution order; `index` is the position.'),
      estimate,
    },
    {
      /** Only of a model that the params place on the CPU as a whole. */
      place: constant('cpu'),
      replacedBy: list(
        text(),
        "Only of a head that the detector's recipe runs on tiles: the models that run instead. Totals of times leave it out.",
      ),
    },
  );
}

const MODEL = modelWith(ESTIMATE);

export type ModelReport = FromSchema<typeof MODEL>;

const PLACEMENT = openObject(
  {
    part: text(),
    device: DEVICE,
    basis: oneOf(['measured', 'estimate', 'float'], 'float: the model is not quantized, so that only the CPU can run it.'),
    cpuMs: POSITIVE,
  },
  { npuMs: POSITIVE },
  'Where a part runs, and the times per image that decided it: both measured, or both estimated.',
);

export type PlacementReport = FromSchema<typeof PLACEMENT>;

const TARGET = openObject({
  profile: text(),
  title: text(),
  device: text(),
  dtype: text(),
  version: anyText("Version of the vendor's software."),
  digest: text("Of the profile's content."),
});

export type TargetIdentity = FromSchema<typeof TARGET>;

function reportWith<const Model extends JsonObject>(model: Model) {
  return openObject(
    {
      format: constant(COMPILE_REPORT_FORMAT),
      target: TARGET,
      models: anyList(model, 'Sorted by name. A stage with one model names it "model".'),
    },
    { placements: anyList(PLACEMENT, 'Only with `place: auto`.') },
  );
}

export const COMPILE_REPORT_SCHEMA = reportWith(MODEL);

export type CompileReport = FromSchema<typeof COMPILE_REPORT_SCHEMA>;

/** Also accepts reports of earlier versions. */
export const COMPILE_REPORT_OF_ANY_VERSION = reportWith(modelWith(ESTIMATE_OF_ANY_VERSION));
