/** Whether the figures of a trial meet the constraint of `widen-types`. */
import { holdsBound, parseBound } from '../../src/base/bound.js';
import { EQUAL, type Figure, findFigure, rankOf } from '../../src/base/figure.js';
import { getDefined } from '../../src/base/invariant.js';
import type { Json, JsonObject } from '../../src/base/json.js';
import type { OutputError } from '../../src/quant/sensitivity/report-schema.js';
import { StageError } from '../../src/stage/stage-error.js';
import type { WidenTypesParams } from './params.js';

/** Figures by name: the SQNR of outputs, or metrics. */
export type Figures = Readonly<Record<string, Figure>>;

type Constraint = WidenTypesParams['constraint'];

export function figuresOfOutputs(outputs: readonly OutputError[]): Figures {
  return Object.fromEntries(outputs.map(({ name, sqnrDb }) => [name, sqnrDb]));
}

/** The metrics that the gate names. @throws StageError `baseline-metrics`, `metric-missing`. */
export function figuresOfGate(gate: NonNullable<Constraint['gate']>, measured: JsonObject, baseline: Json | undefined): Figures {
  return Object.fromEntries(
    Object.keys(gate).map(metric => {
      const name = metric.replace(/^delta\./, '');
      const own = numberAt(measured, name);
      // COCO marks a figure without objects by −1.
      if (own === undefined || own < 0) {
        throw new StageError('metric-missing', `the data has no objects for the figure ${name}`, {
          help: 'choose another figure, or other images',
        });
      }
      if (name === metric) return [metric, own];
      const other = numberAt(baseline, name);
      if (other === undefined || other < 0) {
        throw new StageError('baseline-metrics', `the baseline has no figure "${name}"`, {
          help: 'connect the metrics of an `evaluate` of the float detector on the same images',
        });
      }
      return [metric, own - other];
    }),
  );
}

/** Differences say something only between figures of the same images. @throws StageError `baseline-metrics`. */
export function checkBaseline(gate: NonNullable<Constraint['gate']>, baseline: Json | undefined, images: number): void {
  const before = numberAt(baseline, 'images');
  if (before === undefined || before === images || !Object.keys(gate).some(metric => metric.startsWith('delta.'))) return;
  throw new StageError('baseline-metrics', `the baseline was measured on ${before} images, this stage judges on ${images}`, {
    help: 'give the `evaluate` of the float detector the same data, and as `samples` the number of `images`',
  });
}

function numberAt(metrics: Json | undefined, path: string): number | undefined {
  const found = findFigure(metrics, path);
  return typeof found === 'number' ? found : undefined;
}

export function meetsConstraint({ sqnrDb, gate }: Constraint, figures: Figures): boolean {
  if (gate !== undefined) {
    return Object.entries(gate).every(([metric, text]) => {
      const figure = getDefined(figures[metric], metric);
      return holdsBound(rankOf(figure), getDefined(parseBound(text), 'bound'));
    });
  }
  return Object.entries(figures).every(([output, figure]) => rankOf(figure) >= (boundOf(sqnrDb, output) ?? Number.NEGATIVE_INFINITY));
}

function boundOf(sqnrDb: Constraint['sqnrDb'], output: string): number | undefined {
  if (typeof sqnrDb !== 'object') return sqnrDb;
  return Object.hasOwn(sqnrDb, output) ? sqnrDb[output] : sqnrDb.default;
}

/** @throws StageError `unknown-output`. */
export function checkOutputs({ sqnrDb }: Constraint, outputs: readonly string[]): void {
  if (typeof sqnrDb !== 'object') return;
  const unknown = Object.keys(sqnrDb).filter(name => name !== 'default' && !outputs.includes(name));
  if (unknown.length === 0) return;
  throw new StageError(
    'unknown-output',
    `constraint.sqnrDb names ${unknown.join(', ')}, but the float32 outputs are ${outputs.join(', ')}`,
  );
}

export function describeFigures(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, figure]) => `${name} ${figure === EQUAL ? figure : Number(figure.toFixed(4))}`)
    .join(', ');
}
