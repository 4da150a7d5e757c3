/** Rewrite rule `group-conv`: a grouped Conv becomes one Conv per group, or one Conv with zeros between the groups. */

import { getDefined } from '../../../../base/invariant.js';
import type { Tensor } from '../../../../tensor/tensor.js';
import { getInt, int } from '../../../ir/attribute.js';
import { newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, constant, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';

import { findFloat32, newFloats, newInts } from '../../shared/constants.js';

/** From this opset on, Slice takes its bounds as inputs. */
const SLICE_INPUTS = 10;

const CONV = op('Conv', { inputs: [any('x'), constant('weight'), optional(constant('bias'))] });

/** Form `split`. A depthwise Conv, for which NPUs have kernels, is not changed; the same holds for `dense`. */
export const groupConvToSplit: RuleCode = {
  proofText: 'Each group is a separate Conv over its slice of the channels; a kernel of another shape may add in another order.',
  pattern: CONV,
  rewrite(match) {
    const reason =
      declineReason(match) ??
      (match.opset < SLICE_INPUTS ? `it needs opset ${SLICE_INPUTS} for Slice; the model has ${match.opset}` : undefined);
    return reason === undefined ? splitGroups(match) : decline(reason, match.node);
  },
};

/** Form `dense`. */
export const groupConvToDense: RuleCode = {
  proofText:
    'Weights between groups are zero, and their products add nothing for finite inputs; a kernel of another shape may add in another order.',
  pattern: CONV,
  rewrite(match) {
    const reason = declineReason(match);
    return reason === undefined ? fillGroups(match) : decline(reason, match.node);
  },
};

function declineReason(match: Match): string | undefined {
  const weight = match.constant('weight');
  const groups = getInt(match.node, 'group', 1);
  if (groups === 1) return 'it has one group';
  if (weight.dims[1] === 1) return 'it is depthwise';
  if (weight.dtype !== 'float32') return 'its weight is not float32';
  if (match.find('bias') !== undefined && match.findConstant('bias')?.dtype !== 'float32') return 'its bias is not float32';
  return undefined;
}

function splitGroups(match: Match): ReturnType<RuleCode['rewrite']> {
  const weight = floatsOf(match, 'weight');
  const bias = match.find('bias') === undefined ? undefined : floatsOf(match, 'bias');
  const groups = getInt(match.node, 'group', 1);
  const [outputs = 0, inputs = 0, ...kernel] = weight.dims;
  const perGroup = outputs / groups;
  const size = weight.data.length / groups;
  const base = match.nameOf(match.output());
  const { name } = match.node;
  const convs = Array.from({ length: groups }, (_, group): readonly [PatchNode, PatchNode] => {
    const bound = (what: string, value: number) => newInts(`${base}_group${group}_${what}`, [value]);
    const slice = newNode('Slice', {
      name: name && `${name}/group${group}/slice`,
      inputs: [match.value('x'), bound('start', group * inputs), bound('end', (group + 1) * inputs), bound('axis', 1)],
    });
    const constants = [
      newFloats(
        `${match.nameOf(match.value('weight'))}_group${group}`,
        [perGroup, inputs, ...kernel],
        weight.data.subarray(group * size, (group + 1) * size),
      ),
      ...(bias === undefined
        ? []
        : [
            newFloats(
              `${match.nameOf(match.value('bias'))}_group${group}`,
              [perGroup],
              bias.data.subarray(group * perGroup, (group + 1) * perGroup),
            ),
          ]),
    ];
    const attributes = new Map([...match.node.attributes, ['group', int(1)] as const]);
    return [slice, newNode('Conv', { name: name && `${name}/group${group}`, inputs: [outputOf(slice), ...constants], attributes })];
  });
  const join = newNode('Concat', { name, inputs: convs.map(([, conv]) => outputOf(conv)), attributes: { axis: int(1) } });
  return patch({ add: [...convs.flat(), join], replace: [[match.output(), outputOf(join)]] });
}

function fillGroups(match: Match): ReturnType<RuleCode['rewrite']> {
  const weight = floatsOf(match, 'weight');
  const groups = getInt(match.node, 'group', 1);
  const [outputs = 0, inputs = 0, ...kernel] = weight.dims;
  const block = weight.data.length / outputs;
  const filled = new Float32Array(weight.data.length * groups);
  for (let output = 0; output < outputs; output++) {
    const group = Math.floor(output / (outputs / groups));
    filled.set(weight.data.subarray(output * block, (output + 1) * block), (output * groups + group) * block);
  }
  const dense = newFloats(`${match.nameOf(match.value('weight'))}_dense`, [outputs, inputs * groups, ...kernel], filled);
  const bias = match.find('bias');
  const conv = newNode('Conv', {
    name: match.node.name,
    inputs: [match.value('x'), dense, ...(bias === undefined ? [] : [bias])],
    attributes: new Map([...match.node.attributes, ['group', int(1)] as const]),
  });
  return patch({ add: [conv], replace: [[match.output(), outputOf(conv)]] });
}

function floatsOf(match: Match, name: string): Tensor<'float32'> {
  return getDefined(findFloat32(match.constant(name)), `float32 ${name}`);
}
