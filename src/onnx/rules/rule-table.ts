/** The table of rewrite rules that a pipeline can name, with the forms, proof class and description of each. Plain data, so that planning loads no rule code. */
import { findClosest } from '../../base/text/did-you-mean.js';
import type { ProofClass } from '../rewrite/rule.js';

interface Facts {
  readonly proof: ProofClass;
  /** What the rule does, as one sentence without a full stop. */
  readonly description: string;
}

const form = (proof: ProofClass, description: string): Facts => ({ proof, description });
/** A rule with one form, which has no name. */
const single = (proof: ProofClass, description: string): { readonly '': Facts } => ({ '': form(proof, description) });

/** Rule → form → facts, by name. The code of each entry is in target/get-rule. */
export const RULE_TABLE = {
  'absorb-biases': single(
    'approximate',
    'what a channel before Relu always exceeds, on calibration samples, moves from its bias to the bias of the next layer; needs `sketches` per channel',
  ),
  'affine-conv': single(
    'rounding',
    'Mul, Div, Add and Sub by constants per channel before a Conv are folded into its weight and bias; with an offset, pads become a Pad with the value that maps to 0, which all channels must share',
  ),
  'batch-norm-conv': single('rounding', 'a BatchNormalization that cannot be folded into a preceding layer becomes a depthwise 1×1 Conv'),
  'channel-factors': {
    mul: form(
      'exact',
      'the spread of weights between output channels becomes powers of two of up to 2^6, which a Mul after the layer applies: for targets with one weight scale per tensor',
    ),
    depthwise: form('exact', 'the same with a depthwise 1×1 Conv instead of the Mul'),
  },
  clip: {
    bounds: form('exact', 'a missing bound of Clip becomes the largest finite float of its sign'),
    relu: form('exact', 'Clip with lower bound 0 and no upper bound becomes Relu'),
    'relu-in-range': form(
      'approximate',
      'Clip with lower bound 0 becomes Relu if no calibration sample exceeds its upper bound; needs `sketches`',
    ),
    'relu-unbounded': form('approximate', 'Clip with lower bound 0 becomes Relu; an upper bound is dropped'),
  },
  'conv-1d': single('rounding', 'a Conv over [N, C, W] becomes a Conv over [N, C, 1, W]'),
  'conv-of-concat': single(
    'rounding',
    'a Conv of concatenated channels becomes a sum of one Conv per part: 257 channels become 256 and 1, each with its own scale',
  ),
  'conv-transpose-depth-to-space': single(
    'exact',
    'a ConvTranspose with a square kernel b equal to its stride becomes a 1×1 Conv with b² times the outputs, and DepthToSpace (DCR)',
  ),
  'cut-moves': {
    trailing: form(
      'exact',
      'Reshape, Flatten, Squeeze, Unsqueeze and Transpose before an output are removed; the [host](#cut-ends) runs them instead',
    ),
    leading: form(
      'exact',
      'Cast, Transpose, reshapes and arithmetic with constants after an input are removed; the host prepares the input',
    ),
  },
  'dpu-factors': {
    'average-pool': form(
      'approximate',
      'a Mul after AveragePool or GlobalAveragePool gives the values of a DPU, which takes an integer and a shift for 1/n: 63/64 of the mean for 3×3',
    ),
    'hard-sigmoid': form('approximate', 'a Mul after HardSigmoid with slope 1/6 gives the values of a DPU, whose slope is 2731/2^14'),
  },
  equalize: {
    real: form(
      'rounding',
      'factors per channel move between layers linked by Relu, LeakyRelu, PRelu, Pad or pools until both have equal weight ranges; around a grouped layer, factors that span more than two bits are not applied',
    ),
    'power-of-two': form('exact', 'the same with the nearest powers of two'),
  },
  'explicit-pads': single('exact', 'auto_pad of Conv, MaxPool and AveragePool becomes pads'),
  'gelu-sigmoid': single('approximate', 'Gelu, or the nodes that compute it, becomes x · Sigmoid(1.702 x): error at most 0.021'),
  'gemm-conv': single(
    'rounding',
    'a Gemm becomes a Conv over the window that was flattened before it, or a 1×1 Conv of rows, and a Reshape',
  ),
  'group-conv': {
    split: form('rounding', 'a grouped Conv becomes one Conv per group, between Slice and Concat; a depthwise Conv is not changed'),
    dense: form('rounding', 'a grouped Conv becomes one Conv with zeros between the groups; a depthwise Conv is not changed'),
  },
  'hard-sigmoid-slope': single(
    'rounding',
    'HardSigmoid with any slope and offset becomes one with slope 1/6 and offset 1/2 after a scale and a shift',
  ),
  'hard-swish': {
    decompose: form('rounding', 'HardSwish becomes Mul and HardSigmoid'),
    fuse: form('rounding', 'x · HardSigmoid(x; 1/6, 1/2) becomes HardSwish (opset 14)'),
    'fuse-clip': form('rounding', 'x · Clip(x + 3, 0, 6) / 6 becomes HardSwish (opset 14)'),
  },
  'large-pool': single(
    'rounding',
    'a pool over all of height and width, if these are more than 512 elements, becomes two pools; max pools stay exact',
  ),
  'leaky-relu-256ths': single('approximate', 'the slope of LeakyRelu becomes the nearest n/256'),
  'maxpool-1x1': {
    '3x3': form(
      'approximate',
      'a MaxPool with a 1×1 kernel and stride 2 gets kernel 3×3 and pads 1: the maximum of nine neighbors instead of one element',
    ),
    depthwise: form('exact', 'it becomes a depthwise 1×1 Conv of ones with stride 2; −0 becomes +0, all other values keep their bits'),
    delta: form('exact', 'it becomes a depthwise 3×3 Conv with a one in the center, for targets without depthwise 1×1'),
    slice: form('exact', 'it becomes a Slice with steps 2; all bits are kept; needs opset 10'),
  },
  'mish-sigmoid': single('approximate', 'Mish, or x · Tanh(Softplus(x)), becomes x · Sigmoid(1.252 x): error at most 0.103'),
  'output-padding': single(
    'exact',
    'output_padding of a ConvTranspose becomes smaller pads at the end; where it exceeds the pads, zeros are appended to the input and the result is cut to size',
  ),
  'pixel-shuffle': {
    decompose: form('exact', 'DepthToSpace and SpaceToDepth become Reshape, Transpose, Reshape'),
    fuse: form('exact', 'Reshape, Transpose, Reshape become DepthToSpace or SpaceToDepth'),
  },
  'prelu-leaky-relu': single('exact', 'a PRelu with one slope for all elements becomes LeakyRelu'),
  'reduce-mean-pool': single('rounding', 'ReduceMean over axes 2 and 3 becomes GlobalAveragePool, followed by Flatten if keepdims is 0'),
  'resize-conv-transpose': single(
    'exact',
    'nearest-neighbor Resize by whole factors becomes a depthwise ConvTranspose of ones; −0 becomes +0',
  ),
  'resize-depth-to-space': single(
    'exact',
    'nearest-neighbor Resize by one whole factor b becomes b² copies of the channels (Concat) and DepthToSpace, without ConvTranspose; all bits are kept',
  ),
  'resize-linear-conv-transpose': single(
    'rounding',
    'bilinear Resize (half_pixel) by whole factors becomes an edge Pad and a depthwise ConvTranspose with a triangular kernel: 4×4 for factor 2',
  ),
  'resize-scales': single(
    'exact',
    'Resize gets constant scales for its four axes instead of sizes, roi or computed scales, if float32 represents them exactly',
  ),
  'sigmoid-hard': single('approximate', 'Sigmoid becomes HardSigmoid with slope 1/6: error at most 0.070'),
  'silu-hard-swish': single('approximate', 'x · Sigmoid(x) becomes HardSwish, or Mul and HardSigmoid before opset 14: error at most 0.143'),
  'silu-two-hard-sigmoids': single(
    'approximate',
    'x · Sigmoid(x) becomes x times the mean of two HardSigmoids with slopes 1/4 and 1/8: error at most 0.072',
  ),
  'softplus-relu': single('approximate', 'Softplus becomes Relu: error at most log 2'),
  'split-slice': single('exact', 'Split becomes one Slice per output that is read'),
  'strided-slice': {
    gather: form('exact', 'a Slice with steps other than 1 becomes one Gather per such axis'),
    conv: form('exact', 'a Slice with positive steps over rows and columns becomes a strided depthwise Conv; −0 becomes +0'),
  },
  'transpose-push': single(
    'exact',
    'a Transpose moves behind elementwise operators, including QuantizeLinear and DequantizeLinear; constants per channel are reshaped. The simplify stage then cancels adjacent Transposes',
  ),
  'unshare-constants': single('exact', 'each layer gets its own copy of a constant that several layers share'),
} as const satisfies Readonly<Record<string, Readonly<Record<string, Facts>>>>;

