/** The order in which `tune` tries configurations: axis by axis from the best one so far, then what is left by its distance from the best. */
import { type Configuration, combine } from './configurations.js';
import type { Axis } from './resolve-axis.js';
import { isBuilt, type SweepRow } from './sweep-rows.js';

/** Per axis the index of its value; undefined: as the pipeline file says. */
export type Choice = readonly (number | undefined)[];

export interface Trial {
  readonly choice: Choice;
  readonly row: SweepRow;
}

export interface TuneSearch {
  readonly axes: readonly Axis[];
  /** Builds configurations at once. Those that were not built in time have the status 'interrupted'. */
  readonly build: (configurations: readonly Configuration[]) => Promise<readonly SweepRow[]>;
  /** Whether the first row is better than the second. */
  readonly isBetter: (one: SweepRow, other: SweepRow) => boolean;
  /** Whether time is up. */
  readonly isOver: () => boolean;
  /** Called after each build with its trials and the best one of all so far. */
  readonly onTrials: (trials: readonly Trial[], best: Trial | undefined) => void;
}

/** Combinations that are built at once after the search along the axes. */
const BATCH = 4;

/**
 * Starts with the pipeline as it stands. Along each axis in turn all values are tried with the best values of the others, until no axis brings anything;
 * then the other combinations, those that differ least from the best one first. The order depends on the results alone, not on time.
 * @returns the best trial; undefined if none was built.
 */
export async function searchConfigurations(search: TuneSearch): Promise<Trial | undefined> {
  const { axes } = search;
  const tried = new Set<string>();
  let best: Trial | undefined;
  const tryAll = async (choices: readonly Choice[]): Promise<boolean> => {
    const open = choices.filter(choice => !tried.has(choice.join()));
    if (open.length === 0 || search.isOver()) return false;
    const first = tried.size + 1;
    for (const choice of open) tried.add(choice.join());
    const rows = await search.build(open.map((choice, index) => configurationOf(axes, choice, first + index)));
    const trials = rows.flatMap((row, index) => (open[index] === undefined ? [] : [{ choice: open[index], row }]));
    const before = best;
    for (const trial of trials) {
      if (isBuilt(trial.row) && (best === undefined || search.isBetter(trial.row, best.row))) best = trial;
    }
    search.onTrials(trials, best);
    return best !== before;
  };
  /** The next combinations, nearest to the best one. */
  const nearest = (): readonly Choice[] => {
    const open: Choice[] = [];
    for (const choice of listByDistance(axes, best?.choice ?? axes.map(() => undefined))) {
      if (!tried.has(choice.join())) open.push(choice);
      if (open.length === BATCH) break;
    }
    return open;
  };
  await tryAll([axes.map(() => undefined)]);
  for (let improved = true; improved && !search.isOver(); ) {
    improved = false;
    for (const [position, { values }] of axes.entries()) {
      const from: Choice = best?.choice ?? axes.map(() => undefined);
      const choices = [undefined, ...values.keys()].map(index => from.map((own, at) => (at === position ? index : own)));
      improved = (await tryAll(choices)) || improved;
    }
  }
  for (let open = nearest(); open.length > 0 && !search.isOver(); open = nearest()) await tryAll(open);
  return best;
}

/** The choices that differ from `from`: first in one axis, then in two, and so on. They are made as they are needed. */
function* listByDistance(axes: readonly Axis[], from: Choice): Generator<Choice> {
  for (let distance = 1; distance <= axes.length; distance++) yield* listChanges(axes, from, distance, 0);
}

/** The choices that differ from `from` in `distance` axes, all at or after `first`. */
function* listChanges(axes: readonly Axis[], from: Choice, distance: number, first: number): Generator<Choice> {
  if (distance === 0) {
    yield from;
    return;
  }
  for (let at = first; at <= axes.length - distance; at++) {
    for (const index of [undefined, ...(axes[at]?.values.keys() ?? [])])
      if (index !== from[at]) yield* listChanges(axes, from.with(at, index), distance - 1, at + 1);
  }
}

/** The axes that the choice leaves as they are set nothing. */
export function configurationOf(axes: readonly Axis[], choice: Choice, number: number): Configuration {
  const set = axes.flatMap((axis, index) => {
    const value = axis.values[choice[index] ?? -1];
    return value === undefined ? [] : [{ ...axis, values: [value] }];
  });
  const [only] = combine(set);
  return { number, values: only?.values ?? [], assignments: only?.assignments ?? [], settings: only?.settings ?? [] };
}
