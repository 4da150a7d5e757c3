/** The bytes of an input of a stage: a source that the pipeline names, or a file in a source folder. */
import { resolve } from 'node:path';
import type { InputRef, Plan, StageId } from '../../engine/model/plan.js';
import { ARTIFACT_HEADERS } from '../access/security-headers.js';
import type { Answer } from '../http/answer.js';
import { RequestError } from '../http/read-body.js';
import type { ProjectState } from '../project/live-project.js';
import { answerArtifact, type FileForm, findArtifact, findInside, foundAt, openRegular } from './artifact-file.js';

/** Image formats that cannot contain scripts. */
const PICTURES: Readonly<Record<string, string>> = {
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.bmp': 'image/bmp',
  '.gif': 'image/gif',
};

/** @param name "port" or "port.entry". @throws RequestError `ui-not-found`, also for every path that leads out of the source. */
export async function answerInput(
  plan: Plan,
  state: Pick<ProjectState, 'results' | 'cache'>,
  stage: string,
  name: string,
  inner: string | undefined,
  form: FileForm = {},
): Promise<Answer> {
  const ref = findRef(plan, stage, name);
  if (ref === undefined) throw new RequestError(404, 'ui-not-found', `${stage} has no input "${name}"`);
  if (ref.kind === 'artifact') return answerArtifact(await findArtifact(plan, state, ref.stage, ref.port, inner), form);
  const path = findInside(resolve(plan.projectFolder, ref.path), inner, ref.name);
  const type = PICTURES[/\.[a-z]+$/.exec(path.toLowerCase())?.[0] ?? ''];
  if (type === undefined) return answerArtifact(foundAt(path), form);
  return { status: 200, headers: { ...ARTIFACT_HEADERS, 'content-type': type, 'cache-control': 'no-store' }, body: openRegular(path).body };
}

/** The path of an input that is one file, or of a file in it. @throws RequestError `ui-not-found`, `ui-bad-request`. */
export async function findInputFile(
  plan: Plan,
  state: Pick<ProjectState, 'results' | 'cache'>,
  stage: string,
  name: string,
  inner?: string,
): Promise<string> {
  const ref = findRef(plan, stage, name);
  if (ref === undefined) throw new RequestError(404, 'ui-not-found', `${stage} has no input "${name}"`);
  const found =
    ref.kind === 'source'
      ? foundAt(findInside(resolve(plan.projectFolder, ref.path), inner, ref.name))
      : await findArtifact(plan, state, ref.stage, ref.port, inner);
  if (found.kind === 'folder') throw new RequestError(422, 'ui-bad-request', `the input "${name}" of ${stage} is a folder`);
  return found.path;
}

function findRef(plan: Plan, stage: string, name: string): InputRef | undefined {
  const inputs = plan.stages.get(stage as StageId)?.inputs ?? {};
  const [port = '', ...rest] = name.split('.');
  const binding = Object.hasOwn(inputs, port) ? inputs[port] : undefined;
  if (binding === undefined || binding.kind !== 'record') return rest.length === 0 ? binding : undefined;
  const entry = rest.join('.');
  return Object.hasOwn(binding.entries, entry) ? binding.entries[entry] : undefined;
}
