/** A write to an artifact that leaves its stamp as it was. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../../src/base/digest.js';
import type { PinnedInput } from '../../../../src/engine/action/pinned-stage.js';
import { findWritten, isProvenFor } from '../../../../src/engine/execute/written-inputs.js';
import { statLink } from '../../../../src/engine/store/files/stamp.js';
import { publishedSignature } from '../../../../src/engine/store/published.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-written-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The file holds `now`; the pin says `pinned`, under the stamp that the file has now: as if both were written in one tick of the clock. */
function inOneTick(pinned: string, now: string): { readonly input: PinnedInput; readonly changedMs: number } {
  const path = join(folder, 'text');
  writeFileSync(path, now);
  const artifact = { kind: 'file', digest: digestBytes(pinned), sizeBytes: pinned.length, executable: false } as const;
  const input = { ref: { kind: 'artifact' }, path, artifact, signature: publishedSignature(path, 'file') } as unknown as PinnedInput;
  return { input, changedMs: statLink(path)?.changedMs ?? 0 };
}

describe('an artifact that is written to in the tick of its publishing', () => {
  it('is found if the run started in that tick', async () => {
    const { input, changedMs } = inOneTick('one', 'two');
    expect(await findWritten([input], changedMs)).toBe(input);
    expect(isProvenFor(input, changedMs)).toBe(false);
  });

  it('is not read if the run started later, because every write of that run changes the stamp', async () => {
    const { input, changedMs } = inOneTick('one', 'two');
    expect(await findWritten([input], changedMs + 2_001)).toBeUndefined();
    expect(isProvenFor(input, changedMs + 2_001)).toBe(true);
  });

  it('is accepted if it has the pinned content', async () => {
    const { input, changedMs } = inOneTick('one', 'one');
    expect(await findWritten([input], changedMs)).toBeUndefined();
  });
});
