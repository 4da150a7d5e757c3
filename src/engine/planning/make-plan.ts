/**
 * Planning of a parsed pipeline file: params, sources, expansion, plugins, ports, connections, order.
 * Each step adds diagnostics and continues where it can.
 */
import { findClosest } from '../../base/did-you-mean.js';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import type { StagePlugin } from '../../stage/define-stage.js';
import { findMeeting, foldName } from '../../stage/fold-name.js';
import { ARTIFACT_KINDS, type Ports } from '../../stage/ports.js';
import { checkSchema, listOf } from '../config/check-schema.js';
import { interpolate, makeBudget, type Scope } from '../config/interpolate.js';
import { findMember, type Located, type LocatedMap, membersOf, toJson } from '../config/located.js';
import { overrideParams, type ParamOverride, type PipelineParam, parseParams } from '../config/params.js';
import { parseDuration, parseGate } from '../config/scalars.js';
import { artifactFolder } from '../model/artifact-path.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import type { Gate, Plan, PlannedStage, StageId } from '../model/plan.js';
import type { PluginEntry, PluginRegistry } from '../model/plugin-entry.js';
import type { SourceSpan } from '../model/source-span.js';
import { checkDeclaration } from './check-declaration.js';
import { checkSources } from './check-sources.js';
import { connectInputs, type Source, type Surroundings } from './connect.js';
import { expandStage, type Instance, MAX_STAGES } from './expand.js';
import { orderStages } from './order.js';
import { parseResources, unitsOf } from './parse-resources.js';

export interface PlanRequest {
  readonly pipeline: string;
  readonly projectFolder: string;
  /** The file's root. Its structure was already checked. */
  readonly root: Located;
  readonly overrides: readonly ParamOverride[];
  readonly plugins: PluginRegistry;
}

/** An instance whose plugin and params are known. */
interface Prepared {
  readonly instance: Instance;
  readonly entry: PluginEntry;
  readonly params: JsonObject;
  readonly inputPorts: Ports;
  readonly outputPorts: Ports;
  readonly determinism: 'exact' | 'measured';
}

/** Returns the plan, or undefined if `diagnostics` has errors. */
export function makePlan(request: PlanRequest, diagnostics: DiagnosticList): Plan | undefined {
  const { root } = request;
  const params = overrideParams(parseParams(findMember(root, 'params'), diagnostics), request.overrides, diagnostics);
  const used = new Set<string>();
  const scope = scopeOf(params, used, diagnostics);
  const sources = parseSources(findMember(root, 'sources'), scope, diagnostics);
  const instances: Instance[] = [];
  for (const [group, member] of membersOf(findMember(root, 'stages'))) {
    const around = { scope, room: MAX_STAGES - instances.length };
    for (const instance of expandStage(group, member.value, member.keySpan, around, diagnostics)) instances.push(instance);
  }
  checkFolders(instances, diagnostics);
  const stageFolders = new Set(instances.map(({ id }) => artifactFolder(request, { id })));
  checkSources(findMember(root, 'sources'), sources, { projectFolder: request.projectFolder, stageFolders, caches: [] }, diagnostics);
  const prepared = new Map<StageId, Prepared>();
  for (const instance of instances) {
    const ready = prepare(instance, request.plugins, diagnostics);
    if (ready !== undefined) prepared.set(instance.id, ready);
  }
  const around: Surroundings = { sources, groups: groupsOf(root, instances), findOutputs: stage => prepared.get(stage)?.outputPorts };
  const pools = Object.fromEntries([...membersOf(findMember(root, 'pools'))].map(([name, member]) => [name, unitsOf(member.value)]));
  const planned = new Map([...prepared.values()].map(ready => [ready.instance.id, planStage(ready, around, pools, diagnostics)]));
  // With errors there is no warning, because an unresolved stage may be the one that uses the parameter.
  if (!diagnostics.hasErrors())
    for (const [name, param] of params)
      if (!used.has(name)) diagnostics.warning('unused-param', param.span, `nothing uses the parameter "${name}"`);

  const ordered = orderStages(planned);
  if (ordered.kind === 'cycle') {
    diagnostics.error('cycle', ordered.refs[0]?.span, `stages wait for each other: ${describeCycle(ordered.refs)}`);
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
  };
}

/** Maximum number of references shown of a cycle. */
const CYCLE_SHOWN = 40;

function describeCycle(refs: readonly { readonly stage: StageId; readonly port: string }[]): string {
  const names = refs.map(ref => `${ref.stage}.${ref.port}`);
  const rest = names.splice(CYCLE_SHOWN);
  return [...names, ...(rest.length === 0 ? [] : [`… ${rest.length} more …`]), names[0]].join(' → ');
}

