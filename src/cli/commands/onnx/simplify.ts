/** `tanren onnx simplify IN OUT`: removes nodes without changing what the model computes. Equality is checked on samples before anything is written. */

import { mkdtemp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { countOf } from '../../../base/text/count-of.js';
import { findClosest } from '../../../base/text/did-you-mean.js';
import { findSigmoidOutputs } from '../../../onnx/analysis/sigmoid-outputs.js';
import { assertModel, findProblems } from '../../../onnx/check/check-model.js';
import type { Model } from '../../../onnx/ir/model.js';
import { OnnxError } from '../../../onnx/ir/onnx-error.js';
import { SIMPLIFY_PASSES, type Simplified, simplifyToFixedPoint } from '../../../onnx/passes/simplify.js';
import { encodeModel } from '../../../onnx/serde/encode-model.js';
import { writeModel } from '../../../onnx/serde/model-file.js';
import { hasLoops } from '../../../onnx/surgery/bound-loops.js';
import { pinShapes } from '../../../onnx/surgery/pin-shapes.js';
import type { OutputComparison } from '../../../runtime/compare/compare-models.js';
import { listEmpty } from '../../../runtime/compare/equality.js';
import { type EqualityClaim, proveEqual } from '../../../runtime/compare/prove-equal.js';
import { describeBatch, explainRandomFailure, fitFreeSizes, openProofFeeds } from '../../../runtime/feeds/proof-feeds.js';
import { evaluate } from '../../../runtime/session/evaluate.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type OnnxOptions, placeWeights, readSound, runOnnx, type Weights, writeResult } from './command.js';
import { feedsOf, NO_RANDOM } from './feeds.js';
import { type PinOptions, pinsOf } from './pins.js';

export interface SimplifyOptions extends OnnxOptions, PinOptions {
  readonly skip: readonly string[];
  readonly foldLimit: number;
  /** The number of inputs on which equality is checked; 0: none. */
  readonly samples: number;
  /** A .npz or .npy file, or a folder of tensors; random tensors if absent. */
  readonly data?: string;
  readonly tolerance: number;
  readonly weights: Weights;
}

export function runOnnxSimplify(from: string, to: string, options: SimplifyOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    assertPassNames(options.skip);
    const model = await readSound(from);
    assertModel(model, basename(from));
    const before = model.graph.nodes.size;
    const loops = hasLoops(model) ? 'some' : 'none';
    pinShapes(model, pinsOf(options, [model]));
    const simplified = await simplifyToFixedPoint(model, {
      evaluate,
      foldLimitBytes: options.foldLimit,
      skip: options.skip,
      check: findProblems,
    });
    const proof = await prove(from, to, model, { ...simplified, loops }, options);
    if (proof.unequal === undefined) await writeResult(to, model, options.weights);
    const passes = countPasses(simplified);
    if (options.json) {
      console.json({ file: basename(to), nodes: { before, after: model.graph.nodes.size }, passes, declined: simplified.declined, proof });
    } else if (proof.unequal === undefined) {
      for (const [pass, count] of Object.entries(passes)) console.line(`${String(count).padStart(6)}  ${pass}`);
      const proved = proof.samples === 0 ? 'not checked' : `outputs equal on ${countOf(proof.samples, 'sample')} (${proof.class})`;
      console.line(`${basename(to)}: ${countOf(before, 'node')} became ${model.graph.nodes.size}; ${proved}`);
      if (proof.note !== undefined) console.line(proof.note);
      const empty = listEmpty(proof.outputs);
      if (empty.length > 0) console.line(`not compared, because empty on every sample: ${empty.join(', ')}; ${NO_RANDOM}`);
    }
    if (proof.unequal === undefined) return EXIT.built;
    console.problem(
      'error',
      `error[simplify-not-equal]: ${proof.unequal}\n  help: leave out the faulty pass with --skip, and report it; nothing was written`,
    );
    return EXIT.failed;
  });
}

function assertPassNames(names: readonly string[]): void {
  const known = SIMPLIFY_PASSES.map(({ name }) => name);
  const unknown = names.find(name => !known.includes(name));
  if (unknown === undefined) return;
  const closest = findClosest(unknown, known);
  throw new OnnxError('unknown-pass', `simplify has no pass "${unknown}"`, {
    help: `known passes: ${known.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}

function countPasses({ steps }: Simplified): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { pass, changed } of steps) counts.set(pass, (counts.get(pass) ?? 0) + changed.length);
  return Object.fromEntries(counts);
}

interface Proof {
  readonly class: 'exact' | 'rounding';
  readonly samples: number;
  readonly outputs: Readonly<Record<string, OutputComparison>>;
  /** The output that is not equal, and by how much. */
  readonly unequal: string | undefined;
  /** That inputs differ from those asked for. */
  readonly note?: string;
}

async function prove(
  from: string,
  to: string,
  model: Model,
  { steps, loops }: Simplified & Pick<EqualityClaim, 'loops'>,
  options: SimplifyOptions,
): Promise<Proof> {
  const kind = steps.some(step => step.proof !== 'exact') ? 'rounding' : 'exact';
  if (options.samples === 0) return { class: kind, samples: 0, outputs: {}, unequal: undefined };
  const given = feedsOf(options);
  const feeds = loops === 'some' ? given : await fitFreeSizes(model, from, given);
  const note = describeBatch(feeds);
  const claim = {
    before: from,
    openFeeds: () => openProofFeeds(model, feeds),
    wanted: { kind, tolerance: options.tolerance },
    sigmoids: findSigmoidOutputs(model),
    loops,
  } as const;
  const { samples, outputs, unequal } = await withWritten(to, model, options.weights, after =>
    explainRandomFailure(feeds, `${NO_RANDOM}, or skip the check with --samples 0`, () => proveEqual({ ...claim, after })),
  );
  const message = unequal === undefined ? undefined : `the simplified model computes a different "${unequal.output}": ${unequal.reason}`;
  return { class: kind, samples, outputs, unequal: message, ...(note === undefined ? {} : { note }) };
}

/** Passes the model to a session: as bytes, or in a temporary folder if its weights are external data. */
async function withWritten<T>(to: string, model: Model, weights: Weights, use: (model: string | Uint8Array) => Promise<T>): Promise<T> {
  const placement = placeWeights(to, model, weights);
  if (placement.externalData === undefined) return use(encodeModel(model));
  const folder = await mkdtemp(join(dirname(to), '.tanren-'));
  try {
    const path = join(folder, basename(to));
    await writeModel(path, model, placement);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
