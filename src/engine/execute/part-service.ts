/** The engine's side of `context.memo`: keys and records of cached parts. No part is computed twice at the same time. */
import { join } from 'node:path';
import { digestJson } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import type { CodeDigests } from '../action/code/code-digest.js';
import type { CodeRoot } from '../action/code/pinned-code.js';
import type { Artifact } from '../model/artifact.js';
import { differingPorts } from '../model/artifact.js';
import { messageOf } from '../model/engine-error.js';
import type { PartAnswerKind, WarningCode } from '../model/events.js';
import type { ActionRecords, ActionResult } from '../store/action-records.js';
import type { BlobStore } from '../store/blob-store.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { digestPath } from '../store/files/digest-file.js';
import { lookAt } from '../store/files/stamp.js';
import type { PartAnswer, PartQuestion } from './worker/messages.js';
import type { PartKeeper } from './worker/run-parts.js';

export interface PartService {
  /** Returns the keeper of one run. `kept: 'ignore'` computes every part again. */
  keeperFor(run: {
    /** The plugin's declared `reads` belong to its parts too. */
    plugin: CodeRoot;
    kept: 'use' | 'ignore';
    warn: (code: WarningCode, message: string) => void;
    /**
     * Returns the changed file if the stage's code has changed since the run began.
     * The run has loaded the older code, so its parts belong to no key.
     */
    findChangedCode: () => Promise<string | undefined>;
    /** Called for each part when its answer is known. Times are from `performance.now()`. */
    onPart: (part: { readonly name: string; readonly answer: PartAnswerKind }, startMs: number, endMs: number) => void;
  }): RunKeeper;
  /**
   * Returns the keeper of a run whose results are only compared. Every part is computed and none is stored.
   * `differs` is called for each file that differs from the stored one.
   */
  comparingKeeper(run: {
    plugin: CodeRoot;
    differs: (path: string) => void;
    warn: (code: WarningCode, message: string) => void;
  }): RunKeeper;
}

export interface RunKeeper extends PartKeeper {
  /** Keys of the cached parts that the run has used so far. */
  readonly used: ReadonlySet<string>;
  /** Drops the parts that the run requested and did not answer, so that other runs can compute them. */
  release(): void;
}

export interface PartServiceNeeds {
  readonly cache: CacheFolder;
  readonly store: BlobStore;
  readonly records: ActionRecords;
  readonly code: CodeDigests;
  readonly platformClass: () => Promise<string>;
}

interface Claim {
  readonly key: string;
  readonly name: string;
  readonly manifest: JsonObject;
  readonly startedMs: number;
  readonly settle: () => void;
}

