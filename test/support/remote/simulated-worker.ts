/** Workers of the fake server that only wait as long as parts take, so that one machine can stand for a hundred. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Digest, digestBytes } from '../../../src/base/digest.js';
import { PARTS_OUTPUT, PARTS_RESULTS, type PartsDocument } from '../../../src/engine/execute/worker/parts-document.js';
import type { TreeEntry } from '../../../src/engine/store/files/tree.js';
import { encodeTreeMessage } from '../../../src/engine/store/remote/tree-message.js';
import { DIRECTORY } from '../../../src/remote/wire/reapi.js';
import type { FakeServer, FakeWorker } from './fake-grpc-server.js';

export interface SimulatedWorkers {
  readonly worker: FakeWorker;
  /** Time that the slots were busy, in ms. */
  busyMs(): number;
  /** Most slots that were busy at once. */
  mostBusy(): number;
}

/** @param startMs what an action costs before its first part. */
export function simulateWorkers(slots: number, startMs: number): SimulatedWorkers {
  let free = slots;
  let busy = 0;
  let most = 0;
  const queue: (() => void)[] = [];
  return {
    busyMs: () => busy,
    mostBusy: () => most,
    async worker(action, server) {
      if (free > 0) free--;
      else await new Promise<void>(resolve => queue.push(resolve));
      most = Math.max(most, slots - free);
      const { parts } = documentOf(server, action.inputRootDigest);
      const workMs = startMs + parts.reduce((sum, { manifest }) => sum + Number(manifest.ms), 0);
      await wait(workMs);
      busy += workMs;
      const next = queue.shift();
      if (next === undefined) free++;
      else next();
      return {
        result: {
          exitCode: 0,
          outputDirectories: [{ path: PARTS_OUTPUT, treeDigest: outputsOf(server, parts), rootDirectoryDigest: undefined }],
        },
      };
    },
  };
}

function documentOf(server: FakeServer, root: { hash: string; sizeBytes: number } | undefined): PartsDocument {
  const { files } = DIRECTORY.decode(server.blobs.get(`${root?.hash}/${root?.sizeBytes}`) ?? Buffer.alloc(0));
  const found = files.find(({ name }) => name === 'parts.json')?.digest;
  return JSON.parse(String(server.blobs.get(`${found?.hash}/${found?.sizeBytes}`))) as PartsDocument;
}

/** The text of each part is its number. */
function outputsOf(server: FakeServer, parts: PartsDocument['parts']): { readonly hash: Digest; readonly sizeBytes: number } {
  const keep = (bytes: Buffer) => {
    const blob = { hash: digestBytes(bytes), sizeBytes: bytes.length };
    server.blobs.set(`${blob.hash}/${blob.sizeBytes}`, bytes);
    return blob;
  };
  const file = (path: string, bytes: Buffer): TreeEntry => {
    const { hash, sizeBytes } = keep(bytes);
    return { kind: 'file', path, digest: hash, sizeBytes, executable: false };
  };
  const entries = parts.map(({ manifest }, index) => file(`${index}/text`, Buffer.from(String(manifest.index))));
  const results = {
    format: 1,
    durationMs: parts.reduce((sum, { manifest }) => sum + Number(manifest.ms), 0),
    parts: parts.map(() => ({ names: ['text'] })),
  };
  return keep(Buffer.from(encodeTreeMessage([...entries, file(PARTS_RESULTS, Buffer.from(JSON.stringify(results)))]).bytes));
}
