/** Simplify rule `fuse-instance-norm`: normalization over the spatial axes with a factor and an offset per channel becomes InstanceNormalization. */
import { float } from '../../ir/attribute.js';
import { newConstant, newNode, outputOf, patch, type Ref } from '../../rewrite/patch.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findNormalization, NORMALIZATION } from '../shared/find-normalization.js';

export const fuseInstanceNorm: RewriteRule = {
  name: 'fuse-instance-norm',
  proof: 'rounding',
  proofText:
    'The nodes compute (x − mean)/√(variance + ε)·γ + β per channel as InstanceNormalization does; its kernel sums in another order.',
  pattern: NORMALIZATION,
  rewrite(match) {
    const found = findNormalization(match);
    if (typeof found === 'string') return decline(found, match.node);
    const { dtype, dims } = match.type(found.x);
    if (dtype !== 'float32') return decline('its input is not float32', match.node);
    const channels = dims?.[1];
    if (dims === undefined || dims.length < 3 || typeof channels !== 'number') return decline('its channels are not known', match.node);
    const axes = found.axes.map(axis => (axis < 0 ? axis + dims.length : axis)).sort((a, b) => a - b);
    if (
      axes.join() !==
      dims
        .map((_, axis) => axis)
        .slice(2)
        .join()
    )
      return decline('it does not normalize over all axes after the channels', match.node);
    const [gamma, beta] = [perChannel(match, 'gamma', dims.length, channels), perChannel(match, 'beta', dims.length, channels)];
    if (gamma === undefined || beta === undefined) return decline('its factor or offset is not one value per channel', match.node);
    const node = newNode('InstanceNormalization', {
      name: match.node.name,
      inputs: [found.x, gamma, beta],
      attributes: { epsilon: float(found.epsilon) },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** A constant [C, 1, …] or [1, C, 1, …] as [C]. */
function perChannel(match: Match, name: string, rank: number, channels: number): Ref | undefined {
  const constant = match.constant(name);
  const offset = rank - constant.dims.length;
  const isAlong = (offset === 0 || offset === 1) && constant.dims.every((dim, axis) => dim === (axis + offset === 1 ? channels : 1));
  return isAlong && constant.dtype === 'float32'
    ? newConstant(match.nameOf(match.value(name)), { ...constant, dims: [channels] })
    : undefined;
}
