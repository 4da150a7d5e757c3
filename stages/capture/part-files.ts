/** Files of a kept part of `capture`: one npz file per part of the detector, and a description of their tensors. */
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import { formatJsonProblems, readJsonShape } from '../../src/base/json/json-shape.js';
import { mapOf } from '../../src/base/schema/build-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import { describeTensors, nameArrays, SAMPLE_TENSORS_SCHEMA, type SampleTensors } from '../../src/runtime/capture/capture-writer.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';

export interface RunTensors {
  readonly inputs: NamedTensors;
  readonly outputs: NamedTensors;
  readonly seen: number | undefined;
}

const DESCRIPTION = 'tensors.json';

/** Writes the tensors of each part, and returns the file names. */
export async function writePartFiles(folder: string, parts: Readonly<Record<string, RunTensors>>): Promise<readonly string[]> {
  const described: Record<string, SampleTensors> = {};
  for (const [part, { inputs, outputs, seen }] of Object.entries(parts)) {
    await writeNpz(join(folder, `${part}.npz`), nameArrays(inputs, outputs));
    const [first] = Object.values(inputs);
    const rows = first === undefined ? 1 : (first.dims[0] ?? 1);
    described[part] = { rows, seen: seen ?? rows, values: describeTensors(inputs, outputs) };
  }
  await writeJsonFile(join(folder, DESCRIPTION), described);
  return [...Object.keys(parts).map(part => `${part}.npz`), DESCRIPTION];
}

const descriptionReader = readerOf(mapOf(SAMPLE_TENSORS_SCHEMA));

/** Reads the files that `writePartFiles` wrote. @throws RuntimeError `bad-capture`; StageError as `readJsonFile`. */
export async function readPartFiles(
  files: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, SampleTensors & { readonly path: string }>>> {
  const read = readJsonShape(descriptionReader, await readJsonFile(getDefined(files[DESCRIPTION], DESCRIPTION)));
  if (read.kind === 'problems') {
    const details = formatJsonProblems(read.problems);
    throw new RuntimeError('bad-capture', `invalid ${DESCRIPTION} of captured tensors: ${details.join('; ')}`, {
      details,
      help: 'build the stage again with `--force`',
    });
  }
  return Object.fromEntries(
    Object.entries(read.value).map(([part, tensors]) => [part, { ...tensors, path: getDefined(files[`${part}.npz`], part) }]),
  );
}
