/** A server on loopback that takes TLS off and passes the bytes on, with the test's own certificate authority. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { fixturePath } from '../fixtures.js';

export const readTlsFile = (name: 'ca.pem' | 'client.pem' | 'client.key' | 'server.pem' | 'server.key'): Buffer =>
  readFileSync(fixturePath('tls', name));

export interface TlsProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** @param clients 'known': only clients with a certificate of the authority are served. */
export async function startTlsProxy(upstream: number, clients: 'any' | 'known'): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      cert: readTlsFile('server.pem'),
      key: readTlsFile('server.key'),
      ca: readTlsFile('ca.pem'),
      requestCert: clients === 'known',
      rejectUnauthorized: clients === 'known',
      ALPNProtocols: ['h2', 'http/1.1'],
    },
    secured => {
      const plain = connect(upstream, '127.0.0.1');
      sockets.add(plain);
      secured.on('close', () => plain.destroy());
      secured.on('error', () => plain.destroy());
      plain.on('error', () => secured.destroy());
      secured.pipe(plain).pipe(secured);
    },
  );
  server.on('connection', socket => sockets.add(socket));
  // Clients without a certificate of the authority, or that do not accept ours.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>(resolve => server.close(() => resolve()));
    },
  };
}
