/** The report of the `compile` plugin as plain JSON: units, findings, parts and estimates. */
import type { Finding, Source } from './finding.js';
import type { MemoryReport } from './memory-report.js';

export const COMPILE_REPORT_FORMAT = 'tanren-compile-report/1';

export type Device = 'npu' | 'cpu';

export type CompileReport = {
  readonly format: typeof COMPILE_REPORT_FORMAT;
  readonly target: TargetIdentity;
  /** Sorted by name. A stage with one model names it "model". */
  readonly models: readonly ModelReport[];
  /** Only with `place: auto`. */
  readonly placements?: readonly PlacementReport[];
};

/** Where a part runs, and the times per image that decided it: both measured, or both estimated. */
export type PlacementReport = {
  readonly part: string;
  readonly device: Device;
  /** float: the model is not quantized, so that only the CPU can run it. */
  readonly basis: 'measured' | 'estimate' | 'float';
  readonly npuMs?: number;
  readonly cpuMs: number;
};

/** The chosen target, and the digest of the profile's content. */
export type TargetIdentity = {
  readonly profile: string;
  readonly title: string;
  readonly device: string;
  readonly dtype: string;
  /** Version of the vendor's software. */
  readonly version: string;
  readonly digest: string;
};

export type ModelReport = {
  readonly name: string;
  /** SHA-256 of the model's content: structure, weights and scales, without names. */
  readonly digest: string;
  /** Whether no unit is refused or undocumented. */
  readonly legal: boolean;
  readonly counts: ModelCounts;
  /** Findings about the model as a whole. */
  readonly findings: readonly Finding[];
  /** In topological order; `id` is the position. */
  readonly units: readonly UnitReport[];
  /** In execution order; `index` is the position. */
  readonly parts: readonly PartReport[];
  readonly estimate: ModelEstimate;
  /** Only of a model that the params place on the CPU as a whole. */
  readonly place?: 'cpu';
  /** Only of a head that the detector's recipe runs on tiles: the models that run instead. Totals of times leave it out. */
  readonly replacedBy?: readonly string[];
};

export type ModelCounts = {
  readonly nodes: number;
  /** Nodes by device; the sum is `nodes`. `edge`: Q and DQ at the ends of NPU parts, which the vendor's runtime runs on the host. */
  readonly npuNodes: number;
  readonly cpuNodes: number;
  readonly edgeNodes: number;
  readonly units: number;
  readonly npuUnits: number;
  readonly cpuUnits: number;
  readonly parts: number;
  readonly npuParts: number;
  readonly macs: number;
  /** 0 … 1. For a model without MACs or with unknown sizes: 1 if every unit is on the NPU, else 0. */
  readonly npuMacShare: number;
};

/**
 * quantized: DQ… → operator (→ activation) → Q…, integers in and out. quantize, dequantize: a separate Q or DQ. requantize: DQ → Q.
 * plain: a node that does not compute on quantized values (a float island, or shape arithmetic).
 */
export type UnitKind = 'quantized' | 'quantize' | 'dequantize' | 'requantize' | 'plain';

export type UnitReport = {
  readonly id: number;
  readonly kind: UnitKind;
  readonly opType: string;
  /** Name of the operator's node, or of its first output if the node has none. */
  readonly name: string;
  /** The activation function fused with the operator. */
  readonly activation?: string;
  /** First output of every node, which is how the vendor's report names nodes. */
  readonly nodes: readonly string[];
  readonly device: Device;
  /** Q or DQ at an end of an NPU part; see `ModelCounts.edgeNodes`. */
  readonly edge: boolean;
  readonly part: number;
  /** All failures, not only the first. Units on the NPU have only warnings. */
  readonly findings: readonly Finding[];
  /** Why a legal unit is on the CPU: "its part has 1 Conv; …". */
  readonly demoted?: string;
  readonly outputs: readonly TensorReport[];
  readonly macs: number;
  readonly weightBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** For one run on the device; only for units on the NPU. */
  readonly estimate?: UnitEstimate;
};

export type TensorReport = {
  readonly name: string;
  readonly dtype: string;
  readonly dims: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
};

export type PartReport = {
  readonly index: number;
  /** "00.npu", "01.cpu": also the file name without extension. */
  readonly name: string;
  readonly device: Device;
  readonly units: readonly number[];
  readonly nodes: number;
  readonly inputs: readonly TensorReport[];
  readonly outputs: readonly TensorReport[];
  /** Parts whose outputs this part reads. */
  readonly dependsOn: readonly number[];
  readonly macs: number;
  readonly weightBytes: number;
  /** Bytes into and out of the part, per run. */
  readonly transferBytes: number;
  readonly estimate?: LatencyEstimate;
  /** Only for parts on the NPU whose sizes are known. */
  readonly memory?: MemoryReport;
};

/** An estimate, not a measurement. `low` and `high` bound the likely values, not the possible ones. */
export type LatencyEstimate = {
  readonly ms: number;
  readonly lowMs: number;
  readonly highMs: number;
};

export type UnitEstimate = LatencyEstimate & { readonly bound: 'compute' | 'memory' };

export type ModelEstimate = {
  /** Of the NPU parts, one run each, in sequence. */
  readonly npu: LatencyEstimate;
  /** All calls for one image, units on the CPU at a stated rate and transfers included. */
  readonly image: ImageEstimate;
  readonly basis: EstimateBasis;
  /** For a model that runs once per RoI: the same RoIs at several batch sizes. */
  readonly batches?: BatchEstimate;
};

export type ImageEstimate = {
  /** RoIs that a call serves, of a model that runs on tiles. */
  readonly tiles?: number;
  /** Mean over the RoI counts; 1 for a model that runs once per image. */
  readonly calls: number;
  readonly perCall: LatencyEstimate;
  readonly perImage: LatencyEstimate;
};

/** The constants of the estimate, each with its source. */
export type EstimateBasis = {
  readonly formula: string;
  readonly constants: readonly EstimateConstant[];
};

export type EstimateConstant = {
  readonly name: string;
  readonly value: number;
  readonly low?: number;
  readonly high?: number;
  readonly unit: string;
  readonly source: Source;
};

export type BatchEstimate = {
  /** RoIs per image: from the params or from the captured data. */
  readonly rois: { readonly from: 'params' | 'captured'; readonly counts: readonly number[]; readonly mean: number };
  /** One row per batch size. A call of `batch` RoIs costs the fixed time once. */
  readonly rows: readonly BatchRow[];
  /** The batch size with the smallest mean. */
  readonly best: number;
};

export type BatchRow = {
  readonly batch: number;
  /** Per image, mean over the counts. */
  readonly calls: number;
  /** Padded RoIs: computed and discarded, because the last call is not full. Mean per image. */
  readonly padded: number;
  readonly perCall: LatencyEstimate;
  /** Mean per image. */
  readonly perImage: LatencyEstimate;
};
