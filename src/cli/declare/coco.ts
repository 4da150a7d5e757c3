/** Declares the commands that evaluate detections in COCO format. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ImageChoice } from '../coco/command.js';
import { asJson, type Declare, parseCount } from './options.js';

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  const ascending = counts.every((count, i) => Number.isSafeInteger(count) && count > (counts[i - 1] ?? 0));
  if (counts.length !== 3 || !ascending) throw new InvalidArgumentError('It is three rising counts, such as 1,10,100.');
  return counts;
}

function parseSizes(text: string): readonly [number, number] {
  const [small = Number.NaN, large = Number.NaN, ...rest] = text.split(',').map(Number);
  if (rest.length > 0 || !(small > 0 && large >= small && large < 1e5))
    throw new InvalidArgumentError('It is two rising lengths in pixels, such as 32,96.');
  return [small, large];
}

function parseThresholds(text: string): readonly number[] {
  const values = text.split(',').map(Number);
  const rising = values.every((value, i) => value > (values[i - 1] ?? 0) && value <= 1);
  if (text.trim() === '' || !rising) throw new InvalidArgumentError('It is rising numbers above 0 and up to 1, such as 0.5,0.75.');
  return values;
}

function parseType(text: string): string {
  if (text === 'bbox' || text === 'segm') return text;
  throw new InvalidArgumentError(text === 'keypoints' ? 'Keypoints are not measured; it is bbox or segm.' : 'It is bbox or segm.');
}

/** "100": the first 100 images by id; "139,285": the images with these ids. */
function parseImages(text: string): ImageChoice {
  const numbers = text.split(',').map(Number);
  if (!/^\d+(,\d+)*$/.test(text) || !numbers.every(Number.isSafeInteger))
    throw new InvalidArgumentError('It is how many, such as 100, or ids with commas between them, such as 139,285.');
  const [count = 0] = numbers;
  return numbers.length === 1 ? { kind: 'first', count } : { kind: 'ids', ids: numbers };
}

const onFiles = (command: Command): Command =>
  command
    .requiredOption('-g, --ground-truth <file>', 'annotations in COCO form (instances_*.json)')
    .option('--images <which>', 'the first N by id, or ids with commas between them; all where absent', parseImages, 'all');

export const declareCoco: Declare = (program, end) => {
  const coco = program.command('coco').description('judge detections in COCO form');

  asJson(onFiles(coco.command('eval')))
    .description('measure detections: the 12 COCO figures, and what stands behind them')
    .requiredOption('-d, --detections <file>', 'results in COCO form: a list of detections')
    .requiredOption('-t, --type <kind>', 'what is measured: bbox (boxes) or segm (masks)', parseType)
    .option(
      '--max-dets <a,b,c>',
      'detections per image and category that count: AR at each, all else at the last',
      parseCounts,
      [1, 10, 100],
    )
    .option('--sizes <a,b>', 'side lengths of squares that part small, medium and large', parseSizes, [32, 96])
    .option('--iou <list>', 'IoU thresholds, rising; 0.5 to 0.95 where absent', parseThresholds)
    .addOption(
      new Option('--categories <how>', 'merged: a detection may find an object of any category')
        .choices(['separate', 'merged'])
        .default('separate'),
    )
    .option('--per-class', 'the figures of each category', false)
    .option('--errors', 'what each kind of error costs (TIDE)', false)
    .option('--semantic [score]', 'pixel accuracy and mIoU of the masks with at least this score (0.5 where none is given)', parseScore)
    .option('--curves <file>', 'write the curves of precision over recall: .json or .svg')
    .addHelpText('after', '\nExample:\n  tanren coco eval -g instances_val2017.json -d detections.json -t segm --per-class --errors')
    .action(async (options: Parameters<typeof import('../commands/coco-eval.js').runCocoEval>[0]) =>
      end(await (await import('../commands/coco-eval.js')).runCocoEval(options)),
    );

  asJson(onFiles(coco.command('diff <before> <after>')))
    .description('say which objects two detectors find differently, the worst change first')
    .option('-t, --type <kind>', 'what overlap is measured on: bbox (boxes) or segm (masks)', parseType, 'bbox')
    .option('--min-score <score>', 'detections below it are not there', parseScore, 0.5)
    .option('--top <n>', 'changes that are listed, and have pictures', parseCount, 20)
    .option('--pictures <folder>', 'write both overlays side by side, a PNG for each image with a listed change')
    .option('--image-folder <folder>', 'where the images are, for --pictures')
    .addHelpText(
      'after',
      '\nExample:\n  tanren coco diff -g instances_val2017.json float.json int8.json --pictures diff --image-folder val2017',
    )
    .action(async (before: string, after: string, options: Parameters<typeof import('../commands/coco-diff.js').runCocoDiff>[2]) =>
      end(await (await import('../commands/coco-diff.js')).runCocoDiff(before, after, options)),
    );
};

function parseScore(text: string): number {
  const score = Number(text);
  if (text.trim() === '' || !Number.isFinite(score)) throw new InvalidArgumentError('It is a number, such as 0.5.');
  return score;
}
