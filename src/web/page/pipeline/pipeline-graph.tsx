/** The graph of stages with their states. The critical path of the last run is drawn strong. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { formatDuration } from '../../../base/text/format.js';
import { type GraphEdge, type Point, withoutImplied } from '../../../report/graph-edges.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { ApiError } from '../api/client.js';
import { build as buildStore } from '../api/live.js';
import { useStore } from '../api/store.js';
import { DrawnGraph } from '../parts/graph/drawn-graph.js';
import type { GraphOrder } from '../parts/graph/graph-types.js';
import { useLayout } from '../parts/graph/use-layout.js';
import { Empty, Failed } from '../parts/notice.js';
import { lookOf } from '../parts/states.js';
import { clip } from '../parts/text.js';
import { type CacheOutcome, cacheOutcomeOf, describeOutcome } from './cache-outcome.js';
import type { StageState } from './stage-states.js';

interface GraphProps {
  readonly stages: readonly StageRow[];
  /** Stages of the critical path of the last run. */
  readonly critical: readonly string[];
  readonly states: ReadonlyMap<string, StageState>;
  /** Stages that the filter finds; the others are drawn pale. */
  readonly isFound: ReadonlySet<string>;
  /** 'all': the graph is as wide as the region; 'size': its texts have their size. */
  readonly fit: 'all' | 'size';
  readonly picked: string | undefined;
  readonly pick: (stage: string) => void;
}

/** The page itself stays where it is if the box is in the window. */
const NEAREST: ScrollIntoViewOptions = { block: 'nearest', inline: 'center' };

const HEIGHT = 64;
const [CHARACTER, PADDING, LEAST, LONGEST] = [8.2, 14, 166, 30];

export function PipelineGraph({ stages, critical: criticalPath, states, isFound, fit, picked, pick }: GraphProps) {
  const shape = stages.map(({ id, dependsOn }) => `${id}<${dependsOn.join()}`).join('\n');
  const edges = useMemo(() => edgesOf(stages), [shape]);
  const order = useMemo<GraphOrder>(
    () => ({
      nodes: stages.map(({ id }) => ({ id, width: widthOf(id), height: HEIGHT })),
      edges,
      direction: 'right',
      gaps: { rank: 30, node: 12 },
    }),
    [shape],
  );
  const build = useStore(buildStore);
  const layout = useLayout(order);
  const svg = useRef<SVGSVGElement>(null);
  // An address may name a stage that is far from the first one.
  const isDrawn = layout !== undefined;
  useEffect(() => {
    if (picked !== undefined) svg.current?.querySelector(`[data-stage="${CSS.escape(picked)}"]`)?.scrollIntoView(NEAREST);
  }, [picked, isDrawn, fit]);
  if (layout instanceof ApiError) return <Failed error={layout} />;
  if (layout === undefined) return <Empty>Laying out the graph …</Empty>;
  const critical = new Set(criticalPath);
  const { places } = layout;
  const move = (from: string, key: string): void => {
    const next = neighborOf(from, key, edges, places);
    if (next !== undefined) svg.current?.querySelector<SVGGElement>(`[data-stage="${CSS.escape(next)}"]`)?.focus();
  };
  return (
    <DrawnGraph
      class={fit === 'all' ? 'graph fit' : 'graph'}
      label="Graph of stages"
      summary={`Graph of ${stages.length} stages`}
      layout={layout}
      edges={edges}
      picked={picked}
      critical={critical}
      svgRef={svg}
    >
      {stages.map(stage => (
        <StageBox
          key={stage.id}
          stage={stage}
          place={places[stage.id] ?? { x: 0, y: 0 }}
          state={states.get(stage.id)}
          outcome={cacheOutcomeOf(stage, build)}
          isPicked={picked === stage.id}
          isFound={isFound.has(stage.id)}
          pick={pick}
          move={move}
        />
      ))}
    </DrawnGraph>
  );
}

interface BoxProps {
  readonly stage: StageRow;
  readonly place: Point;
  readonly state: StageState | undefined;
  readonly outcome: CacheOutcome | undefined;
  readonly isPicked: boolean;
  readonly isFound: boolean;
  readonly pick: (stage: string) => void;
  readonly move: (from: string, key: string) => void;
}

