/** Whether the target of `widen-types` runs the wider type. */
import type { Json } from '../../src/base/json.js';
import { wideDType } from '../../src/quant/widening/wide-blocks.js';
import { StageError } from '../../src/stage/stage-error.js';
import { openTarget } from '../../src/target/profile/open-target.js';
import type { WidenTypesParams } from './params.js';

/** Float runs on the CPU beside any target. @throws StageError `type-not-admitted`; the errors of `openTarget`. */
export function checkAdmitted(params: WidenTypesParams, dtypes: readonly string[], profile: Json | undefined): void {
  if (params.to === 'float' || (params.target === undefined && profile === undefined)) return;
  const { identity, dtype, sourceOf } = openTarget(params, profile);
  const wide = [...new Set(dtypes.map(wideDType))];
  const refused = wide.filter((name: string) => !dtype.activations.value.includes(name));
  if (refused.length === 0) return;
  const { title } = sourceOf(dtype.activations.source);
  throw new StageError(
    'type-not-admitted',
    `${identity.title}: data type ${identity.dtype} has activations in ${dtype.activations.value.join(', ')}, not in ${refused.join(', ')} (${title})`,
    { help: 'set `to: float`: the nodes that touch a wider tensor then run on the CPU; or quantize everything with a 16-bit preset' },
  );
}
