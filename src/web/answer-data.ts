/** Answers the page's requests for data and for actions. Each name of the API has one function. */
import { readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { formatJsonProblems, readJsonShape } from '../base/json/json-shape.js';
import { readerOf } from '../base/schema/schema-reader.js';
import { getRunIndex } from '../engine/insight/history/run-name.js';
import { findRunLog, findStageLog } from '../engine/insight/history/stage-log.js';
import { selectStages } from '../engine/model/dependencies.js';
import type { Plan, PlannedStage, StageId } from '../engine/model/plan.js';
import type { EditSession } from './edit/edit-session.js';
import { parseEdit } from './edit/parse-edit.js';
import { type Answer, errorAnswer, jsonAnswer } from './http/answer.js';
import { RequestError, readJsonBody } from './http/read-body.js';
import type { DataRequest } from './http/serve.js';
import type { ModelReader } from './model/read-model-view.js';
import type { TensorReader } from './model/read-tensor.js';
import type { TrialReader } from './model/read-trial.js';
import type { TrialView } from './model/trial-view.js';
import { findRewrite, getCompiledModel } from './project/compiled-model.js';
import type { LiveProject, ProjectState } from './project/live-project.js';
import type { ProjectPorts } from './project/project-ports.js';
import type { StartedBuilds } from './project/started-builds.js';
import { basisOf } from './project/sweep-basis.js';
import { SWEEP_ORDER, type Sweeps } from './project/sweeps.js';
import { answerArtifact, findArtifact, parseFileForm } from './views/artifact-file.js';
import { answerInput } from './views/input-file.js';
import { findArtifactOf } from './views/moment-artifact.js';
import { viewPipeline } from './views/pipeline-view.js';
import { saveBaseline, viewComparison, viewRuns } from './views/runs-view.js';
import { viewStage } from './views/stage-view.js';
import { makeTensorOrder } from './views/tensor-order.js';
import { makeTrialOrder } from './views/trial-order.js';

export interface DataContext {
  readonly ports: ProjectPorts;
  readonly project: LiveProject;
  readonly builds: StartedBuilds;
  readonly edits: EditSession;
  readonly models: ModelReader;
  readonly tensors: TensorReader;
  readonly trials: TrialReader;
  readonly sweeps: Sweeps;
  /** Takes the response of a request for events. @returns false if there are too many. */
  readonly follow: (request: DataRequest) => boolean;
}

/** Stages of `quantize` whose workers are started ahead. */
const MOST_EDITED = 3;

const readSweepOrder = readerOf(SWEEP_ORDER);

type Handler = (request: DataRequest, context: DataContext) => Promise<Answer | 'taken'>;

const READS: Readonly<Record<string, Handler>> = {
  pipeline: async (_, { ports, project, edits }) =>
    jsonAnswer({ ...viewPipeline(await project.state(), ports), undoable: edits.undoable() }),
  stage: async ({ query }, { ports, project }) => {
    const state = await project.state();
    const { plan, stage } = getStage(state.plan, query);
    return jsonAnswer(viewStage(plan, stage, state, { name: ports.file.name, text: readFileSync(ports.file.path, 'utf8') }));
  },
  log: async ({ query }, { project }) => {
    const { plan, cache, runs } = await project.state();
    const { plan: known, stage } = getStage(plan, query);
    const run = query.get('run');
    if (run === null) return jsonAnswer({ text: clipLog(findStageLog(known, stage.id) ?? '') });
    const answer = findRunLog(known, cache, runs, getRunIndex(runs, run), stage.id);
    return jsonAnswer(answer.kind === 'text' ? { text: clipLog(answer.text) } : { text: '', absent: answer.kind });
  },
  sweeps: async (_, { project, sweeps }) => {
    const state = await project.state();
    return jsonAnswer({ sweeps: sweeps.list(targets => basisOf(state, targets)) });
  },
  sweep: async ({ query }, { sweeps }) => jsonAnswer(sweeps.rows(get(query, 'name'))),
  runs: async (_, { project }) => jsonAnswer(viewRuns(await project.state())),
  compare: async ({ query }, { project }) => {
    const state = await project.state();
    const names = (query.get('of') ?? '').split(',').filter(name => name !== '');
    return jsonAnswer(viewComparison(names, state, getPlan(state.plan)));
  },
  artifact: async ({ query }, { project }) => {
    const state = await project.state();
    const [stage, port, path] = [get(query, 'stage'), get(query, 'port'), query.get('path') ?? undefined];
    const found = await findArtifactOf(getPlan(state.plan), state, { stage, port, path, of: query.get('of') ?? 'now' });
    return answerArtifact(found, parseFileForm(query));
  },
  model: async ({ query }, { project, models }) => {
    const state = await project.state();
    const [stage, port] = [get(query, 'stage'), get(query, 'port')];
    const path = await findFile(getPlan(state.plan), state, stage, port, query.get('path') ?? undefined);
    const body = await models.read(path, keyOf(path));
    return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }, body };
  },
  tensor: async ({ query, response }, { project, tensors }) => {
    const left = leftSignal(response);
    const state = await project.state();
    const order = await makeTensorOrder(getPlan(state.plan), state, query);
    const view = await tensors.read(order, left);
    return view === 'left' ? 'taken' : jsonAnswer(view);
  },
  trial: async ({ query, response }, { project, trials }) => {
    const left = leftSignal(response);
    const state = await project.state();
    const plan = getPlan(state.plan);
    const compiled = getCompiledModel(plan, get(query, 'stage'), get(query, 'model'));
    const order = await makeTrialOrder(plan, state, compiled);
    const files = [order.model, ...(order.profile === undefined ? [] : [order.profile])].map(keyOf);
    const advice = await trials.read(order, JSON.stringify([order, files]), left);
    if (advice === 'left') return 'taken';
    const view: TrialView = { advice, rewrite: findRewrite(plan, compiled.ref) };
    return jsonAnswer(view);
  },
  input: async ({ query }, { project }) => {
    const state = await project.state();
    return answerInput(
      getPlan(state.plan),
      state,
      get(query, 'stage'),
      get(query, 'name'),
      query.get('path') ?? undefined,
      parseFileForm(query),
    );
  },
  events: async (request, { follow }) =>
    follow(request) ? 'taken' : errorAnswer(503, 'ui-too-many', 'too many pages are open', 'close some of them'),
};

