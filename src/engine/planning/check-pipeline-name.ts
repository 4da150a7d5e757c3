/** Checks of a pipeline's name, which names a folder in artifacts/ and files in cache/ and must be unique there. */
import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { foldName } from '../../stage/fold-name.js';
import { findMember, membersOf } from '../config/located.js';
import { parseYaml } from '../config/parse-yaml.js';
import { hasPipelineEnding, PIPELINE_ENDINGS, pipelineNameOf } from '../config/pipeline-name.js';
import { findProjectFolder } from '../config/project-folder.js';
import { DEFAULT_PIPELINE } from '../model/artifact-path.js';
import { type DiagnosticList, makeDiagnosticList } from '../model/diagnostic.js';

/** Maximum length of a name. Names of logs and temporary files are longer, and file systems allow 255 bytes. */
const LONGEST_BYTES = 100;

const DEVICES = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Returns the problem with the name itself, if there is one. */
export function findNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.startsWith('.')) return 'starts with a dot; Tanren reserves such names in artifacts/';
  if (/[\p{Cc}<>:"/\\|?*]/u.test(name)) return 'holds a control character, or one of < > : " / \\ | ? *';
  if (/[. ]$/.test(name)) return 'ends with a dot or a space, which some systems drop';
  if (DEVICES.test(name)) return 'is the name of a device on Windows';
  if (Buffer.byteLength(name) > LONGEST_BYTES) return `is longer than ${LONGEST_BYTES} bytes`;
  return undefined;
}

/**
 * Adds the problem with the name that the file gives its pipeline.
 * @param path absolute.
 * @param shown the path as the user wrote it.
 */
export function checkPipelineName(path: string, shown: string, diagnostics: DiagnosticList): void {
  const name = pipelineNameOf(path);
  const problem = findNameProblem(name);
  if (problem === undefined) return;
  const message = `${JSON.stringify(shown)}: the name of this pipeline, ${JSON.stringify(name)}, ${problem}`;
  diagnostics.error('bad-pipeline-name', undefined, message, 'rename the file: a folder in artifacts/ gets its name');
}

/** Adds collisions in the pipeline's folder in artifacts/: with another file of the same name, or with a stage of pipeline.yaml. */
export function checkNamesakes(path: string, diagnostics: DiagnosticList): void {
  const project = findProjectFolder(path);
  const name = pipelineNameOf(path);
  const show = (file: string): string => relative(project, file);
  for (const other of findNamesakes(path, project)) {
    const message = `${show(path)} and ${show(other)} have the same name, "${name}": they would replace each other's artifacts and lock file`;
    diagnostics.error('name-collision', undefined, message, 'rename one of them');
  }
  if (name === DEFAULT_PIPELINE) return;
  for (const file of ['pipeline.yaml', 'pipeline.yml'].map(one => join(project, one))) {
    const stage = findStageInFolder(file, name);
    if (stage === undefined) continue;
    const message = `artifacts/${name} would belong to ${show(path)} and to stage "${stage}" of ${show(file)}`;
    diagnostics.error('name-collision', undefined, message, 'rename one of them');
  }
}

/** Returns the paths, besides `path` itself, where a file would have this pipeline's name. Spellings in other cases are left out. */
export function namesakePaths(path: string): readonly string[] {
  const project = findProjectFolder(path);
  const folders = new Set([dirname(path), project, join(project, 'pipelines')]);
  const name = pipelineNameOf(path);
  return [...folders].flatMap(folder => PIPELINE_ENDINGS.map(ending => join(folder, name + ending))).filter(file => file !== path);
}

/** Returns other pipeline files of the project with this file's name. A link to this file counts as this file. */
function findNamesakes(path: string, project: string): readonly string[] {
  const own = realpathSync(path);
  const folders = new Set([dirname(path), project, join(project, 'pipelines')]);
  return [...folders]
    .flatMap(folder => listNames(folder).map(name => join(folder, name)))
    .filter(file => file !== path && foldName(pipelineNameOf(file)) === foldName(pipelineNameOf(path)))
    .filter(file => findProjectFolder(file) === project && isPipeline(file) && realpathSync(file) !== own);
}

/** Returns the project's pipeline files other than pipeline.yaml, by folded pipeline name. */
export function listOtherPipelines(project: string): ReadonlyMap<string, string> {
  const inside = listNames(join(project, 'pipelines')).map(name => join(project, 'pipelines', name));
  const beside = listNames(project).map(name => join(project, name));
  const files = [...beside.filter(file => hasPipelineEnding(file) && isPipeline(file)), ...inside.filter(hasPipelineEnding)];
  return new Map(files.map(file => [foldName(pipelineNameOf(file)), file]));
}

/** YAML files of other tools are ignored. */
function isPipeline(file: string): boolean {
  return /(^|[{,\s])["']?stages["']?\s*:/.test(readText(file) ?? '');
}

/** Returns the stage of the pipeline file whose folder in artifacts/ would have the name. */
function findStageInFolder(file: string, name: string): string | undefined {
  const text = readText(file);
  const root = text === undefined ? undefined : parseYaml(file, text, makeDiagnosticList());
  if (root === undefined) return undefined;
  const folded = foldName(name);
  for (const [stage, member] of membersOf(findMember(root, 'stages'))) {
    const isGroup = ['foreach', 'matrix'].some(key => findMember(member.value, key) !== undefined);
    if (isGroup ? folded.startsWith(`${foldName(stage)}@`) : folded === foldName(stage)) return stage;
  }
  return undefined;
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return []; // The folder is missing or not readable: its entries cause no collision.
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined; // The file is missing or not readable: no build can use it as a pipeline.
  }
}
