/** Whether a measurement is one of the device that models were compiled for. */
import { isJsonObject, type Json } from '../../../base/json.js';
import { TargetError } from '../../../target/report/target-error.js';
import type { EstimateFile } from './estimate-files.js';

type Measured = Extract<EstimateFile, { readonly kind: 'bench' }>;

/**
 * A runner's name of its device counts only where the profile has a device of that name: runners may have names of their own.
 * @param known names of the devices of the profile.
 * @throws TargetError `estimate-unmatched` for times of a CPU, or of another device of the profile.
 */
export function checkMeasuredDevice({ path, report: { where } }: Measured, device: string, known: readonly string[]): void {
  const measured = deviceOf(where.identity);
  if (where.runner === 'cpu' || where.runner === 'simulate' || measured?.kind === 'cpu')
    throw new TargetError('estimate-unmatched', `${path} was measured on a CPU, not on the device`, {
      help: 'measure with `runner: external` of bench, or `runner.py check --json` on the board',
    });
  const name = measured?.name;
  if (typeof name === 'string' && name !== device && known.includes(name))
    throw new TargetError('estimate-unmatched', `${path} was measured on ${name}; the models were compiled for ${device}`, {
      help: `name the report of models that were compiled for ${name}`,
    });
}

/** Of the identity of a runner; a report of another program may have none. */
function deviceOf(identity: Json | undefined): { readonly kind?: Json; readonly name?: Json } | undefined {
  const device = isJsonObject(identity) ? identity.device : undefined;
  return isJsonObject(device) ? device : undefined;
}
