/** Rewrite rule `batch-norm-conv`: a BatchNormalization that cannot be folded becomes a depthwise 1×1 Conv. */
import { getFloat, getInt, int, ints } from '../../../ir/attribute.js';
import { isInferenceBatchNormalization } from '../../../ir/operator-traits.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { decline, type RuleCode } from '../../../rewrite/rule.js';
import { findFloat32, newFloats } from '../../shared/constants.js';

/** For inputs [N, C, H, W]: weight γ/√(σ² + ε), bias β − μ·γ/√(σ² + ε), computed in double precision. */
export const batchNormToConv: RuleCode = {
  proofText:
    'Normalization by constants is one factor and one offset per channel, which a depthwise 1×1 Conv applies; it rounds at other places.',
  pattern: op('BatchNormalization', { inputs: [any('x'), constant('gamma'), constant('beta'), constant('mean'), constant('variance')] }),
  rewrite(match) {
    if (match.type(match.value('x')).dims?.length !== 4) return decline('the rank of its input is not known to be 4', match.node);
    if (match.type(match.value('x')).dtype !== 'float32') return decline('its input is not float32', match.node);
    if (getInt(match.node, 'spatial', 1) !== 1) return decline('its statistics are per element (spatial is 0)', match.node);
    if (!isInferenceBatchNormalization(match.node)) return decline('it is in training mode', match.node);
    const read = (name: string) => findFloat32(match.constant(name))?.data;
    const [gamma, beta, mean, variance] = [read('gamma'), read('beta'), read('mean'), read('variance')];
    if (gamma === undefined || beta === undefined || mean === undefined || variance === undefined)
      return decline('its constants are not float32', match.node);
    const epsilon = getFloat(match.node, 'epsilon', 1e-5);
    const scale = Float64Array.from(gamma, (factor, channel) => factor / Math.sqrt((variance[channel] ?? 0) + epsilon));
    const shift = Float64Array.from(beta, (offset, channel) => offset - (mean[channel] ?? 0) * (scale[channel] ?? 0));
    if (![...scale, ...shift].every(value => Number.isFinite(Math.fround(value))))
      return decline('a factor or offset is not finite', match.node);
    const base = match.nameOf(match.output());
    const node = newNode('Conv', {
      name: match.node.name,
      inputs: [
        match.value('x'),
        newFloats(`${base}_scale`, [scale.length, 1, 1, 1], scale),
        newFloats(`${base}_shift`, [shift.length], shift),
      ],
      attributes: {
        dilations: ints([1, 1]),
        group: int(scale.length),
        kernel_shape: ints([1, 1]),
        pads: ints([0, 0, 0, 0]),
        strides: ints([1, 1]),
      },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};
