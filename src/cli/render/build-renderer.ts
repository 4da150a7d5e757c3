/** Renders a running build. A terminal shows a live line per running stage below the lines of ended stages; other outputs get a plain line per event. */
import { countOf } from '../../base/text/count-of.js';
import type { BuildEvent } from '../../engine/model/events.js';
import type { StageId } from '../../engine/model/plan.js';
import type { Console } from '../terminal/console.js';
import { type LiveArea, makeLiveArea } from '../terminal/live-area.js';
import { lineOf, type Running, runningLines, track } from './build-lines.js';
import { makeStageList, type StageList } from './stage-list.js';
import { type TimeLeft, trackTimeLeft } from './time-left.js';

export interface BuildRenderer {
  readonly emit: (event: BuildEvent) => void;
  /** Erases the live area. */
  readonly end: () => void;
  /** The lines of warnings that have been printed, of each stage the first ones, unless few lines followed the first one. */
  readonly warnings: () => readonly string[];
}

/** Number of lines after which a warning has probably scrolled away. */
const SCROLLED_AWAY = 20;

const REFRESH_MS = 100;

/** Events of many short stages draw a list no more often. */
const LIST_PAUSE_MS = 40;

/** What the renderer knows of the build. */
interface BuildView {
  readonly console: Console;
  readonly lines: RenderedLines;
  readonly area: LiveArea;
  readonly idWidth: number;
  readonly running: Map<StageId, Running>;
  readonly timeLeft: TimeLeft;
  /** Only with the form 'list', on a terminal. */
  readonly list: StageList | undefined;
  /** By stage; undefined: of none. */
  readonly warnings: Map<StageId | undefined, Set<string>>;
  /** Number of lines printed since the first warning. */
  linesSince: number;
  /** When the list was drawn last. */
  drawnMs: number;
  /** Redraws while stages run. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * 'progress': no line per event; a terminal still shows the running stages. For searches, which print a line per trial.
 * 'list': a terminal shows all stages that may run, with their states, and keeps those that ended. Other outputs get a line per event.
 */
export type RenderedLines = 'all' | 'progress' | 'list';

export function makeBuildRenderer(console: Console, idWidth: number, lines: RenderedLines = 'all'): BuildRenderer {
  const view: BuildView = {
    console,
    lines,
    area: makeLiveArea(console),
    idWidth,
    running: new Map(),
    timeLeft: trackTimeLeft(),
    list: lines === 'list' && console.live ? makeStageList(idWidth) : undefined,
    warnings: new Map(),
    linesSince: 0,
    drawnMs: Number.NEGATIVE_INFINITY,
    timer: undefined,
  };
  return {
    emit: event => show(view, event),
    warnings: () => (view.linesSince < SCROLLED_AWAY ? [] : listWarnings(view)),
    end() {
      view.running.clear();
      view.area.erase();
      for (const line of view.list?.ended() ?? []) view.console.line(line);
      setTimer(view);
    },
  };
}

function show(view: BuildView, event: BuildEvent): void {
  const nowMs = performance.now();
  view.timeLeft.update(event, nowMs);
  track(view.running, event, nowMs);
  const text = view.lines === 'progress' ? undefined : lineOf(event, view.idWidth, view.console);
  view.list?.update(event, text, nowMs);
  const line = view.list !== undefined && isListed(event) ? undefined : withCount(text, event, view);
  if (line !== undefined) {
    view.area.erase();
    view.drawnMs = Number.NEGATIVE_INFINITY;
    view.console.line(line);
    if (event.kind === 'warning') addWarning(view, event.stage, line);
    if (view.warnings.size > 0) view.linesSince += 1;
  }
  // Progress comes often, and the timer shows it.
  if (line !== undefined || changesRunning(event)) draw(view);
}

function addWarning({ warnings }: BuildView, stage: StageId | undefined, line: string): void {
  const known = warnings.get(stage);
  if (known === undefined) warnings.set(stage, new Set([line]));
  else known.add(line);
}

/** Warnings per stage that are repeated at the end: more of them would push the figures off the screen. */
const MOST_WARNINGS = 2;

function listWarnings({ warnings }: BuildView): readonly string[] {
  return [...warnings].flatMap(([stage, lines]) => {
    const more = stage === undefined ? 0 : lines.size - MOST_WARNINGS;
    if (more <= 0) return [...lines];
    return [...[...lines].slice(0, MOST_WARNINGS), `  ${countOf(more, 'more warning')} of ${stage}: tanren log ${stage}`];
  });
}

/** The line of an ended stage also states how many have ended: "[7/24]". */
function withCount(line: string | undefined, { kind }: BuildEvent, { timeLeft, console }: BuildView): string | undefined {
  const count = kind === 'outcome' ? timeLeft.count() : undefined;
  if (line === undefined || count === undefined || count.done === 0) return line;
  return `${line}  ${console.style('dim', `[${count.done}/${count.total}]`)}`;
}

/** What a list shows in the row of a stage. */
function isListed({ kind }: BuildEvent): boolean {
  return kind === 'outcome' || kind === 'stage-started' || kind === 'retrying';
}

function changesRunning({ kind }: BuildEvent): boolean {
  return kind === 'stage-started' || kind === 'check-started' || kind === 'outcome' || kind === 'check';
}

function draw(view: BuildView): void {
  const { console, running, timeLeft, idWidth, area } = view;
  if (!console.live) return;
  const nowMs = performance.now();
  // The timer draws what is left out here.
  if (view.list !== undefined && running.size > 0 && nowMs - view.drawnMs < LIST_PAUSE_MS) {
    setTimer(view);
    return;
  }
  view.drawnMs = nowMs;
  const count = timeLeft.count();
  const done = count === undefined ? undefined : `${count.done} of ${countOf(count.total, 'stage')} done`;
  const words = running.size === 0 ? [] : [done, timeLeft.describe(nowMs)].filter(text => text !== undefined);
  const left = words.length === 0 ? undefined : words.join('; ');
  const height = console.height() - (left === undefined ? 2 : 3);
  const stages = view.list === undefined ? runningLines(running, idWidth, height, nowMs) : view.list.lines(height, nowMs);
  area.draw(left === undefined ? stages : [...stages, `  ${left}`]);
  setTimer(view);
}

/** Starts or stops the redrawing of the live area. */
function setTimer(view: BuildView): void {
  if (view.running.size > 0) view.timer ??= setInterval(draw, REFRESH_MS, view);
  else {
    clearInterval(view.timer);
    view.timer = undefined;
  }
}
