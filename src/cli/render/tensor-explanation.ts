/** Formats everything that is known of one tensor of a quantized model: one fact per line, label first. */

import { assertNever } from '../../base/assert-never.js';
import { fixed } from '../../base/text/fixed.js';
import type { PropagatedError } from '../../quant/compare/propagated-error.js';
import { findPosition } from '../../quant/integers/power-of-two.js';
import { coveredRange } from '../../quant/integers/qparams.js';
import type { QuantizedDType } from '../../quant/integers/quantized-dtype.js';
import type { QdqTensor, TensorNode } from '../../quant/qdq/qdq-tensors.js';
import type { TensorEntry, TensorExplanation } from '../../quant/report/explain-tensor.js';
import type { ActivationEntry, Decibels } from '../../quant/report/report-entries.js';
import { formatSqnr } from '../../tensor/compare.js';
import { padEnd, widest } from '../terminal/display-width.js';

/** The error of the value that a `verify` stage measured. */
export interface Propagated {
  readonly stage: string;
  readonly samples: number;
  readonly error: PropagatedError;
}

type Fact = readonly [label: string, text: string];

/** @param owner the stage or file that has the tensor. */
export function formatExplanation(
  explanation: Exclude<TensorExplanation, { readonly kind: 'unknown' }>,
  owner: string,
  propagated: readonly Propagated[],
): readonly string[] {
  switch (explanation.kind) {
    case 'float': {
      const { name, producer, consumers, reasons } = explanation;
      const facts: Fact[] = [...nodeFacts(producer, consumers), ...reasons.map((reason): Fact => ['because', reason])];
      return [`${name}: float in ${owner}`, ...align([...facts, ...propagated.map(propagatedFact)])];
    }
    case 'quantized': {
      const { tensor, report } = explanation;
      const role = report === undefined || report.role === 'activation' ? tensor.role : report.role;
      const place = [tensor.isInput ? 'an input' : '', tensor.isOutput ? 'an output' : ''].filter(Boolean).join(' and ');
      const title = `${tensor.name}: ${tensor.dtype ?? 'quantized'} ${role} of ${owner}${place === '' ? '' : `, ${place}`}`;
      const facts = [
        ...nodeFacts(tensor.producer, tensor.consumers),
        ...reportFacts(report),
        ...parameterFacts(tensor),
        ...qualityFacts(report),
      ];
      return [title, ...align([...facts, ...propagated.map(propagatedFact)])];
    }
    default:
      return assertNever(explanation);
  }
}

function align(facts: readonly Fact[]): readonly string[] {
  const width = widest(facts.map(([label]) => label));
  return facts.map(([label, text]) => `  ${padEnd(label, width)}  ${text}`);
}

/** The number of consumers that a line names. */
const NAMED = 4;

function nodeFacts(producer: TensorNode | undefined, consumers: readonly TensorNode[]): Fact[] {
  const named = consumers.slice(0, NAMED).map(formatNode).join(', ');
  const more = consumers.length > NAMED ? ` and ${consumers.length - NAMED} more` : '';
  return [
    ...(producer === undefined ? [] : [['made by', formatNode(producer)] as const]),
    ...(consumers.length === 0 ? [] : [['read by', named + more] as const]),
  ];
}

function formatNode({ node, opType }: TensorNode): string {
  return node === '' ? opType : `${opType} "${node}"`;
}

function reportFacts(report: TensorEntry | undefined): Fact[] {
  switch (report?.role) {
    case undefined:
      return [];
    case 'activation':
      return activationFacts(report.entry, report.samples);
    case 'weight':
      return [
        ['method', report.entry.method],
        ...(report.entry.widenedForBias ? [['widened', 'so that a bias fits into int32'] as const] : []),
      ];
    case 'bias':
      return report.entry.saturated === undefined ? [] : [['saturated', `${report.entry.saturated} elements`]];
    default:
      return assertNever(report);
  }
}

function activationFacts({ dataRange, elements, method, sharedWith, range }: ActivationEntry, samples: number): Fact[] {
  const count = `${elements} elements of ${samples} ${samples === 1 ? 'sample' : 'samples'}`;
  return [
    ...(dataRange === undefined ? [] : [['data', `${formatRange(dataRange)} in ${count}`] as const]),
    ['method', sharedWith === undefined ? method : `that of "${sharedWith}", which has the same elements: ${method}`],
    ['range', formatRange(range)],
  ];
}

function parameterFacts({ dtype, scales, zeroPoints, axis }: QdqTensor): Fact[] {
  const [scale, zeroPoint] = [scales[0], zeroPoints[0]];
  if (scale === undefined || zeroPoint === undefined) return [['scale', 'computed while the model runs']];
  if (scales.length > 1) {
    const [least, most] = [Math.min(...scales), Math.max(...scales)];
    return [['scale', `${formatNumber(least)} … ${formatNumber(most)}, one for each of ${scales.length} channels (axis ${axis})`]];
  }
  const position = findPosition(scale);
  const covers = isIntegers(dtype) ? coveredRange({ scale, zeroPoint }, dtype) : undefined;
  return [
    ['scale', position === undefined ? `${scale}` : `${scale}, position ${position}`],
    ['zero point', `${zeroPoint}`],
    ...(covers === undefined ? [] : [['stands for', formatRange([covers.low, covers.high])] as const]),
  ];
}

function isIntegers(dtype: string | undefined): dtype is QuantizedDType {
  return dtype === 'int8' || dtype === 'uint8' || dtype === 'int16' || dtype === 'uint16';
}

function qualityFacts(report: TensorEntry | undefined): Fact[] {
  if (report === undefined) return [];
  const { sqnrDb } = report.entry;
  const own: Fact[] = sqnrDb === undefined ? [] : [['own error', formatDb(sqnrDb)]];
  if (report.role !== 'activation' || report.entry.saturationShare === undefined) return own;
  return [['saturates', `${formatNumber(report.entry.saturationShare * 100)} % of the elements`], ...own];
}

function formatDb(db: Decibels): string {
  return db === null ? 'none: every element is exact' : `SQNR ${fixed(db, 2)} dB`;
}

function propagatedFact({ stage, samples, error }: Propagated): Fact {
  const { sqnrDb, cosine, maxAbs } = error;
  const figures = `SQNR ${formatSqnr(sqnrDb, 2)}, cosine ${cosine.toFixed(7)}, max-abs ${formatNumber(maxAbs)}`;
  return ['propagated', `${figures} on ${samples} ${samples === 1 ? 'sample' : 'samples'} (${stage})`];
}

function formatRange([low = Number.NaN, high = Number.NaN]: readonly number[]): string {
  return `${formatNumber(low)} … ${formatNumber(high)}`;
}

/** Formats a number with six significant digits, without trailing zeros. */
function formatNumber(x: number): string {
  return `${Number(x.toPrecision(6))}`;
}
