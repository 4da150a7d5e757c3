/** The data of a target: limits, each with its source. `profiles/*.json` are built in; users can write their own. */
import type { Severity, Source } from '../report/finding.js';

export const PROFILE_FORMAT = 'tanren-target-profile/1';

/** A value with the key of its source. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
  readonly note?: string;
}

/** Where an entry applies; an absent member does not restrict it. Versions are inclusive. */
export interface When {
  readonly devices?: readonly string[];
  readonly dtypes?: readonly string[];
  readonly from?: string;
  readonly to?: string;
}

export interface TargetProfile {
  readonly format: typeof PROFILE_FORMAT;
  readonly name: string;
  readonly title: string;
  /** By key. */
  readonly sources: Readonly<Record<string, Source>>;
  /** Versions of the vendor's software, oldest first. */
  readonly versions: readonly string[];
  readonly default: { readonly device: string; readonly dtype: string; readonly version: string };
  readonly devices: Readonly<Record<string, DeviceProfile>>;
  readonly dtypes: Readonly<Record<string, DTypeProfile>>;
  /** The first table whose `when` applies is used. */
  readonly operators: readonly OperatorTable[];
  readonly operatorNotes: readonly OperatorNote[];
  /** Warnings about observed behavior. */
  readonly observations: readonly Observation[];
  /** Every limit whose `when` applies is used. */
  readonly limits: readonly Limit[];
  readonly graph: GraphLimits;
}

export interface DeviceProfile {
  readonly title: string;
  readonly since: Sourced<string>;
  readonly estimate: EstimateProfile;
}

/** A constant of the latency estimate, with the bounds of its likely values. */
export interface Constant {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly unit: string;
  readonly source: string;
}

export interface EstimateProfile {
  readonly peak: Constant;
  /** Shares of peak performance that kernels reach. */
  readonly efficiency: { readonly conv: Constant; readonly depthwise: Constant; readonly other: Constant };
  /** To and from the shared main memory. */
  readonly bandwidth: Constant;
  /** Fixed time per call of a part. */
  readonly fixedMs: Constant;
}

export interface DTypeProfile {
  readonly title: string;
  readonly devices: Sourced<readonly string[]>;
  readonly since: Sourced<string>;
  readonly activations: Sourced<readonly string[]>;
  readonly weights: Sourced<readonly string[]>;
  readonly biases: Sourced<readonly string[]>;
  readonly scale: Sourced<'any' | 'power-of-two'>;
  /** 'any', or the zero point of each integer type of an activation. */
  readonly zeroPoint: Sourced<'any' | Readonly<Record<string, number>>>;
  /** Whether weights may have per-channel scales. */
  readonly perChannel: Sourced<'allowed' | Exclude<Severity, 'warning'>>;
  /** Bounds on the positions (−log₂ of a power-of-two scale) around one operator. */
  readonly positions?: PositionLimits;
}

/** Inclusive bounds. w, i, o, b are the positions of weight, input, output and bias. */
export interface PositionLimits {
  readonly source: string;
  /** w + i − o of Conv, ConvTranspose, Gemm. */
  readonly cut: readonly [number, number];
  /** w + i − b; the lower bound falls by what the cut leaves: min(0, cut − 16). */
  readonly bias: readonly [number, number];
  /** Largest difference between the inputs of Add and Sub. */
  readonly read: number;
  /** min(i) − o of Add and Sub. */
  readonly addWrite: readonly [number, number];
  /** Σ i − o of Mul. */
  readonly mulWrite: readonly [number, number];
  /** Operators whose inputs and outputs must all have one position. */
  readonly aligned: readonly string[];
}

export interface OperatorTable {
  readonly when?: When;
  readonly source: string;
  /** Operator → data types that the source documents. A missing operator is undocumented, not refused. */
  readonly documented: Readonly<Record<string, readonly string[]>>;
}

/** Facts about operators that a table does not list. */
export interface OperatorNote {
  readonly ops: readonly string[];
  readonly when?: When;
  readonly note: string;
  /** Names of `rewrite` rules. */
  readonly fixIts: readonly string[];
}

/** Observed behavior of operators on a board, without a limit that explains it. */
export interface Observation {
  readonly ops: readonly string[];
  readonly when?: When;
  readonly source: string;
  readonly note: string;
}

export interface LimitBase {
  /** Operators; '*' means all. 'DepthwiseConv' is a Conv with one input channel per group, 'Conv' any other Conv. */
  readonly ops: readonly string[];
  readonly source: string;
  readonly when?: When;
  /** 'refused' if absent. */
  readonly severity?: Severity;
  readonly note?: string;
  /** Names of `rewrite` rules. */
  readonly fixIts?: readonly string[];
}

/** A number of the node; kernel, stride and dilation are checked in each spatial direction. */
export interface SizeLimit extends LimitBase {
  /** kernel, stride, dilation: of the window. rank: of the first input. outputs: the number of used outputs. */
  readonly rule: 'kernel' | 'stride' | 'dilation' | 'rank' | 'outputs';
  /** "1-9" or "1,2,4". */
  readonly allowed: string;
}

export interface GroupLimit extends LimitBase {
  readonly rule: 'groups';
  /** 'one': no groups; 'divisible': groups divide both numbers of channels. */
  readonly allowed: readonly ('one' | 'divisible')[];
}

/** Every element of an attribute (of `default` if it is absent) must be one of `allowed`. */
export interface AttributeLimit extends LimitBase {
  readonly rule: 'attribute';
  readonly name: string;
  readonly default: readonly (number | string)[];
  readonly allowed: readonly (number | string)[];
}

/** Inputs that must be constant, and whether they must be present. */
export interface ConstantInputLimit extends LimitBase {
  readonly rule: 'constant-input';
  readonly inputs: readonly number[];
  readonly presence: 'required' | 'optional';
}

/** Activation functions that may be fused with the operator. */
export interface ActivationLimit extends LimitBase {
  readonly rule: 'activation';
  readonly allowed: readonly string[];
}

export type Limit = SizeLimit | GroupLimit | AttributeLimit | ConstantInputLimit | ActivationLimit;

export interface BatchLimit {
  readonly allowed: string;
  readonly source: string;
  readonly when?: When;
  readonly note?: string;
}

export interface GraphLimits {
  /** Smallest number of Conv in an NPU part. */
  readonly minConvs: Sourced<number>;
  /** Largest number of NPU parts of a model. */
  readonly maxSubgraphs: Sourced<number>;
  /** Operators that stay on the CPU in chains at the end of the model. */
  readonly trailing: Sourced<readonly string[]>;
  /** Documented first dimension of model inputs of rank 4, for example "1"; any if no entry applies. */
  readonly batches: readonly BatchLimit[];
  /** Whether every shape must be fixed. */
  readonly staticShapes: Sourced<'required'>;
}
