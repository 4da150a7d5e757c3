/** Rewrite rule `equalize`: factors per channel move between the layers of a chain, so that one scale per tensor fits their weights. */
import { getDefined } from '../../../../base/invariant.js';
import type { Node, ValueId } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch, type Ref } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { type Decline, decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { areUnit, roundFactors, solveFactors } from './equalizing-factors.js';
import { findChain, type LayerChain } from './layer-chain.js';
import { layerWith, SCALABLE, type ScaledLayer, scaleLayer } from './scalable-layer.js';

const WHAT =
  'The outputs of a layer are multiplied by positive factors per channel, and the weights that read them divided by the same; the operators between pass the factors on.';

/** Cross-layer equalization of whole chains; the root is the last layer. */
export function equalize(factors: 'real' | 'power-of-two'): RuleCode {
  return {
    proofText:
      factors === 'real'
        ? `${WHAT} Scaled weights are rounded.`
        : `${WHAT} Products with powers of two are exact unless a float32 sum overflows or becomes subnormal.`,
    pattern: op(SCALABLE, { inputs: [any('x'), constant('weight')] }),
    rewrite(match) {
      const chain = findChain(match);
      if (typeof chain === 'string') return decline(chain, match.node);
      const solved = solveFactors(chain.layers);
      const used = factors === 'real' ? solved : roundFactors(solved);
      if (areUnit(used)) return decline('its chain is equalized as far as the rule allows', match.node);
      const scaled: ScaledLayer[] = [];
      for (const [index, layer] of chain.layers.entries()) {
        const result = scaleLayer(layer, { outputs: used[index], inputs: used[index - 1] }, factors);
        if (typeof result === 'string') return decline(result, layer.node);
        scaled.push(result);
      }
      return replaceChain(match, chain, scaled);
    },
  };
}

/** The chain with new constants. Every value keeps its name. */
function replaceChain(match: Match, { layers, links }: LayerChain, scaled: readonly ScaledLayer[]): ReturnType<typeof patch> | Decline {
  const add: PatchNode[] = [];
  const replace: (readonly [ValueId, Ref])[] = [];
  const also: Node[] = [];
  const put = (old: Node, made: PatchNode): Ref => {
    add.push(made);
    also.push(old);
    const output = outputOf(made);
    replace.push([getDefined(old.outputs[0], 'output of a layer'), output]);
    return output;
  };
  let x: Ref | undefined = layers[0]?.node.inputs[0];
  for (const [index, layer] of layers.entries()) {
    x = put(layer.node, layerWith(match, layer, x, getDefined(scaled[index], 'scaled layer')));
    for (const node of links[index] ?? [])
      x = put(node, newNode(node.opType, { name: node.name, inputs: [x, ...node.inputs.slice(1)], attributes: node.attributes }));
  }
  return patch({ add, replace, also });
}
