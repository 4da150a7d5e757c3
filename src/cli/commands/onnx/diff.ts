/** `tanren onnx diff A B`: compares the structure and the computed values of two models; exit code 1 if they differ. */

import { basename } from 'node:path';
import { assertNever } from '../../../base/assert-never.js';
import { EQUAL } from '../../../base/figure.js';
import { countOf } from '../../../base/text/count-of.js';
import { diffModels } from '../../../onnx/diff/diff-models.js';
import type { Difference } from '../../../onnx/diff/difference.js';
import type { Model } from '../../../onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import { openValueComparer } from '../../../quant/compare/compare-values.js';
import type { PartErrors, PropagatedError } from '../../../quant/compare/propagated-error.js';
import { explainRandomFailure, openProofFeeds } from '../../../runtime/feeds/proof-feeds.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatTable } from '../../terminal/text-table.js';
import { type OnnxOptions, readSound, runOnnx } from './command.js';
import { feedsOf, NO_RANDOM } from './feeds.js';

export interface DiffOptions extends OnnxOptions {
  /** Absent: both. */
  readonly only?: 'structure' | 'values';
  readonly samples: number;
  /** A .npz or .npy file, or a folder of tensors; random tensors if absent. */
  readonly data?: string;
  readonly dim: Readonly<Record<string, number>>;
  /** The largest difference of a value that counts as equal, as a fraction of its standard deviation. */
  readonly tolerance: number;
  /** The number of differences to list. */
  readonly top: number;
}

/** The memory for activations of each model in bytes, and the size assumed for a dynamic dim in that estimate. */
const PIECES = { budgetBytes: 64 << 20, freeDim: 16 };

export function runOnnxDiff(before: string, after: string, options: DiffOptions): Promise<ExitCode> {
  return runOnnx(options, async console => {
    const [left, right] = [await readSound(before), await readSound(after)];
    const structure = options.only === 'values' ? undefined : diffModels(left, right);
    const values = options.only === 'structure' ? undefined : await diffValues(left, right, options);
    if (options.json) console.json({ before: basename(before), after: basename(after), structure, values });
    else {
      if (structure !== undefined) for (const line of formatStructure(structure, options.top)) console.line(line);
      if (values !== undefined) for (const line of formatValues(values, options.top)) console.line(line);
    }
    return (structure?.length ?? 0) === 0 && (values?.deviating.length ?? 0) === 0 ? EXIT.built : EXIT.failed;
  });
}

interface ValueDifferences {
  readonly samples: number;
  readonly compared: number;
  /** The values that differ, in graph order of the first model: the first deviation, then all that follow. */
  readonly deviating: readonly PropagatedError[];
  /** Values of the first model that the second lacks or has with another dtype or shape. */
  readonly unmatched: readonly string[];
}

async function diffValues(left: Model, right: Model, options: DiffOptions): Promise<ValueDifferences> {
  for (const model of [left, right]) writeTypes(model, inferShapes(model));
  const comparer = openValueComparer(left, right, {
    ...PIECES,
    dtypes: 'all',
    seen: !isQuantized(left) && isQuantized(right) ? 'dequantized' : 'as-computed',
  });
  try {
    const feeds = feedsOf(options);
    await explainRandomFailure(feeds, NO_RANDOM, async () => {
      for await (const sample of openProofFeeds(left, feeds)) await comparer.compare(sample);
    });
    return conclude(comparer.conclude('model'), options.tolerance);
  } finally {
    await comparer.close();
  }
}

function isQuantized({ graph }: Model): boolean {
  return [...graph.nodes.values()].some(({ opType }) => opType === 'QuantizeLinear');
}

function conclude({ samples, values, unmatched }: PartErrors, tolerance: number): ValueDifferences {
  const deviates = ({ maxAbs, broken, standardDeviation }: PropagatedError): boolean =>
    broken > 0 || maxAbs > tolerance * standardDeviation;
  return { samples, compared: values.length, deviating: values.filter(deviates), unmatched };
}

function formatStructure(differences: readonly Difference[], top: number): readonly string[] {
  if (differences.length === 0) return ['structure: no difference'];
  const shown = differences.slice(0, top).map(difference => `  ${formatDifference(difference)}`);
  const more = differences.length > top ? [`  and ${differences.length - top} more; --top lists them`] : [];
  return [`structure: ${countOf(differences.length, 'difference')}`, ...shown, ...more];
}

function formatDifference(difference: Difference): string {
  switch (difference.kind) {
    case 'added':
      return `+ ${difference.what} ${difference.name}: ${difference.is}`;
    case 'removed':
      return `- ${difference.what} ${difference.name}: ${difference.is}`;
    case 'changed': {
      const { what, name, field, before, after } = difference;
      return `~ ${[what, name].filter(Boolean).join(' ')}: ${field} ${before} became ${after}`;
    }
    default:
      return assertNever(difference);
  }
}

function formatValues({ samples, compared, deviating, unmatched }: ValueDifferences, top: number): readonly string[] {
  const [first] = deviating;
  const without = unmatched.length === 0 ? '' : `; ${countOf(unmatched.length, 'value')} of the first model without a match in the second`;
  const heading = `values: ${compared} compared on ${countOf(samples, 'sample')}${without}`;
  if (first === undefined) return [heading, '  no value differs'];
  const label = first.opType === '' ? 'an input' : `${first.opType}${first.node === '' ? '' : ` "${first.node}"`}`;
  const rows = deviating.slice(0, top).map(rowOf);
  return [
    heading,
    `  first deviation: "${first.value}" (${label}); ${countOf(deviating.length, 'value')} in total`,
    ...formatTable([['value', 'max-abs', 'SQNR dB', 'standard deviation'], ...rows]).map(line => `  ${line}`),
    ...(deviating.length > top ? [`  and ${deviating.length - top} more; --top lists them`] : []),
  ];
}

function rowOf({ value, comparedWith, maxAbs, sqnrDb, standardDeviation, broken }: PropagatedError): string[] {
  const name = value === comparedWith ? value : `${value} (${comparedWith})`;
  return [
    name,
    broken > 0 ? `${broken} broken` : String(Number(maxAbs.toPrecision(4))),
    sqnrDb === EQUAL ? EQUAL : sqnrDb.toFixed(1),
    String(Number(standardDeviation.toPrecision(4))),
  ];
}
