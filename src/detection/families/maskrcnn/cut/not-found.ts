/** What does a person read where a model is no Mask R-CNN that we know? Which piece was looked for, and what was found. */
import type { Node, ValueId } from '../../../../onnx/ir/model.js';
import { describeNode } from '../../../../onnx/shape-inference/context/node-context.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { Flow } from './network-flow.js';

export const listNodes = (flow: Flow, nodes: readonly Node[]): string =>
  nodes.map(node => describeNode(node, flow.graph)).join(', ') || 'nothing';
export const listNames = (flow: Flow, values: readonly ValueId[]): string => values.map(value => `"${flow.nameOf(value)}"`).join(', ');

/** `wanted`: the piece that was looked for, and what is there instead. */
export function notFound(wanted: string, help = 'this recipe reads torchvision’s Mask R-CNN; cut other models by `parts`'): DetectionError {
  return new DetectionError('maskrcnn-structure', `the model is no Mask R-CNN that the recipe knows: expected ${wanted}`, { help });
}
