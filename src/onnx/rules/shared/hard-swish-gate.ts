/** The HardSigmoid inside HardSwish, with slope 1/6 and offset 1/2, which is also the one that NPUs support. (ONNX HardSwish, opset 14.) */
import { float } from '../../ir/attribute.js';
import { newNode, type PatchNode, type Ref } from '../../rewrite/patch.js';

/** The opset that introduced HardSwish. */
export const HARD_SWISH_OPSET = 14;
export const GATE_SLOPE = Math.fround(1 / 6);
export const GATE_OFFSET = 0.5;

export function newSwishGate(name: string, x: Ref): PatchNode {
  return newNode('HardSigmoid', { name, inputs: [x], attributes: { alpha: float(GATE_SLOPE), beta: float(GATE_OFFSET) } });
}
