/** The part of `search-ranges` that compares the outputs of a model with those of the float model. */
import { OUTPUTS_WORK, type OutputsManifest } from '../../src/quant/recovery/model-pair.js';
import { definePart } from '../../src/stage/context.js';

export const outputsPart = definePart<OutputsManifest>({ ...OUTPUTS_WORK, name: 'search-ranges-outputs', module: import.meta.url });
