/**
 * The lock of a cache folder: the one process that may write holds a listening socket, which the kernel closes when the process ends.
 * No process id, time or file content is trusted. Generations: `held.N` is a hard link to the socket of the N-th holder.
 */
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasCode, isMissing } from '../../../base/system-error.js';
import type { Holder } from '../../model/lock-holder.js';
import { describeSelf, parseHolder } from './lock-holder.js';

export interface Lock {
  release(): Promise<void>;
}

export interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once if another process holds the lock, with what that process says about itself. */
  readonly onWaiting: (holder: Holder | undefined) => void;
}

/**
 * Waits until this process holds the lock of `folder`.
 * @throws file system errors if sockets or links cannot be made, and the signal's reason on abort.
 */
export async function acquireLock(folder: string, options: LockOptions): Promise<Lock> {
  options.signal.throwIfAborted();
  let reported = false;
  const wait: Wait = async (address, path) => {
    const end = await waitForEnd({ address, path }, options.signal, holder => {
      if (!reported) options.onWaiting(holder);
      reported = true;
    });
    options.signal.throwIfAborted();
    return end;
  };
  return process.platform === 'win32' ? acquirePipe(folder, wait) : acquireSocket(folder, wait);
}

/** @param path location of the socket, for messages: the address may be a short link to it. */
type Wait = (address: string, path: string) => Promise<'dead' | 'ended'>;

/** What the process that holds the lock of `folder` says about itself; 'free' if no process holds it. It takes no lock, and waits for none. */
export async function findLockHolder(folder: string): Promise<Holder | 'unnamed' | 'free'> {
  const seen = new AbortController();
  let holder: Holder | 'unnamed' | 'free' = 'free';
  const ask = (address: string, path: string): Promise<unknown> =>
    waitForEnd({ address, path }, seen.signal, said => {
      holder = said ?? 'unnamed';
      seen.abort();
    });
  if (process.platform === 'win32') await ask(pipeAddress(folder), folder).catch(() => undefined);
  else {
    const highest = findHighest(folder);
    if (highest === 0) return 'free';
    const short = shortenPath(folder);
    await ask(join(short.path, `held.${highest}`), join(folder, `held.${highest}`)).finally(() => short.remove());
  }
  return holder;
}

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
      // A higher generation means that the dead one was superseded, and its link was removed before this process claimed the number again.
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
  const address = pipeAddress(folder);
  for (;;) {
    try {
      const server = await listen(address);
      return { release: () => close(server) };
    } catch (error) {
      if (!hasCode(error, 'EADDRINUSE')) throw error;
      await wait(address, address);
    }
  }
}

function pipeAddress(folder: string): string {
  return `\\\\.\\pipe\\tanren-${createHash('sha256').update(resolve(folder)).digest('hex').slice(0, 32)}`;
}

function listGenerations(folder: string): readonly number[] {
  return listNames(folder).flatMap(name => {
    const match = /^held\.([1-9]\d{0,14})$/.exec(name);
    return match === null ? [] : [Number(match[1])];
  });
}

/** A folder that is missing holds no lock. */
function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function findHighest(folder: string): number {
  return Math.max(0, ...listGenerations(folder));
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

/** Limits for the time and the length of a holder's description of itself. */
const WORD_MS = 200;
const LONGEST_WORD = 4_096;

const LOOK_AGAIN = ['ENOENT', 'EAGAIN', 'ECONNRESET', 'EPIPE'];

/** A holder that ends closes its connections, which ends the wait. 'dead': no process is listening. */
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
    let received = '';
    let timer: NodeJS.Timeout | undefined;
    const tell = (): void => {
      clearTimeout(timer);
      socket.off('data', onText);
      onHeld(parseHolder(received));
    };
    const onText = (text: string): void => {
      received += text;
      if (received.includes('\n') || received.length > LONGEST_WORD) tell();
    };
    socket.setEncoding('utf8').on('data', onText);
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
      if (hasCode(refused, 'ECONNREFUSED')) return resolve('dead');
      // The link was removed, the holder's queue is full, or the holder ended before it accepted the connection: try again.
      if (hasCode(refused, ...LOOK_AGAIN)) return resolve('ended');
      reject(refused === undefined ? new Error(`cannot connect to ${address}`) : Object.assign(refused, { path }));
    });
    socket.resume();
  });
}

/** Processes that wait at a server of this process. Closing their connections ends their wait. */
const connections = new WeakMap<Server, Set<Socket>>();

/** Every user with access to the folder may connect. So a user can also find out that a socket which root left in the folder is dead. */
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

/**
 * Socket addresses hold about a hundred bytes. A longer folder path is reached through an open file of this process, or else through a short
 * symbolic link, which would outlive a killed process.
 */
function shortenPath(folder: string): { readonly path: string; remove(): void } {
  if (Buffer.byteLength(folder) < 70) return { path: folder, remove: () => undefined };
  const opened = openSync(folder, 'r');
  const path = `/proc/self/fd/${opened}`;
  if (existsSync(path)) return { path, remove: () => closeSync(opened) };
  closeSync(opened);
  const link = join(tmpdir(), `tanren-${randomBytes(6).toString('hex')}`);
  symlinkSync(resolve(folder), link);
  return { path: link, remove: () => rmSync(link, { force: true }) };
}
