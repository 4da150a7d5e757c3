/** What are models fed in a command? Seeded random tensors: the same on every run. */
import type { Model } from '../../onnx/ir/model.js';
import type { NamedTensors } from '../../runtime/model-inputs.js';
import { makeRandomFeeds } from '../../runtime/random-feeds.js';
import { seededRandom } from '../../stage/random.js';

/** What a size counts as that the model leaves free and no `--dim` gives. */
const FREE_SIZE = 2;

export function* openFeeds(
  model: Model,
  { samples, dim }: { readonly samples: number; readonly dim: Readonly<Record<string, number>> },
): Generator<NamedTensors> {
  for (let sample = 0; sample < samples; sample++) {
    yield makeRandomFeeds(model, { random: seededRandom('tanren onnx', `sample ${sample}`), sizes: dim, freeSize: FREE_SIZE });
  }
}
