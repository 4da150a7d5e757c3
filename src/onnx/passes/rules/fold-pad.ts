/** How does a Pad by zeros vanish? Into the pads of the Conv after it. */

import { findInts, getFloat, getString, ints } from '../../ir/attribute.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findFloats, findIntegers } from '../../shape-inference/constant-elements.js';

export const foldPad: RewriteRule = {
  name: 'fold-pad',
  proof: 'rounding',
  proofText:
    'A Conv pads with zeros itself. The same products are summed; the kernel that ONNX Runtime takes for padded input may sum them in another order.',
  pattern: op('Conv', { inputs: [op('Pad', { name: 'pad', inputs: [any('x')] })] }),
  rewrite(match) {
    const pads = readPads(match);
    if (pads === undefined) return decline('its pads are not constant', match.inner('pad'));
    if (getString(match.inner('pad'), 'mode', 'constant') !== 'constant')
      return decline('it does not pad with a constant', match.inner('pad'));
    if (readPadValue(match) !== 0) return decline('it does not pad with 0', match.inner('pad'));
    if (getString(match.node, 'auto_pad', 'NOTSET') !== 'NOTSET') return decline('the Conv pads by auto_pad', match.node);
    const rank = pads.length / 2;
    const outer = [pads[0], pads[1], pads[rank], pads[rank + 1]];
    if (outer.some(pad => pad !== 0)) return decline('it pads batch or channels', match.inner('pad'));
    if (pads.some(pad => pad < 0)) return decline('it crops', match.inner('pad'));
    const own = findInts(match.node, 'pads') ?? [];
    const spatial = [...pads.slice(2, rank), ...pads.slice(rank + 2)].map((pad, index) => pad + (own[index] ?? 0));
    const node = newNode('Conv', {
      name: match.node.name,
      inputs: [match.value('x'), ...match.node.inputs.slice(1)],
      attributes: new Map([...match.node.attributes, ['pads', ints(spatial)]]),
    });
    return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
  },
};

function readPads(match: Match): readonly number[] | undefined {
  const pad = match.inner('pad');
  if (pad.inputs[3] !== undefined) return undefined;
  return match.opset < 11 ? (findInts(pad, 'pads') ?? findInts(pad, 'paddings')) : findIntegers(match.constantOf(pad.inputs[1]));
}

function readPadValue(match: Match): number | undefined {
  const pad = match.inner('pad');
  if (match.opset < 11) return getFloat(pad, 'value', 0);
  return pad.inputs[2] === undefined ? 0 : findFloats(match.constantOf(pad.inputs[2]))?.[0];
}
