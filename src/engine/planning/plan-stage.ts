/** A planned stage: its inputs are connected, its gates and limits parsed. */
import type { Json } from '../../base/json.js';
import type { Ports } from '../../stage/ports.js';
import { interpolate } from '../config/interpolate.js';
import { findMember, type Located, type LocatedMap, membersOf, toJson } from '../config/located.js';
import { parseDuration, parseGate } from '../config/scalars.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import { EXECUTORS, type Executor, type Gate, type PlannedStage } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';
import { connectInputs, type Surroundings } from './connect.js';
import type { Instance } from './expand.js';
import { narrowFolder } from './narrow-folders.js';
import { parseResources } from './parse-resources.js';
import type { Prepared } from './prepare-stage.js';

/** Returns the stage as planned. Problems of its members become diagnostics. */
export function planStage(
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
    inputs: narrowFolder(entry, connectInputs(id, inputPorts, inputs, instance.span, around, diagnostics), around.files, diagnostics),
    determinism,
    gate: parseGates(instance, outputPorts, diagnostics),
    resources: parseResources(instance, pools, diagnostics),
    priority: Number(toJson(findMember(definition, 'priority') ?? zero(instance.span))),
    timeoutMs: parseTimeout(instance, diagnostics),
    retries: Number(toJson(findMember(definition, 'retries') ?? zero(instance.span))),
    env: listMember(definition, 'env').filter(name => !secrets.includes(name)),
    secrets,
    executor: executorOf(scalarMember(definition, 'executor')),
    properties: propertiesOf(findMember(definition, 'properties')),
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
      `"${String(toJson(member.value))}" is not a valid bound`,
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
  if (durationMs === undefined)
    diagnostics.error('bad-duration', declared.span, `"${text}" is not a duration`, 'write "90s", "10m" or "2h"');
  else if (durationMs < 1 || durationMs > MAX_TIMEOUT_MS)
    diagnostics.error(
      'bad-duration',
      declared.span,
      `"${text}" is not a valid timeout: expected at least 1 ms and at most 3650 days`,
      'omit it for no timeout',
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

function executorOf(said: Json | undefined): Executor | undefined {
  return EXECUTORS.find(executor => executor === said);
}

function propertiesOf(map: Located | undefined): Readonly<Record<string, string>> | undefined {
  if (map === undefined) return undefined;
  return Object.fromEntries([...membersOf(map)].map(([name, { value }]) => [name, String(toJson(value))]));
}

function zero(span: SourceSpan): Located {
  return { kind: 'scalar', value: 0, span };
}
