/** Simplify rule `scalar-range`: vectors of one element at the inputs of Range become scalars, which ONNX requires and some shape inference needs. */
import type { ValueId } from '../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';

export const scalarRange: RewriteRule = {
  name: 'scalar-range',
  proof: 'exact',
  proofText: 'A vector of one element and the corresponding scalar hold the same number.',
  pattern: op('Range', { inputs: [any('start'), any('limit'), any('delta')] }),
  rewrite(match) {
    const squeezes: PatchNode[] = [];
    const inputs = ['start', 'limit', 'delta'].map((name): Ref => {
      const value = match.value(name);
      if (!isOneElement(match, value)) return value;
      const squeeze = newNode('Squeeze', { name: match.node.name && `${match.node.name}/${name}`, inputs: [value] });
      squeezes.push(squeeze);
      return outputOf(squeeze);
    });
    if (squeezes.length === 0) return decline('its inputs are already scalars, or their shapes are not known', match.node);
    const range = newNode('Range', { name: match.node.name, inputs });
    return patch({ add: [...squeezes, range], replace: [[match.output(), outputOf(range)]] });
  },
};

function isOneElement(match: Match, value: ValueId): boolean {
  const { dims } = match.type(value);
  return dims?.length === 1 && dims[0] === 1;
}
