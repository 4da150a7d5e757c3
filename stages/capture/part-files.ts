/** Files of a kept part of `capture`: one npz file per part of the detector, and a description of their tensors. */
import { join } from 'node:path';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { describeTensors, nameArrays, type SampleTensors } from '../../src/runtime/capture/capture-writer.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
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
  await writeJsonFile(join(folder, DESCRIPTION), described as unknown as JsonObject);
  return [...Object.keys(parts).map(part => `${part}.npz`), DESCRIPTION];
}

/** Reads the files that `writePartFiles` wrote. The engine has verified their digests. */
export async function readPartFiles(
  files: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, SampleTensors & { readonly path: string }>>> {
  const described = (await readJsonFile(getDefined(files[DESCRIPTION], DESCRIPTION))) as unknown as Readonly<Record<string, SampleTensors>>;
  return Object.fromEntries(
    Object.entries(described).map(([part, tensors]) => [part, { ...tensors, path: getDefined(files[`${part}.npz`], part) }]),
  );
}
