/** What the runs of a build share about cached parts: where parts are stored, their keys, and the parts that are being computed. */
import type { JsonObject } from '../../../base/json.js';
import type { CodeDigests } from '../../action/code/code-digest.js';
import type { CodeRoot } from '../../action/code/pinned-code.js';
import type { ActionRecords } from '../../store/action-records.js';
import type { BlobStore } from '../../store/blob-store.js';
import type { CacheFolder } from '../../store/cache-folder.js';
import type { PartQuestion } from '../worker/messages.js';
import type { PartStore } from '../worker/run-parts.js';

export interface PartServiceNeeds {
  readonly cache: CacheFolder;
  readonly store: BlobStore;
  readonly records: ActionRecords;
  readonly code: CodeDigests;
  readonly platformClass: () => Promise<string>;
}

export interface PartService extends PartServiceNeeds {
  /** The parts that are being computed, by key: no part is computed twice at the same time. */
  readonly running: Map<string, Promise<void>>;
  /** Number of tickets given out. */
  tickets: number;
}

/** The engine's side of `context.memo` in one run. */
export interface RunPartStore extends PartStore {
  /** Keys of the cached parts that the run has used so far. */
  readonly used: ReadonlySet<string>;
  /** Drops the parts that the run requested and did not answer, so that other runs can compute them. */
  release(): void;
}

export function createPartService({ cache, store, records, code, platformClass }: PartServiceNeeds): PartService {
  return { cache, store, records, code, platformClass, running: new Map(), tickets: 0 };
}

export function nextTicket(service: PartService): string {
  return `part-${service.tickets++}`;
}

/** The document whose digest is the part's key. The declared `reads` of `plugin` belong to its parts too. */
export async function makePartManifest(service: PartService, question: PartQuestion, plugin: CodeRoot): Promise<JsonObject> {
  return {
    format: 1,
    part: question.name,
    version: question.version,
    code: (await service.code.read({ ...plugin, modulePath: question.modulePath })).digest,
    manifest: question.manifest,
    blobs: question.blobs,
    ...(question.runsModels === 'always' ? { platformClass: await service.platformClass() } : {}),
  };
}
