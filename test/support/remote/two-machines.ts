/** Two network namespaces as two machines: each has its own loopback, and one link connects them. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RealServer, startNginx } from './real-servers.js';

/** Addresses of a network that no other program of this system sees. */
const ADDRESSES = ['10.199.7.1', '10.199.7.2'] as const;

export interface TwoMachines {
  /** Words before a command that runs on the machine. */
  readonly on: readonly [readonly string[], readonly string[]];
  /** Of the first machine. */
  readonly address: string;
  remove(): void;
}

function run(...words: readonly string[]): boolean {
  const [program = '', ...args] = words;
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** Why there can be no two machines here; undefined where there can. */
export function findObstacle(): string | undefined {
  const name = `tanren-try-${process.pid}`;
  const made = run('ip', 'netns', 'add', name);
  if (made) run('ip', 'netns', 'del', name);
  return made ? undefined : 'network namespaces: apt-get install iproute2, and run as root on a kernel that allows them';
}

export function makeTwoMachines(): TwoMachines {
  const names = ['a', 'b'].map(letter => `tanren-${process.pid}-${letter}`);
  const [first = '', second = ''] = names;
  const remove = (): void => {
    for (const name of names) run('ip', 'netns', 'del', name);
  };
  const steps: readonly (readonly string[])[] = [
    ...names.map(name => ['ip', 'netns', 'add', name]),
    ['ip', '-n', first, 'link', 'add', 'link0', 'type', 'veth', 'peer', 'name', 'link0', 'netns', second],
    ...names.flatMap((name, index) => [
      ['ip', '-n', name, 'addr', 'add', `${ADDRESSES[index]}/30`, 'dev', 'link0'],
      ['ip', '-n', name, 'link', 'set', 'lo', 'up'],
      ['ip', '-n', name, 'link', 'set', 'link0', 'up'],
    ]),
  ];
  for (const step of steps) {
    if (run(...step)) continue;
    remove();
    throw new Error(`failed: ${step.join(' ')}`);
  }
  return {
    on: [
      ['ip', 'netns', 'exec', first],
      ['ip', 'netns', 'exec', second],
    ],
    address: ADDRESSES[0],
    remove,
  };
}

export interface SecureServer extends RealServer {
  readonly url: string;
  /** A settings file that trusts the server. */
  readonly settings: string;
}

/** nginx with TLS on the first machine. Nothing but the certificate that it makes is trusted. */
export async function startSecureNginx({ on, address }: TwoMachines): Promise<SecureServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-two-machines-'));
  mkdirSync(join(folder, 'tls'));
  const [certificate, key] = [join(folder, 'tls/server.pem'), join(folder, 'tls/server.key')];
  const asked = [
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=tanren test',
    '-addext',
    `subjectAltName=IP:${address}`,
  ];
  if (!run('openssl', 'req', ...asked, '-keyout', key, '-out', certificate)) throw new Error('openssl makes no certificate');
  const server = await startNginx({ before: on[0], address, tls: { certificate, key } });
  const url = `https://${address}:${server.ports[0]}`;
  const settings = join(folder, 'config.yaml');
  writeFileSync(settings, `remote: {cache: "${url}", write: true}\norigins:\n  "${url}": {ca: tls/server.pem}\n`);
  return {
    ...server,
    url,
    settings,
    async stop() {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
