/** Figures behind selections: as the judged ones, where params ask for that, and in words. */

import { countOf } from '../../src/base/text/count-of.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import type { SelectedErrors, SelectionFigures } from '../../src/quant/compare/selected-errors.js';
import type { ComparisonFigures } from '../../src/tensor/compare.js';
import type { VerifyParams } from './params.js';
import type { Summary } from './summary.js';

/** By output, over all parts. */
export function heldFiguresOf(selections: readonly SelectedErrors[]): ReadonlyMap<string, ComparisonFigures> {
  return new Map(selections.flatMap(({ values }) => Object.entries(values)));
}

/** The judged figures: with the selection of the reference if params say so, and where the shapes of both sides differ otherwise. */
export function withSelections(summary: Summary, selections: readonly SelectedErrors[], selection: VerifyParams['selection']): Summary {
  const held = [...heldFiguresOf(selections)].filter(([name]) => selection === 'reference' || !summary.values.has(name));
  return held.length === 0 ? summary : { ...summary, values: new Map([...summary.values, ...held]) };
}

/** @throws DetectionError `part-values` naming a value without figures. */
export function assertCompared({ values, differing }: Summary): void {
  const lost = [...differing].find(([name]) => !values.has(name));
  if (lost === undefined) return;
  const [name, shapes] = lost;
  throw new DetectionError(
    'part-values',
    `value "${name}" is ${shapes}: what each side selects decides its shape, and it could not be compared on every sample with equal selections`,
    { help: 'the warnings in the log have the reason; `cut` the output, or compare what is before the selection' },
  );
}

/** 1 without a selected position. */
export function commonShareOf(all: readonly SelectionFigures[]): number {
  const sum = (count: (one: SelectionFigures) => number): number => all.reduce((total, one) => total + count(one), 0);
  const selected = sum(one => one.selected);
  return selected === 0 ? 1 : sum(one => one.common) / selected;
}

export function describeSelection({ node, value, opType, selected, common }: SelectionFigures): string {
  return `${opType} ${node === '' ? value : node}: the candidate selects ${common} of ${countOf(selected, 'position')} of the reference`;
}
