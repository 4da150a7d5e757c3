/** Conformance of simplify on the ONNX operator tests. Oracle: ONNX Runtime before and after. */
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Model } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { openSession } from '../../../src/runtime/session/session.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { findPassingTests, readRecordedTensors } from '../../support/backend-tests.js';
import { listProblems } from '../../support/look-at-model.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();

/** Where sums may be taken in another order: of the output's largest value. */
const TOLERANCE = 1e-4;

const EXACT = new Set(SIMPLIFY_PASSES.filter(pass => pass.proof === 'exact').map(pass => pass.name));

async function simplify(model: Model): Promise<readonly string[]> {
  sortTopologically(model.graph);
  const { steps } = await simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20 });
  return [...new Set(steps.map(step => step.pass))];
}

async function run(bytes: Uint8Array, inputs: readonly Tensor[]): Promise<Readonly<Record<string, Tensor>>> {
  const session = await openSession(bytes, { optimization: 'disabled' });
  try {
    return await session.run(Object.fromEntries(session.inputNames.map((name, index) => [name, inputs[index] as Tensor])));
  } finally {
    await session.close();
  }
}

function differs(before: Tensor, after: Tensor | undefined, exact: boolean): boolean {
  if (after === undefined || before.dtype !== after.dtype || before.dims.join() !== after.dims.join()) return true;
  const [a, b] = [Array.from(before.data as ArrayLike<unknown>), Array.from(after.data as ArrayLike<unknown>)];
  const largest = a.reduce<number>(
    (most, value) => (typeof value === 'number' && Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most),
    0,
  );
  return a.some((value, index) => {
    const other = b[index];
    if (Object.is(value, other)) return false;
    return exact || typeof value !== 'number' || typeof other !== 'number' || !(Math.abs(value - other) <= TOLERANCE * largest);
  });
}

(shared === undefined ? describe.skip : describe)('simplify on the operators’ own tests', () => {
  it('changes no output, and nothing when it runs again', async () => {
    const tests = findPassingTests();
    const wrong: string[] = [];
    let changed = 0;
    let notRun = 0;
    for (const path of tests) {
      const test = basename(dirname(path));
      const bytes = new Uint8Array(readFileSync(path));
      const model = decodeModel(bytes);
      const inputs = readRecordedTensors(path, 'input').filter(tensor => tensor !== undefined);
      const passes = await simplify(model);
      const simplified = encodeModel(model);
      const again = decodeModel(simplified);
      if ((await simplify(again)).length > 0 || Buffer.compare(encodeModel(again), simplified) !== 0)
        wrong.push(`${test}: not done after once`);
      if (passes.length === 0 || inputs.length < readRecordedTensors(path, 'input').length) continue;
      changed++;
      const before = await run(bytes, inputs).catch(() => undefined);
      // With its optimisation off ONNX Runtime has fewer kernels: what it cannot run so is not compared.
      if (before === undefined) {
        notRun++;
        continue;
      }
      const after = await run(simplified, inputs).catch((error: unknown) => String(error));
      if (typeof after === 'string') {
        wrong.push(`${test}: ${after}, by ${passes.join(', ')}`);
        continue;
      }
      const exact = passes.every(pass => EXACT.has(pass));
      for (const [name, tensor] of Object.entries(before))
        if (differs(tensor, after[name], exact)) wrong.push(`${test}: ${name} by ${passes.join(', ')}`);
    }
    expect(wrong).toEqual([]);
    expect(notRun).toBeLessThan(10);
    expect(tests.length).toBeGreaterThan(1500);
    expect(changed).toBeGreaterThan(300);
  }, 300_000);
});
