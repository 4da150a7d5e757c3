/** The part of `quantize` that digests the weights of the float model: once per file, as it is what a second run would spend most time on. */
import type { Digest } from '../../src/base/digest.js';
import { getDefined } from '../../src/base/invariant.js';
import type { JsonObject } from '../../src/base/json.js';
import { list, object } from '../../src/base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../src/base/schema/digest-schema.js';
import { readerOf } from '../../src/base/schema/schema-reader.js';
import {
  digestLargeConstants,
  digestModelContent,
  findLargeConstants,
  takeConstantDigests,
} from '../../src/onnx/analysis/content-digest.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import type { Context } from '../../src/stage/context.js';
import { defineJsonPart, memoShape } from '../../src/stage/json-part.js';

interface ConstantsManifest extends JsonObject {
  readonly digest: 'large constants';
}

const readDigests = readerOf(object({ constants: list(DIGEST_SCHEMA) }));

/** The model that the stage has read, so that the part need not read it again. */
let opened: { readonly path: string; readonly model: Model } | undefined;

export const constantsPart = defineJsonPart<ConstantsManifest>({
  name: 'quantize-constants',
  version: 1,
  module: import.meta.url,
  runsModels: 'never',
  async compute({ blobs }) {
    const path = getDefined(blobs.model, 'model');
    const model = opened?.path === path ? opened.model : await readModel(path);
    return { constants: [...digestLargeConstants(model)] };
  },
});

/** Below this, the question costs about as much as the digests. */
const WORTH_BYTES = 16 << 20;

/** The content digest of a model that was read from `path`. Digests of large weights are kept from run to run. @throws StageError `bad-part`; as digestModelContent. */
export async function digestInput(model: Model, path: string, context: Pick<Context, 'memo'>): Promise<Digest> {
  const sizeBytes = findLargeConstants(model).reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  if (sizeBytes < WORTH_BYTES) return digestModelContent(model);
  opened = { path, model };
  try {
    const request = { manifest: { digest: 'large constants' as const }, blobs: { model: path } };
    takeConstantDigests(model, (await memoShape(context, constantsPart, request, readDigests)).constants);
  } finally {
    opened = undefined;
  }
  return digestModelContent(model);
}
