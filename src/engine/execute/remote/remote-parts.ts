/** Parts of a stage on remote workers: several parts are one action, and the last ones are spread over the workers. */
import { extname, join } from 'node:path';
import { readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import type { BlobDigest } from '../../../remote/transport/remote-cache.js';
import { digestPath } from '../../store/files/digest-file.js';
import { statPath } from '../../store/files/stamp.js';
import { type TreeEntry, walkFolder } from '../../store/files/tree.js';
import type { PartQuestion } from '../worker/messages.js';
import { PARTS_DOCUMENT_NAME, PARTS_RESULTS, PARTS_RESULTS_DOCUMENT, type PartsDocument } from '../worker/parts-document.js';
import { ROOT_LAYOUT } from './execution-document.js';
import type { RootEntry } from './input-root.js';
import type { PartOutputs } from './part-outputs.js';

/**
 * Runs one action with these entries besides the runtime.
 * @param runsModels 'always': the results of some of its parts belong to the platform class of this machine.
 * @returns its outputs; undefined if no worker could run it.
 */
export type RunBatch = (entries: readonly RootEntry[], runsModels: PartQuestion['runsModels']) => Promise<PartOutputs | undefined>;

export interface RemotePartsOptions {
  /** Actions at once. */
  readonly jobs: number;
  readonly run: RunBatch;
  /** The module of a part, as the worker finds it. */
  readonly moduleOf: (path: string) => string;
  /** Called for each part that fails on a worker. It is computed here then. */
  readonly onFailed: (why: string) => void;
  /** Called for an action whose results cannot be read. Its parts, and those after it, are computed here. */
  readonly onDamaged: (why: string) => void;
}

export interface RemoteParts {
  /** @returns undefined if no worker could. @throws what the run of its action throws. */
  compute(question: PartQuestion): Promise<MadePart | undefined>;
  /** Waits for the actions under way, which write to the store. */
  end(): Promise<void>;
}

/** Files of a part by name. They are in the store. */
export type MadePart = Readonly<Record<string, BlobDigest>>;

interface MadeParts {
  readonly durationMs: number;
  readonly parts: readonly (MadePart | undefined)[];
}

interface Waiting {
  readonly question: PartQuestion;
  readonly settle: (made: MadePart | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** An action should take about so long, so that its own cost is a small share. */
const WORTH_MS = 6_000;

/** The least time of an action, also where the last parts are spread. */
const LEAST_MS = 1_000;

/** Of the parts that wait, an action takes one of so many shares per worker: parts differ in their time. */
const SPREAD = 1.25;

/** Parts that arrive within this time after each other go into one action, if they do not make a full one. */
const ARRIVAL_MS = 25;

/** Parts of the first actions, whose duration is not known yet. */
const FIRST_BATCH = 4;
const MOST_IN_BATCH = 500;

export function createRemoteParts(options: RemotePartsOptions): RemoteParts {
  const waiting: Waiting[] = [];
  const digest = createDigests();
  const running = new Set<Promise<void>>();
  let partMs: number | undefined;
  let hasFailed = false;
  /** When the last part arrived. */
  let lastMs = 0;
  let isWaiting = false;

  const partsOf = (ms: number): number =>
    partMs === undefined ? FIRST_BATCH : Math.min(MOST_IN_BATCH, Math.ceil(ms / Math.max(partMs, 0.01)));
  const sizeOfBatch = (): number => {
    // Towards the end the actions become smaller, so that all workers end at about the same time.
    const share = Math.ceil(waiting.length / (SPREAD * options.jobs));
    return Math.max(partsOf(LEAST_MS), Math.min(partsOf(WORTH_MS), share));
  };
  /** Whether more parts are likely to arrive before an action would be worth its trip. */
  const isArriving = (): boolean => waiting.length < partsOf(WORTH_MS) && performance.now() - lastMs < ARRIVAL_MS;

  const runBatch = async (batch: readonly Waiting[]): Promise<void> => {
    const made = hasFailed ? undefined : await makeAll(batch);
    // Without workers, every part is computed here.
    hasFailed ||= made === undefined;
    if (made !== undefined) partMs = averageOf(partMs, made.durationMs / batch.length);
    for (const [index, { settle }] of batch.entries()) settle(made?.parts[index]);
  };

  const makeAll = async (batch: readonly Waiting[]): Promise<MadeParts | undefined> => {
    const entries = await entriesOf(
      batch.map(({ question }) => question),
      options,
      digest,
    );
    const runsModels = batch.some(({ question }) => question.runsModels === 'always') ? 'always' : 'never';
    const outputs = await options.run(entries, runsModels);
    return outputs === undefined ? undefined : readResults(outputs, batch.length, options);
  };

  const pump = (): void => {
    while (running.size < options.jobs && waiting.length > 0) {
      if (isArriving()) {
        if (!isWaiting)
          setTimeout(() => {
            isWaiting = false;
            pump();
          }, ARRIVAL_MS);
        isWaiting = true;
        return;
      }
      const batch = waiting.splice(0, sizeOfBatch());
      const ended = runBatch(batch)
        .catch((error: unknown) => {
          hasFailed = true;
          for (const { fail } of batch) fail(error);
        })
        .finally(() => {
          running.delete(ended);
          pump();
        });
      running.add(ended);
    }
  };

  return {
    compute: question =>
      new Promise((resolve, reject) => {
        if (hasFailed) return resolve(undefined);
        lastMs = performance.now();
        waiting.push({ question, settle: resolve, fail: reject });
        pump();
      }),
    async end() {
      hasFailed = true;
      for (const { settle } of waiting.splice(0)) settle(undefined);
      await Promise.all(running);
    },
  };
}

function averageOf(before: number | undefined, now: number): number {
  return before === undefined ? now : before / 2 + now / 2;
}

async function entriesOf(
  questions: readonly PartQuestion[],
  { moduleOf }: RemotePartsOptions,
  digest: Digests,
): Promise<readonly RootEntry[]> {
  const entries = new Map<string, RootEntry>();
  const parts: PartsDocument['parts'][number][] = [];
  for (const { name, modulePath, manifest, blobs, paths } of questions) {
    const placed: Record<string, string> = {};
    for (const [role, from] of Object.entries(paths.blobs)) {
      const hash = blobs[role];
      if (hash === undefined) continue;
      const path = `${ROOT_LAYOUT.inputs}/${hash}${extname(from)}`;
      placed[role] = path;
      entries.set(path, { kind: 'file', path, from, blob: { hash, sizeBytes: statPath(from)?.sizeBytes ?? 0 }, executable: false });
    }
    const unkeyed: Record<string, string> = {};
    for (const [role, from] of Object.entries(paths.unkeyed)) {
      const entry = await digest.entryOf(from);
      unkeyed[role] = entry.path;
      entries.set(entry.path, entry);
    }
    parts.push({ name, module: moduleOf(modulePath), manifest, blobs: placed, unkeyed });
  }
  return [...entries.values(), { kind: 'bytes', path: PARTS_DOCUMENT_NAME, bytes: Buffer.from(JSON.stringify({ format: 1, parts })) }];
}

interface Digests {
  /** The file or folder as an entry under a name of its own. */
  entryOf(from: string): Promise<RootEntry>;
}

/** Digests of files beside the key, by stamp. */
function createDigests(): Digests {
  const known = new Map<string, ReturnType<typeof digestPath>>();
  const names = new Map<string, string>();
  const digestOf = (path: string, stamp: string, sizeBytes: number): ReturnType<typeof digestPath> => {
    const key = `${stamp} ${path}`;
    const found = known.get(key) ?? digestPath(path, sizeBytes);
    known.set(key, found);
    return found;
  };
  return {
    async entryOf(from) {
      const name = names.get(from) ?? `${ROOT_LAYOUT.inputs}/unkeyed-${names.size}${extname(from)}`;
      names.set(from, name);
      const stat = statPath(from);
      if (stat?.kind === 'file')
        return {
          kind: 'file',
          path: name,
          from,
          blob: { hash: await digestOf(from, stat.stamp, stat.sizeBytes), sizeBytes: stat.sizeBytes },
          executable: false,
        };
      const entries: TreeEntry[] = [];
      for (const entry of walkFolder(from, 'follow'))
        entries.push(
          entry.kind === 'file'
            ? {
                kind: 'file',
                path: entry.path,
                digest: await digestOf(join(from, entry.path), entry.stat.stamp, entry.stat.sizeBytes),
                sizeBytes: entry.stat.sizeBytes,
                executable: entry.stat.executable,
              }
            : entry,
        );
      return { kind: 'folder', path: name, from, entries };
    },
  };
}

type Reports = Pick<RemotePartsOptions, 'onFailed' | 'onDamaged'>;

/** A part that failed there has no result, and is computed here, which shows why it fails. */
function readResults({ files, results }: PartOutputs, count: number, { onFailed, onDamaged }: Reports): MadeParts | undefined {
  const read = readJsonShape(readerOf(PARTS_RESULTS_DOCUMENT), parseJson(results));
  if (read.kind !== 'ok' || read.value.parts.length !== count) {
    onDamaged(`the output of the worker has no ${PARTS_RESULTS} for ${count} parts`);
    return undefined;
  }
  const parts: (MadePart | undefined)[] = [];
  for (const [index, { names, failed }] of read.value.parts.entries()) {
    const made = names.map(name => [name, files.get(`${index}/${name}`)] as const);
    const bad = made.find(([, blob]) => blob === undefined)?.[0];
    if (failed !== undefined) onFailed(failed);
    else if (bad !== undefined) onFailed(`its output ${JSON.stringify(bad)} is not a file in its folder`);
    parts.push(failed === undefined && bad === undefined ? (Object.fromEntries(made) as MadePart) : undefined);
  }
  return { durationMs: read.value.durationMs, parts };
}