const WRITES: Readonly<Record<string, Handler>> = {
  build: async ({ message }, { project, builds }) => {
    const { targets = [], force = false } = await readJsonBody(message);
    const plan = getPlan((await project.state()).plan);
    return jsonAnswer({ pid: builds.start(checkTargets(plan, targets), { force: force === true }) });
  },
  // A build of these targets is expected soon.
  prepare: async ({ message }, { ports, project }) => {
    const { targets = [] } = await readJsonBody(message);
    const plan = getPlan((await project.state()).plan);
    const ids = checkTargets(plan, targets).flatMap(name => plan.targets.get(name) ?? []);
    const stages = selectStages(plan, ids);
    // Those whose settings the page edits, as of the parts of a detector, and the last ones: stages between them depend on the edit.
    const edited = stages.filter(({ plugin }) => plugin.name === 'quantize').slice(0, MOST_EDITED);
    ports.prepareBuild([...edited, ...stages.filter(({ id }) => ids.includes(id))].map(({ plugin }) => plugin));
    return jsonAnswer({});
  },
  sweep: async ({ message }, { project, builds, sweeps }) => {
    const read = readJsonShape(readSweepOrder, await readJsonBody(message));
    if (read.kind === 'problems')
      throw new RequestError(400, 'ui-bad-request', `the sweep is malformed: ${formatJsonProblems(read.problems).slice(0, 3).join('; ')}`);
    const state = await project.state();
    checkTargets(getPlan(state.plan), read.value.targets);
    if (builds.running().length > 0)
      throw new RequestError(409, 'ui-busy', 'a build of this page runs', 'wait until it has ended, or cancel it');
    const { name, process } = sweeps.start(read.value, basisOf(state, read.value.targets) ?? '');
    builds.follow(process);
    return jsonAnswer({ name, pid: process.pid });
  },
  'preview-edit': async ({ message }, { project, edits }) => {
    const body = await readJsonBody(message);
    const { edit, place } = parseEdit(body, getPlan((await project.state()).plan));
    return jsonAnswer(await edits.preview(edit, place));
  },
  edit: async ({ message }, { project, edits }) => {
    const body = await readJsonBody(message);
    const { edit, place } = parseEdit(body, getPlan((await project.state()).plan));
    const applied = await edits.apply(edit, place, String(body.digest ?? ''));
    project.note();
    return jsonAnswer(applied);
  },
  baseline: async ({ message }, { project }) => {
    const { of, name, replace } = await readJsonBody(message);
    if (typeof of !== 'string' || typeof name !== 'string') throw new RequestError(400, 'ui-bad-request', '"of" and "name" are texts');
    const state = await project.state();
    const path = saveBaseline({ of, name, replace: replace === true }, state, getPlan(state.plan));
    project.note();
    return jsonAnswer({ path });
  },
  undo: async ({ message }, { project, edits }) => {
    const { left } = await readJsonBody(message);
    if (typeof left !== 'string') throw new RequestError(400, 'ui-bad-request', '"left" is the digest of the file that the edit left');
    edits.undo(left);
    project.note();
    return jsonAnswer({});
  },
  cancel: async (_, { builds }) => jsonAnswer({ cancelled: builds.cancel() }),
};

