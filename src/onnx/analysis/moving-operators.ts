/** Operators of ai.onnx whose output elements are elements of their inputs, each once, in another place. */
export const MOVING_OPERATORS: readonly string[] = [
  'Concat',
  'DepthToSpace',
  'Flatten',
  'Identity',
  'Reshape',
  'Slice',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Transpose',
  'Unsqueeze',
];
