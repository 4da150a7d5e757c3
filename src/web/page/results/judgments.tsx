/** Precision over recall and kinds of error of both sides, computed when they are opened. */

import { ERROR_KIND_WORDS, ERROR_KINDS } from '../../../detection/coco/image-errors.js';
import { formatFixed } from '../../../report/numbers.js';
import { setQuery, usePlace } from '../api/router.js';
import { AxisX, AxisY, Chart, type Frame } from '../parts/chart.js';
import { Empty } from '../parts/notice.js';
import { linearScale } from '../parts/scale.js';
import { Scroll } from '../parts/scroll.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import type { Judgment } from './judge-results.js';
import { useJudgments } from './use-judgments.js';
import { nameOf, type ResultSide } from './use-results.js';

interface JudgmentsProps {
  readonly left: ResultSide;
  readonly right: ResultSide;
}

export function Judgments({ left, right }: JudgmentsProps) {
  const { query } = usePlace();
  const isOpen = query.judged === 'yes';
  return (
    <details open={isOpen} class="coco">
      <summary
        onClick={event => {
          event.preventDefault();
          setQuery({ judged: isOpen ? undefined : 'yes' }, 'replace');
        }}
      >
        Precision over recall, and kinds of error
      </summary>
      {isOpen && <Judged key={`${nameOf(left)} ${nameOf(right)}`} left={left} right={right} />}
    </details>
  );
}

function Judged({ left, right }: JudgmentsProps) {
  const found = useJudgments([left, right]);
  if (found === undefined) return <Empty>Evaluating both sides …</Empty>;
  if (typeof found === 'string') return <Empty>The detections cannot be evaluated: {plainText(found)}</Empty>;
  const names = [nameOf(left), nameOf(right)];
  return (
    <>
      <Curves judgments={found} names={names} />
      <ErrorKinds judgments={found} names={names} />
    </>
  );
}

const FRAME: Frame = { width: 560, height: 320, left: 44, right: 12, top: 12, bottom: 40 };

interface SidesProps {
  readonly judgments: readonly Judgment[];
  readonly names: readonly string[];
}

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
          <polyline key={index} class={`curve side-${index}`} points={points} />
        ))}
        <text class="soft-text" x={FRAME.width / 2} y={FRAME.height - 6} text-anchor="middle">
          recall
        </text>
      </Chart>
      <figcaption>
        <span class="info">━ {names[0]}</span>: area {formatFixed(lines[0]?.ap ?? 0, 4)}; <span class="warn">╍ {names[1]}</span>: area{' '}
        {formatFixed(lines[1]?.ap ?? 0, 4)}. The area is the average precision at this IoU.
      </figcaption>
    </figure>
  );
}

function ErrorKinds({ judgments, names }: SidesProps) {
  return (
    <>
      <p class="soft">
        Where average precision of boxes at IoU 0.5 is lost: dAP is the gain if that kind of error alone were corrected, as in TIDE (Bolya
        et al. 2020).
      </p>
      <Scroll label="Kinds of error">
        <table class="narrow">
          <thead>
            <tr>
              <th scope="col">Error</th>
              {names.flatMap((name, index) => [
                <th key={`${index} count`} scope="col" class="n">
                  {name}
                </th>,
                <th key={`${index} cost`} scope="col" class="n">
                  dAP
                </th>,
              ])}
            </tr>
          </thead>
          <tbody>
            {ERROR_KINDS.map(kind => (
              <tr key={kind}>
                <th scope="row">{ERROR_KIND_WORDS[kind]}</th>
                {judgments.flatMap(({ errors }, index) => [
                  <td key={`${index} count`} class="n">
                    {errors.kinds[kind].count}
                  </td>,
                  <td key={`${index} cost`} class="n">
                    {formatFixed(errors.kinds[kind].cost, 4)}
                  </td>,
                ])}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  );
}
