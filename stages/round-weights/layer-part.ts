/** The part of `round-weights` that rounds one layer. The models stay open at the layer behind it; a part that is run alone repeats the layers before it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openWeightRounder, pairLayersWithWeight, type WeightRounder } from '../../src/quant/recovery/rounding/round-weights.js';
import type { RoundingSettings } from '../../src/quant/recovery/rounding/rounding-methods.js';
import { feedsOf, parseSampleList } from '../../src/runtime/capture/sample-files.js';
import { definePart } from '../../src/stage/context.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';
import { decodeNpy, encodeNpy } from '../../src/tensor/formats/npy.js';
import { makeTensor } from '../../src/tensor/tensor.js';

export interface LayerManifest extends JsonObject {
  /** What all layers share. */
  readonly run: {
    /** Content digests, without names; names of the layers, which pair them. */
    readonly float: string;
    readonly quantized: string;
    readonly layers: string;
    readonly samples: string;
    readonly arrays: readonly string[];
    readonly session: JsonObject;
    readonly settings: RoundingSettings & JsonObject;
  };
  /** Its index. The integers of layers before it are blobs by their index. */
  readonly layer: number;
}

export const ROUNDING_FILE = 'rounding.json';
export const INTEGERS_FILE = 'integers.npy';

export const layerPart = definePart<LayerManifest>({
  name: 'round-weights-of-layer',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, blobs, unkeyed, folder }) {
    const rounder = await getRounder(manifest, unkeyed);
    while (rounder.next() < manifest.layer)
      await rounder.repeat(await readIntegers(getDefined(blobs[String(rounder.next())], 'integers of an earlier layer')));
    const { rounding, integers } = await rounder.round();
    await writeFile(join(folder, INTEGERS_FILE), encodeNpy(makeTensor('int32', [integers.length], integers)));
    await writeJsonFile(join(folder, ROUNDING_FILE), rounding);
    return [INTEGERS_FILE, ROUNDING_FILE];
  },
});

export async function readIntegers(path: string): Promise<Int32Array> {
  const { data } = decodeNpy(await readFile(path));
  return Int32Array.from(data as ArrayLike<number>);
}

type OpenRounder = WeightRounder & Closable;

const openOrReuse = makeOpenOrReuse<OpenRounder>();
/** Counts openings: a rounder that is past the layer cannot go back. */
let generation = 0;
let current: OpenRounder | undefined;

async function getRounder({ run, layer }: LayerManifest, unkeyed: Readonly<Record<string, string>>): Promise<WeightRounder> {
  if (current !== undefined && current.next() > layer) generation++;
  current = await openOrReuse(JSON.stringify([run, generation]), () => open(unkeyed, run.settings));
  return current;
}

async function open(unkeyed: Readonly<Record<string, string>>, settings: RoundingSettings): Promise<OpenRounder> {
  const [float, quantized] = [await readModel(getDefined(unkeyed.float, 'float')), await readModel(getDefined(unkeyed.model, 'model'))];
  const list = parseSampleList(await readJsonFile(getDefined(unkeyed.samples, 'samples')));
  const folder = await mkdtemp(join(getDefined(unkeyed.scratch, 'scratch'), 'sweep-'));
  const samples = { float: feedsOf(float, list), quantized: feedsOf(quantized, list) };
  const rounder = await openWeightRounder(
    { float, quantized, layers: pairLayersWithWeight(float, quantized).layers, samples, folder },
    settings,
  );
  return { ...rounder, close: () => rm(folder, { recursive: true, force: true }) };
}
