/** The project as the page shows it: plan, examination of the stages and history, kept until a file that they come from changes. */
import { join } from 'node:path';
import { type Explanation, explainStages } from '../../engine/insight/explain/explain-stages.js';
import { followHistory } from '../../engine/insight/history/history-file.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import type { AcceptedStage } from '../../engine/model/accepted-stage.js';
import type { StageId } from '../../engine/model/plan.js';
import { type CacheFolder, cacheFolderAt } from '../../engine/store/cache-folder.js';
import { stampOf } from '../../engine/store/files/stamp.js';
import { createRecordIndex } from '../../engine/store/record-index.js';
import { followAccepted } from '../../engine/store/state-log.js';
import type { Hint } from '../../engine/watch/hints.js';
import { watchedPaths } from '../../engine/watch/watched-paths.js';
import type { FileWatcher } from '../../engine/watch/watcher.js';
import type { LoadedProject, ProjectPorts } from './project-ports.js';
import type { RunningBuild } from './running-build.js';
import { findResults, type StageResult } from './stage-results.js';
import { withEnded } from './stages-after-look.js';

/** Everything known at one moment. */
export interface ProjectState extends LoadedProject {
  /** Grows with every look, so that a page can tell which of two answers is newer. */
  readonly version: number;
  /** When the look at all stages began, in milliseconds since 1970. */
  readonly lookedMs: number;
  /** When the results were read, which may be later. */
  readonly readMs: number;
  /** Empty if the pipeline file has errors. */
  readonly explained: ReadonlyMap<StageId, Explanation>;
  readonly accepted: ReadonlyMap<string, AcceptedStage>;
  /** What the views show: accepted results, and those that only the cache has. */
  readonly results: ReadonlyMap<string, StageResult>;
  /** Oldest first. */
  readonly runs: readonly RunRecord[];
  readonly cache: CacheFolder;
}

export interface LiveProject {
  /** The present state: that of the last look if nothing has changed since. */
  state(): Promise<ProjectState>;
  /** Something may have changed. Of 'results' and 'ended' the next look reads what the build has made; after 'ended', another look at everything follows. */
  note(news?: News): void;
  /** Begins or ends the watch of files. Its owner has them watched while pages are open, and for a minute before the first one. */
  watch(how: 'files' | 'nothing'): void;
  close(): void;
}

/** 'results': what a running build has made; 'ended': a build has come to its conclusion; 'files': anything. */
export type News = 'files' | 'results' | 'ended';

/** Long enough for the events of one save, and for stages that end together. After its conclusion a build writes nothing more. */
const QUIET_MS: Readonly<Record<News, number>> = { files: 80, results: 20, ended: 0 };

/** Between two notices: pages ask for everything after each, and stages often end in groups. */
const APART_MS = 150;

/** Until another look: after a build, whose figures come first, and where only one can tell whether an edit reaches a stage that has ended. */
const ANOTHER_MS = 1_000;

interface LiveProjectOptions {
  readonly onChange: () => void;
  /** The running or last build. */
  readonly build: () => RunningBuild | undefined;
}

export function openLiveProject(ports: ProjectPorts, { onChange, build }: LiveProjectOptions): LiveProject {
  const cache = cacheFolderAt(join(ports.projectFolder, 'cache'), ports.sharedCache);
  const looks = openLooks(ports, cache);
  const notices = openNotices(onChange);
  let version = 0;
  let looking: Promise<ProjectState> | undefined;
  let watcher: FileWatcher | undefined;
  let again: NodeJS.Timeout | undefined;
  let editedMs = 0;

  /** The files as they were before the last look. */
  let seen = stampFiles(ports, cache);

  const lookAgain = (): void => {
    again ??= setTimeout(() => note('files'), ANOTHER_MS).unref();
  };
  const note = (news: News = 'files'): void => {
    seen = stampFiles(ports, cache);
    looking = news === 'files' ? undefined : looking?.then(readResults);
    if (news === 'files') again = clear(again);
    if (news === 'ended') lookAgain();
    looking?.catch(() => undefined);
    notices.soon(QUIET_MS[news]);
  };
  /** Whether what changes was made by a build that runs or has just ended: then another look at everything follows. */
  const isAfterBuild = (): boolean => build()?.state === 'running' || again !== undefined;
  /** While a build runs, another look at everything would hold it up: under `watch` the build has this process too. */
  const readResults = (before: ProjectState): ProjectState => {
    const { unclear, ...next } = looks.readAgain(before, editedMs, build());
    if (unclear) lookAgain();
    return { ...next, version: ++version };
  };
  /** No answer is older than the results: who reads or saves figures right after a build gets those of the build. */
  const dropOutdated = (): void => {
    const before = seen;
    seen = stampFiles(ports, cache);
    if (before.pipeline !== seen.pipeline) editedMs = Date.now();
    const news = findNews(before, seen, isAfterBuild() ? 'build' : 'anything');
    if (news !== undefined) looking = news === 'files' ? undefined : looking?.then(readResults);
  };
  /** What a build publishes is known by its journal. */
  const hint = (kind: Hint): void => {
    if (kind === 'input') editedMs = Date.now();
    if (kind === 'input' || !isAfterBuild()) note();
  };
  const look = async (): Promise<ProjectState> => {
    const lookedMs = Date.now();
    const known = await looks.lookAt(await loadWatched(ports, () => watcher));
    return { ...known, version: ++version, lookedMs, readMs: lookedMs };
  };
  return {
    state() {
      dropOutdated();
      // Without a watch nothing tells of other changes.
      if (watcher === undefined) looking = undefined;
      looking ??= look();
      const own = looking;
      own.catch(() => {
        if (looking === own) looking = undefined;
      });
      return own;
    },
    note,
    watch(how) {
      if (how === 'files' && watcher === undefined) {
        looking = undefined;
        watcher = ports.watch({ hint, polls: () => undefined });
      } else if (how === 'nothing') {
        watcher?.close();
        watcher = undefined;
      }
    },
    close() {
      notices.close();
      clearTimeout(again);
      watcher?.close();
      // A look that is under way must not begin another watch, which would keep the process alive.
      watcher = undefined;
    },
  };
}

