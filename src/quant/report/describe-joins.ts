/** Unlike joins as entries of reports, and as sentences with the fix. */
import { getDefined } from '../../base/invariant.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Graph } from '../../onnx/ir/model.js';
import type { UnlikeJoin } from '../placement/unlike-joins.js';
import type { Decibels, JoinEntry } from './report-entries.js';

/** `separated`: whether the inputs keep scales of their own. */
export function describeJoin(graph: Graph, { node, inputs, movedBy }: UnlikeJoin, separated: boolean): JoinEntry {
  const finite = (db: number): number | null => (Number.isFinite(db) ? db : null);
  return {
    node: node.name,
    output: getValue(graph, getDefined(node.outputs[0], 'output of a Concat')).name,
    inputs: inputs.map(({ value, low, high, sqnrDb, ownSqnrDb }) => ({
      name: getValue(graph, value).name,
      dataRange: [low, high],
      sqnrDb: finite(sqnrDb),
      ownSqnrDb: finite(ownSqnrDb),
    })),
    separable: movedBy !== undefined,
    separated,
  };
}

/** One sentence, then the fix. */
export function warnOfJoin({ node, output, inputs, separable }: JoinEntry, bits: number): string {
  const worst = inputs.reduce((most, input) => (lossOf(input) > lossOf(most) ? input : most));
  const ranges = inputs.map(({ name, dataRange: [low = 0, high = 0] }) => `"${name}" (${format(low)} … ${format(high)})`).join(', ');
  const loss = `${bits} bits at one scale leave "${worst.name}" ${formatDb(worst.sqnrDb)}, at its own ${formatDb(worst.ownSqnrDb)}`;
  const fix = separable
    ? 'quantize with `joins: separate` keeps a scale for each'
    : `quantize with overrides: [{tensor: "${output}", set: {dtype: int16}}], or rewrite with conv-of-concat`;
  return `Concat "${node}" joins values of unlike ranges: ${ranges}; ${loss}: ${fix}`;
}

/** What one scale for all costs, in dB. */
function lossOf({ sqnrDb, ownSqnrDb }: JoinEntry['inputs'][number]): number {
  return sqnrDb === null ? 0 : (ownSqnrDb ?? Number.POSITIVE_INFINITY) - sqnrDb;
}

const format = (value: number): string => String(Number(value.toPrecision(3)));
const formatDb = (db: Decibels): string => (db === null ? 'all' : `${Number(db.toFixed(1))} dB`);
