/** Files of the server as a worker reads them, also through a proxy that compresses and changes headers. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { errorAnswer, send } from '../../../src/web/http/answer.js';
import { RequestError } from '../../../src/web/http/read-body.js';
import { FileChanged, NotFetched, openFile } from '../../../src/web/page/results/fetched-file.js';
import { answerArtifact, parseFileForm } from '../../../src/web/views/artifact-file.js';

const CONTENT = `[${Array.from({ length: 100 }, (_, id) => `{"image_id":${id},"category_id":1,"bbox":[0,0,1,1],"score":0.5}`).join()}]`;

let folder: string;
let path: string;
let server: Server;
let proxy: Server;
/** Removed by the proxy, as an "etag" is by those that compress. */
let removed: readonly string[];

const listen = (one: Server): Promise<void> => new Promise(resolve => one.listen(0, '127.0.0.1', resolve));
const addressOf = (one: Server): string => `http://127.0.0.1:${(one.address() as AddressInfo).port}/api/artifact?stage=a&port=b`;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-fetched-'));
  path = join(folder, 'detections.json');
  writeFileSync(path, CONTENT);
  removed = ['etag', 'content-length'];
  server = createServer((request, response) => {
    const answer = () => {
      try {
        return answerArtifact({ kind: 'file', path, name: path }, parseFileForm(new URL(request.url ?? '', 'http://host').searchParams));
      } catch (error) {
        if (error instanceof RequestError) return errorAnswer(error.status, error.code, error.message, error.help);
        throw error;
      }
    };
    void send(request, response, answer());
  });
  await listen(server);
  proxy = createServer((request, response) => {
    void fetch(new URL(request.url ?? '', addressOf(server))).then(async answer => {
      const kept = [...answer.headers].filter(([name]) => !removed.includes(name) && name !== 'content-encoding');
      response.writeHead(answer.status, { ...Object.fromEntries(kept), 'content-encoding': 'gzip' });
      response.end(gzipSync(Buffer.from(await answer.arrayBuffer())));
    });
  });
  await listen(proxy);
});
afterEach(() => {
  for (const one of [server, proxy]) {
    one.close();
    one.closeAllConnections();
  }
  rmSync(folder, { recursive: true });
});

const textOf = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString();

describe.each([
  ['from the server', () => server],
  ['through a proxy that compresses', () => proxy],
])('a file %s', (_where, at) => {
  it('gives its bytes as long as it is the same', async () => {
    const file = openFile(addressOf(at()), 'token');
    expect((await file.rows).byteLength).toBeGreaterThan(0);
    expect(textOf(await file.readBytes(1, 30))).toBe(CONTENT.slice(1, 30));
    expect(textOf(await file.whole())).toBe(CONTENT);
  });

  it('gives no bytes of another one in its place', async () => {
    const file = openFile(addressOf(at()), 'token');
    await file.rows;
    writeFileSync(`${path}.new`, CONTENT);
    renameSync(`${path}.new`, path);
    await expect(file.readBytes(1, 30)).rejects.toThrow(FileChanged);
  });

  it('says what the server refuses', async () => {
    const refused = openFile(addressOf(at()), 'token').readBytes(0, 16_000_001);
    await expect(refused).rejects.toThrow('the range has 16000001 bytes');
    await expect(refused).rejects.not.toThrow(FileChanged);
  });
});

it('bytes of a file whose stamp is lost are not read, and the reason is said', async () => {
  removed = [...removed, 'tanren-stamp'];
  await expect(openFile(addressOf(proxy), 'token').readBytes(1, 30)).rejects.toThrow('"tanren-stamp"');
});

it('a server that does not answer is told apart from a changed file', async () => {
  const address = addressOf(server);
  server.close();
  server.closeAllConnections();
  const file = openFile(address, 'token');
  await expect(file.rows).rejects.toThrow(NotFetched);
  await expect(file.readBytes(1, 30)).rejects.toThrow('the server does not answer');
});
