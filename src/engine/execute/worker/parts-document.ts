/** Several parts as one action of a remote worker: their document, and their run one after the other. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { anyList, anyObject, anyText, constant, mapOf, number, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import type { Context, Part } from '../../../stage/context.js';
import { EngineError } from '../../model/engine-error.js';
import { toFailure } from '../../model/failure.js';

const PATHS = mapOf(anyText());

export const PARTS_DOCUMENT = object({
  format: constant(1),
  parts: anyList(
    object({
      name: text(),
      module: text('Module that defines the part: relative to the installation, or to the input root for a third-party plugin.'),
      manifest: anyObject(),
      blobs: PATHS,
      unkeyed: PATHS,
    }),
  ),
});

export type PartsDocument = FromSchema<typeof PARTS_DOCUMENT>;

export const PARTS_DOCUMENT_NAME = 'parts.json';

/** The output of the action: a folder per part by its number, and the results. */
export const PARTS_OUTPUT = 'outputs/parts';
export const PARTS_RESULTS = 'results.json';

export const PARTS_RESULTS_DOCUMENT = object({
  format: constant(1),
  durationMs: number({ minimum: 0 }, 'Time of all parts.'),
  parts: anyList(object({ names: anyList(anyText(), 'Files of the part in its folder.') }, { failed: anyText('Why it has none.') })),
});

// biome-ignore lint/suspicious/noExplicitAny: the manifest was checked by the part that wrote it
export type AnyPart = Part<any>;

export type LoadPart = (module: string, name: string) => Promise<AnyPart>;

/** Loads a part that its module exports. @throws EngineError `plugin-module`. */
export async function loadPartOf(module: string, name: string): Promise<AnyPart> {
  return findPart((await import(pathToFileURL(module).href)) as Readonly<Record<string, unknown>>, module, name);
}

/** @throws EngineError `plugin-module`. */
export function findPart(exported: Readonly<Record<string, unknown>>, module: string, name: string): AnyPart {
  const found = Object.values(exported).find(value => isPart(value) && value.name === name);
  if (found === undefined) throw new EngineError('plugin-module', `${module} exports no part named "${name}"`);
  return found as AnyPart;
}

function isPart(value: unknown): value is AnyPart {
  return (
    typeof value === 'object' && value !== null && 'run' in value && typeof value.run === 'function' && 'name' in value && 'module' in value
  );
}

/** Runs the parts. One that fails has no files, and the client computes it to learn why. */
export async function runPartsOf(
  { parts }: PartsDocument,
  { folder, context, loadPart }: { readonly folder: string; readonly context: Context; readonly loadPart: LoadPart },
): Promise<void> {
  const at = join(folder, PARTS_OUTPUT);
  const results: FromSchema<typeof PARTS_RESULTS_DOCUMENT>['parts'][number][] = [];
  const startMs = performance.now();
  await mkdir(at, { recursive: true });
  for (const [index, { name, module, manifest, blobs, unkeyed }] of parts.entries()) {
    const own = join(at, String(index));
    await mkdir(own);
    try {
      const part = await loadPart(module, name);
      const run = part.run as (job: object) => Promise<readonly string[]>;
      results.push({ names: [...(await run({ manifest, blobs, unkeyed, folder: own, context }))] });
    } catch (error) {
      results.push({ names: [], failed: toFailure(error).message });
    }
  }
  await writeFile(join(at, PARTS_RESULTS), JSON.stringify({ format: 1, durationMs: performance.now() - startMs, parts: results }));
}
