/** Servers that others wrote keep the contract of remote caches, and give results from machine to machine. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { digestBytes } from '../../src/base/digest.js';
import { parseRemoteAddress } from '../../src/remote/address/remote-address.js';
import { openRemoteCache } from '../../src/remote/open-remote-cache.js';
import type { RemoteCache } from '../../src/remote/transport/remote-cache.js';
import type { Fields, Message } from '../../src/remote/wire/codec.js';
import * as reapi from '../../src/remote/wire/reapi.js';
import { startGrpcProxy } from '../support/remote/grpc-proxy.js';
import { QUICK_CONNECTION } from '../support/remote/quick-connection.js';
import {
  describeWithServer,
  missing,
  REAPI_PROTO,
  type RealServer,
  startBuildStream,
  startNginx,
  startWorker,
} from '../support/remote/real-servers.js';
import { checkContract, playSession } from '../support/remote/remote-contract.js';
import { artifactsOf, createRig } from '../support/remote/remote-rig.js';

const rig = createRig();
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-real-'));
});
afterEach(() => {
  rig.removeAll();
  rmSync(folder, { recursive: true, force: true });
});

async function withCache(address: string, use: (cache: RemoteCache) => Promise<void>): Promise<void> {
  const cache = await openRemoteCache(parseRemoteAddress(address), QUICK_CONNECTION);
  await use(cache).finally(() => cache.close());
}

async function checkBuilds(first: string, second: string): Promise<void> {
  const [one, two] = [rig.checkout(), rig.checkout()];
  const sent = await rig.build(one, first, { salt: second });
  expect(sent.report.remote).toMatchObject({ uploads: 4, troubles: [], dropped: [] });
  const taken = await rig.build(two, second, { salt: second });
  expect(Object.values(taken.outcomes)).toEqual(['restored', 'restored', 'restored', 'restored']);
  expect(taken.report.remote).toMatchObject({ hits: 4, troubles: [] });
  expect(artifactsOf(two)).toEqual(artifactsOf(one));
}

describeWithServer(missing.worker)("Bazel's remote worker", () => {
  let server: RealServer;
  let grpc: string;
  let http: string;
  beforeAll(async () => {
    server = await startWorker();
    grpc = `grpc://127.0.0.1:${server.ports[0]}`;
    http = `http://127.0.0.1:${server.ports[1]}`;
  });
  afterAll(() => server?.stop());

  it('keeps the contract over gRPC', () => withCache(grpc, cache => checkContract(cache, folder, 'results')));
  it('keeps the contract over HTTP', () => withCache(http, cache => checkContract(cache, folder, 'results')));
  it('gives results from machine to machine over gRPC', () => checkBuilds(grpc, grpc));
  // Its two servers have a store each: that one entry serves both transports is tested by `remote-cache.remote.ts`.
  it('gives results from machine to machine over HTTP', () => checkBuilds(http, http));

  it('survives UNAVAILABLE at the messages of a session in turn', async () => {
    let at = -1;
    let before = 0;
    const proxy = await startGrpcProxy(Number(server.ports[0]), ({ number }) =>
      number === before + at ? { kind: 'status', code: 14 } : undefined,
    );
    const play = (round: number) => withCache(`grpc://127.0.0.1:${proxy.port}`, cache => playSession(cache, folder, `worker ${round}`));
    await play(0);
    const messages = proxy.messages();
    // Every seventh message, from another start each time: every kind of message is met.
    for (at = Date.now() % 7; at < messages; at += 7) {
      before = proxy.messages();
      await play(at + 1);
    }
    await proxy.close();
  });
});

describeWithServer(missing.buildstream)("BuildStream's CAS", () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startBuildStream();
  });
  afterAll(() => server?.stop());

  it('keeps the contract of content', () =>
    withCache(`grpc://127.0.0.1:${server.ports[0]}`, cache => checkContract(cache, folder, 'content')));

  it('has no results, which is one line and no failed build', async () => {
    const { report } = await rig.build(rig.checkout(), `grpc://127.0.0.1:${server.ports[0]}`);
    expect(report.conclusion).toBe('built');
    expect(report.remote?.leftOut).toBe(true);
  });
});

describeWithServer(missing.nginx)('nginx with DAV', () => {
  let server: RealServer;
  beforeAll(async () => {
    server = await startNginx();
  });
  afterAll(() => server?.stop());

  it('keeps the contract', () =>
    withCache(`http://127.0.0.1:${server.ports[0]}/a/cache`, cache => checkContract(cache, folder, 'results')));
  it('gives results from machine to machine', () =>
    checkBuilds(`http://127.0.0.1:${server.ports[0]}`, `http://127.0.0.1:${server.ports[0]}`));

  it('checks no digest, and the client does', () =>
    withCache(`http://127.0.0.1:${server.ports[0]}`, async cache => {
      const { hash } = { hash: digestBytes('iron') };
      const put = await fetch(`http://127.0.0.1:${server.ports[0]}/cas/${hash}`, { method: 'PUT', body: 'rust' });
      expect(put.status).toBe(201);
      await expect(cache.readBlobs([{ hash, sizeBytes: 4 }])).rejects.toMatchObject({ code: 'remote-damaged' });
      await expect(cache.readFile({ hash, sizeBytes: 4 }, join(folder, 'to'))).rejects.toMatchObject({ code: 'remote-damaged' });
      expect(existsSync(join(folder, 'to'))).toBe(false);
    }));
});

describeWithServer(missing.proto)('the published declaration of the protocol', () => {
  /** Our tables, and the messages that they are of. */
  const TABLES: readonly (readonly [string, Message<never>])[] = [
    ['Digest', reapi.DIGEST],
    ['Action', reapi.ACTION],
    ['Command', reapi.COMMAND],
    ['Directory', reapi.DIRECTORY],
    ['Tree', reapi.TREE],
    ['ActionResult', reapi.ACTION_RESULT],
    ['GetActionResultRequest', reapi.GET_RESULT],
    ['UpdateActionResultRequest', reapi.UPDATE_RESULT],
    ['FindMissingBlobsRequest', reapi.FIND_MISSING],
    ['FindMissingBlobsResponse', reapi.MISSING],
    ['BatchUpdateBlobsRequest', reapi.BATCH_UPDATE],
    ['BatchUpdateBlobsResponse', reapi.BATCH_UPDATED],
    ['BatchReadBlobsRequest', reapi.BATCH_READ],
    ['BatchReadBlobsResponse', reapi.BATCH_HAS_READ],
    ['GetCapabilitiesRequest', reapi.GET_CAPABILITIES],
    ['RequestMetadata', reapi.REQUEST_METADATA],
  ] as never;
  const text = (): string => readFileSync(join(REAPI_PROTO, 'build/bazel/remote/execution/v2/remote_execution.proto'), 'utf8');
  /** Fields of later versions than the one of the package. */
  const LATER = new Set([
    'Action.platform',
    'OutputDirectory.rootDirectoryDigest',
    'Response.compressor',
    'CacheCapabilities.maxCasBlobSizeBytes',
    'CacheCapabilities.digestFunctions',
  ]);
  const WIRE: Readonly<Record<string, string>> = { string: 'string', bytes: 'bytes', bool: 'bool', int32: 'int', int64: 'int' };

  it('has the fields of our tables, with their numbers, types and forms', () => {
    // Types of other files are names only.
    const { root } = protobuf.parse(text(), { keepCase: false });
    const space = root.lookup('build.bazel.remote.execution.v2') as protobuf.Namespace;
    let compared = 0;
    const compare = (type: protobuf.Type, fields: Fields): void => {
      for (const [name, field] of Object.entries(fields)) {
        if (LATER.has(`${type.name}.${name}`)) continue;
        const published = type.fields[name];
        expect([type.name, name, published?.id, published?.repeated]).toEqual([type.name, name, field.number, field.form === 'list']);
        const inner = published === undefined ? null : type.lookup(published.type);
        if (field.kind !== 'message') expect(inner instanceof protobuf.Enum ? 'int' : WIRE[published?.type ?? '']).toBe(field.kind);
        else if (inner instanceof protobuf.Type) compare(inner, field.of.fields);
        compared++;
      }
    };
    for (const [name, table] of TABLES) compare(space.lookupType(name), (table as Message<unknown>).fields);
    expect(compared).toBeGreaterThan(60);
  });
});
