/** Writes detections to one COCO document, or to a folder with the document and one PNG per picture. */
import { extname, join, relative, resolve, sep } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import type { NewFile } from '../../../base/files/write-beside.js';
import { writeFiles } from '../../process/write-files.js';
import { makeCocoDocument } from './coco-document.js';
import { writeOverlay } from './draw-picture.js';
import type { OpenStage } from './open-stage.js';
import { type DetectionRun, imagesOf, type PictureFound, resultsOf } from './run-detection.js';

export type Output = { readonly kind: 'none' } | { readonly kind: 'file' | 'folder'; readonly path: string };

/**
 * Parses the output path: a path that ends in .json is a file, any other path is a folder.
 * @throws CodedError `detect-output` if one file would hold the objects of several detectors.
 */
export function parseOutput(path: string | undefined, stages: number): Output {
  if (path === undefined) return { kind: 'none' };
  if (extname(path).toLowerCase() !== '.json') return { kind: 'folder', path };
  if (stages <= 1) return { kind: 'file', path };
  throw new CodedError('detect-output', `"${path}" can hold the detections of one detector only, found ${stages}`, {
    help: 'name a folder: each stage gets a folder in it',
  });
}

/**
 * Checks that the output folder is outside the folder of pictures; else the next run would read the overlays as pictures.
 * @throws CodedError `detect-output`.
 */
export function checkOutsideOf(pictures: string, output: Output): void {
  if (output.kind !== 'folder') return;
  const [step] = relative(pictures, resolve(output.path)).split(sep);
  if (step === '..') return;
  throw new CodedError(
    'detect-output',
    `"${output.path}" lies in the folder of the pictures: the next run would read its drawings as pictures`,
    {
      help: 'name a folder outside of it',
    },
  );
}

export async function writeOverlays(
  { picture, found }: PictureFound,
  stages: readonly OpenStage[],
  output: Output,
  minScore: number,
): Promise<void> {
  if (output.kind !== 'folder') return;
  for (const [index, stage] of stages.entries()) {
    const one = found[index];
    if (one === undefined) continue;
    const { image, results } = one;
    const folder = folderOf(output.path, stage, stages);
    await writeOverlay({ folder, fileName: picture.fileName, image, results, categories: stage.categories, minScore });
  }
}

export async function writeDocuments(run: DetectionRun, stages: readonly OpenStage[], output: Output): Promise<void> {
  if (output.kind === 'none') return;
  const files = stages.map((stage, index): NewFile => {
    const document = makeCocoDocument(imagesOf(run), { categories: stage.categories, results: resultsOf(run, index) });
    const path = output.kind === 'file' ? output.path : join(folderOf(output.path, stage, stages), 'detections.json');
    return { path, write: async file => void (await file.writeFile(`${JSON.stringify(document)}\n`)) };
  });
  await writeFiles(files);
}

/** The output folder of a stage. With several stages, each stage has its own folder. */
function folderOf(folder: string, { stage }: OpenStage, stages: readonly OpenStage[]): string {
  return stages.length === 1 ? folder : join(folder, stage);
}
