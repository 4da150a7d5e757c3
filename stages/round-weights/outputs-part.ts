/** The part of `round-weights` that compares the outputs of a model with those of the float model. */
import { type OutputsManifest, outputsWork } from '../../src/quant/recovery/model-pair.js';
import { definePart } from '../../src/stage/context.js';
import { makeOpenOrReuse } from '../../src/stage/reuse-open.js';

export const outputsPart = definePart<OutputsManifest>({
  ...outputsWork(makeOpenOrReuse()),
  name: 'round-weights-outputs',
  module: import.meta.url,
});
