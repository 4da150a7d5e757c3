/** The project that `tanren try` builds: a drafted pipeline file, and the images that calibrate. */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { CodedError } from '../../../../base/coded-error.js';
import { isSystemCallError } from '../../../../base/system-error.js';
import { listImageFolder } from '../../../../detection/data/image-list.js';
import { findProjectFolder } from '../../../../engine/config/project-folder.js';
import { EngineError, messageOf } from '../../../../engine/model/engine-error.js';
import { draftPipeline } from '../init/draft-pipeline.js';
import { copyExamples, STAND_INS, schemaComment } from '../init/example-files.js';
import type { GivenSize } from '../init/image-size.js';
import { findPixelClasses, readFacts, type StatedInputs } from '../init/model-facts.js';

export interface TryProject {
  readonly file: string;
  readonly folder: string;
  readonly keep: 'yes' | 'no';
  readonly model: string;
  readonly what: string;
  /** The output with a score per class and pixel, if the network is not read as another. */
  readonly pixels: { readonly output: string; readonly layout: 'channels-first' | 'channels-last' } | undefined;
  /** Of the file. */
  readonly nodes: number;
  /** What is assumed of the inputs, or why an image does not give them. */
  readonly inputNotes: readonly string[];
  readonly presets: readonly string[];
  readonly imageFolder: string | undefined;
  readonly images: { readonly count: number; readonly are: 'own' | 'stand-ins' | 'none' };
}

export interface TryRequest {
  readonly model: string;
  readonly images: readonly string[];
  readonly file: string;
  readonly keep: 'yes' | 'no';
  /** For a model that leaves height and width free. */
  readonly size?: GivenSize | undefined;
  /** Values of inputs besides the image. */
  readonly inputs?: StatedInputs | undefined;
}

const PRESETS = ['xint8', 'a8w8', 'a16w8'] as const;
const MOST_SAMPLES = 16;

/**
 * Writes the pipeline file and the copies of images. Never overwrites a file.
 * @throws EngineError `file-exists`, `not-writable`, `image-size`; CodedError `pictures-missing`, `no-pictures`; OnnxError if the file is no model.
 */
export async function composeProject({ model, images, file, keep, size, inputs }: TryRequest): Promise<TryProject> {
  if (existsSync(file)) throw new EngineError('file-exists', `${file} exists already`, { help: 'name another file with --save' });
  const folder = findProjectFolder(resolve(file));
  const facts = await readFacts(model, { size, inputs });
  const place = (path: string): string => (keep === 'yes' ? relative(folder, resolve(path)).replaceAll('\\', '/') || '.' : resolve(path));
  const chosen = images.length === 0 ? undefined : await chooseImages(images, file, folder);
  const imageFolder = chosen?.folder ?? join(folder, STAND_INS);
  const write = async (): Promise<number> => {
    await mkdir(dirname(resolve(file)), { recursive: true });
    if (chosen === undefined) copyExamples([STAND_INS], folder);
    for (const copy of chosen?.copies ?? []) await copyOf(copy);
    return (await listImageFolder(imageFolder)).length;
  };
  try {
    const count = facts.image === undefined ? 0 : await write();
    const samples = Math.min(MOST_SAMPLES, count);
    const draft = draftPipeline({
      facts,
      model: place(model),
      images: chosen === undefined ? STAND_INS : place(imageFolder),
      imagesAre: chosen === undefined ? 'stand-ins' : 'own',
      kind: 'found',
      head: schemaComment(file, folder),
      presets: PRESETS,
      samples,
    });
    await mkdir(dirname(resolve(file)), { recursive: true });
    await writeFile(file, draft.text, { flag: 'wx' });
    const are = !draft.needsImages ? 'none' : chosen === undefined ? 'stand-ins' : 'own';
    return {
      file,
      folder,
      keep,
      model,
      what: draft.what,
      pixels: draft.what.startsWith('a segmentation network') ? findPixelClasses(facts) : undefined,
      nodes: facts.nodes,
      inputNotes: facts.inputNotes,
      presets: draft.needsImages ? PRESETS : [],
      imageFolder: draft.needsImages ? imageFolder : undefined,
      images: { count: samples, are },
    };
  } catch (error) {
    if (error instanceof CodedError || !isSystemCallError(error)) throw error;
    throw new EngineError('not-writable', `${file}: ${messageOf(error)}`, { cause: error });
  }
}

interface Copy {
  readonly from: string;
  readonly to: string;
}

/** One folder is taken where it is. Files are copied into a folder beside the pipeline file, so that it names one folder. */
async function chooseImages(paths: readonly string[], file: string, project: string): Promise<{ folder: string; copies: readonly Copy[] }> {
  const found = await Promise.all(paths.map(async path => ({ path, isFolder: await isFolder(path) })));
  const [first] = found;
  if (found.length === 1 && first?.isFolder === true) {
    if ((await listImageFolder(first.path)).length === 0) throw new CodedError('no-pictures', `the folder "${first.path}" has no images`);
    return { folder: resolve(first.path), copies: [] };
  }
  const folder = join(project, `${basename(file, extname(file))}-images`);
  const copies: Copy[] = [];
  const add = (from: string, name: string): void => {
    copies.push({ from, to: join(folder, `${String(copies.length + 1).padStart(4, '0')}-${basename(name)}`) });
  };
  for (const one of found) {
    if (one.isFolder) for (const { fileName } of await listImageFolder(one.path)) add(join(one.path, fileName), fileName);
    else add(one.path, one.path);
  }
  if (copies.length === 0) throw new CodedError('no-pictures', 'the folders have no images');
  return { folder, copies: copies.slice(0, MOST_SAMPLES) };
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw new CodedError('pictures-missing', `"${path}" cannot be read: ${messageOf(error)}`, {
      help: 'name images or a folder of images',
    });
  }
}

async function copyOf({ from, to }: Copy): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}
