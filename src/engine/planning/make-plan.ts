/**
 * Planning of a parsed pipeline file: params, sources, expansion, plugins, ports, connections, order.
 * Each step adds diagnostics and continues where it can.
 */
import { isJsonObject } from '../../base/json.js';
import { interpolate, makeBudget, type Scope } from '../config/interpolate.js';
import { findMember, type Located, membersOf, toJson } from '../config/located.js';
import { overrideParams, type ParamOverride, type PipelineParam, parseParams } from '../config/params.js';
import { artifactFolder } from '../model/artifact-path.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import type { Plan, StageId } from '../model/plan.js';
import type { PluginRegistry } from '../model/plugin-entry.js';
import { checkFolders } from './check-folders.js';
import { checkSources } from './check-sources.js';
import { checkReferences, type Source, type Surroundings } from './connect.js';
import { expandStage, type Instance, MAX_STAGES } from './expand.js';
import type { FileFacts } from './narrow-folders.js';
import { orderStages } from './order.js';
import type { SettingOverride } from './override-settings.js';
import { unitsOf } from './parse-resources.js';
import { planStage } from './plan-stage.js';
import { type Prepared, prepareStage } from './prepare-stage.js';
import { createWrittenCheck } from './written-places.js';

export interface PlanRequest {
  readonly pipeline: string;
  readonly projectFolder: string;
  /** The file's root. Its structure was already checked. */
  readonly root: Located;
  readonly overrides: readonly ParamOverride[];
  /** Settings of stages that replace those of the file. */
  readonly settings?: readonly SettingOverride[];
  readonly plugins: PluginRegistry;
  /** What planning asks about files. */
  readonly files: Pick<FileFacts, 'kindOf' | 'realOf' | 'listNamed'>;
}

/** Returns the plan, or undefined if `diagnostics` has errors. */
export function makePlan(request: PlanRequest, diagnostics: DiagnosticList): Plan | undefined {
  const { root } = request;
  const params = overrideParams(parseParams(findMember(root, 'params'), diagnostics), request.overrides, diagnostics);
  const used = new Set<string>();
  const scope = scopeOf(params, used, diagnostics);
  const sources = parseSources(findMember(root, 'sources'), scope, diagnostics);
  const instances = expandStages(root, scope, diagnostics);
  checkFolders(instances, diagnostics);
  const stageFolders = new Set(instances.map(({ id }) => artifactFolder(request, { id })));
  const findWritten = createWrittenCheck({ projectFolder: request.projectFolder, stageFolders, caches: [] });
  const narrowed = new Set<string>();
  const prepared = prepareStages(instances, request, diagnostics);
  const around: Surroundings = {
    sources,
    groups: groupsOf(root, instances),
    findOutputs: stage => prepared.get(stage)?.outputPorts,
    files: { ...request.files, projectFolder: request.projectFolder, findWritten, narrowed },
  };
  const pools = Object.fromEntries([...membersOf(findMember(root, 'pools'))].map(([name, member]) => [name, unitsOf(member.value)]));
  for (const instance of instances) if (!prepared.has(instance.id)) checkInputs(instance, around, diagnostics);
  const planned = new Map([...prepared.values()].map(ready => [ready.instance.id, planStage(ready, around, pools, diagnostics)]));
  checkSources({ declared: findMember(root, 'sources'), sources, stages: planned.values(), narrowed, findWritten }, diagnostics);
  // With errors there is no warning, because an unresolved stage may be the one that uses the parameter.
  if (!diagnostics.hasErrors())
    for (const [name, param] of params)
      if (!used.has(name)) diagnostics.warning('unused-param', param.span, `nothing uses the parameter "${name}"`);

  const ordered = orderStages(planned);
  if (ordered.kind === 'cycle') {
    diagnostics.error('cycle', ordered.refs[0]?.span, `dependency cycle: ${describeCycle(ordered.refs)}`);
    return undefined;
  }
  if (diagnostics.hasErrors()) return undefined;
  return {
    pipeline: request.pipeline,
    projectFolder: request.projectFolder,
    stages: new Map(ordered.order.map(stage => [stage.id, stage])),
    targets: targetsOf(instances),
    params: Object.fromEntries([...params].map(([name, { value }]) => [name, toJson(value)])),
    pools,
    remoteCache: remoteCacheOf(root),
  };
}

