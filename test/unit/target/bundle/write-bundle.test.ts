/** Deployment bundles: files, manifest, golden values, predicted assignment. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../../../src/base/digest.js';
import { readNpz } from '../../../../src/tensor/formats/npz.js';
import { runModel } from '../../../support/look-at-model.js';
import { smallQdqModel } from '../../../support/qdq-model.js';
import { temporaryFolder } from '../../../support/run-stage.js';
import { writeSmallBundle } from '../../../support/small-bundle.js';

const folder = await temporaryFolder('bundle');
afterAll(folder.remove);

const listing = (root: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => join(entry.parentPath, entry.name))
      .map(path => [path.slice(root.length + 1), digestBytes(readFileSync(path))] as const)
      .sort(),
  );
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('a bundle', () => {
  it('has a manifest with the digests of all its files, and no other files', async () => {
    const { folder: root, manifest } = await writeSmallBundle(folder.path);
    const { 'manifest.json': own, ...others } = listing(root);
    expect(own).toBeDefined();
    expect(manifest).toMatchObject({ format: 'tanren-bundle/1', target: { profile: 'ryzen-ai' } });
    expect(manifest.files).toEqual(others);
    expect(Object.keys(others)).toEqual(
      expect.arrayContaining([
        'models/net/whole.onnx',
        'models/net/parts/00.npu.onnx',
        'golden/net.0.npz',
        'report/net.predicted.json',
        'runner.py',
      ]),
    );
  });

  it('has the same bytes for the same request', async () => {
    const [first, second] = [await writeSmallBundle(folder.path), await writeSmallBundle(folder.path)];
    expect(listing(second.folder)).toEqual(listing(first.folder));
    expect(readFileSync(first.path('manifest.json'), 'utf8')).not.toContain(folder.path);
  });

  it('has golden outputs of the whole model from ONNX Runtime without optimization', async () => {
    const { manifest, path } = await writeSmallBundle(folder.path, { samples: 2 });
    const samples = manifest.models[0]?.golden ?? [];
    expect(samples.map(({ file }) => file)).toEqual(['golden/net.0.npz', 'golden/net.1.npz']);
    for (const { file, arrays } of samples) {
      const archive = await readNpz(path(file));
      const arrayOf = (role: string): string => arrays.find(array => array.role === role)?.array ?? '';
      const wanted = await runModel(smallQdqModel(), { x: archive.get(arrayOf('input')) });
      expect([...(archive.get(arrayOf('output')).data as Float32Array)]).toEqual([...(wanted.y?.data as Float32Array)]);
    }
  });

  it('predicts the assignment of every node in the form of the vendor’s report', async () => {
    const { path, manifest } = await writeSmallBundle(folder.path);
    const predicted = readJson(path('report/net.predicted.json'));
    const counts = Object.fromEntries(predicted.deviceStat.map((stat: { name: string; nodeNum: number }) => [stat.name, stat.nodeNum]));
    expect(counts.all).toBe(manifest.models[0]?.nodes);
    expect(counts.CPU + counts.NPU + counts.VITIS_EP_CPU).toBe(counts.all);
    // Q at the input and DQ at the output are edges in the vendor's report.
    expect(counts).toMatchObject({ CPU: 0, VITIS_EP_CPU: 2 });
    expect(predicted.nodeStat).toHaveLength(counts.all);
    expect(predicted.nodeStat.find(({ opType }: { opType: string }) => opType === 'Relu')).toEqual({
      output: ['relu'],
      input: ['first'],
      opDomain: '',
      opType: 'Relu',
      comment: 'relu',
      device: 'NPU',
    });
    expect(predicted.subgraphStat).toContainEqual({ device: 'NPU', count: 1 });
    expect(predicted.shapeInfo).toContainEqual({ name: 'x', shape: [1, 2, 4, 4], isScalar: false, isUnknown: false });
  });

  it('adds the reasons, for which the vendor’s report has no member', async () => {
    const unaligned = smallQdqModel(undefined, 0.07);
    const { path } = await writeSmallBundle(folder.path, { model: unaligned });
    const predicted = readJson(path('report/net.predicted.json'));
    expect(predicted['x-reasons']).toContainEqual(
      expect.objectContaining({
        device: 'cpu',
        findings: expect.arrayContaining([expect.objectContaining({ rule: 'scale-power-of-two', source: expect.anything() })]),
      }),
    );
  });

  it('has no options of Ryzen AI for another target', async () => {
    const { manifest } = await writeSmallBundle(folder.path, { profile: 'generic-int8' });
    expect(Object.keys(manifest.files).filter(name => name.startsWith('ryzenai/'))).toEqual([]);
    expect(manifest.models[0]?.cacheKeys).toEqual({});
  });
});
