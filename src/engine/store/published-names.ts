/** The marker of artifacts/, which lists what builds have published there: only files of these names are Tanren's to replace or remove. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMissing } from '../model/engine-error.js';
import { encodeCheckedLine, parseCheckedLine } from './files/checked-line.js';

export interface PublishedNames {
  /** Names that builds have published in the folder of a stage, given relative to artifacts/ ("train", "other/train"). */
  in(folder: string): ReadonlySet<string>;
  /** Notes names before they appear in the folder, so that a build that is killed leaves nothing that the next one does not know. */
  add(folder: string, names: readonly string[]): void;
  /** The folder holds exactly these names now. Written by the next `save`. */
  settle(folder: string, names: readonly string[]): void;
  /** Writes the list in order where it has changed, so that equal artifacts have equal markers. @throws what the file system throws. */
  save(): void;
}

export const ARTIFACTS_MARKER = '.tanren';

const HEADER = 'tanren-artifacts 1';
const ABOUT =
  '# Tanren publishes outputs of stages in this folder. It replaces and removes only what this file lists; other files are left alone.';
/** Of any version: a list of a newer one is left as it is. */
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
    add(folder, names) {
      // A marker that somebody has removed meanwhile, maybe with all of artifacts/, is written again.
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) loaded = undefined;
      const { state, names: known } = load();
      const before = known.get(folder) ?? NO_NAMES;
      if (state === 'ours' && names.every(name => before.has(name))) return;
      const all = new Set([...before, ...names]);
      known.set(folder, all);
      if (state === 'newer') return;
      changed = true;
      // Until the line is whole, the next one must not follow it.
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
  /** 'none': there is no marker, or nothing of it can be read. */
  readonly state: 'ours' | 'newer' | 'none';
  readonly names: Map<string, ReadonlySet<string>>;
}

function readMarker(path: string): Loaded {
  const [header = '', ...lines] = readText(path).split('\n');
  const names = new Map<string, ReadonlySet<string>>();
  if (header !== HEADER) return { state: ANY_HEADER.test(header) ? 'newer' : 'none', names };
  for (const line of lines) {
    const record = parseCheckedLine(line);
    if (typeof record?.folder !== 'string' || !Array.isArray(record.names)) continue;
    names.set(record.folder, new Set(record.names.filter(name => typeof name === 'string')));
  }
  // A torn last line would swallow what is appended to it.
  return { state: lines.at(-1) === '' ? 'ours' : 'none', names };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

function encodeLine(folder: string, names: ReadonlySet<string>): string {
  return encodeCheckedLine({ folder, names: [...names].sort() });
}

/** By way of `.staging`, which the next build clears. */
function writeMarker(path: string, names: ReadonlyMap<string, ReadonlySet<string>>): void {
  const lines = [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([folder, inIt]) => encodeLine(folder, inIt));
  const temporary = join(dirname(path), '.staging', randomBytes(8).toString('hex'));
  mkdirSync(dirname(temporary), { recursive: true });
  try {
    writeFileSync(temporary, [`${HEADER}\n${ABOUT}\n`, ...lines].join(''), { flag: 'wx' });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