export async function answerData(request: DataRequest, context: DataContext): Promise<Answer | 'taken'> {
  const { name, method } = request;
  const handlers = method === 'GET' ? READS : WRITES;
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  if (handler === undefined) return errorAnswer(404, 'ui-not-found', `the page has no data "${name.slice(0, 80)}"`);
  if (method === 'POST' && context.ports.access === 'read-only')
    return errorAnswer(403, 'ui-read-only', 'this page is read-only', 'start `tanren ui` without --read-only');
  return handler(request, context);
}

function checkTargets({ targets }: Plan, names: unknown): readonly string[] {
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string' && targets.has(name)))
    throw new RequestError(400, 'ui-bad-request', 'a target is not a stage of the pipeline');
  return names as readonly string[];
}

/** The end of a log says why a stage failed, and a log may have megabytes. */
const MOST_LOG = 200_000;

function clipLog(text: string): string {
  return text.length <= MOST_LOG ? text : `… (${text.length - MOST_LOG} characters before this)\n${text.slice(-MOST_LOG)}`;
}

async function findFile(plan: Plan, state: ProjectState, stage: string, port: string, path?: string): Promise<string> {
  const found = await findArtifact(plan, state, stage, port, path);
  if (found.kind === 'folder') throw new RequestError(422, 'ui-bad-request', `${stage}.${port} is a folder`, 'name a file in it');
  return found.path;
}

/** Aborted when the client has left; after an answer that means nothing. */
function leftSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => controller.abort());
  return controller.signal;
}

/** Equal as long as the file is the same. */
function keyOf(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${path} ${ino} ${size} ${mtimeNs}`;
}

function get(query: URLSearchParams, name: string): string {
  const value = query.get(name);
  if (value === null) throw new RequestError(400, 'ui-bad-request', `"${name}" is missing`);
  return value;
}

function getPlan(plan: Plan | undefined): Plan {
  if (plan === undefined) throw new RequestError(409, 'ui-no-plan', 'the pipeline file has errors', 'the view Pipeline lists them');
  return plan;
}

function getStage(plan: Plan | undefined, query: URLSearchParams): { readonly plan: Plan; readonly stage: PlannedStage } {
  const known = getPlan(plan);
  const id = get(query, 'id');
  const stage = known.stages.get(id as StageId);
  if (stage === undefined) throw new RequestError(404, 'ui-not-found', `the pipeline has no stage "${id.slice(0, 80)}"`);
  return { plan: known, stage };
}
