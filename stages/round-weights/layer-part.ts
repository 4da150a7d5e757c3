/** The part of `round-weights` that rounds one layer. The models stay open at the layer behind it; a part that is run alone repeats the layers before it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { makeValuesFolder, type PairManifest, readPair } from '../../src/quant/recovery/model-pair.js';
import { openWeightRounder, pairLayersWithWeight, type WeightRounder } from '../../src/quant/recovery/rounding/round-weights.js';
import type { RoundingSettings } from '../../src/quant/recovery/rounding/rounding-methods.js';
import { definePart } from '../../src/stage/context.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { type Closable, makeUseAtLayer } from '../../src/stage/reuse-open.js';
import { decodeNpy, encodeNpy } from '../../src/tensor/formats/npy.js';
import { makeTensor } from '../../src/tensor/tensor.js';

export interface LayerManifest extends JsonObject {
  /** What all layers share; `layers` digests their names, which pair them. */
  readonly run: PairManifest & { readonly layers: string; readonly settings: RoundingSettings & JsonObject };
  /** Its index. The integers of layers before it are blobs by their index. */
  readonly layer: number;
}

export const ROUNDING_FILE = 'rounding.json';
export const INTEGERS_FILE = 'integers.npy';

const useAtLayer = makeUseAtLayer<WeightRounder & Closable>();

export const layerPart = definePart<LayerManifest>({
  name: 'round-weights-of-layer',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest: { run, layer }, blobs, unkeyed, folder }) {
    const { rounding, integers } = await useAtLayer(
      { key: JSON.stringify(run), layer, open: () => open(unkeyed, run.settings) },
      async rounder => {
        while (rounder.next() < layer)
          await rounder.repeat(await readIntegers(getDefined(blobs[String(rounder.next())], 'integers of an earlier layer')));
        return rounder.round();
      },
    );
    await writeFile(join(folder, INTEGERS_FILE), encodeNpy(makeTensor('int32', [integers.length], integers)));
    await writeJsonFile(join(folder, ROUNDING_FILE), rounding);
    return [INTEGERS_FILE, ROUNDING_FILE];
  },
});

export async function readIntegers(path: string): Promise<Int32Array> {
  const { data } = decodeNpy(await readFile(path));
  return Int32Array.from(data as ArrayLike<number>);
}

async function open(paths: Readonly<Record<string, string>>, settings: RoundingSettings): Promise<WeightRounder & Closable> {
  const pair = await readPair(paths);
  const { folder, close } = await makeValuesFolder();
  const { layers } = pairLayersWithWeight(pair.float, pair.quantized);
  return { ...(await openWeightRounder({ ...pair, layers, folder }, settings)), close };
}