function remoteCacheOf(root: Located): string | undefined {
  const remote = findMember(root, 'remote');
  const cache = remote === undefined ? undefined : findMember(remote, 'cache');
  return cache === undefined ? undefined : String(toJson(cache));
}

function expandStages(root: Located, scope: Scope, diagnostics: DiagnosticList): readonly Instance[] {
  const instances: Instance[] = [];
  for (const [group, member] of membersOf(findMember(root, 'stages'))) {
    const around = { scope, remaining: MAX_STAGES - instances.length };
    for (const instance of expandStage(group, member.value, member.keySpan, around, diagnostics)) instances.push(instance);
  }
  return instances;
}

/** The stages without errors so far. */
function prepareStages(instances: readonly Instance[], request: PlanRequest, diagnostics: DiagnosticList): ReadonlyMap<StageId, Prepared> {
  const prepared = new Map<StageId, Prepared>();
  for (const instance of instances) {
    const ready = prepareStage(instance, request, diagnostics);
    if (ready !== undefined) prepared.set(instance.id, ready);
  }
  return prepared;
}

/** The references of a stage that has other errors, so that all are reported at once. */
function checkInputs({ definition, scope }: Instance, around: Surroundings, diagnostics: DiagnosticList): void {
  const inputs = findMember(definition, 'inputs');
  if (inputs !== undefined) checkReferences(interpolate(inputs, scope, diagnostics), around, diagnostics);
}

/** Maximum number of references shown of a cycle. */
const CYCLE_SHOWN = 40;

function describeCycle(refs: readonly { readonly stage: StageId; readonly port: string }[]): string {
  const names = refs.map(ref => `${ref.stage}.${ref.port}`);
  const rest = names.splice(CYCLE_SHOWN);
  return [...names, ...(rest.length === 0 ? [] : [`… ${rest.length} more …`]), names[0]].join(' → ');
}

function scopeOf(params: ReadonlyMap<string, PipelineParam>, used: Set<string>, diagnostics: DiagnosticList): Scope {
  return {
    names: [...params.keys()],
    spend: makeBudget(diagnostics),
    find(name) {
      const plain = name.startsWith('params.') ? name.slice('params.'.length) : name;
      const param = params.get(plain);
      if (param !== undefined) used.add(plain);
      return param?.value;
    },
  };
}

function parseSources(declared: Located | undefined, scope: Scope, diagnostics: DiagnosticList): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  for (const [name, member] of membersOf(declared)) {
    const value = toJson(interpolate(member.value, scope, diagnostics));
    if (typeof value === 'string') sources.set(name, { kind: 'path', path: value });
    else if (isJsonObject(value))
      sources.set(name, { kind: 'record', paths: new Map(Object.entries(value).map(([key, path]) => [key, String(path)])) });
  }
  return sources;
}

function groupsOf(root: Located, instances: readonly Instance[]): Surroundings['groups'] {
  const groups = new Map<string, Map<string | undefined, StageId>>();
  for (const group of membersOf(findMember(root, 'stages')).keys()) groups.set(group, new Map());
  for (const instance of instances) groups.get(instance.group)?.set(instance.item, instance.id);
  return groups;
}

function targetsOf(instances: readonly Instance[]): ReadonlyMap<string, readonly StageId[]> {
  const targets = new Map<string, StageId[]>();
  for (const { id, group } of instances) {
    targets.set(id, [id]);
    if (group === id) continue;
    const members = targets.get(group);
    if (members === undefined) targets.set(group, [id]);
    else members.push(id);
  }
  return targets;
}
