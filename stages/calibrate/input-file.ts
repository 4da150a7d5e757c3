/** How is a part's input for one sample handed from one part of the work to the next? As the one array of an npz archive. */
import type { MaskRcnnPart } from '../../src/detection/recipe.js';
import { readNpz } from '../../src/tensor/npz.js';
import type { Tensor } from '../../src/tensor/tensor.js';

export const INPUT_FILE = 'input.npz';
export const INPUT_ARRAY = 'input';

/** The file that holds the RoI features of a head. */
export function roiFile(part: MaskRcnnPart): string {
  return `${part}.npz`;
}

/** Reads a part's input: float32, samples or RoIs first. @throws TensorError of a damaged archive. */
export async function readInput(path: string): Promise<Tensor<'float32'>> {
  return (await readNpz(path)).getFloat32(INPUT_ARRAY);
}
