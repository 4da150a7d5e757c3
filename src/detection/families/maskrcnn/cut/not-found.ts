/** Error for models that do not have the structure of a known Mask R-CNN. */
import type { Node, ValueId } from '../../../../onnx/ir/model.js';
import { describeNode } from '../../../../onnx/shape-inference/context/node-context.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { Flow } from './network-flow.js';

export const listNodes = (flow: Flow, nodes: readonly Node[]): string =>
  nodes.map(node => describeNode(node, flow.graph)).join(', ') || 'nothing';
export const listNames = (flow: Flow, values: readonly ValueId[]): string => values.map(value => `"${flow.nameOf(value)}"`).join(', ');

/** `expected` says what was expected, and what was found instead. */
export function notFound(
  expected: string,
  help = 'only torchvision’s Mask R-CNN is supported; cut other models by `parts`',
): DetectionError {
  return new DetectionError('maskrcnn-structure', `the model does not have the structure of a Mask R-CNN: expected ${expected}`, { help });
}
