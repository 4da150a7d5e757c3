/** How answers are sent: large files as streams, compressed where the browser takes it, and without a trace of clients that leave. */
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { send } from '../../../src/web/http/answer.js';

const PIECE = Buffer.alloc(1 << 16, 'a line of an artifact\n');
const PIECES = 64;

let server: Server;
let source: Readable;
/** How `send` ended. */
let sent: Promise<'sent' | string>;
beforeAll(async () => {
  server = createServer((message, response) => {
    source = Readable.from(Array.from({ length: PIECES }, () => PIECE));
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    sent = send(message, response, { status: 200, headers, body: source }).then(
      () => 'sent',
      (error: NodeJS.ErrnoException) => error.code ?? '',
    );
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());

function ask(method: string, headers: Readonly<Record<string, string>>, take: (answer: IncomingMessage) => void): Promise<Buffer> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', method, headers, agent: false }, answer => {
      const pieces: Buffer[] = [];
      answer.on('data', piece => pieces.push(piece));
      answer.on('close', () => resolve(Buffer.concat(pieces)));
      take(answer);
    });
    asked.on('error', reject).end();
  });
}

describe('a large file', () => {
  const DECODERS = { br: brotliDecompressSync, gzip: gunzipSync, identity: (body: Buffer): Buffer => body };
  it.each([
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['gzip;q=0.5, br;q=0.0', 'gzip'],
    ['identity', undefined],
  ] as const)('for a browser that takes %s arrives as it is, with coding %s', async (accepted, coding) => {
    let found: string | undefined;
    const body = await ask('GET', { 'accept-encoding': accepted }, answer => {
      found = answer.headers['content-encoding'];
    });
    expect(found).toBe(coding);
    expect(DECODERS[coding ?? 'identity'](body).equals(Buffer.concat(Array.from({ length: PIECES }, () => PIECE)))).toBe(true);
    expect(await sent).toBe('sent');
  });

  it('is not read for a request of its head', async () => {
    expect(await ask('HEAD', {}, () => undefined)).toHaveLength(0);
    expect(await sent).toBe('sent');
    expect(source.destroyed).toBe(true);
  });

  it('is closed when the client leaves', async () => {
    await ask('GET', { 'accept-encoding': 'identity' }, answer => answer.once('data', () => answer.destroy()));
    expect(await sent).toBe('ERR_STREAM_PREMATURE_CLOSE');
    expect(source.destroyed).toBe(true);
  });
});
