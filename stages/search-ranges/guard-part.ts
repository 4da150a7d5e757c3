/** The part of `search-ranges` that measures the outputs with the first changes. */
import { openOutputKinds } from '../../src/detection/output-kinds.js';
import { type GuardManifest, guardWork } from '../../src/quant/recovery/guard-work.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { makeOpenOrReuse } from '../../src/stage/reuse-open.js';

export const guardPart = defineJsonPart<GuardManifest>({
  name: 'search-ranges-guard',
  version: 1,
  module: import.meta.url,
  compute: guardWork(makeOpenOrReuse(), openOutputKinds),
});