export type RuleName = keyof typeof RULE_TABLE;
export type FormOf<Name extends RuleName> = keyof (typeof RULE_TABLE)[Name];

export interface RuleForm extends Facts {
  /** Undefined for the only form of a rule. */
  readonly form: string | undefined;
}

export interface RuleEntry {
  readonly name: string;
  readonly forms: readonly RuleForm[];
}

/** The entries of the table, in the order of their names. */
export const REWRITE_RULES: readonly RuleEntry[] = Object.entries<Readonly<Record<string, Facts>>>(RULE_TABLE).map(([name, forms]) => ({
  name,
  forms: Object.entries(forms).map(([key, facts]) => ({ form: key === '' ? undefined : key, ...facts })),
}));

/** "clip/relu: Clip with … becomes Relu (exact)." for every form of every rule. */
export function describeRules(): string {
  const describe = (name: string, { form: key, description, proof }: RuleForm): string =>
    `${key === undefined ? name : `${name}/${key}`}: ${description} (${proof}).`;
  return REWRITE_RULES.flatMap(({ name, forms }) => forms.map(one => describe(name, one))).join(' ');
}

/** The form of the rule with these names, if it exists. */
export function findRuleForm(name: string, key: string | undefined): RuleForm | undefined {
  return REWRITE_RULES.find(entry => entry.name === name)?.forms.find(one => one.form === key);
}