export function createPartService({ cache, store, records, code, platformClass }: PartServiceNeeds): PartService {
  const running = new Map<string, Promise<void>>();
  let tickets = 0;

  const manifestOf = async (question: PartQuestion, plugin: CodeRoot): Promise<JsonObject> => ({
    format: 1,
    part: question.name,
    version: question.version,
    code: (await code.read({ ...plugin, modulePath: question.modulePath })).digest,
    manifest: question.manifest,
    blobs: question.blobs,
    ...(question.runsModels === 'always' ? { platformClass: await platformClass() } : {}),
  });

  const isWhole = async (result: ActionResult): Promise<boolean> => {
    for (const { digest } of Object.values(result.outputs)) if ((await store.verify(digest)) !== 'found') return false;
    return true;
  };

  return {
    comparingKeeper({ plugin, differs, warn }) {
      const asked = new Map<string, { readonly key: string; readonly part: string }>();
      return {
        async find(question): Promise<PartAnswer> {
          const ticket = `part-${tickets++}`;
          asked.set(ticket, { key: digestJson(await manifestOf(question, plugin)), part: question.name });
          return { kind: 'missing', ticket };
        },
        async keep(ticket, folder, names) {
          const { key, part } = getDefined(asked.get(ticket), ticket);
          const record = await records.find(key);
          const before = record === undefined || record === 'damaged' ? undefined : record.results.at(-1)?.outputs;
          for (const name of names) {
            const path = join(folder, name);
            const digest = await digestPath(path, lookAt(path)?.sizeBytes ?? 0);
            if (before !== undefined && before[name]?.digest !== digest) differs(`part ${part}: ${name}`);
          }
          return Object.fromEntries(names.map(name => [name, join(folder, name)]));
        },
        drop(_ticket, why) {
          if (why !== '') warn('part-not-kept', why);
        },
        release: () => undefined,
        used: new Set(),
      };
    },

    keeperFor({ plugin, kept, warn, findChangedCode, onPart }) {
      const claims = new Map<string, Claim>();
      const used = new Set<string>();

      const findKept = async (key: string, part: string): Promise<Readonly<Record<string, string>> | undefined> => {
        const record = await records.find(key);
        if (record === undefined) return undefined;
        const result = record === 'damaged' ? undefined : record.results.at(-1);
        if (result !== undefined && (await isWhole(result))) {
          await records.noteUse(key);
          return Object.fromEntries(Object.entries(result.outputs).map(([name, { digest }]) => [name, cache.blob(digest)]));
        }
        warn('cache-damaged', `a kept result of part ${part} is damaged or incomplete; it is computed again`);
        if (result !== undefined) await records.dropResult(key, result);
        return undefined;
      };

      const settle = (ticket: string, answer: PartAnswerKind): void => {
        const claim = claims.get(ticket);
        if (claim === undefined) return;
        claim.settle();
        claims.delete(ticket);
        onPart({ name: claim.name, answer }, claim.startedMs, performance.now());
      };

      return {
        async find(question): Promise<PartAnswer> {
          const manifest = await manifestOf(question, plugin);
          const key = digestJson(manifest);
          for (let other = running.get(key); other !== undefined; other = running.get(key)) await other;
          const { promise, resolve } = withResolvers();
          running.set(key, promise);
          const ticket = `part-${tickets++}`;
          const release = (): void => {
            running.delete(key);
            resolve();
          };
          claims.set(ticket, { key, name: question.name, manifest, startedMs: performance.now(), settle: release });
          const files = kept === 'use' ? await findKept(key, question.name) : undefined;
          if (files === undefined) return { kind: 'missing', ticket };
          used.add(key);
          settle(ticket, 'kept');
          return { kind: 'found', files };
        },

        async keep(ticket, folder, names) {
          const claim = getDefined(claims.get(ticket), ticket);
          const changed = await findChangedCode();
          if (changed !== undefined) {
            warn('part-not-kept', `${changed} changed while part ${claim.name} was computed`);
            settle(ticket, 'dropped');
            return Object.fromEntries(names.map(name => [name, join(folder, name)]));
          }
          const files: Record<string, string> = {};
          const outputs: Record<string, Artifact> = {};
          try {
            for (const name of names) {
              const path = join(folder, name);
              files[name] = path;
              const sizeBytes = lookAt(path)?.sizeBytes ?? 0;
              const digest = await digestPath(path, sizeBytes);
              await store.takeFile(path, digest, 'no-flush');
              files[name] = cache.blob(digest);
              outputs[name] = { kind: 'file', digest, sizeBytes, executable: false };
            }
            const result = { outputs, metrics: undefined, log: undefined, durationMs: performance.now() - claim.startedMs };
            const other = await records.add(claim.key, claim.manifest, result);
            used.add(claim.key);
            if (other !== undefined) {
              const ports = differingPorts(other.outputs, outputs).join(', ');
              warn('non-deterministic', `part ${String(claim.manifest.part)} gave other bytes than before for equal inputs: ${ports}`);
            }
          } catch (error) {
            warn('cache-write-failed', `a part is not kept: ${messageOf(error)}`);
          }
          settle(ticket, 'computed');
          return Object.fromEntries(names.map(name => [name, files[name] ?? join(folder, name)]));
        },

        drop(ticket, why) {
          if (why !== '' && claims.has(ticket)) warn('part-not-kept', why);
          settle(ticket, 'dropped');
        },

        used,

        release() {
          for (const ticket of [...claims.keys()]) settle(ticket, 'dropped');
        },
      };
    },
  };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>(settle => {
    resolve = settle;
  });
  return { promise, resolve };
}
