/** The marker of artifacts/, which lists the files that builds have published: Tanren replaces and removes only these. */
import { appendFileSync, lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { EngineError } from '../model/engine-error.js';
import { encodeCheckedLine, isWholeLine, parseCheckedLine } from './files/checked-line.js';
import { readRegularText } from './files/read-regular.js';
import { newStaging } from './stage-folder.js';

export interface PublishedNames {
  /** Names that builds have published in the folder of a stage, given relative to artifacts/ ("train", "other/train"). */
  in(folder: string): ReadonlySet<string>;
  /** `empty` was called for the folder, and nothing has been published there since: no file there is an output, whatever the state says. */
  isEmptied(folder: string): boolean;
  /** Records that everything published in the folder is gone. Written by the next `save`. */
  empty(folder: string): void;
  /** Records names before they appear in the folder, so that the next build knows every file that a killed build leaves. */
  add(folder: string, names: readonly string[]): void;
  /** Records that the folder now holds exactly these names. Written by the next `save`. */
  settle(folder: string, names: readonly string[]): void;
  /** Writes the sorted list if it has changed, so that equal artifacts have equal markers. @throws file system errors. */
  save(): void;
}

export const ARTIFACTS_MARKER = '.tanren';

const HEADER = 'tanren-artifacts 1';
const ABOUT =
  '# Tanren publishes outputs of stages in this folder. It replaces and removes only what this file lists; other files are left alone.';
/** Matches every version. A list of a newer version is not changed. */
const ANY_HEADER = /^tanren-artifacts \d+$/;

export function openPublishedNames(artifactsRoot: string): PublishedNames {
  const path = join(artifactsRoot, ARTIFACTS_MARKER);
  let loaded: Loaded | undefined;
  let changed = false;
  const load = (): Loaded => {
    loaded ??= readMarker(path);
    return loaded;
  };
  return {
    in: folder => load().names.get(folder) ?? NO_NAMES,
    isEmptied: folder => load().names.get(folder)?.size === 0,
    empty(folder) {
      const { state, names: known } = load();
      known.set(folder, NO_NAMES);
      changed ||= state !== 'newer';
    },
    add(folder, names) {
      // A marker that was removed in the meantime, possibly with all of artifacts/, is written again.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) loaded = undefined;
      const { state, names: known } = load();
      const before = known.get(folder) ?? NO_NAMES;
      if (state === 'ours' && names.every(name => before.has(name))) return;
      const all = new Set([...before, ...names]);
      known.set(folder, all);
      if (state === 'newer') return;
      changed = true;
      // No line may be appended until this one is complete.
      loaded = { state: 'none', names: known };
      if (state === 'ours') appendFileSync(path, encodeLine(folder, all));
      else writeMarker(path, known);
      loaded = { state: 'ours', names: known };
    },
    settle(folder, names) {
      const { state, names: known } = load();
      const before = known.get(folder);
      if ((before?.size ?? 0) === names.length && names.every(name => before?.has(name))) return;
      if (names.length === 0) known.delete(folder);
      else known.set(folder, new Set(names));
      changed ||= state !== 'newer';
    },
    save() {
      if (!changed || loaded === undefined || loaded.state === 'newer') return;
      if (lstatSync(artifactsRoot, { throwIfNoEntry: false }) === undefined) return;
      writeMarker(path, loaded.names);
      loaded = { state: 'ours', names: loaded.names };
      changed = false;
    },
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();

interface Loaded {
  /** 'none': the marker is missing or unreadable. */
  readonly state: 'ours' | 'newer' | 'none';
  readonly names: Map<string, ReadonlySet<string>>;
}

function readMarker(path: string): Loaded {
  const text = readText(path);
  const [header = '', ...lines] = text.split('\n');
  const names = new Map<string, ReadonlySet<string>>();
  if (header !== HEADER) {
    if (ANY_HEADER.test(header)) return { state: 'newer', names };
    if (isForeign(text)) throw notTheList(path);
    return { state: 'none', names };
  }
  for (const line of lines) {
    const record = parseCheckedLine(line);
    if (typeof record?.folder !== 'string' || !Array.isArray(record.names)) continue;
    names.set(record.folder, new Set(record.names.filter(name => typeof name === 'string')));
  }
  // A line appended to a torn last line would be lost.
  return { state: lines.at(-1) === '' ? 'ours' : 'none', names };
}

/** A damaged list still has one intact line or the comment text, or is empty. */
function isForeign(text: string): boolean {
  return text.replaceAll('\0', '') !== '' && !text.includes(ABOUT) && !text.split('\n').some(isWholeLine);
}

/** @throws EngineError `output-blocked` if the path is not a file. */
function readText(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined && !stats.isFile()) throw notTheList(path);
  return stats === undefined ? '' : readRegularText(path);
}

function notTheList(path: string): EngineError {
  return new EngineError('output-blocked', `${path} is in the place of the list of published files, and no build wrote it`, {
    details: { path },
    help: 'move or delete it, and build again: the result is in the cache',
  });
}

function encodeLine(folder: string, names: ReadonlySet<string>): string {
  return encodeCheckedLine({ folder, names: [...names].sort() });
}

/** Writes through `.staging`, which the next build clears. */
function writeMarker(path: string, names: ReadonlyMap<string, ReadonlySet<string>>): void {
  const lines = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, inIt]) => encodeLine(folder, inIt));
  const temporary = newStaging(dirname(path));
  try {
    writeFileSync(temporary, [`${HEADER}\n${ABOUT}\n`, ...lines].join(''), { flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
