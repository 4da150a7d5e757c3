/** Output to a pipe or a file, several lines to a write: each write may wake its reader, and a build prints two lines per stage. */

export interface Streams {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
}

/** What is asked of an output; terminals have a size. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

const BATCH_MS = 20;

const pending = { stdout: '', stderr: '' };
let isTimed = false;

/** The streams of this process. What is written to one of them comes after what was written to the other before. */
export const batchedStreams: Streams = { stdout: batched('stdout', 'stderr'), stderr: batched('stderr', 'stdout') };

/** Writes what waits for its batch. To be called before this process writes in any other way, and when its work is done. */
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

/** Terminals get each text at once. */
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

/** A process that ends early writes the last batch as it ends. */
function startTimer(): void {
  isTimed = true;
  process.once('exit', flushOutput);
  setTimeout(() => {
    isTimed = false;
    process.off('exit', flushOutput);
    flushOutput();
  }, BATCH_MS).unref();
}
