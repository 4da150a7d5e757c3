/** What can stand for a grouped Conv where an NPU knows none? One Conv per group, or one whose weight is zero outside the groups. */

import { getDefined } from '../../../../base/invariant.js';
import type { Tensor } from '../../../../tensor/tensor.js';
import { getInt, int } from '../../../ir/attribute.js';
import { newNode, outputOf, type PatchNode, patch } from '../../../rewrite/patch.js';
import { any, constant, op, optional } from '../../../rewrite/pattern.js';
import { decline, type Match, type RewriteRule } from '../../../rewrite/rule.js';
import type { GroupConvForm } from '../../rule-table.js';
import { findFloat32, newFloats, newInts } from '../../shared/numbers.js';

const SLICE_INPUTS = 10;

/** The rule `group-conv` in one of its forms. A depthwise Conv, which NPUs have kernels for, is left alone. */
export function groupConvAs(form: GroupConvForm): RewriteRule {
  return {
    name: 'group-conv',
    proof: 'rounding',
    proofText:
      form === 'split'
        ? 'Each group is a Conv of its own over its slice of the channels; a kernel of another shape may add in another order.'
        : 'Weights between groups are zeros, whose products add nothing to finite inputs; a kernel of another shape may add in another order.',
    pattern: op('Conv', { inputs: [any('x'), constant('weight'), optional(constant('bias'))] }),
    rewrite(match) {
      const reason = whyNot(match, form);
      if (reason !== undefined) return decline(reason, match.node);
      return form === 'split' ? splitGroups(match) : fillGroups(match);
    },
  };
}

function whyNot(match: Match, form: GroupConvForm): string | undefined {
  const weight = match.constant('weight');
  const groups = getInt(match.node, 'group', 1);
  if (groups === 1) return 'it has one group';
  if (weight.dims[1] === 1) return 'it is depthwise';
  if (weight.dtype !== 'float32') return 'its weight is not float32';
  if (match.find('bias') !== undefined && match.findConstant('bias')?.dtype !== 'float32') return 'its bias is not float32';
  return form === 'split' && match.opset < SLICE_INPUTS ? `Slice has inputs from opset ${SLICE_INPUTS}` : undefined;
}

function splitGroups(match: Match): ReturnType<RewriteRule['rewrite']> {
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

function fillGroups(match: Match): ReturnType<RewriteRule['rewrite']> {
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
