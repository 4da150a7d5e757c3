/** The part of `correct-biases` that corrects one layer. The models stay open at the layer behind it; a part that is run alone repeats the layers before it. */

import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { type BiasCorrector, openBiasCorrector, pairLayersWithBias } from '../../src/quant/recovery/correct-biases.js';
import { parseCorrections } from '../../src/quant/recovery/layer-correction.js';
import { makeValuesFolder, type PairManifest, readPair } from '../../src/quant/recovery/model-pair.js';
import { readJsonFile } from '../../src/stage/json-file.js';
import { defineJsonPart } from '../../src/stage/json-part.js';
import { type Closable, makeUseAtLayer } from '../../src/stage/reuse-open.js';

export interface LayerManifest extends JsonObject {
  /** What all layers share; `layers` digests their names, which pair them. */
  readonly run: PairManifest & { readonly layers: string };
  readonly layer: number;
  /** Digest of the corrections of the layers before it. */
  readonly earlier: string;
}

const useAtLayer = makeUseAtLayer<BiasCorrector & Closable>();

export const layerPart = defineJsonPart<LayerManifest>({
  name: 'correct-bias-of-layer',
  version: 1,
  module: import.meta.url,
  async compute({ manifest: { run, layer }, unkeyed }) {
    return useAtLayer({ key: JSON.stringify(run), layer, open: () => open(unkeyed) }, async corrector => {
      if (corrector.next() < layer) {
        const earlier = parseCorrections(await readJsonFile(getDefined(unkeyed.earlier, 'earlier')));
        while (corrector.next() < layer) await corrector.repeat(getDefined(earlier[corrector.next()], 'earlier correction'));
      }
      return [await corrector.correct()];
    });
  },
});

async function open(paths: Readonly<Record<string, string>>): Promise<BiasCorrector & Closable> {
  const pair = await readPair(paths);
  const { folder, close } = await makeValuesFolder();
  const { layers } = pairLayersWithBias(pair.float, pair.quantized);
  return { ...(await openBiasCorrector({ ...pair, layers, folder })), close };
}
