/** Runs a program in a folder with exactly its declared inputs, and collects its declared outputs. */
import {
  chmodSync,
  constants,
  createReadStream,
  createWriteStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { copyFile, cp, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode, MISSING } from '../../src/base/system-error.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { getInputPath, getOutputPath } from '../../src/stage/paths.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { CommandParams } from './params.js';
import { pathOf } from './places.js';

/** Length of the program's last output in a failure message. */
const TAIL_CHARACTERS = 4000;

/** @throws StageError `command-failed`, `command-output-missing`, `output-escapes`. */
export async function runCommand({ params, inputs, outputs, context }: StageJob<CommandParams>): Promise<void> {
  const folder = join(context.scratch, 'work');
  mkdirSync(folder, { recursive: true });
  for (const [port, place] of Object.entries(params.inputs))
    await placeInput(getInputPath(inputs, port), join(folder, pathOf(place)), folder);
  const targets = Object.entries(params.outputs).map(([port, place]) => ({
    port,
    path: pathOf(place),
    to: getOutputPath(outputs, port),
  }));
  for (const { path } of targets) makeFolderOf(join(folder, path), folder);

  const real = realpathSync.native(folder);
  const argv = params.shell === 'sh' ? ['sh', '-c', ...params.run] : params.run;
  const tail = collectTail();
  const result = await context.spawn(argv, { cwd: folder, env: params.env, onOutput: (_stream, text) => tail.add(text) });
  if (result.exitCode !== 0) throw commandFailed(argv, result, tail.text());

  const outside = targets.filter(({ path }) => leaves(join(folder, path), real));
  if (outside.length > 0) throw outputEscapes(outside);
  const missing = targets.filter(({ path }) => !isThere(join(folder, path)));
  if (missing.length > 0) throw outputMissing(missing, tail.text());
  for (const { path, to } of targets) await move(join(folder, path), to);
}

/** Copies an input, so that the program may write to it. Links are followed: their targets are the input. */
async function placeInput(from: string, to: string, folder: string): Promise<void> {
  makeFolderOf(to, folder);
  await copyInput(from, to, statSync(from));
}

/** Only the owner's execute permission is kept: the other permissions are not part of the key. */
async function copyInput(from: string, to: string, stats: Stats): Promise<void> {
  if (stats.isDirectory()) return copyFolder(from, to);
  if (!stats.isFile()) throw new StageError('special-file', `${from} is neither a file nor a folder`);
  if (stats.size <= AT_ONCE_BYTES) writeFileSync(to, readFileSync(from), { flag: 'wx' });
  else if (!(await isCloned(from, to))) await pipeline(createReadStream(from), createWriteStream(to, { flags: 'wx' }));
  chmodSync(to, (stats.mode & 0o100) === 0 ? 0o644 : 0o755);
}

/** Dangling links are skipped: they are not part of a folder's digest either. */
async function copyFolder(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const stats = statSync(join(from, name), { throwIfNoEntry: false });
    if (stats !== undefined) await copyInput(join(from, name), join(to, name), stats);
  }
  chmodSync(to, 0o755);
}

/** Up to this size, copying takes less time than handing the copy to another thread. */
const AT_ONCE_BYTES = 1 << 18;

/** Clones the file if the file system can share its bytes. Otherwise it is read to the end, because the system's copy never ends if the file gets shorter meanwhile. */
async function isCloned(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    // Nothing is left of the clone. The copy that follows reports why it fails.
    return false;
  }
}

/** Most paths are directly in the program's folder, which exists. */
function makeFolderOf(path: string, folder: string): void {
  if (dirname(path) !== folder) mkdirSync(dirname(path), { recursive: true });
}

/** Whether a path leaves the folder through a link that the program made: its target is not the program's output. */
function leaves(path: string, folder: string): boolean {
  try {
    const parent = realpathSync.native(dirname(path));
    return parent !== folder && !parent.startsWith(`${folder}${sep}`);
  } catch {
    // The path does not exist, so it is missing.
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    const entry = lstatSync(path);
    return entry.isFile() || entry.isDirectory();
  } catch (error) {
    if (hasCode(error, ...MISSING)) return false;
    throw error;
  }
}

async function move(from: string, to: string): Promise<void> {
  try {
    renameSync(from, to);
  } catch (error) {
    if (hasCode(error, 'EACCES')) {
      // A folder that the program made read-only cannot be moved, although we own it.
      chmodSync(from, 0o700);
      return renameSync(from, to);
    }
    if (!hasCode(error, 'EXDEV')) throw error;
    await cp(from, to, { recursive: true });
    await rm(from, { recursive: true });
  }
}

function commandFailed(
  argv: readonly string[],
  result: { exitCode: number | undefined; signal: string | undefined },
  tail: string,
): StageError {
  const how = result.signal === undefined ? `exit code ${result.exitCode}` : `signal ${result.signal}`;
  const output = tail === '' ? ' without output' : `; its last output:\n${tail}`;
  return new StageError('command-failed', `${argv[0]} ended with ${how}${output}`, {
    details: { argv, exitCode: result.exitCode ?? null, signal: result.signal ?? null, tail },
    help:
      result.signal === 'SIGKILL'
        ? 'the system probably ran out of memory: free memory, or lower --jobs'
        : "the stage's log has the whole output; the program sees only its declared inputs, env and tools",
  });
}

function outputEscapes(outside: readonly { port: string; path: string }[]): StageError {
  const names = outside.map(({ port, path }) => `${port} ("${path}")`).join(', ');
  return new StageError('output-escapes', `the program wrote ${names} through a link that leaves its folder`, {
    details: { outputs: outside.map(({ port, path }) => ({ port, path })) },
    help: 'write the files themselves instead of links',
  });
}

function outputMissing(missing: readonly { port: string; path: string }[], tail: string): StageError {
  const names = missing.map(({ port, path }) => `${port} ("${path}")`).join(', ');
  return new StageError('command-output-missing', `the program ended with exit code 0 but did not write ${names} as a file or folder`, {
    details: { outputs: missing.map(({ port, path }) => ({ port, path })), tail },
    help: 'paths are relative to the folder in which the program starts; `outputs` maps each port to its path',
  });
}

function collectTail(): { add: (text: string) => void; text: () => string } {
  let kept = '';
  return {
    add: text => {
      kept = (kept + text).slice(-TAIL_CHARACTERS);
    },
    text: () => kept.trimEnd(),
  };
}
