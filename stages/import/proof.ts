/** Compares an imported model with the original on random inputs: bit for bit, or within a tolerance if operators were converted or weights of products folded. */
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { ImportedModel } from '../../src/onnx/import-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { hasLoops } from '../../src/onnx/surgery/bound-loops.js';
import type { Equality } from '../../src/runtime/compare/equality.js';
import { type EqualityProof, proveEqual } from '../../src/runtime/compare/prove-equal.js';
import { makeRandomFeeds } from '../../src/runtime/feeds/random-feeds.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import { openSession } from '../../src/runtime/session/session.js';
import type { Context } from '../../src/stage/context.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { Tensor } from '../../src/tensor/tensor.js';
import type { ImportParams } from './params.js';

export interface ImportProof extends EqualityProof {
  readonly wanted: Equality;
  /** Why nothing was compared. */
  readonly reason?: string;
  /** ONNX Runtime's message, if the original model cannot run. */
  readonly failed?: string;
}

/** What is to be proved, without the weights of any model: they are in files, so that only ONNX Runtime has them in memory. */
export interface ImportClaim {
  readonly wanted: Equality;
  /** The unchanged graph. */
  readonly before: string;
  /** 'widened': the unchanged graph computes in float32 what the file computes in float16. */
  readonly original: 'file' | 'widened';
  readonly feeds: readonly Feeds[];
  readonly loops: 'some' | 'none';
}

/** Writes the unchanged graph into the scratch folder. Nothing is written for `samples: 0`. @throws OnnxError; RuntimeError `random-input`. */
export async function claimImport(imported: ImportedModel, params: ImportParams, context: Context): Promise<ImportClaim> {
  const isExact = imported.conversion.steps.length === 0 && imported.steps.every(step => step.proof === 'exact');
  const wanted: Equality = isExact ? { kind: 'exact' } : { kind: 'rounding', tolerance: params.tolerance };
  const before = join(context.scratch, 'original.onnx');
  const loops = hasLoops(imported.unchanged) ? 'some' : 'none';
  const original = imported.widened > 0 ? 'widened' : 'file';
  if (params.samples === 0) return { wanted, before, original, feeds: [], loops };
  const feeds = [...feedsOf(imported.model, params.samples, context)];
  // ONNX Runtime maps weights outside of the model into memory, and its copy of the file is not needed.
  await writeModel(before, imported.unchanged, { externalData: { file: 'original.onnx.data', thresholdBytes: OUTSIDE_BYTES } });
  return { wanted, before, original, feeds, loops };
}

/** Smaller constants, such as shapes, have to be in the model. */
const OUTSIDE_BYTES = 4096;

/** The size of dimensions that stay free, in the samples. */
const FREE_SIZE = 3;

/**
 * Compares the file at `path` with the unchanged graph. If ONNX Runtime cannot run the unchanged graph, nothing is compared,
 * and the reason is returned and logged as a warning.
 */
export async function proveImport(claim: ImportClaim, path: string, context: Pick<Context, 'log'>): Promise<ImportProof> {
  const { wanted, before, feeds, loops } = claim;
  if (feeds.length === 0) return { wanted, samples: 0, reason: 'samples is 0', ...NOTHING_COMPARED };
  try {
    const equality = { before, after: path, openFeeds: () => feeds, wanted, sigmoids: NO_SIGMOIDS, loops, sessions: 'in turn' } as const;
    return { wanted, ...(await proveEqual(equality)) };
  } catch (error) {
    // A loop may never end without the limits of the proof.
    const reason = loops === 'some' ? undefined : await findWhyNotRun(before, feeds);
    if (reason === undefined) throw error;
    context.log('warning', `equality was not checked: the original model cannot run: ${reason}`);
    return { wanted, samples: 0, reason: `the original model cannot run: ${reason}`, failed: reason, ...NOTHING_COMPARED };
  }
}

const NO_SIGMOIDS: ReadonlySet<string> = new Set();
const NOTHING_COMPARED = { outputs: {}, spread: {}, boundedLoops: 0, unequal: undefined } as const;
const SESSION = { optimization: 'disabled' } as const;

type Feeds = Readonly<Record<string, Tensor>>;

async function findWhyNotRun(model: string, feeds: Iterable<Feeds>): Promise<string | undefined> {
  try {
    const session = await openSession(model, SESSION);
    try {
      for (const feed of feeds) await session.run(feed);
    } finally {
      await session.close();
    }
    return undefined;
  } catch (error) {
    if (error instanceof RuntimeError && (error.code === 'model-load' || error.code === 'model-run')) return error.message;
    throw error;
  }
}

function* feedsOf(model: Model, samples: number, context: Context): Generator<Feeds> {
  for (let sample = 0; sample < samples; sample++) {
    context.progress(sample, samples, 'samples');
    yield makeRandomFeeds(model, { random: context.random(`sample ${sample}`), sizes: {}, freeSize: FREE_SIZE });
  }
}

/** @throws StageError `import-not-equal` naming the first output that differs, with figures. */
export function assertProved({ outputs, unequal }: ImportProof): void {
  if (unequal === undefined) return;
  const { maxAbs, sqnrDb, standardDeviation } = getDefined(outputs[unequal.output], `figures of ${unequal.output}`);
  throw new StageError('import-not-equal', `output "${unequal.output}" of the imported model differs: ${unequal.reason}`, {
    help: 'set `opset` to the operator set of the model to find out whether conversion is the cause, and report the problem',
    details: { output: unequal.output, maxAbs, sqnrDb, standardDeviation },
  });
}
