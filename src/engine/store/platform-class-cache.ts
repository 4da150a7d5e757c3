/** The platform class of this machine, computed once per machine and library and cached under a guard that is cheap to check. */
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { isJsonObject, parseJson } from '../../base/json.js';
import type { PlatformClassPort } from '../model/ports.js';
import type { CacheFolder } from './cache-folder.js';
import { readRegularText } from './files/read-regular.js';
import { writeWhole } from './files/write-file.js';

export interface PlatformClass {
  /** The cached class if its guard still matches. */
  find(): string | undefined;
  /** The class; runs the probe models if no class is cached. Writes to disk only if `keep` allows it. */
  get(): Promise<string>;
}

export function createPlatformClass(cache: CacheFolder, port: PlatformClassPort, keep: 'keep' | 'read-only'): PlatformClass {
  let known: string | undefined;
  let computing: Promise<string> | undefined;
  const find = (): string | undefined => {
    known ??= findKept(cache, port.guard());
    return known;
  };
  const compute = async (): Promise<string> => {
    const computed = await port.compute();
    // A failed write is ignored: the class is computed again next time.
    const document = encodeCanonicalJson({ guard: port.guard(), class: computed });
    if (keep === 'keep')
      for (const { platform } of [cache, ...(cache.shared === undefined ? [] : [cache.shared])])
        await writeWhole(platform, document).catch(() => undefined);
    known = computed;
    return computed;
  };
  return {
    find,
    async get() {
      const found = find();
      if (found !== undefined) return found;
      computing ??= compute();
      return computing;
    },
  };
}

function findKept({ platform, shared }: CacheFolder, guard: string): string | undefined {
  return readKept(platform, guard) ?? (shared === undefined ? undefined : readKept(shared.platform, guard));
}

function readKept(path: string, guard: string): string | undefined {
  try {
    const document = parseJson(readRegularText(path));
    return isJsonObject(document) && document.guard === guard && typeof document.class === 'string' ? document.class : undefined;
  } catch {
    return undefined;
  }
}
