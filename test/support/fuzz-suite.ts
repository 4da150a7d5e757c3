/** Tests that models are decoded or refused with a code, whatever their bytes: the corpus as it is, and damaged in ways that reach deep. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { digest, fieldMutations, mutate, mutateFields, mutations } from './fuzz-models.js';

const FOLDER = resolve(import.meta.dirname, '../../../test/fixtures/onnx-fuzz');
const FILES = readdirSync(FOLDER).filter(name => name.endsWith('.onnx'));

/** Each is a fraction of a second's work; nothing may hang on a few thousand bytes. */
const LONGEST_MS = 20_000;

async function digestInTime(bytes: Uint8Array): Promise<Awaited<ReturnType<typeof digest>>> {
  const start = performance.now();
  const result = await digest(bytes);
  expect(performance.now() - start).toBeLessThan(LONGEST_MS);
  return result;
}

/** @param runs  of each kind of damage, on each of the seeds. */
export function describeFuzz(runs: number): void {
  const seen = new Set<string>();

  describe.each(FILES)('%s', file => {
    const bytes = new Uint8Array(readFileSync(join(FOLDER, file)));

    it('is used as it is', async () => {
      expect(['refused', 'decoded', 'sound']).toContain(await digestInTime(bytes));
    });
  });

  describe.each(FILES.filter(file => file.startsWith('seed-')))('%s', file => {
    const bytes = new Uint8Array(readFileSync(join(FOLDER, file)));

    it.each([
      ['bytes', mutations.map(changes => mutate(bytes, changes))],
      ['fields', fieldMutations.map(changes => mutateFields(bytes, changes))],
    ])('with other %s is used, or refused with a code', async (_, damaged) => {
      await fc.assert(
        fc.asyncProperty(damaged, async changed => {
          seen.add(await digestInTime(changed));
        }),
        { numRuns: runs },
      );
    });
  });

  it('comes to every outcome', () => {
    expect([...seen].sort()).toEqual(['decoded', 'refused', 'sound']);
  });
}
