/** What kinds of error cost on each side, and figures of pixels. */
import type { ErrorCost } from '../../../detection/coco/errors.js';
import { ERROR_KIND_WORDS, ERROR_KINDS } from '../../../detection/coco/image-errors.js';
import type { JudgedSide, JudgedSides } from '../../../detection/coco/judged-sides.js';
import { formatCount, formatFixed } from '../../../report/numbers.js';
import { numberColumn, textColumn } from '../parts/columns.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';

interface KindsProps {
  readonly sides: readonly Pick<JudgedSide, 'errors'>[];
  readonly names: readonly string[];
  readonly iouType: JudgedSides['iouType'];
}

interface KindRow {
  readonly words: string;
  readonly costs: readonly ErrorCost[];
}

export function ErrorKinds({ sides, names, iouType }: KindsProps) {
  const aps = sides.map(({ errors }, index) => `${names[index]}: ${formatFixed(errors.ap, 4)}`).join(', ');
  return (
    <section>
      <h2>Kinds of error</h2>
      <p class="soft">
        {`Where average precision of ${iouType === 'segm' ? 'masks' : 'boxes'} at IoU 0.5 is lost (${aps}): dAP is the gain if that kind of error alone were corrected, as in TIDE (Bolya et al. 2020).`}
      </p>
      <DataTable label="Kinds of error" rows={rowsOf(sides)} columns={columnsOf(names)} keyOf={({ words }) => words} />
    </section>
  );
}

function rowsOf(sides: KindsProps['sides']): readonly KindRow[] {
  return [
    ...ERROR_KINDS.map(kind => ({ words: ERROR_KIND_WORDS[kind], costs: sides.map(({ errors }) => errors.kinds[kind]) })),
    { words: 'all false positives', costs: sides.map(({ errors }) => errors.falsePositives) },
    { words: 'all false negatives', costs: sides.map(({ errors }) => errors.falseNegatives) },
  ];
}

function columnsOf(names: readonly string[]): readonly ColumnSpec<KindRow>[] {
  const ofSide = (name: string, index: number): readonly ColumnSpec<KindRow>[] => [
    { ...numberColumn<KindRow>(name, ({ costs }) => costs[index]?.count, formatCount), name: `count ${index}` },
    {
      ...numberColumn<KindRow>(
        'dAP',
        ({ costs }) => costs[index]?.cost,
        cost => formatFixed(cost, 4),
      ),
      name: `cost ${index}`,
    },
  ];
  return [textColumn('Error', ({ words }) => words), ...names.flatMap(ofSide)];
}

interface PixelsProps {
  readonly sides: readonly JudgedSide[];
  readonly names: readonly string[];
  readonly minScore: number;
}

const PIXEL_FIGURES = [
  ['pixel accuracy', 'pixelAccuracy'],
  ['mPA', 'meanAccuracy'],
  ['mIoU', 'meanIou'],
] as const;

type PixelFigure = (typeof PIXEL_FIGURES)[number];

/** Nothing where not all detections have masks. */
export function Pixels({ sides, names, minScore }: PixelsProps) {
  if (sides.some(({ pixels }) => pixels === undefined)) return null;
  const ofSide = (name: string, index: number): ColumnSpec<PixelFigure> => ({
    ...numberColumn<PixelFigure>(
      name,
      ([, key]) => known(sides[index]?.pixels?.[key]),
      one => formatFixed(one, 4),
    ),
    name: `side ${index}`,
  });
  return (
    <section>
      <h2>Pixels</h2>
      <p class="soft">{`Masks from a score of ${minScore}, painted in one label map, against that of the ground truth.`}</p>
      <DataTable
        label="Pixels"
        rows={PIXEL_FIGURES}
        columns={[textColumn<PixelFigure>('Figure', ([title]) => title), ...names.map(ofSide)]}
        keyOf={([title]) => title}
      />
    </section>
  );
}

/** Figures below 0 are of nothing. */
function known(figure: number | undefined): number | undefined {
  return figure === undefined || figure < 0 ? undefined : figure;
}
