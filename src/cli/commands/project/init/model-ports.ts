/** Inputs and outputs of a model, and the classes that an output scores. */
import type { Dim, Model, ValueId } from '../../../../onnx/ir/model.js';

export interface Port {
  readonly name: string;
  readonly dtype: string | undefined;
  /** Undefined: unknown rank. */
  readonly dims: readonly Dim[] | undefined;
}

export function portOf({ graph }: Model, id: ValueId): Port {
  const value = graph.values.get(id);
  const type = value?.type?.kind === 'tensor' ? value.type : undefined;
  return { name: value?.name ?? '', dtype: type?.dtype, dims: type?.dims };
}

/** One output with a score per class: [N, classes], also with sizes of 1 after it. @returns the number of classes. */
export function countClasses({ outputs: [output, ...others] }: { readonly outputs: readonly Port[] }): number | undefined {
  if (output?.dims === undefined || output.dims.length < 2 || others.length > 0) return undefined;
  const [, classes, ...rest] = output.dims;
  return typeof classes === 'number' && classes > 1 && rest.every(dim => dim === 1) ? classes : undefined;
}
