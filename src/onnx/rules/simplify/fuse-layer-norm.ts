/** Simplify rule `fuse-layer-norm`: normalization over the last axes with a factor and an offset becomes LayerNormalization. */
import { float, int } from '../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { decline, type RewriteRule } from '../../rewrite/rule.js';
import { findNormalization, NORMALIZATION } from '../shared/find-normalization.js';

/** The opset that introduced LayerNormalization. */
const LAYER_NORMALIZATION_OPSET = 17;

export const fuseLayerNorm: RewriteRule = {
  name: 'fuse-layer-norm',
  proof: 'rounding',
  proofText: 'The nodes compute (x − mean)/√(variance + ε)·γ + β as LayerNormalization does; its kernel sums in another order.',
  pattern: NORMALIZATION,
  rewrite(match) {
    if (match.opset < LAYER_NORMALIZATION_OPSET)
      return decline(`LayerNormalization needs opset ${LAYER_NORMALIZATION_OPSET}; the model has ${match.opset}`, match.node);
    const found = findNormalization(match);
    if (typeof found === 'string') return decline(found, match.node);
    const dims = match.type(found.x).dims;
    if (match.type(found.x).dtype !== 'float32') return decline('its input is not float32', match.node);
    const axis = firstAxis(found.axes, dims?.length);
    if (axis === undefined || dims === undefined) return decline('it does not normalize over the last axes', match.node);
    const shape = dims.slice(axis);
    const fits = (name: string): boolean => {
      const given = match.constant(name).dims;
      return given.length === shape.length && given.every((dim, index) => dim === shape[index]);
    };
    if (!fits('gamma') || !fits('beta')) return decline('its factor or offset does not have the normalized shape', match.node);
    const node = newNode('LayerNormalization', {
      name: match.node.name,
      inputs: [found.x, match.value('gamma'), match.value('beta')],
      attributes: { axis: int(axis - dims.length), epsilon: float(found.epsilon) },
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]], also: found.nodes });
  },
};

/** The first normalized axis, if `axes` are the last axes without a gap. */
function firstAxis(axes: readonly number[], rank: number | undefined): number | undefined {
  if (rank === undefined) return undefined;
  const sorted = axes.map(axis => (axis < 0 ? axis + rank : axis)).sort((a, b) => a - b);
  const first = rank - sorted.length;
  return sorted.length > 0 && sorted.every((axis, index) => axis === first + index) ? first : undefined;
}
