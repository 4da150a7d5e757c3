/** Simplify rules `fold-pad` and `fold-pool-pad`: a Pad is folded into the pads of the following Conv or pool. */

import { findInts, getFloat, getInt, getString, int, ints } from '../../ir/attribute.js';
import type { Attribute } from '../../ir/model.js';
import { newNode, outputOf, patch } from '../../rewrite/patch.js';
import { any, op } from '../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../rewrite/rule.js';
import { findFloats, findIntegers } from '../../shape-inference/context/constant-elements.js';

const padded = op('Pad', { name: 'pad', inputs: [any('x')] });

export const foldPad: RewriteRule = {
  name: 'fold-pad',
  proof: 'rounding',
  proofText:
    'A Conv pads with zeros itself. The same products are summed; the kernel that ONNX Runtime uses for padded input may sum them in another order.',
  pattern: op('Conv', { inputs: [padded] }),
  rewrite: match => foldInto(match, 0),
};

/** Applies to an average pool that counts its padding and to a max pool, whose own padding has the same value as the Pad. */
export const foldPoolPad: RewriteRule = {
  name: 'fold-pool-pad',
  proof: 'rounding',
  proofText:
    'AveragePool with count_include_pad pads with zeros itself, and MaxPool with minus infinity; means may be summed in another order.',
  pattern: op(['AveragePool', 'MaxPool'], { inputs: [padded] }),
  rewrite(match) {
    const [, indices] = match.node.outputs;
    if (indices !== undefined && match.useCount(indices) > 0) return decline('its second output, the indices, is read', match.node);
    if (getInt(match.node, 'ceil_mode', 0) !== 0) return decline('ceil_mode is set', match.node);
    const counts = getInt(match.node, 'count_include_pad', 0) !== 0;
    const ownPads = (findInts(match.node, 'pads') ?? []).some(pad => pad !== 0);
    if (match.node.opType === 'MaxPool') return foldInto(match, Number.NEGATIVE_INFINITY);
    if (ownPads && !counts) return decline('it has pads of its own and does not count them', match.node);
    return foldInto(match, 0, { count_include_pad: int(1) });
  },
};

/** The root with the pads of the Pad added to its own. @param padsWith the value that the root itself pads with. */
function foldInto(match: Match, padsWith: number, more: Readonly<Record<string, Attribute>> = {}): ReturnType<RewriteRule['rewrite']> {
  const pads = readPads(match);
  if (pads === undefined) return decline('its pads are not constant', match.inner('pad'));
  if (getString(match.inner('pad'), 'mode', 'constant') !== 'constant') return decline('its mode is not constant', match.inner('pad'));
  if (readPadValue(match) !== padsWith) return decline(`its value is not ${padsWith}`, match.inner('pad'));
  if (getString(match.node, 'auto_pad', 'NOTSET') !== 'NOTSET') return decline(`the ${match.node.opType} uses auto_pad`, match.node);
  const rank = pads.length / 2;
  const outer = [pads[0], pads[1], pads[rank], pads[rank + 1]];
  if (outer.some(pad => pad !== 0)) return decline('it pads batch or channels', match.inner('pad'));
  if (pads.some(pad => pad < 0)) return decline('it has negative pads', match.inner('pad'));
  const own = findInts(match.node, 'pads') ?? [];
  const spatial = [...pads.slice(2, rank), ...pads.slice(rank + 2)].map((pad, index) => pad + (own[index] ?? 0));
  const kernel = findInts(match.node, 'kernel_shape');
  if (match.node.opType !== 'Conv' && spatial.some((pad, index) => pad >= (kernel?.[index % (rank - 2)] ?? 0)))
    return decline('a window would cover padding only', match.node);
  const node = newNode(match.node.opType, {
    name: match.node.name,
    inputs: [match.value('x'), ...match.node.inputs.slice(1)],
    attributes: new Map([...match.node.attributes, ...Object.entries(more), ['pads', ints(spatial)]]),
  });
  return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
}

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
