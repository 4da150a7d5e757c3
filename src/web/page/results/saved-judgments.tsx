/** The judgments that a saved page holds: of the sides of its report, against the ground truth. It has no curves. */
import type { JudgedSides } from '../../../detection/coco/judged-sides.js';
import { useData } from '../api/use-data.js';
import { Empty, Waiting } from '../parts/notice.js';
import { Changes } from './changes.js';
import { ErrorKinds, Pixels } from './error-kinds.js';
import { nameOf, type ResultSide } from './use-results.js';

interface SavedProps {
  readonly left: ResultSide;
  readonly right: ResultSide;
}

export function SavedJudgments({ left, right }: SavedProps) {
  const { data, error } = useData<JudgedSides>('judgments', 'once');
  if (data === undefined) return <Waiting error={error} what="the judgments" />;
  const [one, other] = [left, right].map(({ stage }) => data.sides.find(side => side.stage === stage.id));
  if (one === undefined || other === undefined) return <Empty>The page does not hold the judgments of these stages.</Empty>;
  const names: readonly [string, string] = [nameOf(left), nameOf(right)];
  const [first, last] = [data.sides[0], data.sides.at(-1)];
  return (
    <>
      {one === first && other === last ? (
        <Changes list={data.changes} names={names} side={right} />
      ) : (
        <Empty>{`The page holds the lost and found objects from ${first?.stage} to ${last?.stage}.`}</Empty>
      )}
      <ErrorKinds sides={data.sides} names={data.sides.map(({ stage }) => stage)} iouType={data.iouType} />
      <Pixels sides={data.sides} names={data.sides.map(({ stage }) => stage)} minScore={data.changes.minScore} />
    </>
  );
}
