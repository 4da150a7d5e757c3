/** The runtime of remote workers with the digests of its files, which are read again only when their stamps change. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digest, digestBytes, parseDigest } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import type { RuntimeFile } from '../../model/ports.js';
import type { CacheFolder } from '../../store/cache-folder.js';
import { digestPath } from '../../store/files/digest-file.js';
import { isRacy, statPath } from '../../store/files/stamp.js';
import { writeWhole } from '../../store/files/write-file.js';
import type { RootEntry } from './input-root.js';

const NAME = 'plans/runtime-digests.json';

/** Digests of the runtime's files, kept in the cache folder. */
export interface RuntimeDigests {
  /** @returns the files as entries below `under`. @throws the error of a file that cannot be read. */
  entriesOf(files: readonly RuntimeFile[], under: string): Promise<readonly RootEntry[]>;
}

export function openRuntimeDigests(cache: Pick<CacheFolder, 'root'>): RuntimeDigests {
  const path = join(cache.root, NAME);
  const known = readKnown(path);
  const digest = async (from: string): Promise<{ readonly hash: Digest; readonly sizeBytes: number; readonly isNew: boolean }> => {
    const stat = statPath(from);
    if (stat?.kind !== 'file') throw new Error(`${from} of the runtime is not a file`);
    const kept = known.get(from);
    if (kept?.stamp === stat.stamp) return { hash: kept.digest, sizeBytes: stat.sizeBytes, isNew: false };
    const hash = await digestPath(from, stat.sizeBytes);
    if (!isRacy(stat, Date.now())) known.set(from, { stamp: stat.stamp, digest: hash });
    return { hash, sizeBytes: stat.sizeBytes, isNew: true };
  };
  return {
    async entriesOf(files, under) {
      const entries: RootEntry[] = [];
      let isNew = false;
      for (const file of files) {
        const { isNew: read, ...blob } = await digest(file.from);
        isNew ||= read;
        entries.push({ kind: 'file', path: `${under}/${file.path}`, from: file.from, blob, executable: file.executable });
      }
      // A failed write is ignored: the files are read again next time.
      if (isNew) await writeWhole(path, encodeKnown(known)).catch(() => undefined);
      return entries;
    },
  };
}

interface Known {
  readonly stamp: string;
  readonly digest: Digest;
}

/** A damaged file has no digests. */
function readKnown(path: string): Map<string, Known> {
  try {
    const document = parseJson(readFileSync(path, 'utf8'));
    const rows = isJsonObject(document) && Array.isArray(document.files) ? document.files : [];
    if (!isJsonObject(document) || document.check !== digestBytes(JSON.stringify(rows))) return new Map();
    return new Map(
      rows.flatMap(row => {
        const [from, stamp, text] = Array.isArray(row) ? row : [];
        const digest = parseDigest(text);
        return typeof from === 'string' && typeof stamp === 'string' && digest !== undefined ? [[from, { stamp, digest }] as const] : [];
      }),
    );
  } catch {
    return new Map();
  }
}

function encodeKnown(known: ReadonlyMap<string, Known>): string {
  const files = [...known].map(([from, { stamp, digest }]) => [from, stamp, digest]);
  return encodeCanonicalJson({ check: digestBytes(JSON.stringify(files)), files });
}
