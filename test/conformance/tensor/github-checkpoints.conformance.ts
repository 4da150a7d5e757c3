/** Conformance of checkpoint reading on public checkpoints. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../src/base/digest.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { readStateDict } from '../../../src/tensor/formats/state-dict.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

interface Recorded {
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly sha256: string;
}

suite('published legacy checkpoints', () => {
  const folder = shared ?? '';
  it.each([
    'models/cifar-resnet20/resnet20-12fca82f.th',
    'models/ultraface/version-RFB-320.pth',
  ])('%s has every tensor with the digest that torch gives', async path => {
    const recorded = JSON.parse(readFileSync(join(folder, 'conformance/torch/github_checkpoints_sha256.json'), 'utf8')) as Record<
      string,
      Record<string, Recorded>
    >;
    const tensors = await readStateDict(join(folder, path));
    const found = [...tensors].map(([name, { dtype, dims, bytes }]) => [name, { shape: dims, dtype, sha256: digestBytes(bytes) }]);
    expect(found.length).toBeGreaterThan(90);
    expect(Object.fromEntries(found)).toEqual(recorded[path]);
  });

  it('recorded stages are read from their archive', async () => {
    const archive = await readNpz(join(folder, 'shapes/maskrcnn/stages_1000.npz'));
    expect(archive.names.length).toBeGreaterThan(20);
    for (const name of archive.names) archive.get(name);
  });
});
