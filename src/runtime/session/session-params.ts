/** Schemas of the params about ONNX Runtime that several plugins have. */

export const OPTIMIZATION_SCHEMA = {
  type: 'string',
  enum: ['disabled', 'basic', 'extended', 'all'],
  default: 'all',
  description: "ONNX Runtime's graph optimization level.",
} as const;
