/** Heights and widths of images at which a model with free sizes runs: candidates from its constants, tried in ONNX Runtime. */

import { listConstants } from '../../onnx/analysis/model-stats.js';
import { findInts } from '../../onnx/ir/attribute.js';
import type { Model } from '../../onnx/ir/model.js';
import { RuntimeError } from '../session/runtime-error.js';
import { openSession, type Session } from '../session/session.js';
import { type ImageSides, makeRandomFeeds } from './random-feeds.js';

/** Sides that networks are published with, the usual ones first. */
const USUAL_SIDES = [
  224, 640, 256, 384, 320, 416, 512, 192, 160, 128, 96, 64, 32, 28, 240, 288, 299, 300, 331, 336, 448, 518, 550, 600, 608, 768, 800, 1024,
];
/** Tokens besides those of patches: class, distillation and register tokens. */
const MOST_OTHER_TOKENS = 5;
const PATCH_SIDES = [4, 64] as const;
/** Side of the largest image that position embeddings suggest: larger ones take gigabytes to try. */
const MOST_EMBEDDED_SIDE = 1536;

/** The sizes at which it does not run, and why not at the first. */
export interface NoImageSize {
  readonly tried: readonly ImageSides[];
  readonly reason: string;
}

/** A size at which the model runs, and the dims of its outputs there, for a batch of 1. */
export interface ImageSize {
  readonly size: ImageSides;
  readonly outputs: ReadonlyMap<string, readonly number[]>;
}

export type FoundImageSize = ({ readonly kind: 'found' } & ImageSize) | ({ readonly kind: 'none' } & NoImageSize);

/**
 * The first size at which `source` runs: those of `first`, then squares: those that position embeddings of `model` give, then usual ones.
 * @param source the same model as a file or bytes, with free heights and widths.
 * @throws RuntimeError `model-load`, `random-input`.
 */
export async function findImageSize(
  model: Model,
  source: string | Uint8Array,
  { first, others }: { readonly first: readonly ImageSides[]; readonly others: 'squares' | 'none' },
): Promise<FoundImageSize> {
  const session = await openSession(source, { optimization: 'disabled', memoryArena: 'none' });
  try {
    const tried: ImageSides[] = [];
    let reason = '';
    for (const image of withoutRepeated([...first, ...(others === 'none' ? [] : listSquares(model))])) {
      const ran = await runOn(session, model, image);
      if (typeof ran !== 'string') return { kind: 'found', size: image, outputs: ran };
      tried.push(image);
      if (reason === '') reason = ran;
    }
    return { kind: 'none', tried, reason };
  } finally {
    await session.close();
  }
}

/** @returns the dims of the outputs, or why the model does not run on an image of this size. */
async function runOn(session: Session, model: Model, image: ImageSides): Promise<ImageSize['outputs'] | string> {
  try {
    const outputs = await session.run(makeRandomFeeds(model, { random: () => 0.5, sizes: {}, freeSize: 1, image }));
    return new Map(Object.entries(outputs).map(([name, { dims }]) => [name, dims]));
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'model-run') return error.message;
    throw error;
  }
}

/** Squares: another form does not follow from constants alone. */
function listSquares(model: Model): readonly ImageSides[] {
  return [...listEmbeddedSides(model), ...USUAL_SIDES].map(side => [side, side] as const);
}

/** Sides whose patches are as many as a constant [1, tokens, channels] or [tokens, channels] has tokens: grid² patches and a few others. */
function listEmbeddedSides(model: Model): readonly number[] {
  const strides = listPatchSides(model);
  const grids = [...listConstants(model.graph)].flatMap(({ dims }) => {
    const tokens = dims.length === 2 ? dims[0] : dims.length === 3 && dims[0] === 1 ? dims[1] : undefined;
    if (tokens === undefined) return [];
    const grid = Math.floor(Math.sqrt(tokens));
    return grid >= 4 && tokens - grid * grid <= MOST_OTHER_TOKENS ? [grid] : [];
  });
  return [...new Set(grids)].flatMap(grid => strides.map(stride => grid * stride)).filter(side => side <= MOST_EMBEDDED_SIDE);
}

/** Sides of the patches that a convolution without overlap cuts an image into. */
function listPatchSides({ graph }: Model): readonly number[] {
  const sides = [...graph.nodes.values()].flatMap(node => {
    if (node.opType !== 'Conv') return [];
    const [height, width] = findInts(node, 'strides') ?? [];
    if (height === undefined || height !== width || height < PATCH_SIDES[0] || height > PATCH_SIDES[1]) return [];
    const [, weight] = node.inputs;
    const kernel = findInts(node, 'kernel_shape') ?? (weight === undefined ? undefined : graph.values.get(weight)?.constant?.dims.slice(2));
    return kernel?.join() === `${height},${width}` ? [height] : [];
  });
  return [...new Set(sides)];
}

function withoutRepeated(sizes: readonly ImageSides[]): readonly ImageSides[] {
  return sizes.filter(([height, width], index) => sizes.findIndex(other => other[0] === height && other[1] === width) === index);
}