/** Maximum length of a name. File systems allow 255 bytes, and extensions and temporary names are appended. */
const MAX_NAME = 200;
const NAME_RULE = `it becomes that of a folder and may have at most ${MAX_NAME}`;

/** The name of a stage is the name of its folder under artifacts/, and many file systems ignore case. Names that differ only in case collide there. */
function checkFolders(instances: readonly Instance[], diagnostics: DiagnosticList): void {
  const seen = new Map<string, StageId>();
  for (const { id, span } of instances) {
    if (id.length > MAX_NAME)
      diagnostics.error('bad-name', span, `the name of stage "${id.slice(0, 40)}…" has ${id.length} characters; ${NAME_RULE}`);
    const other = seen.get(foldName(id));
    seen.set(foldName(id), id);
    if (other === undefined || other === id) continue;
    const help = 'on many file systems their artifacts would stand in one folder: rename one';
    diagnostics.error('names-meet', span, `the stages "${other}" and "${id}" differ by case alone`, help);
  }
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

function prepare(instance: Instance, plugins: PluginRegistry, diagnostics: DiagnosticList): Prepared | undefined {
  const uses = findMember(instance.definition, 'uses');
  const name = uses?.kind === 'scalar' ? String(uses.value) : '';
  const entry = plugins.find(name);
  if (entry === undefined) {
    // The reason why it does not load was already reported.
    if (plugins.failed.has(name)) return undefined;
    const help = (): string => {
      const closest = findClosest(name, plugins.names);
      return closest === undefined ? `there is ${listOf(plugins.names)}` : `did you mean "${closest}"?`;
    };
    diagnostics.error('unknown-plugin', uses?.span ?? instance.span, `stage "${instance.id}" uses unknown plugin "${name}"`, help);
    return undefined;
  }
  const given: Located = findMember(instance.definition, 'with') ?? { kind: 'map', members: new Map(), span: uses?.span ?? instance.span };
  const before = diagnostics.count;
  const located = interpolate(given, instance.scope, diagnostics);
  if (diagnostics.count > before) return undefined;
  const origin = entry.origin === 'built-in' ? 'own' : 'foreign';
  const params = checkSchema({ schema: entry.plugin.params, origin }, located, 'setting', `stage "${instance.id}"`, diagnostics);
  if (params === undefined || !isJsonObject(params)) return undefined;
  return evaluateDeclaration(instance, entry, params, located.span, diagnostics);
}

/** Calls the declaration's functions of the params. Whatever a third-party plugin throws becomes a diagnostic at its `with`. */
function evaluateDeclaration(
  instance: Instance,
  entry: PluginEntry,
  params: JsonObject,
  span: SourceSpan,
  diagnostics: DiagnosticList,
): Prepared | undefined {
  // The cast is safe: the params were just checked against the plugin's own schema, which its Params type describes.
  const plugin = entry.plugin as unknown as StagePlugin<Json>;
  try {
    const problems = plugin.checkParams?.(params) ?? [];
    for (const problem of problems) diagnostics.error('bad-setting', span, `stage "${instance.id}": ${problem}`);
    if (problems.length > 0) return undefined;
    const determinism = typeof plugin.determinism === 'function' ? plugin.determinism(params) : plugin.determinism;
    if (plugin.needs === 'build-summary' && determinism !== 'measured')
      throw new Error("it needs a summary of the build, in which times are: its determinism is 'measured'");
    if (entry.origin === 'local') checkDeclaration(plugin, params, determinism);
    return {
      instance,
      entry,
      params,
      inputPorts: checkPorts(typeof plugin.inputs === 'function' ? plugin.inputs(params) : plugin.inputs),
      outputPorts: checkPorts(typeof plugin.outputs === 'function' ? plugin.outputs(params) : plugin.outputs),
      determinism,
    };
  } catch (error) {
    diagnostics.error(
      'plugin-declaration',
      span,
      `plugin "${entry.name}" fails on these params: ${error instanceof Error ? error.message : String(error)}`,
    );
    return undefined;
  }
}

const PORT_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$/;

/**
 * A third-party plugin's JavaScript may declare any value, and a port's name becomes a file name.
 * @throws Error that names the port and its expected value.
 */
function checkPorts(ports: Ports): Ports {
  if (typeof ports !== 'object' || ports === null) throw new Error(`ports are an object of port() by name; it gives ${String(ports)}`);
  const meeting = findMeeting(Object.keys(ports));
  if (meeting !== undefined) throw new Error(`the ports "${meeting[0]}" and "${meeting[1]}" differ by case alone`);
  for (const [name, declared] of Object.entries(ports)) {
    if (!PORT_NAME.test(name)) throw new Error(`"${name}" is no name for a port: letters, digits, "_" and "-", a letter or "_" first`);
    if (name.length > MAX_NAME)
      throw new Error(`the port "${name.slice(0, 40)}…" has ${name.length} characters; it may have at most ${MAX_NAME}`);
    if (typeof declared !== 'object' || declared === null || typeof declared.entryKinds !== 'object' || declared.entryKinds === null)
      throw new Error(`port "${name}" is not declared by port() or recordPort()`);
    const { kind, entryKinds } = declared;
    for (const used of [kind, ...Object.values(entryKinds)]) {
      if (!Object.hasOwn(ARTIFACT_KINDS, used))
        throw new Error(`port "${name}" is of kind "${used}"; there is ${listOf(Object.keys(ARTIFACT_KINDS))}`);
    }
  }
  return ports;
}

function planStage(
  ready: Prepared,
  around: Surroundings,
  pools: Readonly<Record<string, number>>,
  diagnostics: DiagnosticList,
): PlannedStage {
  const { instance, entry, params, inputPorts, outputPorts, determinism } = ready;
  const { definition, id } = instance;
  const declared = findMember(definition, 'inputs');
  const secrets = listMember(definition, 'secrets');
  const inputs = declared === undefined ? undefined : interpolate(declared, instance.scope, diagnostics);
  return {
    id,
    group: instance.group,
    plugin: entry,
    params,
    inputPorts,
    outputPorts,
    inputs: connectInputs(id, inputPorts, inputs, instance.span, around, diagnostics),
    determinism,
    gate: parseGates(instance, outputPorts, diagnostics),
    resources: parseResources(instance, pools, diagnostics),
    priority: Number(toJson(findMember(definition, 'priority') ?? zero(instance.span))),
    timeoutMs: parseTimeout(instance, diagnostics),
    retries: Number(toJson(findMember(definition, 'retries') ?? zero(instance.span))),
    env: listMember(definition, 'env').filter(name => !secrets.includes(name)),
    secrets,
    network: scalarMember(definition, 'network') === 'allowed' ? 'allowed' : 'none',
    span: instance.span,
  };
}

function parseGates(instance: Instance, outputPorts: Ports, diagnostics: DiagnosticList): readonly Gate[] {
  const declared = findMember(instance.definition, 'gate');
  if (declared === undefined) return [];
  if (!Object.values(outputPorts).some(port => port.kind === 'metrics')) {
    diagnostics.error('gate-without-metrics', declared.span, `stage "${instance.id}" has a gate, but no output of kind metrics`);
    return [];
  }
  const gates = interpolate(declared, instance.scope, diagnostics) as LocatedMap;
  return [...gates.members].flatMap(([metric, member]) => {
    const gate = parseGate(metric, String(toJson(member.value)), member.value.span);
    if (gate !== undefined) return [gate];
    diagnostics.error(
      'bad-gate',
      member.value.span,
      `"${String(toJson(member.value))}" is no bound`,
      'write an operator (>=, <=, >, <, ==) and a number: ">= -0.008"',
    );
    return [];
  });
}

/** Maximum timeout: ten years. A longer one is a typing error. */
const MAX_TIMEOUT_MS = 3650 * 86_400_000;

function parseTimeout(instance: Instance, diagnostics: DiagnosticList): number | undefined {
  const declared = findMember(instance.definition, 'timeout');
  if (declared === undefined) return undefined;
  const text = String(toJson(declared));
  const durationMs = parseDuration(text);
  if (durationMs === undefined) diagnostics.error('bad-duration', declared.span, `"${text}" is no duration`, 'write "90s", "10m" or "2h"');
  else if (durationMs < 1 || durationMs > MAX_TIMEOUT_MS)
    diagnostics.error(
      'bad-duration',
      declared.span,
      `"${text}" is no timeout: it is at least 1 ms and at most 3650 days`,
      'leave it out for none',
    );
  return durationMs;
}

function listMember(definition: Located, key: string): readonly string[] {
  const list = findMember(definition, key);
  return list?.kind === 'list' ? list.items.map(item => String(toJson(item))) : [];
}

function scalarMember(definition: Located, key: string): Json | undefined {
  const member = findMember(definition, key);
  return member === undefined ? undefined : toJson(member);
}

function zero(span: SourceSpan): Located {
  return { kind: 'scalar', value: 0, span };
}
