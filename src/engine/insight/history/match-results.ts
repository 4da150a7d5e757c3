/** Finds the kept results that a build of another state of the project would use, by params and input digests. */

import type { Digest } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import type { Json, JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import type { InputRef, Plan, PlannedStage } from '../../model/plan.js';
import type { ActionRecord, ActionResult } from '../../store/action-records.js';
import type { RunRecord } from './run-record.js';

export interface MatchFacts {
  /** The plan of the other state. */
  readonly plan: Plan;
  readonly runs: readonly RunRecord[];
  readonly findRecord: (key: string) => ActionRecord | undefined;
  /** The digest of a source in the other state; undefined if it is unknown. */
  readonly findSource: (path: string) => Digest | undefined;
}

export interface MatchedResults {
  readonly results: ReadonlyMap<string, ActionResult>;
  /** Sources whose content in the other state is unknown. They match any content. */
  readonly assumed: ReadonlySet<string>;
}

/** The number of results per stage that are checked, newest first. */
const MOST_CANDIDATES = 100;

export function matchResults({ plan, runs, findRecord, findSource }: MatchFacts): MatchedResults {
  const keys = keysByStage(runs);
  const results = new Map<string, ActionResult>();
  const assumed = new Set<string>();

  const matchesRef = (ref: InputRef, input: Json | undefined): 'same' | 'assumed' | 'other' => {
    if (input === undefined || !isJsonObject(input)) return 'other';
    const expected = ref.kind === 'source' ? findSource(ref.path) : results.get(ref.stage)?.outputs[ref.port]?.digest;
    if (expected !== undefined) return expected === input.digest ? 'same' : 'other';
    return ref.kind === 'source' ? 'assumed' : 'other';
  };
  const matches = (stage: PlannedStage, manifest: JsonObject): boolean => {
    if (manifest.plugin !== stage.plugin.plugin.name || !isSame(manifest.params, stage.params)) return false;
    const inputs = isJsonObject(manifest.inputs ?? null) ? (manifest.inputs as JsonObject) : {};
    const refs = refsOf(stage);
    const verdicts = refs.map(({ port, entry, ref }) =>
      matchesRef(ref, entry === undefined ? inputs[port] : memberOf(inputs[port], entry)),
    );
    if (verdicts.includes('other')) return false;
    for (const [index, { ref }] of refs.entries()) if (verdicts[index] === 'assumed' && ref.kind === 'source') assumed.add(ref.name);
    return true;
  };

  // In topological order, so that dependencies are matched first.
  for (const stage of plan.stages.values()) {
    for (const key of [...(keys.get(stage.id) ?? [])].slice(0, MOST_CANDIDATES)) {
      const record = findRecord(key);
      const result = record?.results.at(-1);
      if (record === undefined || result === undefined || !matches(stage, record.manifest)) continue;
      results.set(stage.id, result);
      break;
    }
  }
  return { results, assumed };
}

/** The keys of the results of each stage, newest first. */
function keysByStage(runs: readonly RunRecord[]): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>();
  for (const { stages } of runs.toReversed()) {
    for (const { stage, key } of stages) if (key !== undefined) keys.set(stage, (keys.get(stage) ?? new Set()).add(key));
  }
  return keys;
}

interface BoundRef {
  readonly port: string;
  readonly entry: string | undefined;
  readonly ref: InputRef;
}

function refsOf({ inputs }: PlannedStage): readonly BoundRef[] {
  return Object.entries(inputs).flatMap(([port, binding]): BoundRef[] =>
    binding.kind === 'record'
      ? Object.entries(binding.entries).map(([entry, ref]) => ({ port, entry, ref }))
      : [{ port, entry: undefined, ref: binding }],
  );
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return value !== undefined && isJsonObject(value) ? value[name] : undefined;
}

function isSame(a: Json | undefined, b: JsonObject): boolean {
  return a !== undefined && encodeCanonicalJson(a) === encodeCanonicalJson(b);
}
