/** Batches output to a pipe or a file into few writes: each write may wake its reader, and a build prints two lines per stage. */

export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** The parts of an output stream that are used; terminals have a size. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

const BATCH_MS = 20;

const pending = { stdout: '', stderr: '' };
let isTimed = false;

/** The streams of this process. Text written to one stream appears after text written earlier to the other. */
export const batchedStreams: Streams = { stdout: batched('stdout', 'stderr'), stderr: batched('stderr', 'stdout') };

/** Writes all pending output. Call it before this process writes in any other way, and when its work is done. */
export function flushOutput(): void {
  flush('stdout');
  flush('stderr');
}

type Name = keyof Streams;

function flush(name: Name): void {
  const text = pending[name];
  if (text === '') return;
  pending[name] = '';
  process[name].write(text);
}

/** Text for a terminal is written at once. */
function batched(name: Name, other: Name): OutputStream {
  const write = (text: string): void => {
    if (process[name].isTTY) {
      process[name].write(text);
      return;
    }
    if (pending[other] !== '') flush(other);
    pending[name] += text;
    if (!isTimed) startTimer();
  };
  return {
    write,
    get isTTY() {
      return process[name].isTTY;
    },
    get columns() {
      return process[name].columns;
    },
    get rows() {
      return process[name].rows;
    },
  };
}

/** A process that exits early writes the last batch on exit. */
function startTimer(): void {
  isTimed = true;
  process.once('exit', flushOutput);
  setTimeout(() => {
    isTimed = false;
    process.off('exit', flushOutput);
    flushOutput();
  }, BATCH_MS).unref();
}
