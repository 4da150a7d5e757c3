/** The part of `search-ranges` that searches one block. The models stay open at the block behind it; a part that is run alone repeats the blocks before it. */
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { openRangeSearcher, type RangeSearcher, type RangeSearchSettings } from '../../src/quant/range-search/search-ranges.js';
import { makeValuesFolder } from '../../src/quant/recovery/model-pair.js';
import type { RangeOverride, WidenedTypes } from '../../src/quant/widening/widened-types.js';
import { feedsOf, openSampleList } from '../../src/runtime/capture/sample-files.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { type Closable, makeUseAtLayer } from '../../src/stage/reuse-open.js';
import { readQuantizer } from './read-quantizer.js';

export interface SearchManifest extends JsonObject {
  /** Digests of the files, with names, because overrides name tensors. */
  readonly model: string;
  readonly sketches: string;
  readonly samples: string;
  readonly arrays: readonly string[];
  /** The params of `quantize`. */
  readonly quantize: JsonObject;
  /** Wider types that hold in every trial. */
  readonly types: WidenedTypes & JsonObject;
  readonly settings: RangeSearchSettings & JsonObject;
  readonly session: JsonObject;
}

export interface BlockManifest extends JsonObject {
  readonly run: SearchManifest;
  /** Its index. */
  readonly block: number;
  /** What was found for each block before it. */
  readonly before: readonly (readonly (RangeOverride & JsonObject)[])[];
}

const useAtBlock = makeUseAtLayer<RangeSearcher & Closable>();

export const blockPart = defineJsonPart<BlockManifest>({
  name: 'search-ranges-of-block',
  version: 1,
  module: import.meta.url,
  async compute({ manifest: { run, block, before }, unkeyed }) {
    return useAtBlock({ key: JSON.stringify(run), layer: block, open: () => open(unkeyed, run) }, async searcher => {
      while (searcher.next() < block) await searcher.repeat(getDefined(before[searcher.next()], 'ranges of an earlier block'));
      return searcher.search();
    });
  },
});

async function open(paths: Readonly<Record<string, string>>, { quantize, types, settings }: SearchManifest) {
  const quantizer = await readQuantizer(paths, quantize);
  const list = await openSampleList(getDefined(paths.samples, 'samples'), getDefined(paths.captured, 'captured'));
  const { folder, close } = await makeValuesFolder();
  const searcher = await openRangeSearcher({
    float: quantizer.float,
    quantize: overrides => quantizer.quantize({ ...types, overrides: [...types.overrides, ...overrides] }),
    samples: model => feedsOf(model, list),
    folder,
    settings,
  });
  return { ...searcher, close };
}
