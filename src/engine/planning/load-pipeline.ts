/** Loading of a pipeline file from disk as a plan: read, parse, check, plan. All problems are reported at once. */
import { relative, resolve } from 'node:path';
import { findPathKind, type PathKind } from '../../base/files/path-kind.js';
import { realPathOf } from '../../base/files/real-path.js';
import { FORBIDDEN, hasCode, MISSING } from '../../base/system-error.js';
import { foldName } from '../../stage/fold-name.js';
import { checkSchema, compileSchema } from '../config/check-schema.js';
import { findMember, type Located, membersOf, toJson } from '../config/located.js';
import type { ParamOverride } from '../config/params.js';
import { parseYaml } from '../config/parse-yaml.js';
import { pipelineNameOf } from '../config/pipeline-name.js';
import { PIPELINE_STRUCTURE } from '../config/pipeline-schema.js';
import { findProjectFolder } from '../config/project-folder.js';
import { readConfigText } from '../config/read-text.js';
import { DEFAULT_PIPELINE } from '../model/artifact-path.js';
import { type Diagnostic, type DiagnosticList, makeDiagnosticList, sortDiagnostics } from '../model/diagnostic.js';
import { messageOf } from '../model/engine-error.js';
import type { Plan } from '../model/plan.js';
import type { PluginEntry, PluginRegistry } from '../model/plugin-entry.js';
import type { SourceSpan } from '../model/source-span.js';
import { checkNamesakes, checkPipelineName, listOtherPipelines } from './check-pipeline-name.js';
import { makePlan } from './make-plan.js';
import type { SettingOverride } from './override-settings.js';

export interface PipelineRequest {
  /** As the user gave it, relative to `cwd`. */
  readonly file: string;
  readonly cwd: string;
  /** The `-p name=value` options, in order. */
  readonly assignments: readonly string[];
  readonly paramsFiles: readonly string[];
  /** Settings of stages that replace those of the file. Such a plan is not cached. */
  readonly settings?: readonly SettingOverride[];
  /** Returns the text of the file at an absolute path, if files are not read from disk. @throws as `readFileSync` does. */
  readonly readText?: (path: string) => string;
  /** Whether there is a file at an absolute path, if the plan is not made from the files on disk. */
  readonly isFile?: (path: string) => boolean;
  readonly builtIn: PluginRegistry;
  /** Loads a third-party plugin. `specifier` is a path or a package name, resolved from the project folder. */
  readonly loadPlugin: (name: string, specifier: string, projectFolder: string) => Promise<PluginEntry>;
  readonly observer?: PlanObserver;
}

/** Learns of everything that determines the plan before it is read, for example to stamp it. */
export interface PlanObserver {
  /** @param path of a file, which may be missing. */
  file(path: string): void;
  /** Returns the sorted names of the entries of a folder; none if it is missing. */
  names(folder: string): readonly string[];
  plugin(specifier: string, projectFolder: string): Promise<void>;
}

export interface PlanProbes {
  /** What absolute paths lead to. */
  readonly kinds: ReadonlyMap<string, PathKind>;
  /** Absolute paths without links. */
  readonly reals: ReadonlyMap<string, string>;
  /** The files that a source names. */
  readonly named: readonly NamedFiles[];
}

export interface NamedFiles {
  readonly plugin: string;
  /** Of the naming file; absolute. */
  readonly path: string;
  readonly files: readonly string[];
}

export interface LoadedPipeline {
  /** undefined if there are errors. */
  readonly plan: Plan | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Texts of the files that were read, by the names used in spans. */
  readonly sources: ReadonlyMap<string, string>;
  /** What planning learned about files that sources name. The plan depends on it. */
  readonly probes: PlanProbes;
}

