/** The rewrite rules that a pipeline can name. A rule is one entry here: name, forms, and of each form its proof class, description and code. */
import type { ProofClass, RuleCode } from '../../rewrite/rule.js';
import { clipToRelu, clipToReluInRange, completeClip } from './activations/clip-forms.js';
import { dpuAveragePool, dpuHardSigmoid } from './activations/dpu-factors.js';
import { fixHardSigmoidSlope } from './activations/hard-sigmoid-slope.js';
import { decomposeHardSwish, fuseClippedSwish, fuseHardSwish } from './activations/hard-swish.js';
import { leakyReluTo256ths, preluToLeakyRelu } from './activations/leaky-relu.js';
import { hardenSigmoid, hardenSilu } from './activations/piecewise-linear.js';
import { geluToSigmoid, mishToSigmoid, softplusToRelu } from './activations/sigmoid-gates.js';
import { siluToTwoGates } from './activations/two-gates.js';
import { foldAffineIntoConv } from './convolutions/affine-conv.js';
import { batchNormToConv } from './convolutions/batch-norm-conv.js';
import { conv1dTo2d } from './convolutions/conv-1d.js';
import { convOfConcatToSum } from './convolutions/conv-of-concat.js';
import { convTransposeToDepthToSpace } from './convolutions/conv-transpose-depth-to-space.js';
import { makePadsExplicit } from './convolutions/explicit-pads.js';
import { gemmToConv } from './convolutions/gemm-conv.js';
import { groupConvToDense, groupConvToSplit } from './convolutions/group-conv.js';
import { removeOutputPadding } from './convolutions/output-padding.js';
import { absorbBiases } from './equalization/absorb-biases.js';
import { channelFactors } from './equalization/channel-factors.js';
import { equalize } from './equalization/equalize.js';
import { cutLeadingMoves, cutTrailingMoves } from './layout/cut-moves.js';
import { decomposePixelShuffle, fusePixelShuffle } from './layout/pixel-shuffle.js';
import { splitToSlices } from './layout/split-slice.js';
import { stridedSliceToConv, stridedSliceToGather } from './layout/strided-slice.js';
import { pushTranspose } from './layout/transpose-push.js';
import { unshareConstants } from './layout/unshare-constants.js';
import { splitLargePool } from './pools/large-pool.js';
import { MAXPOOL_1X1 } from './pools/maxpool-1x1.js';
import { reduceMeanToPool } from './pools/reduce-mean-pool.js';
import { resizeToConvTranspose } from './resize/resize-conv-transpose.js';
import { resizeToDepthToSpace } from './resize/resize-depth-to-space.js';
import { resizeLinearToConvTranspose } from './resize/resize-linear-conv-transpose.js';
import { resizeByScales } from './resize/resize-scales.js';

interface RuleFormEntry {
  readonly proof: ProofClass;
  /** What the rule does, as one sentence without a full stop. */
  readonly description: string;
  readonly code: RuleCode;
}

const form = (proof: ProofClass, description: string, code: RuleCode): RuleFormEntry => ({ proof, description, code });
/** A rule with one form, which has no name. */
const single = (proof: ProofClass, description: string, code: RuleCode): { readonly '': RuleFormEntry } => ({
  '': form(proof, description, code),
});

