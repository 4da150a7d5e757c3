/** Parts of a stage's work whose result is one JSON document. */
import { join } from 'node:path';
import { getDefined } from '../base/invariant.js';
import { formatJsonProblems, type JsonReader, readJsonShape } from '../base/json/json-shape.js';
import type { Json, JsonObject } from '../base/json.js';
import { type Context, definePart, type Part, type PartJob, type PartRequest, type PartResult } from './context.js';
import { readJsonFile, writeJsonFile } from './json-file.js';
import { StageError } from './stage-error.js';

interface JsonPart<Input extends JsonObject> extends Pick<Part<Input>, 'name' | 'version' | 'module'> {
  /** The document. As for `run` of a part, sessions may stay open between calls. */
  readonly compute: (job: PartJob<Input>) => Promise<Json>;
  /** Default: 'always'. */
  readonly runsModels?: Part<Input>['runsModels'];
}

const FILE = 'result.json';

/** Declares a part whose result is the document that `compute` returns; `memoJson` reads it. */
export function defineJsonPart<Input extends JsonObject>({ compute, runsModels = 'always', ...part }: JsonPart<Input>): Part<Input> {
  return definePart({
    ...part,
    runsModels,
    run: async job => {
      await writeJsonFile(join(job.folder, FILE), await compute(job));
      return [FILE];
    },
  });
}

/** The document of a part that `defineJsonPart` declares: computed, or kept from an earlier run. */
export async function memoJson<Input extends JsonObject>(
  { memo }: Pick<Context, 'memo'>,
  part: Part<Input>,
  request: PartRequest<Input>,
): Promise<{ readonly json: Json; readonly from: PartResult['from'] }> {
  const result = await memo(part, request);
  return { json: await readJsonResult(result), from: result.from };
}

/** As `memoJson`, read by `reader`. @throws StageError `bad-part` for a document of another form. */
export async function memoShape<Input extends JsonObject, T>(
  context: Pick<Context, 'memo'>,
  part: Part<Input>,
  request: PartRequest<Input>,
  reader: JsonReader<T>,
): Promise<T> {
  const { json } = await memoJson(context, part, request);
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  throw new StageError(
    'bad-part',
    `a kept result of the part \`${part.name}\` is invalid: ${formatJsonProblems(read.problems).slice(0, 3).join('; ')}`,
    {
      help: 'build the stage again with `--force`',
    },
  );
}

/** The document of a part, for a caller that asks for many and reads each when its turn comes. */
export function readJsonResult({ files }: Pick<PartResult, 'files'>): Promise<Json> {
  return readJsonFile(getDefined(files[FILE], FILE));
}
