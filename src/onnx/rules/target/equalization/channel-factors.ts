/** Rewrite rule `channel-factors`: the spread of a layer's weights between output channels becomes powers of two that a node after the layer applies. */
import { getInt, int } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, constant, op } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findFloat32, newFloats } from '../../shared/constants.js';
import { layerWith, readScalable, SCALABLE, type ScalableLayer, scaleLayer } from './scalable-layer.js';

/** Factors from 2^-6 to 1 are exact in int8 at a power-of-two scale: 1 … 64 steps of 2^-6. */
const MOST_BITS = 6;

/** `mul`: the factors are a Mul; `depthwise`: a depthwise 1×1 Conv, which targets run that multiply no constants per channel. */
export function channelFactors(form: 'mul' | 'depthwise'): RuleCode {
  return {
    proofText:
      'Weights and bias of an output channel are multiplied by a power of two, and the output by its inverse; both are exact unless a float32 sum overflows or becomes subnormal.',
    pattern: op(SCALABLE, { inputs: [any('x'), constant('weight')] }),
    rewrite(match) {
      const { node } = match;
      const applied = findAppliedFactors(match, node);
      if (applied !== undefined) return decline(applied, node);
      const layer = readScalable(match, node);
      if (typeof layer === 'string') return decline(layer, node);
      if (form === 'depthwise' && node.opType === 'Gemm')
        return decline('the output of a Gemm has no height and width: use the form mul', node);
      const factors = findFactors(layer);
      if (factors.every(factor => factor === 1)) return decline('the weights of its channels have like ranges', node);
      const scaled = scaleLayer(layer, { outputs: factors, inputs: undefined }, 'power-of-two');
      if (typeof scaled === 'string') return decline(scaled, node);
      const grown = layerWith(match, layer, node.inputs[0], scaled);
      const shrunk = multiply(match, layer, grown, { form, factors });
      return patch({ add: [grown, shrunk], replace: [[match.output(), outputOf(shrunk)]] });
    },
  };
}

/** Why no factors are taken out of a layer a second time: what is left of the spread after 2^6 would become another node. */
function findAppliedFactors(match: Match, node: Node): string | undefined {
  if (appliesFactors(match, node)) return 'its weights are channel factors';
  const reader = node.outputs[0] === undefined ? undefined : match.soleReader(node.outputs[0]);
  return reader !== undefined && appliesFactors(match, reader) ? 'channel factors multiply its output already' : undefined;
}

/** Whether the node is of the form that `multiply` makes: powers of two from 2^-6 to 1, one per channel. */
function appliesFactors(match: Match, node: Node): boolean {
  const factors = findFloat32(match.constantOf(node.inputs[1]));
  if (factors === undefined || !factors.data.every(isFactor)) return false;
  const [channels = 0, ...rest] = factors.dims;
  if (channels < 2 || rest.some(size => size !== 1)) return false;
  return node.opType === 'Conv' ? node.inputs[2] === undefined && getInt(node, 'group', 1) === channels : node.opType === 'Mul';
}

function isFactor(value: number): boolean {
  const bits = -Math.log2(value);
  return Number.isInteger(bits) && bits >= 0 && bits <= MOST_BITS;
}

/** Per output channel: the largest power of two, up to 2^6, with which its weights stay within the range of the layer. */
function findFactors({ rows, columns, inner, outputs, weight, outputAt }: ScalableLayer): Float64Array {
  const peaks = new Float64Array(outputs);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const output = outputAt(row, column);
      for (const end = at + inner; at < end; at++) peaks[output] = Math.max(peaks[output] ?? 0, Math.abs(weight.floats.data[at] ?? 0));
    }
  }
  const most = peaks.reduce((largest, peak) => Math.max(largest, peak), 0);
  return peaks.map(peak => (peak === 0 ? 1 : 2 ** Math.min(MOST_BITS, Math.floor(Math.log2(most / peak)))));
}

function multiply(
  match: Match,
  { node, weight, outputs }: ScalableLayer,
  layer: PatchNode,
  { form, factors }: { readonly form: 'mul' | 'depthwise'; readonly factors: Float64Array },
): PatchNode {
  const spatial = node.opType === 'Gemm' ? [] : weight.floats.dims.slice(2).map(() => 1);
  const name = `${match.nameOf(weight.value)}_factors`;
  const inverses = factors.map(factor => 1 / factor);
  const nodeName = node.name && `${node.name}/factors`;
  if (form === 'mul')
    return newNode('Mul', { name: nodeName, inputs: [outputOf(layer), newFloats(name, [outputs, ...spatial], inverses)] });
  const kernel = newFloats(name, [outputs, 1, ...spatial], inverses);
  return newNode('Conv', { name: nodeName, inputs: [outputOf(layer), kernel], attributes: { group: int(outputs) } });
}
