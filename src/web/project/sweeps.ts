/** Sweeps that the page has started: their rows are kept as files of the cache, so that a later page shows them too. */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { readJsonShape } from '../../base/json/json-shape.js';
import { isJsonObject, type Json, parseJson } from '../../base/json.js';
import { ANYTHING, anyList, anyText, integer, list, matching, object, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { hasCode, isMissing, isSystemCallError } from '../../base/system-error.js';
import type { CacheFolder } from '../../engine/store/cache-folder.js';
import { RequestError } from '../http/read-body.js';
import type { BuildProcess } from './build-process.js';

const AXIS = object({
  name: matching(/^[A-Za-z_][\w@./-]{0,199}$/, 'a parameter or STAGE.SETTING'),
  values: matching(/^[^\n\r\0]{1,2000}$/, 'values in one line, separated by commas'),
});

export const SWEEP_ORDER = object({ axes: list(AXIS), targets: anyList(text()) });

export type SweepOrder = FromSchema<typeof SWEEP_ORDER>;

/** What the sweep was started for. `basis` identifies what its figures come from. */
const ORIGIN_FIELDS = { targets: anyList(text()), basis: anyText() };

/** Stands in the place of the rows until they are written. Earlier servers wrote no basis. */
const STARTED = openObject({ axes: anyList(AXIS), targets: anyList(text()), pid: integer(0), started: anyText() }, { basis: anyText() });

const readStarted = readerOf(STARTED);

export interface SweepView {
  /** "s3". */
  readonly name: string;
  /** 'lost': its process has ended without rows. */
  readonly state: 'running' | 'ended' | 'lost';
  /** Names of the axes. */
  readonly axes: readonly string[];
  /** The values of each axis, separated by commas. */
  readonly values: readonly string[];
  /** The pipeline or its sources are others than when it was started, or it is not known what they were then. */
  readonly isOutdated: boolean;
  /** What its process wrote last, while it runs here. */
  readonly line?: string;
  /** What its process wrote about problems, if it failed here. */
  readonly said?: string;
}

type BasisNow = (targets: readonly string[]) => string | undefined;

export interface Sweeps {
  /** @param basis of the order's targets, see `basisOf`. @throws RequestError `ui-bad-request`. */
  start(order: SweepOrder, basis: string): { readonly name: string; readonly process: BuildProcess };
  /** Newest first. @param basisNow of these targets; undefined if there is no plan. */
  list(basisNow: BasisNow): readonly SweepView[];
  /** The rows, as the command wrote them. @throws RequestError `ui-not-found`. */
  rows(name: string): Json;
}

export interface SweepPorts {
  /** Starts `tanren sweep`, which writes its rows to `output`. `onLine` gets each line that it prints. */
  start(order: SweepOrder, output: string, onLine: (line: string) => void): BuildProcess;
  readonly onLine: (name: string, line: string) => void;
  now(): Date;
}

const MOST_AXES = 8;

const MOST_KEPT = 50;

export function openSweeps(cache: CacheFolder, pipeline: string, ports: SweepPorts): Sweeps {
  const running = new Map<string, { line: string }>();
  const failed = new Map<string, string>();
  const pathOf = (name: string): string => cache.sweep(pipeline, name);
  return {
    start(order, basis) {
      if (order.axes.length > MOST_AXES) throw new RequestError(400, 'ui-bad-request', `a sweep of the page has at most ${MOST_AXES} axes`);
      const known = listNames(pathOf);
      for (const old of known.slice(MOST_KEPT - 1)) rmSync(pathOf(old), { force: true });
      const name = reserve(pathOf, numberOf(known[0]) + 1);
      const own = { line: '' };
      const process = ports.start(order, pathOf(name), line => {
        own.line = line;
        ports.onLine(name, line);
      });
      const started: Json = { ...order, basis, pid: process.pid, started: ports.now().toISOString() };
      writeFileSync(pathOf(name), JSON.stringify(started));
      running.set(name, own);
      void process.ended.then(({ exitCode, said }) => {
        running.delete(name);
        if (exitCode !== 0) failed.set(name, said);
        addOrigin(pathOf(name), { targets: order.targets, basis });
      });
      return { name, process };
    },
    list: basisNow => listNames(pathOf).flatMap(name => viewSweep(name, readText(pathOf(name)), { running, failed, basisNow })),
    rows(name) {
      const text = /^s[1-9]\d{0,8}$/.test(name) ? readText(pathOf(name)) : undefined;
      const rows = text === undefined ? undefined : parseJson(text);
      if (rows === undefined || readJsonShape(readStarted, rows).kind === 'ok')
        throw new RequestError(404, 'ui-not-found', `there are no rows of a sweep "${name.slice(0, 40)}"`);
      return rows;
    },
  };
}

interface Known {
  readonly running: ReadonlyMap<string, { readonly line: string }>;
  readonly failed: ReadonlyMap<string, string>;
  readonly basisNow: BasisNow;
}

const readRows = readerOf(
  openObject({ axes: anyList(openObject({ name: anyText(), values: anyList(ANYTHING) })) }, { origin: openObject(ORIGIN_FIELDS) }),
);

function viewSweep(name: string, text: string | undefined, { running, failed, basisNow }: Known): readonly SweepView[] {
  const json = text === undefined ? undefined : parseJson(text);
  const started = readJsonShape(readStarted, json);
  const said = failed.get(name);
  const problem = said === undefined || said === '' ? {} : { said };
  if (started.kind === 'ok') {
    const own = running.get(name);
    const axes = started.value.axes.map(axis => axis.name);
    const values = started.value.axes.map(axis => axis.values);
    const isOutdated = started.value.basis === undefined || started.value.basis !== basisNow(started.value.targets);
    const isRunning = own !== undefined || (said === undefined && isAlive(started.value.pid));
    return [
      {
        name,
        state: isRunning ? 'running' : 'lost',
        axes,
        values,
        isOutdated,
        ...(own === undefined ? {} : { line: own.line }),
        ...problem,
      },
    ];
  }
  const rows = readJsonShape(readRows, json);
  if (rows.kind !== 'ok') return [];
  const { axes, origin } = rows.value;
  const values = axes.map(axis => axis.values.map(value => (typeof value === 'string' ? value : JSON.stringify(value))).join(','));
  const isOutdated = origin === undefined || origin.basis !== basisNow(origin.targets);
  return [{ name, state: 'ended', axes: axes.map(axis => axis.name), values, isOutdated, ...problem }];
}

/** Keeps with the rows what the sweep was started for. Where that cannot be written, they count as outdated. */
function addOrigin(path: string, origin: { readonly targets: readonly string[]; readonly basis: string }): void {
  const rows = parseJson(readText(path) ?? '');
  if (!isJsonObject(rows) || readJsonShape(readRows, rows).kind !== 'ok') return;
  try {
    writeFileSync(`${path}.new`, JSON.stringify({ ...rows, origin }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
    rmSync(`${path}.new`, { force: true });
  }
}

/** The number is used by this sweep alone, also where another server starts one. */
function reserve(pathOf: (name: string) => string, first: number): string {
  for (let number = first; ; number++) {
    try {
      writeFileSync(pathOf(`s${number}`), '', { flag: 'wx', mode: 0o600 });
      return `s${number}`;
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
  }
}

/** Newest first. */
function listNames(pathOf: (name: string) => string): readonly string[] {
  const [folder, sample] = [dirname(pathOf('s1')), basename(pathOf('s1'))];
  const [before, after] = [sample.slice(0, -'s1.json'.length), '.json'];
  const names = listFolder(folder).flatMap(file => {
    const name = file.startsWith(before) && file.endsWith(after) ? file.slice(before.length, -after.length) : '';
    return /^s[1-9]\d{0,8}$/.test(name) ? [name] : [];
  });
  return names.sort((a, b) => numberOf(b) - numberOf(a));
}

function numberOf(name: string | undefined): number {
  return name === undefined ? 0 : Number(name.slice(1));
}

function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/**
 * A process id may have been given to another process: a sweep of another server is then shown as running until that one ends.
 * A process that could not be started has the id 0, which the system takes for the caller's own group.
 */
function isAlive(pid: number): boolean {
  if (pid === 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
