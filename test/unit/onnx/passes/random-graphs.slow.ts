/** Property tests of simplify and the rewrite rules on random graphs, which ONNX Runtime runs before and after. Counterexamples are shrunk and printed with their seed. */
import * as fc from 'fast-check';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { REWRITE_RULES } from '../../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { listProblems, runModel } from '../../../support/look-at-model.js';
import { buildGraph, INPUT_DIMS, instructions } from '../../../support/random-graph.js';
import { randomFloats } from '../../../support/small-model.js';

const SIMPLIFY_RUNS = 400;
const RULE_RUNS = 25;

/** The same graphs in every run, unless others are asked for: RANDOM_GRAPHS_SEED=7 npm run test:slow. */
const SEED = Number(process.env.RANDOM_GRAPHS_SEED ?? 207793824);

/** Every way through the free condition and count. */
const FEEDS: readonly Readonly<Record<string, Tensor>>[] = [0, 1].map(choice => ({
  x: randomFloats([...INPUT_DIMS], 3 + choice),
  condition: makeTensor('bool', [], Uint8Array.of(choice)),
  count: makeTensor('int64', [], BigInt64Array.of(BigInt(2 * choice))),
}));

async function run(model: Model): Promise<readonly Readonly<Record<string, Tensor>>[]> {
  const results = [];
  for (const feeds of FEEDS) results.push(await runModel(model, feeds));
  return results;
}

/** The largest difference as a share of the output's largest magnitude, at least 1; NaN against a number counts as infinite. */
function worstOf(before: Tensor, after: Tensor | undefined): number {
  const [a, b] = [before.data as Float32Array, after?.data as Float32Array];
  if (after === undefined || before.dims.join() !== after.dims.join()) return Number.POSITIVE_INFINITY;
  let [worst, largest] = [0, 1];
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? Number.NaN;
    if (Object.is(value, other) || value === other) continue;
    const difference = Math.abs(value - other);
    worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
    if (Number.isFinite(value)) largest = Math.max(largest, Math.abs(value));
  }
  return worst / largest;
}

/** Sums of at most 300 float32 products, in chains of twelve layers whose weights are below 1: far below. A quantizer may turn one rounding into a step of 1/16. */
const toleranceOf = (model: Model, proof: 'exact' | 'rounding'): number => (proof === 'exact' ? 0 : hasQuantizer(model) ? 1 : 1e-4);

const hasQuantizer = (model: Model): boolean => Buffer.from(encodeModel(model)).includes('QuantizeLinear');

const simplify = (model: Model) => simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20 });

describe('random graphs', () => {
  it('compute the same when simplified, are valid, and do not change a second time', async () => {
    await fc.assert(
      fc.asyncProperty(instructions, async list => {
        const model = buildGraph(list);
        const before = await run(model);
        const { steps } = await simplify(model);
        expect(listProblems(model)).toEqual([]);
        const proof = steps.some(step => step.proof !== 'exact') ? 'rounding' : 'exact';
        const after = await run(model);
        for (const [index, outputs] of before.entries())
          for (const [name, tensor] of Object.entries(outputs))
            expect(worstOf(tensor, after[index]?.[name])).toBeLessThanOrEqual(toleranceOf(buildGraph(list), proof));
        const bytes = encodeModel(model);
        const again = decodeModel(bytes);
        expect((await simplify(again)).steps).toEqual([]);
        expect(Buffer.compare(encodeModel(again), bytes)).toBe(0);
      }),
      { numRuns: SIMPLIFY_RUNS, seed: SEED },
    );
  }, 600_000);

  const named = REWRITE_RULES.flatMap(({ name, forms }) => forms.map(({ form }) => (form === undefined ? name : `${name}/${form}`)));
  it.each(named)('%s satisfies its proof class, and changes nothing a second time', async rule => {
    const [name = '', form] = rule.split('/');
    const wanted = getRule(name, form);
    const apply = (model: Model) => rewriteModel(model, { rules: [{ rule: wanted, matches: 'any' }], edits: [], check: listProblems });
    await fc.assert(
      fc.asyncProperty(instructions, async list => {
        const model = buildGraph(list);
        const [record] = apply(model).rules;
        expect(listProblems(model)).toEqual([]);
        if (record === undefined || record.applied.length === 0) return;
        if (wanted.proof !== 'approximate' && record.applied.every(({ host }) => host === undefined)) {
          const after = await run(model);
          const before = await run(buildGraph(list));
          for (const [index, outputs] of before.entries())
            for (const [output, tensor] of Object.entries(outputs))
              expect(worstOf(tensor, after[index]?.[output])).toBeLessThanOrEqual(
                toleranceOf(model, wanted.proof === 'exact' ? 'exact' : 'rounding'),
              );
        }
        expect(apply(model).rules[0]?.applied ?? []).toEqual([]);
      }),
      { numRuns: RULE_RUNS, seed: SEED },
    );
  });
});
