/**
 * Who may write to a cache folder? One process, which holds a listening socket: the kernel closes it when the process ends, however it ends.
 * No pid, no time and no file content is trusted. Generations: `held.N` is a hard link to the socket of the N-th holder.
 */
import { createHash, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { systemCode } from '../../model/engine-error.js';
import type { Holder } from '../../model/lock-holder.js';
import { describeSelf, parseHolder } from './lock-holder.js';

export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Told once when another process holds the lock, with what that says of itself. */
  readonly onWaiting: (holder: Holder | undefined) => void;
}

/**
 * Waits until this process holds the lock of `folder`.
 * @throws what the file system throws where it cannot hold sockets or links, and the signal's reason on abort.
 */
export async function acquireLock(folder: string, options: LockOptions): Promise<Lock> {
  options.signal.throwIfAborted();
  let told = false;
  const wait: Wait = async (address, path) => {
    const end = await waitForEnd({ address, path }, options.signal, holder => {
      if (!told) options.onWaiting(holder);
      told = true;
    });
    options.signal.throwIfAborted();
    return end;
  };
  return process.platform === 'win32' ? acquirePipe(folder, wait) : acquireSocket(folder, wait);
}

/** @param path where the socket stands, for messages: the address may be a short link to it. */
type Wait = (address: string, path: string) => Promise<'dead' | 'ended'>;

async function acquireSocket(folder: string, wait: Wait): Promise<Lock> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const short = shortenPath(folder);
  const name = `${randomBytes(8).toString('hex')}.sock`;
  let server: Server | undefined;
  try {
    for (;;) {
      const highest = findHighest(folder);
      if (highest > 0 && (await wait(join(short.path, `held.${highest}`), join(folder, `held.${highest}`))) === 'ended') continue;
      server ??= await listen(join(short.path, name));
      const own = highest + 1;
      if (!tryLink(join(folder, name), join(folder, `held.${own}`))) continue;
      // A higher generation says that the one we found dead was superseded, and ours cleaned away before we claimed it again.
      if (findHighest(folder) > own) {
        rmSync(join(folder, `held.${own}`), { force: true });
        continue;
      }
      for (const lower of listGenerations(folder)) if (lower < own) rmSync(join(folder, `held.${lower}`), { force: true });
      const held = server;
      server = undefined;
      return { release: () => close(held) };
    }
  } finally {
    rmSync(join(folder, name), { force: true });
    short.remove();
    if (server !== undefined) await close(server);
  }
}

async function acquirePipe(folder: string, wait: Wait): Promise<Lock> {
  const address = `\\\\.\\pipe\\tanren-${createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 32)}`;
  for (;;) {
    try {
      const server = await listen(address);
      return { release: () => close(server) };
    } catch (error) {
      if (systemCode(error) !== 'EADDRINUSE') throw error;
      await wait(address, address);
    }
  }
}

function listGenerations(folder: string): readonly number[] {
  return readdirSync(folder).flatMap(name => {
    const match = /^held\.([1-9]\d{0,14})$/.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

function findHighest(folder: string): number {
  return Math.max(0, ...listGenerations(folder));
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** How long, and how much, a holder may take to say who it is. */
const WORD_MS = 200;
const LONGEST_WORD = 4_096;

const LOOK_AGAIN = ['ENOENT', 'EAGAIN', 'ECONNRESET', 'EPIPE'];

/** A holder that ends closes its connections: that ends the wait. 'dead': nobody listens. */
function waitForEnd(
  { address, path }: { readonly address: string; readonly path: string },
  signal: AbortSignal,
  onHeld: (holder: Holder | undefined) => void,
): Promise<'dead' | 'ended'> {
  return new Promise((resolve, reject) => {
    const socket = connect(address);
    const stop = (): void => void socket.destroy();
    signal.addEventListener('abort', stop, { once: true });
    let connected = false;
    let said = '';
    let timer: NodeJS.Timeout | undefined;
    const tell = (): void => {
      clearTimeout(timer);
      socket.off('data', hear);
      onHeld(parseHolder(said));
    };
    const hear = (text: string): void => {
      said += text;
      if (said.includes('\n') || said.length > LONGEST_WORD) tell();
    };
    socket.setEncoding('utf8').on('data', hear);
    socket.on('connect', () => {
      connected = true;
      timer = setTimeout(tell, WORD_MS);
    });
    let refused: Error | undefined;
    socket.on('error', error => {
      refused = error;
    });
    socket.on('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (connected || signal.aborted) return resolve('ended');
      const code = systemCode(refused);
      if (code === 'ECONNREFUSED') return resolve('dead');
      // The link went away under us, the holder's queue is full, or it ended before it took us from its queue: look again.
      if (code !== undefined && LOOK_AGAIN.includes(code)) return resolve('ended');
      reject(refused === undefined ? new Error(`cannot connect to ${address}`) : Object.assign(refused, { path }));
    });
    socket.resume();
  });
}

/** Who waits at a server of ours: told by closing. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Whoever may look into the folder may wait: what root leaves in the folder of another user, that user finds dead. */
const OPEN = process.platform === 'win32' ? {} : { readableAll: true, writableAll: true };

function listen(address: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const waiting = new Set<Socket>();
    const word = `${JSON.stringify(describeSelf())}\n`;
    const server = createServer(socket => {
      waiting.add(socket);
      socket.on('close', () => waiting.delete(socket));
      socket.on('error', () => socket.destroy());
      socket.write(word);
    });
    connections.set(server, waiting);
    server.on('error', reject);
    server.listen({ path: address, backlog: 511, ...OPEN }, () => {
      server.unref();
      resolve(server);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    for (const socket of connections.get(server) ?? []) socket.destroy();
  });
}

/** Socket addresses hold about a hundred bytes: a longer folder is reached through a short link. */
function shortenPath(folder: string): { readonly path: string; remove(): void } {
  if (Buffer.byteLength(folder) < 70) return { path: folder, remove: () => undefined };
  const link = join(tmpdir(), `tanren-${randomBytes(6).toString('hex')}`);
  symlinkSync(resolve(folder), link);
  return { path: link, remove: () => rmSync(link, { force: true }) };
}
