/** What the computation of a value needs: the models, and a captured sample or an image of a detector. */
import { readJsonShape } from '../../base/json/json-shape.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import type { FitPolicy } from '../../detection/detector/detector-family.js';
import { PREPROCESSING_SCHEMA } from '../../detection/image/preprocessing-schema.js';
import type { Plan, PlannedStage, StageId } from '../../engine/model/plan.js';
import { RequestError } from '../http/read-body.js';
import type { CapturedFeed, ImageFeed, NetworkFeed, TensorOrder } from '../model/tensor-view.js';
import type { ProjectState } from '../project/live-project.js';
import { findArtifact, findFolder } from './artifact-file.js';
import { findInputFile } from './input-file.js';

type Places = Pick<ProjectState, 'results' | 'cache'>;

/** @throws RequestError `ui-bad-request`, `ui-not-found`. */
export async function makeTensorOrder(plan: Plan, state: Places, query: URLSearchParams): Promise<TensorOrder> {
  const other = query.get('other-stage');
  const [captured, image] = [query.get('captured'), query.get('image')];
  return {
    model: await findFile(plan, state, get(query, 'stage'), get(query, 'port')),
    other: other === null ? undefined : await findFile(plan, state, other, get(query, 'other-port')),
    value: get(query, 'value'),
    fed:
      image === null
        ? captureOf(plan, state, captured ?? get(query, 'captured'), query.get('sample'))
        : await feedOf(plan, state, get(query, 'of'), image),
  };
}

function captureOf(plan: Plan, state: Places, captured: string, sample: string | null): CapturedFeed {
  return { kind: 'captured', folder: findFolder(plan, state, captured), sample: Number(sample ?? 0) };
}

/** What a stage gives its models for one image of its data set. */
async function feedOf(plan: Plan, state: Places, id: string, image: string): Promise<ImageFeed | NetworkFeed> {
  const stage = plan.stages.get(id as StageId);
  return stage?.plugin.name === 'evaluate-classes' ? networkFeedOf(plan, state, stage, image) : detectorFeedOf(plan, state, id, image);
}

const readPreprocessing = readerOf(PREPROCESSING_SCHEMA);

/** The image as a classifier takes it. @throws RequestError `ui-bad-request`. */
async function networkFeedOf(plan: Plan, state: Places, { id, params }: PlannedStage, image: string): Promise<NetworkFeed> {
  const preprocess = readJsonShape(readPreprocessing, params.preprocess);
  if (preprocess.kind !== 'ok') throw new RequestError(400, 'ui-bad-request', `"${id.slice(0, 80)}" prepares images in no known way`);
  return { kind: 'network', image: await findInputFile(plan, state, id, 'images', image), preprocess: preprocess.value };
}

/** The detector of a stage that uses `evaluate`. */
async function detectorFeedOf(plan: Plan, state: Places, id: string, image: string): Promise<ImageFeed> {
  const stage = plan.stages.get(id as StageId);
  const parts = stage?.inputs.parts;
  if (stage?.plugin.name !== 'evaluate' || parts?.kind !== 'record')
    throw new RequestError(400, 'ui-bad-request', `"${id.slice(0, 80)}" is no stage that evaluates a detector or a classifier`);
  const file = (name: string, path?: string): Promise<string> => findInputFile(plan, state, id, name, path);
  const models = await Promise.all(Object.keys(parts.entries).map(async name => [name, await file(`parts.${name}`)] as const));
  return {
    kind: 'image',
    image: await file('data.images', image),
    parts: Object.fromEntries(models),
    recipe: await file('recipe'),
    config: stage.inputs.config === undefined ? undefined : await file('config'),
    ...settingsOf(stage),
  };
}

/** Params that change what the parts are given. */
function settingsOf({ params: { fit, optimization } }: PlannedStage): Pick<ImageFeed, 'fit' | 'optimization'> {
  return {
    ...(typeof fit === 'string' ? { fit: fit as FitPolicy } : {}),
    ...(typeof optimization === 'string' ? { optimization: optimization as NonNullable<ImageFeed['optimization']> } : {}),
  };
}

async function findFile(plan: Plan, state: Places, stage: string, port: string): Promise<string> {
  const found = await findArtifact(plan, state, stage, port, undefined);
  if (found.kind === 'folder') throw new RequestError(422, 'ui-bad-request', `${stage}.${port} is a folder`);
  return found.path;
}

function get(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new RequestError(400, 'ui-bad-request', `"${name}" is missing`);
  return value;
}
