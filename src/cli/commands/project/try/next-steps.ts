/** The three most valuable next steps after `tanren try`, from what it found. */
import { NO_VALUE } from '../../../../detection/data/image-inputs.js';
import type { Outcome } from '../../../../target/advice/advice.js';
import type { Linted } from './lint-model.js';
import type { Tried, TriedRow } from './tried.js';

/** Below this, 8 bits usually cost detections or classes. */
const GOOD_DB = 20;
const WORTH_DB = 6;
const MOST_STEPS = 3;
/** Drafts of these have stages that measure accuracy. */
const HAS_FIGURES = /^a (classifier|detector|whole detector|segmentation network)/;

export function adviseNext(
  { what, rows, images, inputs, unreadable, failed }: Omit<Tried, 'next'>,
  linted: Linted | undefined,
  { model, save }: { readonly model: string; readonly save: 'done' | 'open' },
): readonly string[] {
  if (failed.length > 0) return adviseFailed(failed, { model, save });
  const eight = bestOf(rows.filter(({ preset }) => preset === 'xint8' || preset === 'a8w8'));
  const finds = rows.find(({ agreement }) => agreement?.of === 'detections')?.agreement?.total;
  const sixteen = rows.find(({ preset }) => preset === 'a16w8');
  return [
    ...(images.are === 'stand-ins' ? [`name images that the network meets in use: tanren try ${model} IMAGES`] : []),
    ...(images.are === 'none' ? [adviseInputs(inputs, model)] : []),
    ...(unreadable === undefined
      ? []
      : [
          'state how outputs are read in the file that --save writes (docs/stages/describe.md), or remove its stage `detector` if they are no detections',
        ]),
    ...(finds === 0
      ? ['the float model finds no object: correct `preprocess` or the decoder in the file that --save writes, and tanren build it again']
      : []),
    ...adviseCollapsed(rows),
    ...adviseRewrites(linted),
    ...adviseBits(eight, sixteen),
    ...(save === 'open' ? [`keep it: tanren try ${model} --save pipeline.yaml writes the pipeline, with all settings to edit`] : []),
    ...(HAS_FIGURES.test(what) ? ['measure accuracy with labels: the drafted pipeline has an evaluation as comments'] : []),
    'open artifacts/…/compile@a8w8/report.json, or run tanren lint, for the reason of every node on the CPU',
  ].slice(0, MOST_STEPS);
}

/** What the inputs need: a value beside the image, or tensors. */
function adviseInputs(inputs: Tried['inputs'], model: string): string {
  return inputs.some(note => note.startsWith(NO_VALUE))
    ? `state what inputs besides the image take: tanren try ${model} --input NAME=VALUE`
    : 'calibrate on tensors that the network meets in use (docs/your-own-model.md)';
}

/** Advice about accuracy has no ground where figures are missing. */
function adviseFailed(
  [first]: readonly string[],
  { model, save }: { readonly model: string; readonly save: 'done' | 'open' },
): readonly string[] {
  const edit = save === 'open' ? [`tanren try ${model} --save pipeline.yaml writes the pipeline, where ${first} can be changed`] : [];
  return [`follow the help of the error of ${first}`, ...edit];
}

function adviseCollapsed(rows: readonly TriedRow[]): readonly string[] {
  if (rows.every(({ collapses = [] }) => collapses.length === 0)) return [];
  return [
    'see why outputs collapse: `verify` of the pipeline that --save writes fails on it, and docs/stages/verify.md says how to find the layer',
  ];
}

function adviseRewrites(linted: Linted | undefined): readonly string[] {
  const [first] = linted?.advice.rewrites ?? [];
  const last = linted?.advice.rewrites.at(-1);
  if (first === undefined || last === undefined) return [];
  const rules = [...new Set(linted?.advice.rewrites.map(({ rule, form }) => (form === undefined ? rule : `${rule}, form ${form}`)))];
  return [`rewrite before quantization (${rules.join('; ')}): ${describeGain(first.before, last.after)}; tanren lint prints the stage`];
}

/** The share on the NPU, or, where it looks equal, the number of nodes and groups of nodes on the CPU. */
function describeGain(before: Outcome, after: Outcome): string {
  const [from, to] = [percent(before.npuMacShare), percent(after.npuMacShare)];
  return from === to ? `${before.cpuUnits} → ${after.cpuUnits} units on the CPU` : `${from} → ${to} on the NPU`;
}

function adviseBits(eight: TriedRow | undefined, sixteen: TriedRow | undefined): readonly string[] {
  const [low, high] = [eight?.sqnrDb, sixteen?.sqnrDb];
  if (low === undefined || low >= GOOD_DB) return [];
  const recover = `recover accuracy in 8 bits: add \`correct-biases\` or \`round-weights\` after quantize (the best preset reaches ${low.toFixed(1)} dB)`;
  if (high === undefined || high < low + WORTH_DB) return [recover];
  const price =
    eight?.estimatedMs === undefined || sixteen?.estimatedMs === undefined
      ? ''
      : `, estimated ${sixteen.estimatedMs.toFixed(2)} instead of ${eight.estimatedMs.toFixed(2)} ms`;
  return [`take a16w8: ${high.toFixed(1)} instead of ${low.toFixed(1)} dB${price}`, recover];
}

function bestOf(rows: readonly TriedRow[]): TriedRow | undefined {
  return rows.filter(({ sqnrDb }) => sqnrDb !== undefined).sort((a, b) => (b.sqnrDb ?? 0) - (a.sqnrDb ?? 0))[0];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
