/** Tests of the list of external data files that a model file names. Oracle: the locations of the decoded message. */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { listExternalLocations } from '../../../../src/onnx/serde/external-names.js';
import { writeSplitWeights } from '../../../support/split-weights.js';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-locations-'));
  path = join(folder, 'net.onnx');
});
afterEach(() => rmSync(folder, { recursive: true }));

const tensor = (location: string) => ({ name: location, dataLocation: 1, externalData: [{ key: 'location', value: location }] });

it('gives each file once, in one spelling, sorted', () => {
  writeSplitWeights(folder, ['weights/b.bin', 'a.bin']);
  expect(listExternalLocations(path)).toEqual(['a.bin', 'weights/b.bin']);
  writeSplitWeights(folder, ['./weights\\b.bin', 'weights/b.bin']);
  expect(listExternalLocations(path)).toEqual(['weights/b.bin']);
});

it.each(['../a.bin', '/etc/passwd', 'C:\\a.bin', 'x/../../a.bin', ''])('leaves out the unsafe location "%s"', location => {
  writeFileSync(path, encodeMessage('ModelProto', { graph: { initializer: [tensor(location), tensor('safe.bin')] } }));
  expect(listExternalLocations(path)).toEqual(['safe.bin']);
});

it('finds tensors of attributes, sub-graphs, sparse initializers and functions, and skips other bytes', () => {
  const inner = { name: 'inner', initializer: [tensor('sub.bin')] };
  const node = {
    opType: 'If',
    attribute: [
      { name: 'then_branch', g: inner },
      { name: 'value', t: tensor('attribute.bin') },
    ],
  };
  writeFileSync(
    path,
    encodeMessage('ModelProto', {
      irVersion: 8n,
      producerName: 'location',
      graph: {
        node: [node],
        initializer: [{ name: 'inside', dataType: 1, dims: BigInt64Array.of(50_000n), rawData: new Uint8Array(200_000).fill(0x6a) }],
        sparseInitializer: [{ values: tensor('values.bin'), indices: tensor('indices.bin') }],
      },
      functions: [{ name: 'f', node: [node] }],
    }),
  );
  expect(listExternalLocations(path)).toEqual(['attribute.bin', 'indices.bin', 'sub.bin', 'values.bin']);
});

it('gives what it finds before a truncation, and nothing for what is no model or no file', () => {
  writeFileSync(path, encodeMessage('ModelProto', { graph: { initializer: [tensor('a.bin'), tensor('b.bin')] } }));
  truncateSync(path, 30);
  expect(listExternalLocations(path).length).toBeLessThan(2);
  writeFileSync(path, 'version: 1\n');
  expect(listExternalLocations(path)).toEqual([]);
  expect(listExternalLocations(folder)).toEqual([]);
  expect(listExternalLocations(join(folder, 'missing'))).toEqual([]);
});
