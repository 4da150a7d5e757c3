/** The inputs of `calibrate` for a full-size backbone, in a folder: its model, the host recipe, and generated photographs of 960×544. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModel } from '../src/onnx/serde/model-file.js';
import { makeJpeg } from '../test/support/make-jpeg.js';
import type { CalibrateFiles } from './calibrate-process.js';
import { exportFullSize, FULL_SIZE } from './full-size-backbone.js';

export interface FullSizeProject {
  readonly folder: string;
  readonly files: CalibrateFiles;
  remove(): Promise<void>;
}

export async function makeFullSizeProject(images: number): Promise<FullSizeProject> {
  const folder = await mkdtemp(join(tmpdir(), 'tanren-full-size-'));
  const files = {
    model: join(folder, 'backbone.onnx'),
    recipe: join(folder, 'recipe.json'),
    annotations: join(folder, 'annotations.json'),
    images: join(folder, 'images'),
  };
  const { backbone, recipe } = await exportFullSize();
  await writeModel(files.model, backbone);
  await writeFile(files.recipe, JSON.stringify(recipe));
  await mkdir(files.images);
  const listed = Array.from({ length: images }, (_, i) => ({ id: i + 1, file_name: `${i + 1}.jpg` }));
  await writeFile(files.annotations, JSON.stringify({ images: listed }));
  for (const { id, file_name } of listed)
    await writeFile(join(files.images, file_name), await makeJpeg(FULL_SIZE.width, FULL_SIZE.height, id));
  return { folder, files, remove: () => rm(folder, { recursive: true, force: true }) };
}
