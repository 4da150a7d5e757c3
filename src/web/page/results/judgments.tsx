/** Both sides against the ground truth: objects that changed, precision over recall, and kinds of error. Computed when they are opened. */

import { formatFixed } from '../../../report/numbers.js';
import { setQuery, usePlace } from '../api/router.js';
import { AxisX, AxisY, Chart, type Frame } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { linearScale } from '../parts/scale.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { Changes } from './changes.js';
import { ErrorKinds } from './error-kinds.js';
import type { Judgment } from './judge-results.js';
import { SavedJudgments } from './saved-judgments.js';
import { useJudgments } from './use-judgments.js';
import { nameOf, type ResultSide } from './use-results.js';

interface JudgmentsProps {
  readonly left: ResultSide;
  readonly right: ResultSide;
  /** All stages with detections. */
  readonly sides: readonly ResultSide[];
}

/** @param isSaved whether the page has the judgments of some sides, and can compute none. */
export function Judgments({ left, right, sides, isSaved }: JudgmentsProps & { readonly isSaved: boolean }) {
  const { query } = usePlace();
  const isOpen = isSaved ? query.judged !== 'no' : query.judged === 'yes';
  return (
    <details open={isOpen} class="coco">
      <summary
        onClick={event => {
          event.preventDefault();
          setQuery({ judged: isOpen !== isSaved ? undefined : isOpen ? 'no' : 'yes' }, 'replace');
        }}
      >
        Lost and found objects, {isSaved ? '' : 'precision over recall, '}and kinds of error
      </summary>
      {isOpen && (isSaved ? <SavedJudgments left={left} right={right} /> : <Judged left={left} right={right} sides={sides} />)}
    </details>
  );
}

function Judged({ left, right, sides }: JudgmentsProps) {
  const { query } = usePlace();
  const between = sides.filter(side => isOfSameImages(side, right) && ![left, right].some(one => nameOf(one) === nameOf(side)));
  const isAll = query.sides === 'all';
  const judged = [left, ...(isAll ? between : []), right];
  return (
    <>
      {between.length > 0 && (
        <div class="tools">
          <label>
            <input type="checkbox" checked={isAll} onChange={() => setQuery({ sides: isAll ? undefined : 'all' }, 'replace')} /> also{' '}
            {between.map(nameOf).join(', ')}
          </label>
        </div>
      )}
      <JudgedSides key={judged.map(contentOf).join(' ')} sides={judged} />
    </>
  );
}

/** Changes with the detections, so that those of a new build are judged again. */
function contentOf(side: ResultSide): string {
  return `${nameOf(side)}:${side.of ?? side.stage.outputs.find(({ port }) => port === side.port)?.digest ?? ''}`;
}

/** Whether both are evaluated on one data set. */
function isOfSameImages(one: ResultSide, other: ResultSide): boolean {
  const [a, b] = [one, other].map(({ stage, annotations }) => stage.inputs.find(({ name }) => name === annotations));
  return a !== undefined && a.path === b?.path && a.stage === b?.stage && a.port === b?.port;
}

function JudgedSides({ sides }: { readonly sides: readonly ResultSide[] }) {
  const found = useJudgments(sides, MOST_CHANGES);
  if (found === undefined) return <Empty>Evaluating {sides.length > 2 ? 'all' : 'both'} sides …</Empty>;
  if (typeof found === 'string') return <Empty>The detections cannot be evaluated: {plainText(found)}</Empty>;
  const names = sides.map(nameOf);
  const [first, last, side] = [names[0], names.at(-1), sides.at(-1)];
  return (
    <>
      {found.changes !== undefined && first !== undefined && last !== undefined && side !== undefined && (
        <Changes list={found.changes} names={[first, last]} side={side} common={found.common} />
      )}
      <Curves judgments={found.judgments} names={names} />
      <ErrorKinds sides={found.judgments} names={names} iouType="bbox" />
    </>
  );
}

/** Rows of changes. Each shows its image. */
const MOST_CHANGES = 24;

const FRAME: Frame = { width: 560, height: 320, left: 44, right: 12, top: 12, bottom: 40 };

interface SidesProps {
  readonly judgments: readonly Judgment[];
  readonly names: readonly string[];
}

/** Of the lines, whose dashes tell them apart without colors. */
const SIGNS = ['━', '╍', '┅', '┉'] as const;

const SHARES = [0, 0.2, 0.4, 0.6, 0.8, 1];

function Curves({ judgments, names }: SidesProps) {
  const { query } = usePlace();
  const categories = judgments[0]?.curves.categories.map(({ category }) => category) ?? [];
  const ious = judgments[0]?.curves.mean.map(({ iou }) => iou.toFixed(2)) ?? [];
  const iou = ious.find(one => one === query.iou) ?? ious[0] ?? '0.50';
  const x = linearScale([0, 1], [FRAME.left, FRAME.width - FRAME.right]);
  const y = linearScale([0, 1], [FRAME.height - FRAME.bottom, FRAME.top]);
  const lines = judgments.map(({ curves }) => {
    const own = curves.categories.find(({ category }) => String(category.id) === query.curve)?.curves ?? curves.mean;
    const precision = own.find(one => one.iou.toFixed(2) === iou)?.precision ?? [];
    const points = precision.map((value, index) => `${x(curves.recall[index] ?? 0)},${y(value)}`);
    return { points: points.join(' '), ap: precision.reduce((sum, value) => sum + value, 0) / Math.max(1, precision.length) };
  });
  return (
    <figure class="figure">
      <div class="tools">
        <Select
          label="Curves of"
          none="the mean over classes"
          value={query.curve ?? ''}
          choices={categories.map(({ id, name }) => [String(id), plainText(name)] as const)}
          pick={id => setQuery({ curve: id || undefined }, 'replace')}
        />
        <Select label="Box IoU" value={iou} choices={ious} pick={one => setQuery({ iou: one }, 'replace')} />
      </div>
      <Chart
        label="Precision over recall"
        size={FRAME}
        summary={`Precision over recall at IoU ${iou}: ${lines.map(({ ap }, index) => `${names[index]} ${formatFixed(ap, 4)}`).join(', ')}`}
      >
        <AxisX frame={FRAME} scale={x} ticks={SHARES} />
        <AxisY frame={FRAME} scale={y} ticks={SHARES} />
        {lines.map(({ points }, index) => (
          <polyline key={index} class={`curve side-${index % SIGNS.length}`} points={points} />
        ))}
        <text class="soft-text" x={FRAME.width / 2} y={FRAME.height - 6} text-anchor="middle">
          recall
        </text>
        <text class="soft-text" x={FRAME.left + 6} y={FRAME.height - FRAME.bottom - 8}>
          precision, upward
        </text>
      </Chart>
      <figcaption>
        {lines.map(({ ap }, index) => (
          <span key={index}>
            <span class={`of-side side-${index % SIGNS.length}`}>
              {SIGNS[index % SIGNS.length]} {names[index]}
            </span>
            : area {formatFixed(ap, 4)};{' '}
          </span>
        ))}
        the area is the average precision at this IoU.
      </figcaption>
    </figure>
  );
}
