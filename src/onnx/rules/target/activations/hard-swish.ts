/** Rewrite rule `hard-swish`: HardSwish as Mul and HardSigmoid, and the reverse. */
import { getFloat } from '../../../ir/attribute.js';
import type { Node } from '../../../ir/model.js';
import { newNode, outputOf, patch } from '../../../rewrite/patch.js';
import { any, constant, op, type Pattern } from '../../../rewrite/pattern.js';
import { decline, type Match, type RuleCode } from '../../../rewrite/rule.js';
import { findNumber } from '../../shared/constants.js';
import { GATE_OFFSET, HARD_SWISH_OPSET, newSwishGate } from '../../shared/hard-swish-gate.js';

/** Form `decompose`: x · HardSigmoid(x; 1/6, 1/2), the ONNX definition of HardSwish. */
export const decomposeHardSwish: RuleCode = {
  proofText:
    'ONNX defines HardSwish as x · max(0, min(1, x/6 + 1/2)), which Mul and HardSigmoid compute; a single kernel may round once less.',
  pattern: op('HardSwish', { inputs: [any('x')] }),
  rewrite(match) {
    const { name } = match.node;
    const gate = newSwishGate(name && `${name}/gate`, match.value('x'));
    const product = newNode('Mul', { name, inputs: [match.value('x'), outputOf(gate)] });
    return patch({ add: [gate, product], replace: [[match.output(), outputOf(product)]] });
  },
};

/** Form `fuse`, for x · HardSigmoid(x). */
export const fuseHardSwish = fuse(
  op('Mul', { inputs: [any('x'), op('HardSigmoid', { name: 'gate', inputs: [any('gated')] })], order: 'commutative' }),
  match => (isSwishGate(match.inner('gate')) ? undefined : 'its HardSigmoid does not have alpha 1/6 and beta 1/2'),
);

/** Form `fuse-clip`, for x · Clip(x + 3, 0, 6) / 6, as converters from other frameworks export it. */
export const fuseClippedSwish = fuse(
  op('Div', {
    inputs: [op('Mul', { name: 'product', inputs: [any('x'), clipped()], order: 'commutative' }), constant('six')],
  }),
  clippedSwishMismatch,
);

function clipped(): Pattern {
  return op('Clip', {
    name: 'clip',
    inputs: [op('Add', { name: 'shifted', inputs: [any('gated'), constant('three')], order: 'commutative' })],
  });
}

function fuse(pattern: Pattern, findMismatch: (match: Match) => string | undefined): RuleCode {
  return {
    proofText: 'The nodes compute x · max(0, min(1, x/6 + 1/2)), as HardSwish does; a single kernel rounds once less.',
    pattern,
    rewrite(match) {
      if (match.opset < HARD_SWISH_OPSET)
        return decline(`HardSwish needs opset ${HARD_SWISH_OPSET}; the model has ${match.opset}`, match.node);
      if (match.value('x') !== match.value('gated')) return decline('its factor is not the value that the gate reads', match.node);
      const rank = match.type(match.value('x')).dims?.length;
      if (rank === undefined || rank !== match.type(match.output()).dims?.length)
        return decline('a constant may raise the rank of the result', match.node);
      const reason = findMismatch(match);
      if (reason !== undefined) return decline(reason, match.node);
      const node = newNode('HardSwish', { name: match.node.name, inputs: [match.value('x')] });
      return patch({ add: [node], replace: [[match.output(), outputOf(node)]] });
    },
  };
}

function isSwishGate(gate: Node): boolean {
  return Math.abs(getFloat(gate, 'alpha', 0.2) - 1 / 6) < 1e-6 && getFloat(gate, 'beta', 0.5) === GATE_OFFSET;
}

function clippedSwishMismatch(match: Match): string | undefined {
  if (findNumber(match.findConstant('three')) !== 3) return 'the addend before Clip is not 3';
  if (findNumber(match.findConstant('six')) !== 6) return 'the divisor is not 6';
  const clip = match.inner('clip');
  const low = clip.attributes.has('min') ? getFloat(clip, 'min', 0) : findNumber(match.constantOf(clip.inputs[1]));
  const high = clip.attributes.has('max') ? getFloat(clip, 'max', 0) : findNumber(match.constantOf(clip.inputs[2]));
  return low === 0 && high === 6 ? undefined : `its Clip is [${low ?? '?'}, ${high ?? '?'}], not [0, 6]`;
}
