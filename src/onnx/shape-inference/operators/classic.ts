/** Shape inference of ai.onnx.ml operators that move or map values. */
import type { DType } from '../../../tensor/dtype.js';
import { type InferFunction, type InferTable, known, type NodeContext } from '../context/node-context.js';

const MAPPED: readonly (readonly [attribute: string, dtype: DType])[] = [
  ['values_strings', 'string'],
  ['values_int64s', 'int64'],
  ['values_floats', 'float32'],
];

/** One output element per input element; the dtype is that of the mapped values. */
const labelEncoder: InferFunction = c => [known(mappedType(c), c.dims(0))];

function mappedType({ node }: NodeContext): DType | undefined {
  const values = node.attributes.get('values_tensor');
  if (values?.kind === 'tensor') return values.value.dtype;
  return MAPPED.find(([attribute]) => node.attributes.has(attribute))?.[1];
}

const features: InferFunction = c => {
  const [x, indices] = [c.dims(0), c.dims(1)];
  return [known(c.dtype(0), x && indices && [...(x.length === 1 ? [1] : x.slice(0, -1)), indices.at(-1)])];
};

export const CLASSIC: InferTable = {
  ArrayFeatureExtractor: features,
  Binarizer: c => [known(c.dtype(0), c.dims(0))],
  LabelEncoder: labelEncoder,
  Normalizer: c => [known('float32', c.dims(0))],
  Scaler: c => [known('float32', c.dims(0))],
};
