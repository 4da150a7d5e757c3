/** The part of `correct-biases` that corrects one layer. The models stay open at the layer behind it; a part that is run alone repeats the layers before it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { type BiasCorrector, openBiasCorrector, pairLayersWithBias } from '../../src/quant/recovery/correct-biases.js';
import { parseCorrections } from '../../src/quant/recovery/layer-correction.js';
import { feedsOf, parseSampleList } from '../../src/runtime/capture/sample-files.js';
import { definePart } from '../../src/stage/context.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { type Closable, makeOpenOrReuse } from '../../src/stage/reuse-open.js';

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
  };
  readonly layer: number;
  /** Digest of the corrections of the layers before it. */
  readonly earlier: string;
}

export const CORRECTION_FILE = 'correction.json';

export const layerPart = definePart<LayerManifest>({
  name: 'correct-bias-of-layer',
  version: 1,
  module: import.meta.url,
  runsModels: 'always',
  async run({ manifest, unkeyed, folder }) {
    const corrector = await getCorrector(manifest, unkeyed);
    if (corrector.next() < manifest.layer) {
      const earlier = parseCorrections(await readJsonFile(getDefined(unkeyed.earlier, 'earlier')));
      while (corrector.next() < manifest.layer) await corrector.repeat(getDefined(earlier[corrector.next()], 'earlier correction'));
    }
    await writeJsonFile(join(folder, CORRECTION_FILE), [await corrector.correct()]);
    return [CORRECTION_FILE];
  },
});

type OpenCorrector = BiasCorrector & Closable;

const openOrReuse = makeOpenOrReuse<OpenCorrector>();
/** Counts openings: a corrector that is past the layer cannot go back. */
let generation = 0;
let current: OpenCorrector | undefined;

async function getCorrector({ run, layer }: LayerManifest, unkeyed: Readonly<Record<string, string>>): Promise<BiasCorrector> {
  if (current !== undefined && current.next() > layer) generation++;
  current = await openOrReuse(JSON.stringify([run, generation]), () => open(unkeyed));
  return current;
}

async function open(unkeyed: Readonly<Record<string, string>>): Promise<OpenCorrector> {
  const [float, quantized] = [await readModel(getDefined(unkeyed.float, 'float')), await readModel(getDefined(unkeyed.model, 'model'))];
  const list = parseSampleList(await readJsonFile(getDefined(unkeyed.samples, 'samples')));
  const folder = await mkdtemp(join(getDefined(unkeyed.scratch, 'scratch'), 'sweep-'));
  const samples = { float: feedsOf(float, list), quantized: feedsOf(quantized, list) };
  const corrector = await openBiasCorrector({ float, quantized, layers: pairLayersWithBias(float, quantized).layers, samples, folder });
  return { ...corrector, close: () => rm(folder, { recursive: true, force: true }) };
}
