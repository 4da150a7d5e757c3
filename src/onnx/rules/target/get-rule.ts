/** Which rule does a name mean? */
import { getDefined } from '../../../base/invariant.js';
import { OnnxError } from '../../ir/onnx-error.js';
import type { RewriteRule } from '../../rewrite/rule.js';
import { CLIP_FORMS, CUT_FORMS, findRuleProblem, GROUP_CONV_FORMS, MAXPOOL_FORMS, STRIDED_SLICE_FORMS } from '../rule-table.js';
import { clipAs } from './activations/clip-forms.js';
import { fixHardSigmoidSlope } from './activations/hard-sigmoid-slope.js';
import { decomposeHardSwish, fuseClippedSwish, fuseHardSwish } from './activations/hard-swish.js';
import { leakyReluTo256ths, preluToLeakyRelu } from './activations/leaky-relu.js';
import { softenGelu, softenMish, softplusToRelu } from './activations/smooth-activations.js';
import { hardenSigmoid, hardenSilu } from './activations/soft-to-hard.js';
import { foldAffineIntoConv } from './convolutions/affine-conv.js';
import { batchNormToConv } from './convolutions/batch-norm-conv.js';
import { conv1dTo2d } from './convolutions/conv-1d.js';
import { convOfConcatToSum } from './convolutions/conv-of-concat.js';
import { convTransposeToDepthToSpace } from './convolutions/conv-transpose-depth-to-space.js';
import { gemmToConv } from './convolutions/gemm-conv.js';
import { groupConvAs } from './convolutions/group-conv.js';
import { removeOutputPadding } from './convolutions/output-padding.js';
import { cutMoves } from './layout/cut-moves.js';
import { decomposePixelShuffle, fusePixelShuffle } from './layout/pixel-shuffle.js';
import { splitToSlices } from './layout/split-slice.js';
import { stridedSliceAs } from './layout/strided-slice.js';
import { pushTranspose } from './layout/transpose-push.js';
import { unshareConstants } from './layout/unshare.js';
import { splitLargePool } from './pools/large-pool.js';
import { maxPool1x1 } from './pools/maxpool-1x1.js';
import { reduceMeanToPool } from './pools/reduce-mean-pool.js';
import { resizeToConvTranspose } from './resize/resize-conv-transpose.js';
import { resizeToDepthToSpace } from './resize/resize-depth-to-space.js';
import { resizeLinearToConvTranspose } from './resize/resize-linear-conv-transpose.js';
import { resizeByScales } from './resize/resize-scales.js';

/** By name; a rule with forms by `name/form`. */
const RULES: ReadonlyMap<string, RewriteRule> = new Map([
  ...[
    foldAffineIntoConv,
    pushTranspose,
    resizeLinearToConvTranspose,
    resizeToDepthToSpace,
    softenGelu,
    softenMish,
    softplusToRelu,
    batchNormToConv,
    conv1dTo2d,
    convOfConcatToSum,
    convTransposeToDepthToSpace,
    fixHardSigmoidSlope,
    gemmToConv,
    hardenSigmoid,
    hardenSilu,
    leakyReluTo256ths,
    preluToLeakyRelu,
    reduceMeanToPool,
    removeOutputPadding,
    resizeByScales,
    resizeToConvTranspose,
    splitLargePool,
    splitToSlices,
    unshareConstants,
  ].map((rule): [string, RewriteRule] => [rule.name, rule]),
  ...CLIP_FORMS.map((form): [string, RewriteRule] => [`clip/${form}`, clipAs(form)]),
  ...GROUP_CONV_FORMS.map((form): [string, RewriteRule] => [`group-conv/${form}`, groupConvAs(form)]),
  ...MAXPOOL_FORMS.map((form): [string, RewriteRule] => [`maxpool-1x1/${form}`, maxPool1x1(form)]),
  ...STRIDED_SLICE_FORMS.map((form): [string, RewriteRule] => [`strided-slice/${form}`, stridedSliceAs(form)]),
  ...CUT_FORMS.map((form): [string, RewriteRule] => [`cut-moves/${form}`, cutMoves(form)]),
  ['hard-swish/decompose', decomposeHardSwish],
  ['hard-swish/fuse', fuseHardSwish],
  ['hard-swish/fuse-clip', fuseClippedSwish],
  ['pixel-shuffle/decompose', decomposePixelShuffle],
  ['pixel-shuffle/fuse', fusePixelShuffle],
]);

/** The rule that `name` and `form` name. @throws OnnxError `unknown-rule`, `unknown-form`. */
export function getRule(name: string, form: string | undefined): RewriteRule {
  const problem = findRuleProblem(name, form);
  if (problem !== undefined) throw new OnnxError(problem.code, problem.message, { help: problem.help });
  const key = form === undefined ? name : `${name}/${form}`;
  return getDefined(RULES.get(key), `rule ${key}, which is listed`);
}
