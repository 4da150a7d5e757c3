/** A project for the pipelines of public COCO weights: a checkpoint of generated weights of any widths, and drawn photographs, landscape and portrait, in place of val2017. */
import { cpSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseDetectorConfig } from '../../src/detection/families/maskrcnn/config.js';
import type { MaskRcnnSpec } from '../../src/detection/families/maskrcnn/export/network-spec.js';
import { expectedTensors } from '../../src/detection/families/maskrcnn/export/state-keys.js';
import { encodeSafetensors } from '../../src/tensor/formats/safetensors.js';
import { decodeRawTensor, encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import type { RawTensor } from '../../src/tensor/tensor.js';
import { makeTensor } from '../../src/tensor/tensor.js';
import { generatedState } from './generated-weights.js';
import { makeJpeg } from './make-jpeg.js';
import { PROJECT } from './shapes-project.js';

export const COCO_PIPELINE = 'pipelines/maskrcnn-coco.yaml';

/** For pipelines/maskrcnn-coco.yaml. */
export function makeCocoProject(structure: MaskRcnnSpec, images: number): Promise<string> {
  return makeProjectOf(COCO_PIPELINE, makeCocoState(structure), images);
}

/** A folder with the pipeline, `weights.safetensors`, and `coco/` with that many images. */
export async function makeProjectOf(pipeline: string, state: ReadonlyMap<string, RawTensor>, images: number): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-coco-')));
  mkdirSync(join(folder, 'pipelines'));
  cpSync(join(PROJECT, pipeline), join(folder, pipeline));
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'weights.safetensors'), encodeSafetensors(state));
  await writeCoco(join(folder, 'coco'), images);
  return folder;
}

/** The params that fill in the two paths. */
export const COCO_PATHS = ['-p', 'weights=weights.safetensors', '-p', 'coco=coco'] as const;

/** Generated weights whose last layers say little: proposals stay near their anchors, and many classes pass the threshold. */
export function makeCocoState(structure: MaskRcnnSpec): ReadonlyMap<string, RawTensor> {
  const { config } = parseDetectorConfig(undefined, 'torchvision');
  const keys = expectedTensors(structure, config.box.roiSize).map(({ key, dims }) => ({ key, shape: dims.map(dim => dim ?? 0) }));
  const state = generatedState(keys);
  for (const [name, factor] of [
    ['rpn.head.bbox_pred.weight', 0.02],
    ['rpn.head.cls_logits.weight', 0.05],
    ['roi_heads.box_predictor.bbox_pred.weight', 0.03],
    ['roi_heads.box_predictor.cls_score.weight', 0.2],
  ] as const) {
    const { data, dims } = decodeRawTensor(state.get(name) as RawTensor & { readonly dtype: 'float32' });
    state.set(
      name,
      encodeRawTensor(
        makeTensor(
          'float32',
          dims,
          data.map(value => value * factor),
        ),
      ),
    );
  }
  return state;
}

/** Annotations and photographs of the sizes that COCO has, as val2017. */
export async function writeCoco(folder: string, count: number): Promise<void> {
  const { config } = parseDetectorConfig(undefined, 'torchvision');
  const sizes = [
    [640, 480],
    [480, 640],
    [500, 375],
    [427, 640],
  ] as const;
  mkdirSync(join(folder, 'annotations'), { recursive: true });
  mkdirSync(join(folder, 'val2017'));
  const images = Array.from({ length: count }, (_, index) => {
    const [width, height] = sizes[index % sizes.length] ?? sizes[0];
    return { id: index + 1, file_name: `${String(index + 1).padStart(12, '0')}.jpg`, width, height };
  });
  for (const { id, file_name, width, height } of images)
    writeFileSync(join(folder, 'val2017', file_name), await makeJpeg(width, height, id));
  const annotations = images.map(({ id }) => ({
    id,
    image_id: id,
    category_id: 1 + (id % 2),
    bbox: [150, 200, 60, 80],
    area: 4800,
    iscrowd: 0,
    segmentation: [[150, 200, 210, 200, 210, 280, 150, 280]],
  }));
  const categories = Object.entries(config.categories).map(([id, name]) => ({ id: Number(id), name }));
  writeFileSync(join(folder, 'annotations/instances_val2017.json'), JSON.stringify({ images, annotations, categories }));
}
