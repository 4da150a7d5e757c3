/** Descriptions of models, made in a thread and kept by their content. */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { RequestError } from '../http/read-body.js';
import type { ModelAnswer } from './model-worker.js';

export interface ModelReader {
  /** The description as JSON. @param key the content: equal keys mean equal models. @throws RequestError with the code of the reader. */
  read(path: string, key: string): Promise<string>;
}

/** Each has some megabytes at most. */
const MOST_KEPT = 4;

/** A model that takes longer is too large for the page. */
const LONGEST_MS = 60_000;

export function openModelReader(installRoot: string): ModelReader {
  const kept = new Map<string, Promise<string>>();
  return {
    read(path, key) {
      const known = kept.get(key);
      if (known !== undefined) return known;
      const reading = describeInThread(join(installRoot, 'src/web/model/model-worker.js'), path);
      reading.catch(() => kept.delete(key));
      const oldest = kept.keys().next().value;
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, reading);
      return reading;
    },
  };
}

function describeInThread(module: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(module, { workerData: path, resourceLimits: { maxOldGenerationSizeMb: 2_000 } });
    const timer = setTimeout(() => end(new RequestError(413, 'ui-too-large', 'the model takes too long to read')), LONGEST_MS);
    const end = (result: string | Error): void => {
      clearTimeout(timer);
      void worker.terminate();
      if (typeof result === 'string') resolve(result);
      else reject(result);
    };
    worker.on('message', (answer: ModelAnswer) =>
      end(answer.kind === 'described' ? answer.json : new RequestError(422, answer.code, answer.message)),
    );
    worker.on('error', end);
    worker.on('exit', () => end(new RequestError(500, 'internal', 'the thread that reads the model ended')));
  });
}
