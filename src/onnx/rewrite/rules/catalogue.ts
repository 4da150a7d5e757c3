/** Which rule does a name mean? */
import { getDefined } from '../../../base/invariant.js';
import { OnnxError } from '../../onnx-error.js';
import type { RewriteRule } from '../rule.js';
import { foldAffineIntoConv } from './affine-conv.js';
import { batchNormToConv } from './batch-norm-conv.js';
import { clipAs } from './clip-forms.js';
import { conv1dTo2d } from './conv-1d.js';
import { convOfConcatToSum } from './conv-of-concat.js';
import { convTransposeToDepthToSpace } from './conv-transpose-depth-to-space.js';
import { cutMoves } from './cut-moves.js';
import { gemmToConv } from './gemm-conv.js';
import { groupConvAs } from './group-conv.js';
import { fixHardSigmoidSlope } from './hard-sigmoid-slope.js';
import { decomposeHardSwish, fuseClippedSwish, fuseHardSwish } from './hard-swish.js';
import { splitLargePool } from './large-pool.js';
import { leakyReluTo256ths, preluToLeakyRelu } from './leaky-relu.js';
import { maxPool1x1 } from './maxpool-1x1.js';
import { removeOutputPadding } from './output-padding.js';
import { decomposePixelShuffle, fusePixelShuffle } from './pixel-shuffle.js';
import { reduceMeanToPool } from './reduce-mean-pool.js';
import { resizeToConvTranspose } from './resize-conv-transpose.js';
import { resizeToDepthToSpace } from './resize-depth-to-space.js';
import { resizeLinearToConvTranspose } from './resize-linear-conv-transpose.js';
import { resizeByScales } from './resize-scales.js';
import { CLIP_FORMS, CUT_FORMS, findRuleProblem, GROUP_CONV_FORMS, MAXPOOL_FORMS, STRIDED_SLICE_FORMS } from './rule-list.js';
import { softenGelu, softenMish, softplusToRelu } from './smooth-activations.js';
import { hardenSigmoid, hardenSilu } from './soft-to-hard.js';
import { splitToSlices } from './split-slice.js';
import { stridedSliceAs } from './strided-slice.js';
import { pushTranspose } from './transpose-push.js';
import { unshareConstants } from './unshare.js';

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
