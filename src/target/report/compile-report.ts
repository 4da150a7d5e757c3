/** What does compiling for a target say? The report of the `compile` plugin: units, reasons, parts and estimates, as plain JSON. */
import type { Finding, Source } from './finding.js';

export const COMPILE_REPORT_FORMAT = 'tanren-compile-report/1';

export type Device = 'npu' | 'cpu';

export type CompileReport = {
  readonly format: typeof COMPILE_REPORT_FORMAT;
  readonly target: TargetIdentity;
  /** In the order of their names; a stage with one model calls it "model". */
  readonly models: readonly ModelReport[];
};

/** Everything that was chosen, and the digest of the profile's content. */
export type TargetIdentity = {
  readonly profile: string;
  readonly title: string;
  readonly device: string;
  readonly dtype: string;
  /** Of the vendor's software. */
  readonly version: string;
  readonly digest: string;
};

export type ModelReport = {
  readonly name: string;
  /** SHA-256 of the model's content: structure, weights and scales; names do not count. */
  readonly digest: string;
  /** Whether nothing is refused or undocumented. */
  readonly legal: boolean;
  readonly counts: ModelCounts;
  /** What concerns the model as a whole. */
  readonly findings: readonly Finding[];
  /** In topological order; `id` is the position. */
  readonly units: readonly UnitReport[];
  /** In the order in which they run; `index` is the position. */
  readonly parts: readonly PartReport[];
  readonly estimate: ModelEstimate;
};

export type ModelCounts = {
  readonly nodes: number;
  /** Nodes as placed; they add up to `nodes`. `edge`: Q and DQ at the ends of NPU parts, which the vendor's runtime does on the host. */
  readonly npuNodes: number;
  readonly cpuNodes: number;
  readonly edgeNodes: number;
  readonly units: number;
  readonly npuUnits: number;
  readonly cpuUnits: number;
  readonly parts: number;
  readonly npuParts: number;
  readonly macs: number;
  /** 0 … 1. Of a model without any, or of unknown sizes: 1 where every unit is on the NPU, else 0. */
  readonly npuMacShare: number;
};

/**
 * quantized: DQ… → operator (→ activation) → Q…, integers in and out. quantize, dequantize: a Q or DQ on its own. requantize: DQ → Q.
 * plain: a node that does not compute on quantized values (a float island, or arithmetic on shapes).
 */
export type UnitKind = 'quantized' | 'quantize' | 'dequantize' | 'requantize' | 'plain';

export type UnitReport = {
  readonly id: number;
  readonly kind: UnitKind;
  readonly opType: string;
  /** The operator's node name, or its first output's name. */
  readonly name: string;
  /** The activation function joined to the operator. */
  readonly activation?: string;
  /** First output's name of every node: how the vendor's own report names nodes. */
  readonly nodes: readonly string[];
  readonly device: Device;
  /** Q or DQ at an end of an NPU part; see `ModelCounts.edgeNodes`. */
  readonly edge: boolean;
  readonly part: number;
  /** All that fails, not the first alone. Empty on the NPU, but for warnings. */
  readonly findings: readonly Finding[];
  /** Why a legal unit is on the CPU all the same: "its part has 1 Conv; …". */
  readonly demoted?: string;
  readonly outputs: readonly TensorReport[];
  readonly macs: number;
  readonly weightBytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Of one run on the device; only for units on the NPU. */
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
  /** "00.npu", "01.cpu": also the file's name without its extension. */
  readonly name: string;
  readonly device: Device;
  readonly units: readonly number[];
  readonly nodes: number;
  readonly inputs: readonly TensorReport[];
  readonly outputs: readonly TensorReport[];
  /** Parts whose outputs this one reads. */
  readonly dependsOn: readonly number[];
  readonly macs: number;
  readonly weightBytes: number;
  /** Into and out of the part, per run. */
  readonly transferBytes: number;
  readonly estimate?: LatencyEstimate;
};

/** Always an estimate, never a measurement: `low` and `high` bound what is thought likely, not what is possible. */
export type LatencyEstimate = {
  readonly ms: number;
  readonly lowMs: number;
  readonly highMs: number;
};

export type UnitEstimate = LatencyEstimate & { readonly bound: 'compute' | 'memory' };

export type ModelEstimate = {
  /** Of the NPU parts, one run each, in sequence. CPU parts are not estimated: `bench` measures them. */
  readonly npu: LatencyEstimate;
  readonly basis: EstimateBasis;
  /** For a model that runs once per RoI: the same RoIs, in calls of so many. */
  readonly batches?: BatchEstimate;
};

/** The numbers that the estimate is made of, each with its source. */
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
  /** How many RoIs an image had: from the params, or as captured. */
  readonly rois: { readonly from: 'params' | 'captured'; readonly counts: readonly number[]; readonly mean: number };
  /** Rows of the model's own batch size divide everything else: a run of `batch` RoIs costs the fixed time once. */
  readonly rows: readonly BatchRow[];
  /** The batch with the lowest mean. */
  readonly best: number;
};

export type BatchRow = {
  readonly batch: number;
  /** Per image, mean over the counts. */
  readonly calls: number;
  /** RoIs computed and thrown away, since the last call is not full; mean per image. */
  readonly padded: number;
  readonly perCall: LatencyEstimate;
  /** Mean per image. */
  readonly perImage: LatencyEstimate;
};
