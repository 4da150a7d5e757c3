/** Parts of a stage's work whose result is one JSON file. */
import { join } from 'node:path';
import type { Json, JsonObject } from '../base/json.js';
import { definePart, type Part, type PartJob } from './context.js';
import { writeJsonFile } from './json-file.js';

interface JsonPart<Input extends JsonObject> extends Omit<Part<Input>, 'run'> {
  /** Name of the file. */
  readonly file: string;
  /** Its content. As for `run` of a part, sessions may stay open between calls. */
  readonly compute: (job: PartJob<Input>) => Promise<Json>;
}

/** Declares a part that writes what `compute` returns into `file`. */
export function defineJsonPart<Input extends JsonObject>({ file, compute, ...part }: JsonPart<Input>): Part<Input> {
  return definePart({
    ...part,
    run: async job => {
      await writeJsonFile(join(job.folder, file), await compute(job));
      return [file];
    },
  });
}
