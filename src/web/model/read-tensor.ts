/** Values of models on captured samples, computed in a process that ends after each answer. */
import { join } from 'node:path';
import { openProcessQueue, type ProcessQueue } from './one-process.js';
import type { TensorOrder, TensorView } from './tensor-view.js';

export type TensorReader = ProcessQueue<TensorOrder, TensorView>;

export function openTensorReader(installRoot: string): TensorReader {
  return openProcessQueue(join(installRoot, 'src/web/model/tensor-process.js'), { what: 'the value', many: 'values' });
}
