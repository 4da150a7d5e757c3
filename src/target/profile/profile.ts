/** What is known of a target? Limits as plain data, each with its source; `profiles/*.json` are the built-in ones, and users write their own. */
import type { Severity, Source } from '../report/finding.js';

export const PROFILE_FORMAT = 'tanren-target-profile/1';

/** A value, and the key of the source that it is from. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
  readonly note?: string;
}

/** Where an entry counts: everywhere but for what is named. Versions are inclusive. */
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
  /** Of the vendor's software, oldest first. */
  readonly versions: readonly string[];
  readonly default: { readonly device: string; readonly dtype: string; readonly version: string };
  readonly devices: Readonly<Record<string, DeviceProfile>>;
  readonly dtypes: Readonly<Record<string, DTypeProfile>>;
  /** The first table whose `when` fits counts. */
  readonly operators: readonly OperatorTable[];
  readonly operatorNotes: readonly OperatorNote[];
  /** Warnings of what somebody saw. */
  readonly observations: readonly Observation[];
  /** All that fit count. */
  readonly limits: readonly Limit[];
  readonly graph: GraphLimits;
}

export interface DeviceProfile {
  readonly title: string;
  readonly since: Sourced<string>;
  readonly estimate: EstimateProfile;
}

/** A constant of the latency estimate, with the bounds between which it is thought to lie. */
export interface Constant {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly unit: string;
  readonly source: string;
}

export interface EstimateProfile {
  readonly peak: Constant;
  /** Shares of the peak that kernels reach. */
  readonly efficiency: { readonly conv: Constant; readonly depthwise: Constant; readonly other: Constant };
  /** To and from the memory that the processor shares. */
  readonly bandwidth: Constant;
  /** Per call of a part. */
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
  /** Scales per channel of weights. */
  readonly perChannel: Sourced<'allowed' | Exclude<Severity, 'warning'>>;
  /** Bounds on the positions (−log₂ of a power-of-two scale) around one operator. */
  readonly positions?: PositionLimits;
}

/** Inclusive bounds. With w, i, o, b the positions of weight, input, output and bias. */
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
  /** Operators all of whose inputs and outputs have one position. */
  readonly aligned: readonly string[];
}

export interface OperatorTable {
  readonly when?: When;
  readonly source: string;
  /** Operator → data types for which the source names it. What is missing is undocumented, not refused. */
  readonly documented: Readonly<Record<string, readonly string[]>>;
}

/** What else is known of operators that a table does not name. */
export interface OperatorNote {
  readonly ops: readonly string[];
  readonly when?: When;
  readonly note: string;
  /** Names of `rewrite` rules. */
  readonly fixIts: readonly string[];
}

/** What was seen of operators on a board, without a limit that explains it. */
export interface Observation {
  readonly ops: readonly string[];
  readonly when?: When;
  readonly source: string;
  readonly note: string;
}

export interface LimitBase {
  /** Operators; '*' is every one. 'DepthwiseConv' is a Conv with one input channel per group, and 'Conv' is any other. */
  readonly ops: readonly string[];
  readonly source: string;
  readonly when?: When;
  /** 'refused' where absent. */
  readonly severity?: Severity;
  readonly note?: string;
  /** Names of `rewrite` rules. */
  readonly fixIts?: readonly string[];
}

/** A number of the node; in each spatial direction for kernel, stride and dilation. */
export interface SizeLimit extends LimitBase {
  /** kernel, stride, dilation: of the window. rank: of the first input. outputs: how many are used. */
  readonly rule: 'kernel' | 'stride' | 'dilation' | 'rank' | 'outputs';
  /** As "1-9" or "1,2,4". */
  readonly allowed: string;
}

export interface GroupLimit extends LimitBase {
  readonly rule: 'groups';
  /** 'one': no groups; 'divisible': groups divide both numbers of channels. */
  readonly allowed: readonly ('one' | 'divisible')[];
}

/** Every element of an attribute (of `default` where it is absent) is one of `allowed`. */
export interface AttributeLimit extends LimitBase {
  readonly rule: 'attribute';
  readonly name: string;
  readonly default: readonly (number | string)[];
  readonly allowed: readonly (number | string)[];
}

/** Inputs that have to be constants, and whether they have to be there. */
export interface ConstantInputLimit extends LimitBase {
  readonly rule: 'constant-input';
  readonly inputs: readonly number[];
  readonly presence: 'required' | 'optional';
}

/** Activation functions that may be joined to the operator. */
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
  /** Least number of Conv in what is given to the NPU. */
  readonly minConvs: Sourced<number>;
  /** Most NPU parts of one model. */
  readonly maxSubgraphs: Sourced<number>;
  /** Operators that, in chains that end the model, stay on the CPU. */
  readonly trailing: Sourced<readonly string[]>;
  /** First dimension of the model's inputs of rank 4 that is documented, as "1"; anything where no entry fits. */
  readonly batches: readonly BatchLimit[];
  /** Whether every shape has to be known beforehand. */
  readonly staticShapes: Sourced<'required'>;
}
