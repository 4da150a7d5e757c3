/** Type inference of quantization operators. */
import { findDTypeByOnnx } from '../../../tensor/dtype.js';
import { getInt } from '../../ir/attribute.js';
import { type InferFunction, type InferTable, known } from '../context/node-context.js';

const quantize: InferFunction = c => [known(c.dtype(2) ?? findDTypeByOnnx(getInt(c.node, 'output_dtype', 0)) ?? 'uint8', c.dims(0))];

/** The output dtype is that of the scale, or float32 before opset 19. */
const dequantize: InferFunction = c => [
  known(findDTypeByOnnx(getInt(c.node, 'output_dtype', 0)) ?? (c.opset < 19 && c.node.domain === '' ? 'float32' : c.dtype(1)), c.dims(0)),
];

export const QUANTIZATION: InferTable = {
  QuantizeLinear: quantize,
  DequantizeLinear: dequantize,
  DynamicQuantizeLinear: c => [known('uint8', c.dims(0)), known('float32', []), known('uint8', [])],
};
