/** The changes of a run since the run before it: parameters of the pipeline, and the root causes why stages ran. */
import type { Json } from '../../../base/json.js';
import { findChanges } from '../../action/changes.js';
import type { RunRecord } from './run-record.js';

const LONGEST = 40;

/**
 * Parameters as "preset=a8w8", then reasons such as "source notes.txt changed". Those that the run was asked for come last, as "-p preset=a8w8".
 * @param previous the run before; undefined for the oldest run, of which only requested parameters are listed.
 */
export function listRunChanges(run: RunRecord, previous: RunRecord | undefined): readonly string[] {
  const params = previous === undefined ? [] : findChanges(previous.params, run.params);
  const asked = new Set(run.asked.params.map(param => param.slice(0, Math.max(0, param.indexOf('=')))));
  const isAsked = (label: string): boolean => asked.has(label.split('.')[0] ?? '');
  const own = params.filter(({ label }) => !isAsked(label)).map(({ label, after }) => `${label}=${write(after)}`);
  return [...own, ...listReasons(run, params.length > 0 ? 'params' : 'nothing'), ...run.asked.params.map(param => `-p ${clip(param)}`)];
}

/** Reasons other than the result of another stage of the run. @param listed 'params': changed parameters are listed, and changed settings follow from them. */
function listReasons({ stages }: RunRecord, listed: 'params' | 'nothing'): readonly string[] {
  const names = new Set(stages.map(({ stage }) => stage));
  const found = new Set<string>();
  for (const { stage, reasons = [] } of stages) {
    for (const reason of reasons) {
      const from = /^(\S+)\.\S+ changed$/.exec(reason)?.[1];
      if ((from !== undefined && names.has(from)) || reason.startsWith('the state of ')) continue;
      if (!reason.startsWith('params.')) found.add(reason);
      else if (listed === 'nothing') found.add(`${stage}: ${reason.slice('params.'.length)}`);
    }
  }
  return [...found];
}

function write(value: Json | undefined): string {
  return value === undefined ? '(removed)' : clip(typeof value === 'string' ? value : JSON.stringify(value));
}

function clip(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