/** Rule → form → entry, in alphabetical order. `scripts/schema-tables.mjs` writes ../generated/rule-facts.ts and docs/stages/rewrite.md from it. */
export const RULES = {
  'absorb-biases': single(
    'approximate',
    'what a channel before Relu always exceeds, on calibration samples, moves from its bias to the bias of the next layer; needs `sketches` per channel',
    absorbBiases,
  ),
  'affine-conv': single(
    'rounding',
    'Mul, Div, Add and Sub by constants per channel before a Conv are folded into its weight and bias; with an offset, pads become a Pad with the value that maps to 0, which all channels must share',
    foldAffineIntoConv,
  ),
  'batch-norm-conv': single(
    'rounding',
    'a BatchNormalization that cannot be folded into a preceding layer becomes a depthwise 1×1 Conv',
    batchNormToConv,
  ),
  'channel-factors': {
    mul: form(
      'exact',
      'the spread of weights between output channels becomes powers of two of up to 2^6, which a Mul after the layer applies: for targets with one weight scale per tensor',
      channelFactors('mul'),
    ),
    depthwise: form('exact', 'the same with a depthwise 1×1 Conv instead of the Mul', channelFactors('depthwise')),
  },
  clip: {
    bounds: form('exact', 'a missing bound of Clip becomes the largest finite float of its sign', completeClip),
    relu: form('exact', 'Clip with lower bound 0 and no upper bound becomes Relu', clipToRelu('unbounded')),
    'relu-in-range': form(
      'approximate',
      'Clip with lower bound 0 becomes Relu if no calibration sample exceeds its upper bound; needs `sketches`',
      clipToReluInRange,
    ),
    'relu-unbounded': form('approximate', 'Clip with lower bound 0 becomes Relu; an upper bound is dropped', clipToRelu('any-bound')),
  },
  'conv-1d': single('rounding', 'a Conv over [N, C, W] becomes a Conv over [N, C, 1, W]', conv1dTo2d),
  'conv-of-concat': single(
    'rounding',
    'a Conv of concatenated channels becomes a sum of one Conv per part: 257 channels become 256 and 1, each with its own scale',
    convOfConcatToSum,
  ),
  'conv-transpose-depth-to-space': single(
    'exact',
    'a ConvTranspose with a square kernel b equal to its stride becomes a 1×1 Conv with b² times the outputs, and DepthToSpace (DCR)',
    convTransposeToDepthToSpace,
  ),
  'cut-moves': {
    trailing: form(
      'exact',
      'Reshape, Flatten, Squeeze, Unsqueeze and Transpose before an output are removed; the [host](#cut-ends) runs them instead',
      cutTrailingMoves,
    ),
    leading: form(
      'exact',
      'Cast, Transpose, reshapes and arithmetic with constants after an input are removed; the host prepares the input',
      cutLeadingMoves,
    ),
  },
  'dpu-factors': {
    'average-pool': form(
      'approximate',
      'a Mul after AveragePool or GlobalAveragePool gives the values of a DPU, which takes an integer and a shift for 1/n: 63/64 of the mean for 3×3',
      dpuAveragePool,
    ),
    'hard-sigmoid': form(
      'approximate',
      'a Mul after HardSigmoid with slope 1/6 gives the values of a DPU, whose slope is 2731/2^14',
      dpuHardSigmoid,
    ),
  },
  equalize: {
    real: form(
      'rounding',
      'factors per channel move between layers linked by Relu, LeakyRelu, PRelu, Pad or pools until both have equal weight ranges; around a grouped layer, factors that span more than two bits are not applied',
      equalize('real'),
    ),
    'power-of-two': form('exact', 'the same with the nearest powers of two', equalize('power-of-two')),
  },
  'explicit-pads': single('exact', 'auto_pad of Conv, MaxPool and AveragePool becomes pads', makePadsExplicit),
  'gelu-sigmoid': single(
    'approximate',
    'Gelu, or the nodes that compute it, becomes x · Sigmoid(1.702 x): error at most 0.021',
    geluToSigmoid,
  ),
  'gemm-conv': single(
    'rounding',
    'a Gemm becomes a Conv over the window that was flattened before it, or a 1×1 Conv of rows, and a Reshape',
    gemmToConv,
  ),
  'group-conv': {
    split: form(
      'rounding',
      'a grouped Conv becomes one Conv per group, between Slice and Concat; a depthwise Conv is not changed',
      groupConvToSplit,
    ),
    dense: form(
      'rounding',
      'a grouped Conv becomes one Conv with zeros between the groups; a depthwise Conv is not changed',
      groupConvToDense,
    ),
  },
  'hard-sigmoid-slope': single(
    'rounding',
    'HardSigmoid with any slope and offset becomes one with slope 1/6 and offset 1/2 after a scale and a shift',
    fixHardSigmoidSlope,
  ),
  'hard-swish': {
    decompose: form('rounding', 'HardSwish becomes Mul and HardSigmoid', decomposeHardSwish),
    fuse: form('rounding', 'x · HardSigmoid(x; 1/6, 1/2) becomes HardSwish (opset 14)', fuseHardSwish),
    'fuse-clip': form('rounding', 'x · Clip(x + 3, 0, 6) / 6 becomes HardSwish (opset 14)', fuseClippedSwish),
  },
  'large-pool': single(
    'rounding',
    'a pool over all of height and width, if these are more than 512 elements, becomes two pools; max pools stay exact',
    splitLargePool,
  ),
  'leaky-relu-256ths': single('approximate', 'the slope of LeakyRelu becomes the nearest n/256', leakyReluTo256ths),
  'maxpool-1x1': {
    '3x3': form(
      'approximate',
      'a MaxPool with a 1×1 kernel and stride 2 gets kernel 3×3 and pads 1: the maximum of nine neighbors instead of one element',
      MAXPOOL_1X1['3x3'],
    ),
    depthwise: form(
      'exact',
      'it becomes a depthwise 1×1 Conv of ones with stride 2; −0 becomes +0, all other values keep their bits',
      MAXPOOL_1X1.depthwise,
    ),
    delta: form('exact', 'it becomes a depthwise 3×3 Conv with a one in the center, for targets without depthwise 1×1', MAXPOOL_1X1.delta),
    slice: form('exact', 'it becomes a Slice with steps 2; all bits are kept; needs opset 10', MAXPOOL_1X1.slice),
  },
  'mish-sigmoid': single('approximate', 'Mish, or x · Tanh(Softplus(x)), becomes x · Sigmoid(1.252 x): error at most 0.103', mishToSigmoid),
  'output-padding': single(
    'exact',
    'output_padding of a ConvTranspose becomes smaller pads at the end; where it exceeds the pads, zeros are appended to the input and the result is cut to size',
    removeOutputPadding,
  ),
  'pixel-shuffle': {
    decompose: form('exact', 'DepthToSpace and SpaceToDepth become Reshape, Transpose, Reshape', decomposePixelShuffle),
    fuse: form('exact', 'Reshape, Transpose, Reshape become DepthToSpace or SpaceToDepth', fusePixelShuffle),
  },
  'prelu-leaky-relu': single('exact', 'a PRelu with one slope for all elements becomes LeakyRelu', preluToLeakyRelu),
  'reduce-mean-pool': single(
    'rounding',
    'ReduceMean over axes 2 and 3 becomes GlobalAveragePool, followed by Flatten if keepdims is 0',
    reduceMeanToPool,
  ),
  'resize-conv-transpose': single(
    'exact',
    'nearest-neighbor Resize by whole factors becomes a depthwise ConvTranspose of ones; −0 becomes +0',
    resizeToConvTranspose,
  ),
  'resize-depth-to-space': single(
    'exact',
    'nearest-neighbor Resize by one whole factor b becomes b² copies of the channels (Concat) and DepthToSpace, without ConvTranspose; all bits are kept',
    resizeToDepthToSpace,
  ),
  'resize-linear-conv-transpose': single(
    'rounding',
    'bilinear Resize (half_pixel) by whole factors becomes an edge Pad and a depthwise ConvTranspose with a triangular kernel: 4×4 for factor 2',
    resizeLinearToConvTranspose,
  ),
  'resize-scales': single(
    'exact',
    'Resize gets constant scales for its four axes instead of sizes, roi or computed scales, if float32 represents them exactly',
    resizeByScales,
  ),
  'sigmoid-hard': single('approximate', 'Sigmoid becomes HardSigmoid with slope 1/6: error at most 0.070', hardenSigmoid),
  'silu-hard-swish': single(
    'approximate',
    'x · Sigmoid(x) becomes HardSwish, or Mul and HardSigmoid before opset 14: error at most 0.143',
    hardenSilu,
  ),
  'silu-two-hard-sigmoids': single(
    'approximate',
    'x · Sigmoid(x) becomes x times the mean of two HardSigmoids with slopes 1/4 and 1/8: error at most 0.072',
    siluToTwoGates,
  ),
  'softplus-relu': single('approximate', 'Softplus becomes Relu: error at most log 2', softplusToRelu),
  'split-slice': single('exact', 'Split becomes one Slice per output that is read', splitToSlices),
  'strided-slice': {
    gather: form('exact', 'a Slice with steps other than 1 becomes one Gather per such axis', stridedSliceToGather),
    conv: form(
      'exact',
      'a Slice with positive steps over rows and columns becomes a strided depthwise Conv; −0 becomes +0',
      stridedSliceToConv,
    ),
  },
  'transpose-push': single(
    'exact',
    'a Transpose moves behind elementwise operators, including QuantizeLinear and DequantizeLinear; constants per channel are reshaped. The simplify stage then cancels adjacent Transposes',
    pushTranspose,
  ),
  'unshare-constants': single('exact', 'each layer gets its own copy of a constant that several layers share', unshareConstants),
} as const satisfies Readonly<Record<string, Readonly<Record<string, RuleFormEntry>>>>;