export interface RuleProblem {
  readonly code: 'unknown-rule' | 'unknown-form';
  readonly message: string;
  readonly help: string;
}

/** The problem with the name of a rule or of its form, if any. */
export function findRuleProblem(name: string, key: string | undefined): RuleProblem | undefined {
  const rule = REWRITE_RULES.find(entry => entry.name === name);
  if (rule === undefined) {
    const names = REWRITE_RULES.map(entry => entry.name);
    return { code: 'unknown-rule', message: `unknown rule "${name}"`, help: listKnown('rules', name, names) };
  }
  if (rule.forms.some(one => one.form === key)) return undefined;
  const keys = rule.forms.flatMap(one => one.form ?? []);
  if (keys.length === 0)
    return { code: 'unknown-form', message: `rule ${name} has no form "${key}"`, help: 'remove `form`: this rule has no forms' };
  if (key === undefined) return { code: 'unknown-form', message: `rule ${name} needs a form`, help: listKnown('forms', '', keys) };
  return { code: 'unknown-form', message: `rule ${name} has no form "${key}"`, help: listKnown('forms', key, keys) };
}

function listKnown(what: string, name: string, all: readonly string[]): string {
  const closest = name === '' ? undefined : findClosest(name, all);
  return `known ${what}: ${all.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
}
