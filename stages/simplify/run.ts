/** Runs `simplify`: applies passes until nothing changes, then checks on samples that outputs are equal. */
import type { JsonObject } from '../../src/base/json.js';
import { countOf } from '../../src/base/text/count-of.js';
import { findClosest } from '../../src/base/text/did-you-mean.js';
import { findSigmoidOutputs } from '../../src/onnx/analysis/sigmoid-outputs.js';
import { assertModel, findProblems } from '../../src/onnx/check/check-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { scopesOf } from '../../src/onnx/ir/scope.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { SIMPLIFY_PASSES, type Simplified, simplifyToFixedPoint } from '../../src/onnx/passes/simplify.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { hasLoops } from '../../src/onnx/surgery/bound-loops.js';
import { listEmpty } from '../../src/runtime/compare/equality.js';
import { proveEqual } from '../../src/runtime/compare/prove-equal.js';
import { describeBatch, explainRandomFailure, fitFreeSizes, openProofFeeds, type ProofFeeds } from '../../src/runtime/feeds/proof-feeds.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { SimplifyParams } from './params.js';
import { assertProved, type Proof } from './proof.js';

export async function runSimplify({ params, inputs, outputs, context }: StageJob<SimplifyParams>): Promise<void> {
  assertPassNames(params.skip);
  const source = getInputPath(inputs, 'model');
  const model = await readInput(inputs, 'model', readModel);
  sortTopologically(model.graph);
  assertModel(model, 'the input');
  const before = countNodes(model);
  const loops = hasLoops(model) ? 'some' : 'none';
  const simplified = await simplifyToFixedPoint(model, { ...params, evaluate, check: findProblems });
  await writeModel(getOutputPath(outputs, 'model'), model);
  const proof = await prove(source, getOutputPath(outputs, 'model'), model, {
    simplified,
    loops,
    params,
    context,
    tensors: inputs.tensors === undefined ? undefined : getInputPath(inputs, 'tensors'),
  });
  const after = countNodes(model);
  const empty = listEmpty(proof.outputs);
  if (empty.length > 0)
    context.log('warning', `not compared, because they are empty in every sample: ${empty.join(', ')}; connect \`tensors\``);
  context.log('info', `${countOf(before.nodes, 'node')} became ${after.nodes} in ${countOf(simplified.rounds - 1, 'round')}`);
  await writeJsonFile(getOutputPath(outputs, 'report'), {
    before,
    after,
    rounds: simplified.rounds,
    steps: simplified.steps.map(step => ({ ...step, changed: [...step.changed] })),
    declined: simplified.declined.map(entry => ({ ...entry })),
    proof: encodeProof(proof),
  });
  assertProved(proof);
}

function encodeProof({ class: kind, samples, tolerance, sigmoids, spread, boundedLoops, outputs }: Proof): JsonObject {
  return {
    class: kind,
    samples,
    tolerance,
    sigmoids: [...sigmoids],
    spread: { ...spread },
    boundedLoops,
    outputs: Object.fromEntries(Object.entries(outputs).map(([name, figures]) => [name, { ...figures }])),
  };
}

function assertPassNames(names: readonly string[]): void {
  const known = SIMPLIFY_PASSES.map(pass => pass.name);
  const unknown = names.find(name => !known.includes(name));
  if (unknown === undefined) return;
  const closest = findClosest(unknown, known);
  throw new StageError('unknown-pass', `simplify has no pass "${unknown}"`, {
    help: `choose one of ${known.join(', ')}${closest === undefined ? '' : `; did you mean "${closest}"?`}`,
  });
}

/** Node counts: of the main graph, of sub-graphs, and per operator of the main graph in alphabetical order. */
function countNodes(model: Model): { nodes: number; nodesInside: number; initializers: number; operators: Record<string, number> } {
  const [{ nodes, values } = model.graph, ...inner] = [...scopesOf(model)].map(({ graph }) => graph);
  const counts = new Map<string, number>();
  for (const node of nodes.values()) counts.set(node.opType, (counts.get(node.opType) ?? 0) + 1);
  const operators = Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  const initializers = [...values.values()].filter(value => value.constant !== undefined).length;
  const nodesInside = inner.reduce((sum, graph) => sum + graph.nodes.size, 0);
  return { nodes: nodes.size, nodesInside, initializers, operators };
}

interface Proving {
  readonly simplified: Simplified;
  /** Of the model before. */
  readonly loops: 'some' | 'none';
  readonly params: SimplifyParams;
  readonly context: Context;
  readonly tensors: string | undefined;
}

const NO_PROOF = 'connect valid inputs as `tensors`, or skip the check with `samples: 0`';

async function prove(
  before: string,
  after: string,
  model: Model,
  { simplified, loops, params, context, tensors }: Proving,
): Promise<Proof> {
  const kind = simplified.steps.some(step => step.proof !== 'exact') ? 'rounding' : 'exact';
  const { samples: count, sizes, freeSize, tolerance } = params;
  const given: ProofFeeds = { samples: count, tensors, random: sample => context.random(`sample ${sample}`), sizes, freeSize };
  const feeds = loops === 'some' ? given : await fitFreeSizes(model, before, given);
  const note = describeBatch(feeds);
  if (note !== undefined) context.log('info', note);
  const sigmoids = findSigmoidOutputs(model);
  const openFeeds = (): AsyncIterable<NamedTensors> => withProgress(openProofFeeds(model, feeds), count, context);
  const proof = await explainRandomFailure(feeds, NO_PROOF, () =>
    proveEqual({ before, after, openFeeds, wanted: { kind, tolerance }, sigmoids, loops }),
  );
  return { class: kind, tolerance, sigmoids: [...sigmoids], ...proof };
}

async function* withProgress<T>(feeds: AsyncIterable<T>, count: number, context: Context): AsyncGenerator<T> {
  let sample = 0;
  for await (const feed of feeds) {
    context.progress(sample++, count, 'samples');
    yield feed;
  }
}
