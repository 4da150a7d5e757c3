/** The order in which `tune` tries configurations: axis by axis from the best one so far, then what is left. */
import { type Configuration, combine } from './configurations.js';
import type { Axis } from './resolve-axis.js';
import type { SweepRow } from './sweep-rows.js';

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
 * then all other combinations in their order. The order depends on the results alone, not on time.
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
      const isBuilt = trial.row.status === 'built' || trial.row.status === 'gate-missed';
      if (isBuilt && (best === undefined || search.isBetter(trial.row, best.row))) best = trial;
    }
    search.onTrials(trials, best);
    return best !== before;
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
  for (const batch of listBatches(axes)) {
    if (search.isOver()) break;
    await tryAll(batch);
  }
  return best;
}

/** All combinations, also with axes as the file says, in batches. They are made as they are needed. */
function* listBatches(axes: readonly Axis[]): Generator<readonly Choice[]> {
  const total = axes.reduce((product, { values }) => product * (values.length + 1), 1);
  for (let first = 0; first < total; first += BATCH) {
    yield Array.from({ length: Math.min(BATCH, total - first) }, (_, index) => choiceAt(axes, first + index));
  }
}

function choiceAt(axes: readonly Axis[], number: number): Choice {
  const choice: (number | undefined)[] = [];
  let rest = number;
  for (const { values } of [...axes].reverse()) {
    const digit = rest % (values.length + 1);
    choice.unshift(digit === 0 ? undefined : digit - 1);
    rest = Math.floor(rest / (values.length + 1));
  }
  return choice;
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
