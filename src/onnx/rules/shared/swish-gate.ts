/** Which HardSigmoid is the gate of HardSwish, and the one that NPUs know? That of slope 1/6 and offset 1/2. (ONNX HardSwish, opset 14.) */
import { float } from '../../ir/attribute.js';
import { newNode, type PatchNode, type Ref } from '../../rewrite/patch.js';

/** HardSwish is an operator from opset 14. */
export const HARD_SWISH_OPSET = 14;
export const GATE_SLOPE = Math.fround(1 / 6);
export const GATE_OFFSET = 0.5;

export function newSwishGate(name: string, x: Ref): PatchNode {
  return newNode('HardSigmoid', { name, inputs: [x], attributes: { alpha: float(GATE_SLOPE), beta: float(GATE_OFFSET) } });
}
