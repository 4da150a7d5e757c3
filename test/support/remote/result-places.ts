/** Places where one machine leaves results for another: folders, archives and servers, behind one interface. */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from '../../../src/engine/build.js';
import { exportCache, importArchive } from '../../../src/engine/store/archive/archive.js';
import { archiveAt } from '../../../src/engine/store/archive/archive-bytes.js';
import { cacheFolderAt } from '../../../src/engine/store/cache-folder.js';
import type { RemoteUse } from '../../../src/engine/store/remote/remote-use.js';
import type { Built, World } from '../world.js';
import { startFakeServer } from './fake-grpc-server.js';
import { startFakeHttpServer } from './fake-http-server.js';
import type { Rig } from './remote-rig.js';

export interface Place {
  /** Builds on a machine, and leaves its results here. */
  give(world: World, options?: Partial<BuildOptions>): Promise<Built>;
  /** Builds on another machine, which takes what is here and leaves nothing. */
  take(world: World, options?: Partial<BuildOptions>): Promise<Built>;
  /** Bytes of the content here by a name of its own; a test may change or remove them. */
  readonly content: Content;
  /** The address of a server; undefined for files. */
  readonly address: string | undefined;
  close(): Promise<void>;
}

export interface Content {
  /** Changes the last byte of every blob, or removes it, as far as the place has blobs of their own. */
  spoil(how: 'change' | 'remove'): void;
}

export type PlaceName = 'local folder' | 'shared folder' | 'archive' | 'gRPC' | 'HTTP';

export const PLACE_NAMES: readonly PlaceName[] = ['local folder', 'shared folder', 'archive', 'gRPC', 'HTTP'];

/** @param folder an empty folder for places that are files. */
export async function openPlace(name: PlaceName, rig: Rig, folder: string): Promise<Place> {
  switch (name) {
    case 'local folder':
      return localFolder(join(folder, 'cache'));
    case 'shared folder':
      return sharedFolder(join(folder, 'shared'));
    case 'archive':
      return archive(join(folder, 'warm.tanren'));
    case 'gRPC': {
      const server = await startFakeServer();
      const spoil: Content['spoil'] = how => {
        for (const [key, bytes] of server.blobs) how === 'remove' ? server.blobs.delete(key) : server.blobs.set(key, changed(bytes));
      };
      return overNetwork(rig, `grpc://127.0.0.1:${server.port}/main`, { spoil }, () => server.close());
    }
    case 'HTTP': {
      const server = await startFakeHttpServer();
      const spoil: Content['spoil'] = how => {
        for (const [key, bytes] of server.bodies)
          if (key.includes('/cas/')) how === 'remove' ? server.bodies.delete(key) : server.bodies.set(key, changed(bytes));
      };
      return overNetwork(rig, `http://127.0.0.1:${server.port}`, { spoil }, () => server.close());
    }
  }
}

function changed(bytes: Buffer): Buffer {
  if (bytes.length === 0) return Buffer.from('x');
  const copy = Buffer.from(bytes);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
  return copy;
}

function overNetwork(rig: Rig, address: string, content: Content, close: () => Promise<void>): Place {
  const build = (world: World, use: Partial<RemoteUse>, options: Partial<BuildOptions> = {}) => rig.build(world, address, use, options);
  return {
    give: (world, options) => build(world, {}, options),
    take: (world, options) => build(world, { write: false }, options),
    content,
    address,
    close,
  };
}

/** The cache folder itself, carried from machine to machine. */
function localFolder(kept: string): Place {
  const carry = (from: string, to: string): void => {
    for (const name of ['cas', 'actions'])
      if (existsSync(join(from, name))) cpSync(join(from, name), join(to, name), { recursive: true, force: true });
  };
  return {
    async give(world, options) {
      const built = await world.build(options);
      carry(world.path('cache'), kept);
      return built;
    },
    async take(world, options) {
      carry(kept, world.path('cache'));
      return world.build(options);
    },
    content: { spoil: how => spoilFiles(join(kept, 'cas'), how) },
    address: undefined,
    close: () => Promise.resolve(),
  };
}

function sharedFolder(sharedCache: string): Place {
  return {
    give: (world, options) => world.build({ ...options, sharedCache }),
    take: (world, options) => world.build({ ...options, sharedCache }),
    content: { spoil: how => spoilFiles(join(sharedCache, 'cas'), how) },
    address: undefined,
    close: () => Promise.resolve(),
  };
}

function archive(path: string): Place {
  const signal = new AbortController().signal;
  return {
    async give(world, options) {
      const built = await world.build(options);
      const choice = { kind: 'accepted', plan: await world.plan(), targets: 'all', parts: 'with parts' } as const;
      await exportCache(cacheFolderAt(world.path('cache')), { choice, since: [] }, { kind: 'file', path }, signal);
      return built;
    },
    async take(world, options) {
      // What does not verify is not taken.
      if (existsSync(path)) await importArchive(cacheFolderAt(world.path('cache')), archiveAt(path), world.ports());
      return world.build(options);
    },
    content: { spoil: how => spoilArchive(path, how) },
    address: undefined,
    close: () => Promise.resolve(),
  };
}

function spoilFiles(folder: string, how: 'change' | 'remove'): void {
  for (const { parentPath, name } of readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())) {
    const path = join(parentPath, name);
    const bytes = readFileSync(path);
    rmSync(path, { force: true });
    if (how === 'change') writeFileSync(path, changed(bytes));
  }
}

/** Frames "blob NAME SIZE" and "record NAME SIZE", each with its bytes behind it. */
function spoilArchive(path: string, how: 'change' | 'remove'): void {
  const bytes = readFileSync(path);
  rmSync(path);
  if (how === 'remove') return;
  let at = bytes.indexOf('\n') + 1;
  for (;;) {
    const end = bytes.indexOf('\n', at) + 1;
    const [, kind, size] = /^(blob|record) [0-9a-f]{64} (\d+)\n$/.exec(bytes.toString('latin1', at, end)) ?? [];
    if (kind === undefined) break;
    if (kind === 'blob' && Number(size) > 0) bytes[end] = (bytes[end] ?? 0) ^ 1;
    at = end + Number(size);
  }
  writeFileSync(path, bytes);
}