function StageBox({ stage, place, state, outcome, isPicked, isFound, pick, move }: BoxProps) {
  const { id, durationMs, gates, why } = stage;
  const look = lookOf(state?.state ?? stage.state);
  const isMissed = gates.some(({ verdict }) => verdict === 'missed');
  const width = widthOf(id);
  const progress = state?.state === 'running' ? state.live?.progress : undefined;
  const time = durationMs === undefined || (look.word !== 'up to date' && stage.outcome === undefined) ? '' : formatDuration(durationMs);
  const line = progress === undefined ? `${look.sign} ${look.word}` : `${look.sign} ${progress.done}/${progress.total}`;
  const spoken =
    outcome === undefined
      ? ''
      : `; ${outcome.run === 'now' ? 'this build' : 'last build'}: ${outcome.words}${outcome.run === undefined || outcome.run === 'now' ? '' : ` in ${outcome.run}`}`;
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') pick(id);
    else if (event.key.startsWith('Arrow')) move(id, event.key);
    else return;
    event.preventDefault();
  };
  return (
    <g
      class={`box ${look.tone}${state?.state === 'running' ? ' running' : ''}${isPicked ? ' picked' : ''}${isFound ? '' : ' pale'}`}
      transform={`translate(${place.x - width / 2} ${place.y - HEIGHT / 2})`}
    >
      <rect class="body" width={width} height={HEIGHT} rx={6} />
      <rect class="strip" width={4} height={HEIGHT} rx={2} />
      {progress !== undefined && (
        <rect class="done" y={HEIGHT - 3} height={3} width={(width * progress.done) / Math.max(1, progress.total)} />
      )}
      <text class="title" x={PADDING} y={20}>
        {clip(id, LONGEST)}
      </text>
      <text class="state" x={PADDING} y={37}>
        {line}
      </text>
      <text class="time" x={width - 8} y={37}>
        {isMissed ? 'gate ✗' : time}
      </text>
      {outcome !== undefined && (
        <text class="outcome" x={PADDING} y={54}>
          {describeOutcome(outcome)}
        </text>
      )}
      <rect
        class="press"
        width={width}
        height={HEIGHT}
        rx={6}
        role="button"
        tabindex={0}
        aria-pressed={isPicked}
        aria-label={`${id}: ${look.word}${isMissed ? ', gate missed' : ''}${time === '' ? '' : `, ${time}`}${spoken}`}
        data-stage={id}
        onClick={() => pick(id)}
        onKeyDown={onKey}
      >
        <title>{[`${id}: ${look.word}${spoken}`, ...why.slice(0, 3)].join('\n')}</title>
      </rect>
    </g>
  );
}

function widthOf(id: string): number {
  return Math.ceil(Math.max(LEAST, Math.min(id.length, LONGEST) * CHARACTER + 2 * PADDING));
}

function edgesOf(stages: readonly StageRow[]): readonly GraphEdge[] {
  const drawn = new Set(stages.map(({ id }) => id));
  return withoutImplied(stages.flatMap(({ id, dependsOn }) => dependsOn.filter(from => drawn.has(from)).map(from => ({ from, to: id }))));
}

/** The nearest stage in the direction of an arrow key: along edges to the left and right, else up and down. */
function neighborOf(id: string, key: string, edges: readonly GraphEdge[], places: Readonly<Record<string, Point>>): string | undefined {
  const own = places[id];
  if (own === undefined) return undefined;
  const distance = (other: string): number => Math.abs((places[other]?.y ?? 0) - own.y) + Math.abs((places[other]?.x ?? 0) - own.x);
  const candidates =
    key === 'ArrowLeft'
      ? edges.filter(({ to }) => to === id).map(({ from }) => from)
      : key === 'ArrowRight'
        ? edges.filter(({ from }) => from === id).map(({ to }) => to)
        : Object.keys(places).filter(
            other => other !== id && Math.sign((places[other]?.y ?? 0) - own.y) === (key === 'ArrowDown' ? 1 : -1),
          );
  return candidates.sort((a, b) => distance(a) - distance(b))[0];
}
