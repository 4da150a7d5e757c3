/** Finds what reports of other stages say about one quantized model. Names such as "input" repeat in other models, so one common name is no proof. */
import type { PartErrors } from '../../../quant/compare/propagated-error.js';
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import type { SensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';

type Activations = Pick<QuantizationReport, 'activations'>;

/** The errors of the part of that name, else of the part that has more than half of the values. @param part undefined: its name is not known. */
export function findPart(report: Activations, parts: readonly PartErrors[], part: string | undefined): PartErrors | undefined {
  return chooseBest(
    report,
    parts,
    ({ values }) => values.map(({ value }) => value),
    one => one.part === part,
  );
}

/** The report of that name, else the one that has more than half of the values. */
export function findCosts<T extends { readonly name: string; readonly value: SensitivityReport }>(
  report: Activations,
  reports: readonly T[],
  name: string,
): T | undefined {
  return chooseBest(
    report,
    reports,
    ({ value }) => value.layers.flatMap(({ values }) => values),
    one => one.name === name,
  );
}

/** Of those with equally many values the last. */
function chooseBest<T>(
  { activations }: Activations,
  all: readonly T[],
  valuesOf: (one: T) => readonly string[],
  isNamed: (one: T) => boolean,
): T | undefined {
  const names = new Set(activations.map(({ name }) => name));
  const counted = all.map(one => ({ one, known: new Set(valuesOf(one).filter(value => names.has(value))).size }));
  const best = (among: typeof counted): (typeof counted)[number] | undefined =>
    among.reduce<(typeof counted)[number] | undefined>(
      (found, next) => (found === undefined || next.known >= found.known ? next : found),
      undefined,
    );
  const named = best(counted.filter(({ one, known }) => known > 0 && isNamed(one)));
  if (named !== undefined) return named.one;
  const most = best(counted);
  return most === undefined || most.known * 2 <= names.size ? undefined : most.one;
}

/** The built stages of a plugin that read the quantized model. */
export function listReaders(stages: readonly StageRow[], quantize: string, plugin: string): readonly StageRow[] {
  return stages.filter(one => one.plugin === plugin && one.built && inputOf(one, quantize) !== undefined);
}

/** The name that a stage which compares parts has for the quantized model: "backbone" of the input "candidate.backbone". */
export function partNameIn(reader: StageRow, quantize: string): string | undefined {
  const input = inputOf(reader, quantize);
  return input?.includes('.') ? input.slice(input.indexOf('.') + 1) : undefined;
}

function inputOf({ inputs }: StageRow, quantize: string): string | undefined {
  return inputs.find(({ stage, port, name }) => stage === quantize && port === 'model' && !name.startsWith('reference'))?.name;
}
