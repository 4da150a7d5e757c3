/** Baselines: current metrics saved for later comparison, in a file of the project that can be committed (`baselines/NAME.json`). */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { anyList, anyObject, constant, mapOf, openObject } from '../../../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../../base/schema/figure-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { isMissing } from '../../../base/system-error.js';
import { EngineError, messageOf } from '../../model/engine-error.js';
import type { Plan } from '../../model/plan.js';
import { readRegularText } from '../../store/files/read-regular.js';
import { isRunName } from './run-name.js';
import { GATE_SCHEMA } from './run-record.js';
import type { Snapshot, StageSnapshot } from './snapshot.js';

const MOST_BYTES = 50_000_000;

/** The path of a named baseline. For pipelines/x.yaml it is in baselines/x/. */
export function baselinePath({ projectFolder, pipeline }: Pick<Plan, 'projectFolder' | 'pipeline'>, name: string): string {
  return join(projectFolder, 'baselines', ...(pipeline === 'pipeline' ? [] : [pipeline]), `${name}.json`);
}

export function isBaselineName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name) && !name.includes('..') && name !== 'now' && !isRunName(name);
}

/** The names of the saved baselines, sorted. */
export function listBaselines(plan: Pick<Plan, 'projectFolder' | 'pipeline'>): readonly string[] {
  try {
    const names = readdirSync(dirname(baselinePath(plan, 'x'))).filter(name => name.endsWith('.json'));
    return names
      .map(name => name.slice(0, -'.json'.length))
      .filter(isBaselineName)
      .sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** @throws EngineError `bad-baseline-name`. */
export function checkBaselineName(name: string): void {
  if (isBaselineName(name)) return;
  throw new EngineError('bad-baseline-name', `"${name}" cannot be the name of a baseline`, {
    help: 'a name has letters, digits, ".", "_" and "-", and is not that of a run (r41, last)',
  });
}

const STAGE_SCHEMA = openObject({ gates: anyList(GATE_SCHEMA) }, { params: anyObject(), metrics: mapOf(FIGURE_SCHEMA) });

type StoredStage = FromSchema<typeof STAGE_SCHEMA>;

const BASELINE_SCHEMA = openObject({ format: constant(1), params: anyObject(), stages: mapOf(STAGE_SCHEMA) });

type StoredBaseline = FromSchema<typeof BASELINE_SCHEMA>;

const baselineReader = readerOf(BASELINE_SCHEMA);

/** Contains no dates, so that equal metrics give an equal file. @throws EngineError `baseline-not-written`. */
export function writeBaseline(path: string, { params, stages }: Snapshot): void {
  const stored = [...stages].map(([stage, { params: own, metrics, gates }]): [string, StoredStage] => [
    stage,
    { ...(own && { params: own }), ...(metrics.kind === 'known' && { metrics: metrics.values }), gates },
  ]);
  const document: StoredBaseline = { format: 1, params: params ?? {}, stages: Object.fromEntries(stored) };
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text, { flush: true });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new EngineError('baseline-not-written', `${path} cannot be written: ${messageOf(error)}`, { cause: error });
  }
}

/** Undefined if there is no baseline with this name. @throws EngineError `baseline-malformed`. */
export function readBaseline(path: string, name: string): Snapshot | undefined {
  const text = readBounded(path);
  if (text === undefined) return undefined;
  const document = parseJson(text);
  const result = readJsonShape(baselineReader, document);
  if (result.kind === 'problems') {
    throw new EngineError(
      'baseline-malformed',
      `${path} is not a baseline: ${formatJsonProblems(result.problems).slice(0, 3).join('; ')}`,
      {
        help: 'restore it from Git, or write it again: tanren metrics --save',
      },
    );
  }
  const stages = new Map(Object.entries(result.value.stages).map(([stage, stored]) => [stage, snapshotOf(stored)]));
  return { name: `baseline ${name}`, params: result.value.params, stages, others: 'absent', notes: [] };
}

function snapshotOf({ params, metrics, gates }: StoredStage): StageSnapshot {
  return { params, metrics: metrics === undefined ? { kind: 'none' } : { kind: 'known', values: metrics }, gates };
}

function readBounded(path: string): string | undefined {
  try {
    if (statSync(path).size > MOST_BYTES) throw new EngineError('baseline-malformed', `${path} is too large for a baseline`);
    return readRegularText(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error instanceof EngineError
      ? error
      : new EngineError('baseline-malformed', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
