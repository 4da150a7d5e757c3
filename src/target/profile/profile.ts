/** The data of a target: limits, each with its source. `profiles/*.json` are built in; users can write their own. */
import type { JsonObject } from '../../base/json.js';
import { anyList, anyOf, constant, list, listOf, mapOf, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import { type FromSchema, schemaOf } from '../../base/schema/from-schema.js';
import { SOURCE_SCHEMA } from '../report/finding.js';
import { CONSTANT_SCHEMA, ESTIMATE_SCHEMA, HOST_SCHEMA } from './estimate-constants.js';
import { INTEGER_SET_SCHEMA } from './integer-set.js';
import { OBSERVATION_SCHEMA } from './observation.js';

export const PROFILE_FORMAT = 'tanren-target-profile/1';

const TEXTS = anyList(text());
const COUNT = number({ minimum: 0 });
/** A limit never says that a device computes wrong values. */
const SEVERITY = oneOf(['refused', 'undocumented', 'warning'], 'refused if absent.');
const FIX_ITS = anyList(text(), 'Names of `rewrite` rules.');

/** A value with the key of its source. */
export interface Sourced<T> {
  readonly value: T;
  readonly source: string;
  readonly note?: string;
}

const sourced = <const Value extends JsonObject>(value: Value) => object({ value, source: text('Key of the source.') }, { note: text() });

/** Where an entry applies; an absent member does not restrict it. Versions are inclusive. */
const WHEN = object({}, { devices: TEXTS, dtypes: TEXTS, from: text(), to: text() });

/** A limit for all choices, or several, of which the first whose `when` applies is used. */
const chosen = <const Value extends JsonObject>(value: Value) =>
  anyOf([sourced(value), list(object({ value, source: text() }, { note: text(), when: WHEN }))]);

export type When = FromSchema<typeof WHEN>;

const DEVICE = object(
  { title: text(), since: sourced(text()), estimate: ESTIMATE_SCHEMA },
  {
    /** The last version that supports the device; the newest if absent. */
    until: sourced(text()),
    onChip: sourced(number({ exclusiveMinimum: 0 }, 'Bytes of memory on the chip that all units share.')),
  },
);

export type DeviceProfile = FromSchema<typeof DEVICE>;

const bounds = (description: string) => schemaOf<readonly [number, number]>(listOf(2, number(), description));

const POSITIONS = object(
  {
    source: text(),
    cut: bounds('w + i − o of Conv, ConvTranspose, Gemm.'),
    bias: bounds('w + i − b; the lower bound falls by what the cut leaves: min(0, cut − 16), but not if a LeakyRelu follows.'),
    read: number({ minimum: 0 }, 'Largest difference between the inputs of Add and Sub.'),
    addWrite: bounds('min(i) − o of Add and Sub.'),
    mulWrite: bounds('Σ i − o of Mul.'),
    aligned: anyList(text(), 'Operators whose inputs and outputs must all have one position.'),
  },
  {
    hardSigmoid: object({
      input: bounds('i of HardSigmoid.'),
      output: number({}, 'The smallest o.'),
      shift: bounds('14 + i − o.'),
    }),
    swish: bounds('Σ i − o of a Mul of x with HardSigmoid(x).'),
  },
);

/** Inclusive bounds. w, i, o, b are the positions of weight, input, output and bias. */
export type PositionLimits = FromSchema<typeof POSITIONS>;

const DTYPE = object(
  {
    title: text(),
    devices: sourced(list(text())),
    since: sourced(text()),
    activations: sourced(list(text())),
    weights: sourced(list(text())),
    biases: sourced(list(text())),
    scale: sourced(oneOf(['any', 'power-of-two'])),
    zeroPoint: sourced(anyOf([constant('any'), mapOf(number())], 'any, or the zero point of each integer type of an activation.')),
    perChannel: sourced(oneOf(['allowed', 'refused', 'undocumented'], 'Whether weights may have per-channel scales.')),
  },
  {
    /** Models are float models, and the compiler converts them. Absent: QDQ models. */
    form: constant('float'),
    /** Share of the peak and efficiencies of the device. */
    rate: CONSTANT_SCHEMA,
    /** Bounds on the positions (−log₂ of a power-of-two scale) around one operator. */
    positions: POSITIONS,
  },
);

export type DTypeProfile = FromSchema<typeof DTYPE>;

const OPERATOR_TABLE = object(
  {
    source: text(),
    documented: mapOf(TEXTS, {
      description: 'Operator → data types that the source documents. A missing operator is undocumented, not refused.',
    }),
  },
  { when: WHEN },
);

export type OperatorTable = FromSchema<typeof OPERATOR_TABLE>;

const OPERATOR_NOTE = object({ ops: list(text()), note: text(), fixIts: FIX_ITS }, { when: WHEN });

/** Facts about operators that a table does not list. */
export type OperatorNote = FromSchema<typeof OPERATOR_NOTE>;

const LIMIT_FIELDS = {
  ops: list(text(), "Operators; '*' means all. 'DepthwiseConv' is a Conv with one input channel per group, 'Conv' any other Conv."),
  source: text(),
} as const;

const LIMIT_OPTIONS = {
  except: anyList(text(), "Operators that '*' does not mean."),
  when: WHEN,
  severity: SEVERITY,
  note: text(),
  fixIts: FIX_ITS,
} as const;

const SIZE_LIMIT = object(
  {
    rule: oneOf(
      ['kernel', 'stride', 'dilation', 'rank', 'outputs'],
      'kernel, stride, dilation: of the window. rank: of the first input. outputs: the number of used outputs.',
    ),
    ...LIMIT_FIELDS,
    allowed: INTEGER_SET_SCHEMA,
  },
  LIMIT_OPTIONS,
);

/** A number of the node; kernel, stride and dilation are checked in each spatial direction. */
export type SizeLimit = FromSchema<typeof SIZE_LIMIT>;

const GROUP_LIMIT = object(
  {
    rule: constant('groups'),
    ...LIMIT_FIELDS,
    allowed: list(oneOf(['one', 'divisible'], 'one: no groups; divisible: groups divide both numbers of channels.')),
  },
  LIMIT_OPTIONS,
);

export type GroupLimit = FromSchema<typeof GROUP_LIMIT>;

const SCALARS = list(anyOf([text(), number()]));

const ATTRIBUTE_LIMIT = object(
  { rule: constant('attribute'), ...LIMIT_FIELDS, name: text(), default: SCALARS, allowed: SCALARS },
  LIMIT_OPTIONS,
);

/** Every element of an attribute (of `default` if it is absent) must be one of `allowed`. */
export type AttributeLimit = FromSchema<typeof ATTRIBUTE_LIMIT>;

const CONSTANT_INPUT_LIMIT = object(
  { rule: constant('constant-input'), ...LIMIT_FIELDS, inputs: list(COUNT), presence: oneOf(['required', 'optional']) },
  LIMIT_OPTIONS,
);

/** Inputs that must be constant, and whether they must be present. */
export type ConstantInputLimit = FromSchema<typeof CONSTANT_INPUT_LIMIT>;

const ACTIVATION_LIMIT = object({ rule: constant('activation'), ...LIMIT_FIELDS, allowed: TEXTS }, LIMIT_OPTIONS);

/** Activation functions that may be fused with the operator. */
export type ActivationLimit = FromSchema<typeof ACTIVATION_LIMIT>;

const LIMIT = anyOf([SIZE_LIMIT, GROUP_LIMIT, ATTRIBUTE_LIMIT, CONSTANT_INPUT_LIMIT, ACTIVATION_LIMIT]);

export type Limit = FromSchema<typeof LIMIT>;

const BATCH_LIMIT = object(
  { allowed: INTEGER_SET_SCHEMA, source: text() },
  {
    severity: oneOf(['refused', 'undocumented', 'warning'], 'refused if absent. undocumented: params can trust larger batches.'),
    when: WHEN,
    note: text(),
  },
);

export type BatchLimit = FromSchema<typeof BATCH_LIMIT>;

const DEFECT = object(
  {
    rule: oneOf(['several-outputs', 'several-models'], 'several-outputs: of one model. several-models: open in one process.'),
    source: text(),
    note: text(),
  },
  { when: WHEN },
);

/** A form of models that some boards compute wrong, and most right. */
export type Defect = FromSchema<typeof DEFECT>;

const GRAPH = object(
  {
    /** Smallest number of Conv in a model. */
    minConvs: chosen(COUNT),
    /** Largest number of NPU parts of a model. */
    maxSubgraphs: chosen(COUNT),
    /** Operators that stay on the CPU in chains at the end of the model. */
    trailing: chosen(TEXTS),
    batches: anyList(BATCH_LIMIT, 'First dimension of model inputs of rank 4, for example "1"; any if no entry applies.'),
    /** Whether every shape must be fixed. */
    staticShapes: sourced(constant('required')),
  },
  { defects: anyList(DEFECT) },
);

export type GraphLimits = FromSchema<typeof GRAPH>;

/** The limits for a chosen target. */
export type ChosenGraphLimits = Omit<GraphLimits, 'minConvs' | 'maxSubgraphs' | 'trailing' | 'defects'> & {
  readonly minConvs: Sourced<number>;
  readonly maxSubgraphs: Sourced<number>;
  readonly trailing: Sourced<readonly string[]>;
  readonly defects: readonly Defect[];
};

export const PROFILE_SCHEMA = object({
  format: constant(PROFILE_FORMAT),
  name: text(),
  title: text(),
  sources: mapOf(SOURCE_SCHEMA, { description: 'By key.' }),
  versions: list(text(), "Versions of the vendor's software, oldest first."),
  default: object({ device: text(), dtype: text(), version: text() }),
  devices: mapOf(DEVICE),
  dtypes: mapOf(DTYPE),
  operators: list(OPERATOR_TABLE, 'The first table whose `when` applies is used.'),
  operatorNotes: anyList(OPERATOR_NOTE),
  observations: anyList(OBSERVATION_SCHEMA, 'What boards showed.'),
  limits: anyList(LIMIT, 'Every limit whose `when` applies is used.'),
  graph: GRAPH,
  /** Rates of the host's CPU. */
  host: HOST_SCHEMA,
});

export type TargetProfile = FromSchema<typeof PROFILE_SCHEMA>;
