/** `tanren onnx diff A B`: compares the structure and the computed values of two models; exit code 1 if they differ. */

import { basename } from 'node:path';
import { assertNever } from '../../../base/assert-never.js';
import { EQUAL } from '../../../base/figure.js';
import { countOf } from '../../../base/text/count-of.js';
import { diffModels } from '../../../onnx/diff/diff-models.js';
import type { Difference } from '../../../onnx/diff/difference.js';
import { getValue } from '../../../onnx/ir/edit.js';
import type { Model } from '../../../onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../onnx/shape-inference/infer-shapes.js';
import { listInputMismatches, openValueComparer } from '../../../quant/compare/compare-values.js';
import type { PartErrors, PropagatedError } from '../../../quant/compare/propagated-error.js';
import { explainRandomFailure, openProofFeeds, type ProofFeeds } from '../../../runtime/feeds/proof-feeds.js';
import { listModelInputs } from '../../../runtime/session/model-inputs.js';
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
    return (structure?.length ?? 0) === 0 && (values?.deviating.length ?? 0) === 0 && values?.notCompared === undefined
      ? EXIT.built
      : EXIT.failed;
  });
}

interface ValueDifferences {
  readonly samples: number;
  readonly compared: number;
  /** The values that differ, in graph order of the first model: the first deviation, then all that follow. */
  readonly deviating: readonly PropagatedError[];
  /** Values of the first model that the second lacks or has with another dtype or shape. */
  readonly unmatched: readonly string[];
  /** Why no value was compared: the inputs of the models differ. Absent if values were compared. */
  readonly notCompared?: readonly string[];
}

async function diffValues(left: Model, right: Model, options: DiffOptions): Promise<ValueDifferences> {
  takeSizes(left, right, options.dim);
  for (const model of [left, right]) writeTypes(model, inferShapes(model));
  const feeds = feedsOf(options);
  const notCompared = await findMismatches(left, right, feeds);
  if (notCompared.length > 0) return { samples: 0, compared: 0, deviating: [], unmatched: [], notCompared };
  const comparer = openValueComparer(left, right, {
    ...PIECES,
    dtypes: 'all',
    seen: !isQuantized(left) && isQuantized(right) ? 'dequantized' : 'as-computed',
  });
  try {
    await explainRandomFailure(feeds, NO_RANDOM, async () => {
      for await (const sample of openProofFeeds(left, feeds)) await comparer.compare(sample);
    });
    return conclude(comparer.conclude('model'), options.tolerance);
  } finally {
    await comparer.close();
  }
}

/** Dynamic dims of the first model's inputs take the sizes that the second model fixes, unless `given` sets them. */
function takeSizes({ graph }: Model, right: Model, given: Readonly<Record<string, number>>): void {
  const others = listModelInputs(right);
  const inputs = graph.inputs.map(id => getValue(graph, id)).filter(({ constant }) => constant === undefined);
  for (const [index, value] of inputs.entries()) {
    const { dims } = others.find(({ name }) => name === value.name) ?? others[index] ?? {};
    if (value.type?.kind !== 'tensor' || value.type.dims?.length !== dims?.length) continue;
    const sized = value.type.dims?.map((dim, axis) =>
      typeof dim === 'number' || (dim !== undefined && dim in given) ? dim : dims?.[axis],
    );
    if (sized !== undefined) value.type = { ...value.type, dims: sized };
  }
}

/** Of the first sample: all samples have the inputs of the first model. */
async function findMismatches(left: Model, right: Model, feeds: ProofFeeds): Promise<readonly string[]> {
  for await (const sample of openProofFeeds(left, { ...feeds, samples: 1 })) return listInputMismatches(sample, left, right);
  return [];
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

function formatValues({ samples, compared, deviating, unmatched, notCompared }: ValueDifferences, top: number): readonly string[] {
  if (notCompared !== undefined) {
    const next = '  rename inputs with `tanren onnx rename`, or fix their sizes with `tanren onnx convert --shape`';
    return ['values: not compared, because the inputs of the models differ', ...notCompared.map(line => `  ${line}`), next];
  }
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