function clear(timer: NodeJS.Timeout | undefined): undefined {
  clearTimeout(timer);
}

function openNotices(tell: () => void): { soon(quietMs: number): void; close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let toldMs = 0;
  const end = (): void => {
    timer = undefined;
    toldMs = Date.now();
    tell();
  };
  return {
    soon(quietMs) {
      timer ??= setTimeout(end, Math.max(quietMs, toldMs + APART_MS - Date.now())).unref();
    },
    close: () => clearTimeout(timer),
  };
}

/** What is watched is read again if the watch began after it was read. */
async function loadWatched(ports: ProjectPorts, watcher: () => FileWatcher | undefined): Promise<LoadedProject> {
  for (;;) {
    const loaded = await ports.load();
    const inputs = watchedPaths(loaded.plan, loaded.reads);
    const order = { inputs, outputs: join(ports.projectFolder, 'artifacts'), projectFolder: ports.projectFolder };
    if ((watcher()?.watch(order) ?? 'same') === 'same') return loaded;
  }
}

function openLooks({ engine, pipeline, sharedCache }: ProjectPorts, cache: CacheFolder) {
  const records = createRecordIndex();
  const readRuns = followHistory(cache.history(pipeline));
  const readAccepted = followAccepted(cache.state(pipeline));
  return {
    async lookAt(loaded: LoadedProject) {
      const accepted = readAccepted();
      const { plan } = loaded;
      const explained: ProjectState['explained'] =
        plan === undefined ? new Map() : await explainStages(plan, 'all', engine, { sharedCache, records });
      return { ...loaded, explained, accepted, results: findResults(accepted, explained, cache), runs: readRuns(), cache };
    },
    /** @returns the state with the present results, after what the build has ended; `unclear` where only another look tells which are up to date. */
    readAgain(before: ProjectState, editedMs: number, build: RunningBuild | undefined) {
      const readMs = Date.now();
      const accepted = readAccepted();
      const keys = new Map([...accepted].map(([id, { key }]): [string, string] => [id, key]));
      const fresh = new Set([...accepted].flatMap(([id, one]) => (isSamePublication(one, before.accepted.get(id)) ? [] : [id])));
      const { explained, unclear } = withEnded({ ...before, editedMs, keys, fresh }, build);
      return { ...before, readMs, explained, accepted, results: findResults(accepted, explained, cache), runs: readRuns(), unclear };
    },
  };
}

function isSamePublication(now: AcceptedStage, before: AcceptedStage | undefined): boolean {
  return now.key === before?.key && now.folderStamp === before.folderStamp;
}

type Stamps = Readonly<Record<'pipeline' | 'results' | 'runs', string>>;

/** Of files that tell of an edit or a build before a watch does. */
function stampFiles({ file, pipeline }: ProjectPorts, cache: CacheFolder): Stamps {
  return { pipeline: stampOf(file.path), results: stampOf(cache.state(pipeline)), runs: stampOf(cache.history(pipeline)) };
}

/** @param by a build writes its history before its conclusion, and `watch` examines all stages once more after it. */
function findNews(before: Stamps, now: Stamps, by: 'build' | 'anything'): News | undefined {
  if (now.pipeline !== before.pipeline) return 'files';
  if (now.results === before.results && now.runs === before.runs) return undefined;
  return by === 'build' ? 'results' : 'files';
}