export async function loadPipeline(request: PipelineRequest): Promise<LoadedPipeline> {
  const diagnostics = makeDiagnosticList();
  const sources = new Map<string, string>();
  const kinds = new Map<string, PathKind>();
  const reals = new Map<string, string>();
  const named = new Map<string, NamedFiles>();
  const path = resolve(request.cwd, request.file);
  const finish = (plan: Plan | undefined): LoadedPipeline => ({
    plan,
    diagnostics: sortDiagnostics(diagnostics),
    sources,
    probes: { kinds, reals, named: [...named.values()] },
  });

  checkPipelineName(path, request.file, diagnostics);
  const root = readYaml(request, request.file, 'no-pipeline', sources, diagnostics);
  const overrides = request.paramsFiles.flatMap(file => readParamsFile(request, file, sources, diagnostics));
  for (const assignment of request.assignments) overrides.push(...parseAssignment(assignment, diagnostics));
  if (root === undefined) return finish(undefined);
  if (checkSchema({ schema: PIPELINE_STRUCTURE, origin: 'own' }, root, 'key', 'the pipeline', diagnostics) === undefined)
    return finish(undefined);

  const projectFolder = findProjectFolder(path);
  const plugins = await loadPlugins(root, projectFolder, request, diagnostics);
  // Files on disk are not compared with a file of an earlier revision, because they do not belong to that revision.
  if (request.readText === undefined) checkNamesakes(path, diagnostics);
  const pipeline = pipelineNameOf(path);
  const files = {
    kindOf: (source: string) => probeKind(resolve(projectFolder, source), request, kinds),
    realOf: (source: string) => probeReal(resolve(projectFolder, source), request, reals),
    listNamed: (entry: PluginEntry, source: string) => probeNamed(entry, resolve(projectFolder, source), request, named),
  };
  const plan = makePlan({ pipeline, projectFolder, root, overrides, plugins, settings: request.settings ?? [], files }, diagnostics);
  if (plan !== undefined) checkArtifactNames(plan, root, diagnostics);
  return finish(diagnostics.hasErrors() ? undefined : plan);
}

function probeKind(path: string, { observer, isFile }: PipelineRequest, kinds: Map<string, PathKind>): PathKind {
  observer?.file(path);
  const found = findPathKind(path);
  const kind = isFile === undefined || found === 'folder' ? found : isFile(path) ? 'file' : 'none';
  kinds.set(path, kind);
  return kind;
}

function probeReal(path: string, { observer }: PipelineRequest, reals: Map<string, string>): string {
  observer?.file(path);
  const real = realPathOf(path);
  reals.set(path, real);
  return real;
}

function probeNamed(
  { name: plugin, plugin: { namedFiles } }: PluginEntry,
  path: string,
  { observer }: PipelineRequest,
  named: Map<string, NamedFiles>,
): readonly string[] {
  const key = JSON.stringify([plugin, path]);
  const known = named.get(key);
  if (known !== undefined) return known.files;
  observer?.file(path);
  const files = namedFiles?.list(path) ?? [];
  named.set(key, { plugin, path, files });
  return files;
}

function readYaml(
  { cwd, readText = readConfigText, observer }: PipelineRequest,
  name: string,
  code: string,
  sources: Map<string, string>,
  diagnostics: DiagnosticList,
): Located | undefined {
  const path = resolve(cwd, name);
  let text: string;
  try {
    observer?.file(path);
    text = readText(path);
  } catch (error) {
    const reason = describeUnreadable(error);
    diagnostics.error(
      code,
      undefined,
      `${name}: ${reason}`,
      code === 'no-pipeline' ? 'make one with "tanren init", or name one with -f' : undefined,
    );
    return undefined;
  }
  sources.set(name, text);
  const root = parseYaml(name, text, diagnostics);
  if (root === undefined && !diagnostics.hasErrors()) {
    diagnostics.error(
      'empty-file',
      { file: name, line: 1, column: 1, endLine: 1, endColumn: 1 },
      'the file is empty',
      'make one with "tanren init"',
    );
  }
  return root;
}

