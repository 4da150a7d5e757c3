/** Joined queries for missing blobs: results that are looked up at the same time share a few calls. */
import type { BlobDigest } from '../transport/remote-cache.js';

/** Calls under way at once. Further questions wait for one of them, and are then asked together. */
const MOST_CALLS = 4;

interface Question {
  readonly blobs: readonly BlobDigest[];
  readonly resolve: (missing: ReadonlySet<string>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * @param ask asks the server for any number of blobs, each once, and returns the names of those that it lacks.
 * @param nameOf the identity of a blob.
 * @returns a function that asks for some blobs. An error of a call is one of every question in it.
 */
export function createMissingFinder(
  ask: (blobs: readonly BlobDigest[]) => Promise<ReadonlySet<string>>,
  nameOf: (blob: BlobDigest) => string,
): (blobs: readonly BlobDigest[]) => Promise<readonly BlobDigest[]> {
  let waiting: Question[] = [];
  let calls = 0;
  const askAll = async (questions: readonly Question[]): Promise<void> => {
    calls++;
    try {
      const blobs = new Map(questions.flatMap(question => question.blobs.map(blob => [nameOf(blob), blob] as const)));
      const missing = await ask([...blobs.values()]);
      for (const { resolve } of questions) resolve(missing);
    } catch (error) {
      for (const { reject } of questions) reject(error);
    } finally {
      calls--;
      askWaiting();
    }
  };
  const askWaiting = (): void => {
    if (waiting.length === 0 || calls >= MOST_CALLS) return;
    const questions = waiting;
    waiting = [];
    void askAll(questions);
  };
  return async blobs => {
    const missing = await new Promise<ReadonlySet<string>>((resolve, reject) => {
      waiting.push({ blobs, resolve, reject });
      // Questions of one turn of the event loop are asked together.
      setImmediate(askWaiting);
    });
    return blobs.filter(blob => missing.has(nameOf(blob)));
  };
}
