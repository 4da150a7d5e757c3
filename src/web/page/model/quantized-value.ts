/** The value of the float model that a node of a quantized model belongs to. */
import type { ModelView, NodeView } from '../../../onnx/describe/model-view.js';

/**
 * The output of a node; of QuantizeLinear and DequantizeLinear, the value that they quantize, which the view "Quantization" knows by its name.
 * undefined: the node dequantizes a constant, or has no output.
 */
export function quantizedValueOf({ op, inputs, outputs }: NodeView, { nodes }: Pick<ModelView, 'nodes'>): string | undefined {
  const first = inputs[0] ?? undefined;
  if (op === 'QuantizeLinear') return first;
  if (op !== 'DequantizeLinear') return outputs[0] ?? undefined;
  const quantizer = nodes.find(node => node.op === 'QuantizeLinear' && node.outputs.includes(first ?? ''));
  return quantizer?.inputs[0] ?? undefined;
}
