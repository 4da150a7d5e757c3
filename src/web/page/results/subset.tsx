/** Figures on the first images only, for a quick answer: built beside the pipeline, and marked as a subset wherever they are shown. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { COCO_KINDS, KIND_NAMES } from '../../../detection/coco/figure-names.js';
import { formatFixed } from '../../../report/numbers.js';
import type { SweepDocument } from '../../../report/sweep-document.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import type { SweepView } from '../../project/sweeps.js';
import { address, post } from '../api/client.js';
import { ownBuilds } from '../api/live.js';
import { setQuery, usePlace } from '../api/router.js';
import { useStore } from '../api/store.js';
import { asApiError, useData } from '../api/use-data.js';
import { formatChange } from '../parts/figure-format.js';
import { Badge, Problem } from '../parts/notice.js';
import { logText } from '../parts/text.js';
import { parseSweep } from '../sweeps/parse-sweep.js';

/** Images of a subset. */
const IMAGES = 32;

/** Stages that evaluate, of both sides. */
export function Subset({ stages }: { readonly stages: readonly StageRow[] }) {
  const { query } = usePlace();
  const own = useStore(ownBuilds);
  const [problem, setProblem] = useState<string>();
  const isAuto = query.subset === 'auto';
  const evaluated = [...new Map(stages.filter(({ plugin }) => plugin === 'evaluate').map(stage => [stage.id, stage])).values()];
  const ids = evaluated.map(({ id }) => id);
  const axes = ids.map(id => ({ name: `${id}.samples`, values: String(IMAGES) }));
  const { data } = useData<{ readonly sweeps: readonly SweepView[] }>('sweeps');
  const newest = data?.sweeps.find(sweep => isSubset(sweep, axes));
  const start = async (): Promise<boolean> => {
    setProblem(undefined);
    try {
      await post('sweep', { axes, targets: ids });
      return true;
    } catch (error) {
      setProblem(asApiError(error).message);
      return false;
    }
  };
  const isFollowing = isAuto && ids.length > 0;
  // Figures of the present are what those after the next change are compared with.
  const isMissing = data !== undefined && (newest === undefined || (newest.isOutdated && newest.state !== 'running'));
  useAuto(
    isFollowing && own.length === 0 && (isMissing || evaluated.some(({ state }) => state !== 'up-to-date')),
    JSON.stringify(evaluated.map(({ why }) => why)),
    start,
  );
  // The server gets the process of the first build ready.
  useEffect(() => {
    if (isFollowing) post('prepare', { targets: ids }).catch((error: unknown) => setProblem(asApiError(error).message));
  }, [isFollowing]);
  if (ids.length === 0) return null;
  return (
    <div class="tools">
      <button type="button" onClick={() => void start()} disabled={own.length > 0}>
        Figures on {IMAGES} images
      </button>
      <label>
        <input type="checkbox" checked={isAuto} onChange={() => setQuery({ subset: isAuto ? undefined : 'auto' }, 'replace')} /> after every
        change
      </label>
      <Problem text={problem} />
      {newest !== undefined && <SubsetState key={`${newest.name} ${newest.state}`} sweep={newest} ids={ids} />}
    </div>
  );
}

/** Whether a sweep has exactly these axes, with these values: one of other values of `samples` is no subset of this size. */
function isSubset({ axes, values }: SweepView, wanted: readonly { readonly name: string; readonly values: string }[]): boolean {
  return JSON.stringify([axes, values]) === JSON.stringify([wanted.map(({ name }) => name), wanted.map(axis => axis.values)]);
}

/** Once per state of the inputs, as soon as no build of the page runs. A start that is refused is tried again when a build has ended. */
function useAuto(isWanted: boolean, inputs: string, start: () => Promise<boolean>): void {
  const done = useRef('');
  useEffect(() => {
    if (!isWanted || done.current === inputs) return;
    const before = done.current;
    // Until the server answers, so that a change of `isWanted` starts no second one.
    done.current = inputs;
    void start().then(isStarted => {
      if (!isStarted && done.current === inputs) done.current = before;
    });
  }, [isWanted, inputs]);
}

function SubsetState({ sweep: { name, state, said, isOutdated }, ids }: { readonly sweep: SweepView; readonly ids: readonly string[] }) {
  const { data, error } = useData(state === 'ended' ? address('sweep', { name }) : undefined, 'once', parseSweep);
  if (state === 'running') return <span class="info">● computing …</span>;
  if (state === 'lost')
    return <Problem text={said === undefined ? 'it has ended without figures' : (logText(said).split('\n')[0] ?? '')} />;
  if (error !== undefined) return <Problem text={error.message} />;
  return data === undefined ? null : <SubsetFigures sweep={data} ids={ids} isOutdated={isOutdated} />;
}

interface FiguresProps {
  readonly sweep: SweepDocument;
  readonly ids: readonly string[];
  readonly isOutdated: boolean;
}

function SubsetFigures({ sweep: { configurations }, ids, isOutdated }: FiguresProps) {
  const [row] = configurations;
  if (row === undefined) return null;
  const of = (id: string, kind: string): number | undefined => {
    const figure = row.metrics[`${id}.${kind}.AP`];
    return typeof figure === 'number' ? figure : undefined;
  };
  const figures = COCO_KINDS.flatMap(kind => {
    const values = ids.map(id => of(id, kind));
    const [first, last] = [values[0], values.at(-1)];
    if (values.every(value => value === undefined)) return [];
    const change = ids.length > 1 && first !== undefined && last !== undefined ? ` (${formatChange(first, last)})` : '';
    return [`${KIND_NAMES[kind]} AP ${values.map(value => (value === undefined ? '–' : formatFixed(value, 4))).join(' → ')}${change}`];
  });
  return (
    <span>
      <Badge look="warn">subset: {IMAGES} images</Badge> {isOutdated && <Badge look="warn">outdated</Badge>}{' '}
      {row.status === 'failed' ? `failed: ${row.problems[0]?.message ?? ''}` : figures.join(', ')}{' '}
      <span class="soft">They enter no gate, lock file or history.</span>
    </span>
  );
}
