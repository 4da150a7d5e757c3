/** Names of dtypes in the text form of a model: "float" and "double" as in ONNX, all others by their usual names. */
import { DTYPES, type DType } from '../../tensor/dtype.js';

export function nameOfDType(dtype: DType): string {
  if (dtype === 'float32') return 'float';
  return dtype === 'float64' ? 'double' : dtype;
}

const BY_NAME = new Map(Object.keys(DTYPES).map(dtype => [nameOfDType(dtype as DType), dtype as DType]));

export function findDTypeByName(name: string): DType | undefined {
  return BY_NAME.get(name);
}
