/** Conformance of the model checker with that of onnx, on recorded models and on variants with one error each. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isCodedError } from '../../../src/base/coded-error.js';
import { checkModel } from '../../../src/onnx/check/check-model.js';
import { listUnchecked } from '../../../src/onnx/check/operators.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { decodeModel } from '../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { inferShapes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { findRecordedModels, listMutated } from '../../support/backend-tests.js';
import { MUTATIONS } from '../../support/model-mutants.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const suite = findSharedFolder() === undefined ? describe.skip : describe;
const FIXTURES = resolve(import.meta.dirname, '../../../../test/fixtures/onnx-check');

interface Recorded {
  readonly mutations: readonly string[];
  /** By test: a letter per mutation, as record.py says. */
  readonly verdicts: Readonly<Record<string, string>>;
}

const read = (path: string): Model => decodeModel(new Uint8Array(readFileSync(path)));

/** What `tanren onnx check` finds: problems, or else the first contradiction of shapes. */
function codesOf(model: Model): readonly string[] {
  const problems = checkModel(model).map(({ code }) => code);
  if (problems.length > 0) return problems;
  try {
    sortTopologically(model.graph);
    inferShapes(model);
    return [];
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [error.code];
  }
}

suite('the checker', () => {
  const recorded = (): Recorded => JSON.parse(readFileSync(join(FIXTURES, 'verdicts.json'), 'utf8')) as Recorded;

  it('takes every recorded model, finds no contradiction of shapes, and knows all operators', () => {
    const all = findRecordedModels('conformance', 'models', 'shapes');
    const wrong = all.flatMap(path => {
      const model = read(path);
      const problems = checkModel(model).map(({ message }) => message);
      return [...problems, ...codesOf(model), ...listUnchecked(model).map(({ reason }) => reason)].map(what => `${path}: ${what}`);
    });

    expect(all.length).toBeGreaterThan(2300);
    expect(wrong).toEqual([]);
  });

  it('has the mutations of the recording', () => {
    expect(MUTATIONS.map(({ name }) => name)).toEqual(recorded().mutations);
    expect(listMutated().map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(recorded().verdicts)));
  });

  /** "Refused" and "taken" are onnx's words; "inferred" is what it refuses only when it infers shapes and types. */
  it.each(MUTATIONS.map((mutation, index) => [mutation.name, mutation, index] as const))('%s: as onnx’s checker says', (_, {
    codes,
    change,
  }, index) => {
    const { verdicts } = recorded();
    const counts = { refused: 0, taken: 0, inferred: 0, missed: 0 };
    const wrong: string[] = [];
    for (const { name, path } of listMutated()) {
      const verdict = verdicts[name]?.[index] ?? '-';
      const model = read(path);
      if (change(model) === 'nothing') continue;
      const found = codesOf(decodeModel(encodeModel(model)));
      const isRight = found.some(code => codes.includes(code));
      if (verdict === 'p' && !isRight) wrong.push(`${name} is refused by onnx, here ${found.join(', ') || 'taken'}`);
      if (verdict === 'o' && checkModel(model).length > 0) wrong.push(`${name} is taken by onnx, here ${found.join(', ')}`);
      if (verdict === 'f' && found.length === 0) counts.missed++;
      if (verdict !== '-') counts[({ p: 'refused', o: 'taken', f: 'inferred' } as const)[verdict as 'p' | 'o' | 'f']]++;
    }

    expect(wrong).toEqual([]);
    expect(counts).toEqual(COUNTS[index]);
  });
});

/** In the order of the mutations. `missed`: of what onnx's inference refuses; shapes that ours does not infer, and rules of single operators. */
const COUNTS = [
  { refused: 641, taken: 0, inferred: 0, missed: 0 },
  { refused: 487, taken: 91, inferred: 58, missed: 10 },
  { refused: 614, taken: 2, inferred: 20, missed: 20 },
  { refused: 548, taken: 52, inferred: 36, missed: 11 },
  { refused: 641, taken: 0, inferred: 0, missed: 0 },
  { refused: 395, taken: 34, inferred: 12, missed: 1 },
  { refused: 74, taken: 235, inferred: 132, missed: 11 },
  { refused: 0, taken: 95, inferred: 548, missed: 6 },
  { refused: 0, taken: 0, inferred: 643, missed: 2 },
  { refused: 645, taken: 0, inferred: 0, missed: 0 },
  { refused: 636, taken: 0, inferred: 0, missed: 0 },
  { refused: 481, taken: 129, inferred: 34, missed: 1 },
  { refused: 641, taken: 0, inferred: 0, missed: 0 },
];
