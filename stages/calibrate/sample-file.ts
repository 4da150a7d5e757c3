/** Sample files between stage parts: npz archives with one array per model input. */

import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { listModelInputs } from '../../src/runtime/session/model-inputs.js';
import { readNpz } from '../../src/tensor/formats/npz.js';
import { sliceRows } from '../../src/tensor/rows.js';
import type { Tensor } from '../../src/tensor/tensor.js';

export const INPUT_FILE = 'input.npz';

/** The file with the inputs of a part that takes RoIs. */
export function roiFile(part: string): string {
  return `${part}.npz`;
}

export interface SampleFile {
  readonly path: string;
  readonly feeds: FeedsManifest;
}

/** The arrays that a model is fed: part of the manifest of parts that run it. */
export interface FeedsManifest extends JsonObject {
  /** Names of arrays, in the order of the model's inputs. */
  readonly arrays: readonly string[];
  /** Number of leading rows of each; null: all. */
  readonly rows: number | null;
}

/** All rows of a part's values: by name, or by position if the model's names were changed. */
export function feedsOfPart(model: Model, { values }: DetectorPart): FeedsManifest {
  const names = listModelInputs(model).map(({ name }) => name);
  const isNamed = names.every(name => values.inputs.includes(name));
  return { arrays: isNamed ? names : values.inputs, rows: null };
}

/** A sample by the names of the model's inputs. @throws TensorError of a damaged archive. */
export async function readFeeds(model: Model, path: string, { arrays, rows }: FeedsManifest): Promise<Record<string, Tensor>> {
  const archive = await readNpz(path);
  return Object.fromEntries(
    listModelInputs(model).map(({ name }, index) => {
      const tensor = archive.get(getDefined(arrays[index], `array of input "${name}"`));
      return [name, rows === null || (tensor.dims[0] ?? 0) <= rows ? tensor : sliceRows(tensor, 0, rows)];
    }),
  );
}
