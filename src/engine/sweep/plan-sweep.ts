/** The plan of each configuration of a sweep. A configuration that has none is refused, with the reason. */
import type { Diagnostic } from '../model/diagnostic.js';
import type { Plan } from '../model/plan.js';
import type { LoadedPipeline } from '../planning/load-pipeline.js';
import type { Configuration } from './configurations.js';
import type { Axis } from './resolve-axis.js';

export interface PlannedConfiguration {
  readonly configuration: Configuration;
  readonly plan: Plan;
}

export interface RefusedConfiguration {
  readonly configuration: Configuration;
  readonly errors: readonly Diagnostic[];
}

export interface PlannedSweep {
  readonly planned: readonly PlannedConfiguration[];
  readonly refused: readonly RefusedConfiguration[];
}

/** @param load plans the pipeline with the values of one configuration. */
export async function planSweep(
  configurations: readonly Configuration[],
  load: (configuration: Configuration) => Promise<LoadedPipeline>,
): Promise<PlannedSweep> {
  const planned: PlannedConfiguration[] = [];
  const refused: RefusedConfiguration[] = [];
  for (const configuration of configurations) {
    const { plan, diagnostics } = await load(configuration);
    if (plan !== undefined) planned.push({ configuration, plan });
    else refused.push({ configuration, errors: diagnostics.filter(({ severity }) => severity === 'error') });
  }
  return { planned, refused };
}

/**
 * The values that no configuration accepts: most likely they are written wrongly, and nothing should run before they are corrected.
 * Each is a diagnostic of the command line with the reason that its first configuration gives.
 */
export function findBadValues(axes: readonly Axis[], { planned, refused }: PlannedSweep): readonly Diagnostic[] {
  const found = axes.flatMap((axis, position) =>
    axis.values.flatMap(value => {
      const has = ({ configuration }: { readonly configuration: Configuration }): boolean => configuration.values[position] === value;
      // Where everything is refused, the values of the first axis alone are named, each with all its reasons.
      const first = planned.some(has) ? undefined : refused.find(has);
      return first === undefined ? [] : first.errors.map(error => onCommandLine(error, `${axis.name}=${value.label}`));
    }),
  );
  const shown = new Set<string>();
  return found.filter(({ code, message }) => {
    const key = `${code} ${message.replace(/^[^:]*: /, '')}`;
    return !shown.has(key) && shown.add(key);
  });
}

/** The span of an error about a value of the command line is a place in the file that is not at fault. */
function onCommandLine(error: Diagnostic, what: string): Diagnostic {
  return { ...error, span: undefined, message: `${what}: ${error.message}` };
}
