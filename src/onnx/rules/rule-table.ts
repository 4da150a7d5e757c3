/** Which rules can a pipeline name, and in which forms? Plain data, light enough for planning. */
import { findClosest } from '../../base/did-you-mean.js';

export const MAXPOOL_FORMS = ['3x3', 'depthwise', 'delta', 'slice'] as const;
export type MaxPoolForm = (typeof MAXPOOL_FORMS)[number];
export const CLIP_FORMS = ['bounds', 'relu', 'relu-unbounded'] as const;
export type ClipForm = (typeof CLIP_FORMS)[number];
export const GROUP_CONV_FORMS = ['split', 'dense'] as const;
export type GroupConvForm = (typeof GROUP_CONV_FORMS)[number];

export const STRIDED_SLICE_FORMS = ['gather', 'conv'] as const;
export type StridedSliceForm = (typeof STRIDED_SLICE_FORMS)[number];
export const CUT_FORMS = ['trailing', 'leading'] as const;
export type CutForm = (typeof CUT_FORMS)[number];

export interface RuleEntry {
  readonly name: string;
  readonly description: string;
  /** Empty: there is one form, which has no name. */
  readonly forms: readonly string[];
}

const single = (name: string, description: string): RuleEntry => ({ name, description, forms: [] });

/** By name. */
export const RULE_LIST: readonly RuleEntry[] = [
  single('affine-conv', 'Mul, Div, Add and Sub by constants per channel before a Conv, into its weight and bias (rounding).'),
  single('batch-norm-conv', 'BatchNormalization that no layer takes in, as a depthwise 1×1 Conv (rounding).'),
  {
    name: 'clip',
    description:
      'Clip with both bounds given: bounds (exact); as Relu where it has no upper bound: relu (exact), or in spite of one: relu-unbounded (approximate).',
    forms: CLIP_FORMS,
  },
  single('conv-1d', 'Conv of three axes as one of four (rounding).'),
  single('conv-of-concat', 'Conv of concatenated channels as a sum of one Conv per part (rounding).'),
  single(
    'conv-transpose-depth-to-space',
    'ConvTranspose whose square kernel is its stride, which some NPUs refuse, as a 1×1 Conv and DepthToSpace (exact).',
  ),
  {
    name: 'cut-moves',
    description:
      'What only moves or scales elements at the end of the model (trailing) or at its start (leading) goes, and is described for the host (exact).',
    forms: CUT_FORMS,
  },
  single('gelu-sigmoid', 'Gelu, or the nodes that compute it, as x · Sigmoid(1.702 x) (approximate).'),
  single('gemm-conv', 'Gemm with a constant weight as a Conv over the window that was flattened, or a 1×1 Conv (rounding).'),
  {
    name: 'group-conv',
    description: 'Grouped, not depthwise, Conv: one Conv per group: split, or one with zeros between the groups: dense (rounding).',
    forms: GROUP_CONV_FORMS,
  },
  single('hard-sigmoid-slope', 'HardSigmoid of any slope by that of slope 1/6 and offset 1/2 (rounding).'),
  {
    name: 'hard-swish',
    description:
      'HardSwish as Mul and HardSigmoid: decompose; these two, or Add, Clip, Mul and Div, as HardSwish: fuse, fuse-clip (rounding).',
    forms: ['decompose', 'fuse', 'fuse-clip'],
  },
  single('large-pool', 'Pool over more than 512 elements, the whole of height and width, as two pools (rounding).'),
  single('leaky-relu-256ths', 'LeakyRelu with the nearest slope n/256 (approximate).'),
  {
    name: 'maxpool-1x1',
    description: 'MaxPool with a 1×1 kernel and stride 2, which some NPUs refuse: 3x3 (approximate), depthwise, delta or slice (exact).',
    forms: MAXPOOL_FORMS,
  },
  single('mish-sigmoid', 'Mish, or x · Tanh(Softplus(x)), as x · Sigmoid(1.252 x) (approximate).'),
  single('output-padding', 'ConvTranspose with output_padding as one that cuts less at the end (exact).'),
  {
    name: 'pixel-shuffle',
    description: 'DepthToSpace and SpaceToDepth as Reshape, Transpose, Reshape: decompose, or the reverse: fuse (exact).',
    forms: ['decompose', 'fuse'],
  },
  single('prelu-leaky-relu', 'PRelu with one slope for all as LeakyRelu (exact).'),
  single('reduce-mean-pool', 'ReduceMean over height and width as GlobalAveragePool (rounding).'),
  single('resize-conv-transpose', 'Resize by nearest neighbours to a whole multiple as a depthwise ConvTranspose of ones (exact).'),
  single('resize-depth-to-space', 'Resize by nearest neighbours to a whole multiple as copies of the channels and DepthToSpace (exact).'),
  single(
    'resize-linear-conv-transpose',
    'Bilinear Resize to a whole multiple as a Pad by the edge and a depthwise ConvTranspose (rounding).',
  ),
  single('resize-scales', 'Resize with constant scales for four axes instead of sizes, roi or computed scales (exact).'),
  single('sigmoid-hard', 'Sigmoid as HardSigmoid with slope 1/6 (approximate).'),
  single('silu-hard-swish', 'x · Sigmoid(x) as HardSwish, or as Mul and HardSigmoid before opset 14 (approximate).'),
  single('softplus-relu', 'Softplus as Relu (approximate).'),
  single('split-slice', 'Split as one Slice per output (exact).'),
  {
    name: 'strided-slice',
    description: 'Slice with steps other than 1: a Gather of its places (gather), or a depthwise Conv that strides (conv) (exact).',
    forms: STRIDED_SLICE_FORMS,
  },
  single('transpose-push', 'A Transpose goes behind what computes element by element (exact).'),
  single('unshare-constants', 'A copy of each constant that several layers share (exact).'),
];

export interface RuleProblem {
  readonly code: 'unknown-rule' | 'unknown-form';
  readonly message: string;
  readonly help: string;
}

/** What is wrong with the name of a rule, or with its form? */
export function findRuleProblem(name: string, form: string | undefined): RuleProblem | undefined {
  const rule = RULE_LIST.find(entry => entry.name === name);
  if (rule === undefined) {
    const names = RULE_LIST.map(entry => entry.name);
    return { code: 'unknown-rule', message: `there is no rule "${name}"`, help: suggest(name, names) };
  }
  if (rule.forms.length === 0) {
    if (form === undefined) return undefined;
    return {
      code: 'unknown-form',
      message: `rule ${name} has no form "${form}"`,
      help: 'it has one form, which has no name: leave `form` out',
    };
  }
  if (form === undefined) return { code: 'unknown-form', message: `rule ${name} needs a form`, help: suggest('', rule.forms) };
  if (rule.forms.includes(form)) return undefined;
  return { code: 'unknown-form', message: `rule ${name} has no form "${form}"`, help: suggest(form, rule.forms) };
}

function suggest(name: string, all: readonly string[]): string {
  const closest = name === '' ? undefined : findClosest(name, all);
  return `there is ${all.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`;
}
