/** Does simplify keep what every operator computes? Oracle: ONNX Runtime on the operators' own tests and inputs, before and after. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { decodeMessage } from '../../../src/onnx/proto/decode-message.js';
import { WHOLE_SCHEMA } from '../../../src/onnx/proto/schema.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { decodeTensorProto } from '../../../src/onnx/serde/tensor-proto.js';
import { evaluate } from '../../../src/runtime/evaluate.js';
import { openSession } from '../../../src/runtime/session.js';
import { decodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { listProblems } from '../../support/small-model.js';

const shared = findSharedFolder();
const root = join(shared ?? '', 'conformance/onnx');

/** Of the inputs, at least as many bytes as a sum in another order rounds: 1e-4 of the output's largest value. */
const TOLERANCE = 1e-4;

/** Their Range reads vectors of one element, which the specification forbids; ONNX Runtime's inference sees it when the branches that make them are no longer closed to it. */
const UNSOUND = ['node/test_affine_grid_2d_expanded', 'node/test_affine_grid_2d_align_corners_expanded'];

const EXACT = new Set(SIMPLIFY_PASSES.filter(pass => pass.proof === 'exact').map(pass => pass.name));

async function simplify(model: Model): Promise<readonly string[]> {
  sortTopologically(model.graph);
  const { steps } = await simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20 });
  return [...new Set(steps.map(step => step.pass))];
}

/** The recorded inputs, in order; undefined where one is no tensor. */
function readInputs(test: string): readonly Tensor[] | undefined {
  const folder = join(root, test, 'test_data_set_0');
  const files = existsSync(folder) ? readdirSync(folder).filter(file => file.startsWith('input_')) : [];
  try {
    return files.map((_, index) => {
      const bytes = new Uint8Array(readFileSync(join(folder, `input_${index}.pb`)));
      const constant = decodeTensorProto(decodeMessage(WHOLE_SCHEMA, 'TensorProto', bytes), undefined);
      return 'data' in constant ? constant : decodeRawTensor(constant);
    });
  } catch {
    return undefined;
  }
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
    const status = JSON.parse(readFileSync(join(root, 'ort-1.30-status.json'), 'utf8')) as Record<string, { readonly ort: string }>;
    const tests = Object.keys(status).filter(test => status[test]?.ort === 'pass' && existsSync(join(root, test, 'model.onnx')));
    const wrong: string[] = [];
    let changed = 0;
    let notRun = 0;
    for (const test of tests) {
      const bytes = new Uint8Array(readFileSync(join(root, test, 'model.onnx')));
      const [inputs, model] = [readInputs(test), decodeModel(bytes)];
      const passes = await simplify(model);
      const simplified = encodeModel(model);
      const again = decodeModel(simplified);
      if ((await simplify(again)).length > 0 || Buffer.compare(encodeModel(again), simplified) !== 0)
        wrong.push(`${test}: not done after once`);
      if (passes.length === 0 || inputs === undefined || UNSOUND.includes(test)) continue;
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