function describeUnreadable(error: unknown): string {
  if (hasCode(error, ...MISSING)) return 'file not found';
  return hasCode(error, ...FORBIDDEN) ? 'it cannot be read: permission denied' : messageOf(error);
}

function readParamsFile(
  request: PipelineRequest,
  name: string,
  sources: Map<string, string>,
  diagnostics: DiagnosticList,
): ParamOverride[] {
  const root = readYaml(request, name, 'no-params-file', sources, diagnostics);
  if (root === undefined) return [];
  if (root.kind !== 'map') {
    diagnostics.error('bad-param', root.span, 'a params file is a map of parameter names to values');
    return [];
  }
  return [...root.members].map(([param, member]) => ({ name: param, value: member.value, span: member.keySpan }));
}

function parseAssignment(text: string, diagnostics: DiagnosticList): ParamOverride[] {
  const equals = text.indexOf('=');
  if (equals > 0) return [{ name: text.slice(0, equals).trim(), value: text.slice(equals + 1), span: undefined }];
  diagnostics.error('bad-param', undefined, `-p ${text}: expected name=value`);
  return [];
}

/** Returns the first position inside the project in the stack of an error, as "plugins/mine.cjs:3:7: "; empty if there is none. */
function describePlace(error: unknown, projectFolder: string): string {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return '';
  const places = [...error.stack.matchAll(/(?:file:\/\/)?(\/[^\n():?]+)(?:\?[^\n():]*)?:(\d+)(?::(\d+))?/g)];
  const place = places.find(([, path = '']) => path.startsWith(`${projectFolder}/`));
  if (place === undefined) return '';
  const [, path = '', line, column] = place;
  return `${[relative(projectFolder, path), line, ...(column === undefined ? [] : [column])].join(':')}: `;
}

async function loadPlugins(
  root: Located,
  projectFolder: string,
  request: PipelineRequest,
  diagnostics: DiagnosticList,
): Promise<PluginRegistry> {
  const local = new Map<string, PluginEntry>();
  const failed = new Set<string>();
  for (const [name, member] of membersOf(findMember(root, 'plugins'))) {
    const span = member.value.span;
    if (request.builtIn.find(name) !== undefined) {
      diagnostics.error('duplicate-plugin', member.keySpan, `"${name}" is a built-in plugin`, 'use another name');
      continue;
    }
    const specifier = String(toJson(member.value));
    try {
      await request.observer?.plugin(specifier, projectFolder);
      const entry = await request.loadPlugin(name, specifier, projectFolder);
      compileSchema(entry.plugin.params, 'foreign');
      local.set(name, entry);
    } catch (error) {
      failed.add(name);
      diagnostics.error(
        'plugin-load',
        span,
        `plugin "${name}" does not load: ${describePlace(error, projectFolder)}${messageOf(error)}`,
        'see docs/writing-a-stage.md for what the module exports',
      );
    }
  }
  return {
    names: [...request.builtIn.names, ...local.keys()],
    failed,
    find: name => local.get(name) ?? request.builtIn.find(name),
  };
}

/** Stages of the default pipeline and folders of other pipelines are siblings in artifacts/. The same name cannot be both. */
function checkArtifactNames(plan: Plan, root: Located, diagnostics: DiagnosticList): void {
  if (plan.pipeline !== DEFAULT_PIPELINE) return;
  const names = listOtherPipelines(plan.projectFolder);
  const spans: ReadonlyMap<string, SourceSpan> = new Map(
    [...membersOf(findMember(root, 'stages'))].map(([name, member]) => [name, member.keySpan]),
  );
  for (const stage of plan.stages.values()) {
    const other = names.get(foldName(stage.id));
    if (other === undefined) continue;
    const file = relative(plan.projectFolder, other);
    diagnostics.error(
      'name-collision',
      spans.get(stage.group),
      `artifacts/${stage.id} would belong to this stage and to ${file}`,
      'rename one of them',
    );
  }
}
