/** What `tanren try` found, and its text: one table, and the next steps. */
import { countOf } from '../../../../base/text/count-of.js';
import { listSome } from '../../../../base/text/list-some.js';
import type { Console } from '../../../terminal/console.js';
import { formatTable } from '../../../terminal/text-table.js';
import { wrapText } from '../../../terminal/wrap-text.js';

export interface TriedRow {
  /** A preset of `quantize`, or a data type of the target that takes the float model. */
  readonly preset: string;
  /** Share of the multiply-accumulates on the NPU, 0…1. */
  readonly npuShare: number | undefined;
  readonly cpuNodes: number | undefined;
  readonly parts: number | undefined;
  readonly estimatedMs: number | undefined;
  /** Of the worst output; behind TopK and alike, with the selection of the float model. */
  readonly sqnrDb?: number | undefined;
  /** The share of what the float model selects by TopK and alike that the quantized model selects too, if there is such an operator. */
  readonly commonShare?: number;
  readonly agreement?: Agreement | undefined;
  /** What `verify` calls collapsed: outputs that are noise or constant, or detections that are lost. */
  readonly collapses?: readonly string[];
}

/** How many results of the float model the quantized one has too. */
export interface Agreement {
  /** Of pixels, the class with the highest score. */
  readonly of: 'top-1' | 'detections' | 'pixels';
  readonly equal: number;
  readonly total: number;
}

export interface Tried {
  /** "a classifier of 1000 classes". */
  readonly what: string;
  readonly nodes: {
    readonly file: number;
    /** Of the model; of a whole detector, those of its network. */
    readonly simplified: number | undefined;
    readonly of: 'model' | 'network';
  };
  readonly images: { readonly count: number; readonly are: 'own' | 'stand-ins' | 'none' };
  /** What is assumed of the inputs, or why an image does not give them. */
  readonly inputs: readonly string[];
  /** Why detections are not compared: the assumed decoder does not fit the outputs. */
  readonly unreadable?: string;
  /** Stages that failed, so that figures are missing. */
  readonly failed: readonly string[];
  readonly rows: readonly TriedRow[];
  /** The most valuable first. */
  readonly next: readonly string[];
}

export function formatTried(
  name: string,
  { what, nodes, images, inputs, unreadable, failed, rows, next }: Tried,
  { style }: Pick<Console, 'style'>,
): readonly string[] {
  const simplified =
    nodes.simplified === undefined
      ? ''
      : `, ${nodes.simplified.toLocaleString('en-US')} ${nodes.of === 'network' ? 'in its network' : 'after simplification'}`;
  const agreed = rows.find(({ agreement }) => agreement !== undefined)?.agreement?.of ?? 'agreement';
  return [
    ...wrap(`${name}: ${what}; ${countOf(nodes.file, 'node')}${simplified}`),
    ...inputs.flatMap(wrap),
    ...wrap(describeImages(images)),
    ...(unreadable === undefined ? [] : wrap(`outputs were assumed to be detections by their shapes, but are not: ${unreadable}`)),
    ...(failed.length === 0 ? [] : wrap(`not complete, because ${listSome(failed, MOST_NAMES)} failed`)),
    '',
    ...formatRows(rows, agreed),
    ...formatSelections(rows),
    ...formatCollapses(rows),
    style('bold', 'next'),
    ...next.flatMap((step, index) => wrapText(step, WIDTH - 3).map((line, at) => `${at === 0 ? `${index + 1}.` : '  '} ${line}`)),
  ];
}

const MOST_NAMES = 5;

/** The table, and an empty line; nothing where no preset has a figure. */
function formatRows(rows: readonly TriedRow[], agreed: string): readonly string[] {
  if (rows.every(({ npuShare, sqnrDb }) => npuShare === undefined && sqnrDb === undefined)) return [];
  return [
    ...formatTable([
      ['preset', 'on the NPU', 'CPU nodes', 'NPU parts', 'estimate', 'SQNR', agreed],
      ...rows.map(({ preset, npuShare, cpuNodes, parts, estimatedMs, sqnrDb, agreement }) => [
        preset,
        npuShare === undefined ? '–' : `${(100 * npuShare).toFixed(1)} %`,
        show(cpuNodes, 0),
        show(parts, 0),
        estimatedMs === undefined ? '–' : `${estimatedMs.toFixed(2)} ms`,
        sqnrDb === undefined ? '–' : Number.isFinite(sqnrDb) ? `${sqnrDb.toFixed(1)} dB` : 'equal',
        agreement === undefined ? '–' : showAgreement(agreement),
      ]),
    ]),
    '',
  ];
}

/** The model selects elements by their values: another order of equal ones is no error of what is computed. Only all of them are 100 %. */
function formatSelections(rows: readonly TriedRow[]): readonly string[] {
  const shares = rows.flatMap(({ preset, commonShare }) => (commonShare === undefined ? [] : [`${preset} ${percentOf(commonShare)}`]));
  if (shares.length === 0) return [];
  return [
    ...wrap('SQNR compares the elements that the float model selects.'),
    ...wrap(`Share that the quantized model selects too: ${shares.join(', ')}`),
    '',
  ];
}

function percentOf(share: number): string {
  return `${Math.floor(100 * share)} %`;
}

/** Every reason once, with the presets that it is of, and an empty line. */
function formatCollapses(rows: readonly TriedRow[]): readonly string[] {
  const lines = rows.flatMap(({ preset, collapses = [] }) => (collapses.length === 0 ? [] : [`${preset}: ${listSome(collapses, 2)}`]));
  if (lines.length === 0) return [];
  return [...['collapsed, so that results of the float model are lost:', ...lines].flatMap(wrap), ''];
}

function showAgreement({ of, equal, total }: Agreement): string {
  return of === 'pixels' ? `${((100 * equal) / total).toFixed(1)} %` : `${equal} of ${total}`;
}

const WIDTH = 80;

function wrap(text: string): readonly string[] {
  return wrapText(text, WIDTH);
}

function show(figure: number | undefined, digits: number): string {
  return figure === undefined ? '–' : figure.toFixed(digits);
}

function describeImages({ count, are }: Tried['images']): string {
  if (are === 'none') return 'not quantized: images do not give its inputs';
  if (are === 'own') return `calibrated on ${countOf(count, 'image')}; SQNR is that of the worst output`;
  return `calibrated on ${countOf(count, 'example image')} that stand in: SQNR and agreement say nothing about accuracy on your data`;
}
