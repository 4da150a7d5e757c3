/** A few sentences about a quantized model: its preset, its counts, and which stages its errors come from. */

import { isJsonObject } from '../../../base/json.js';
import { countOf } from '../../../base/text/count-of.js';
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { Badge } from '../parts/notice.js';
import { isOutdated } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import type { LoadedPropagated } from './use-propagated.js';

export function Summary({
  report: { scheme, activations, weights, inFloat, samples, positions },
  errors: { found, isFormer: hasFormerErrors, problem },
  sensitivity,
  isFormer,
}: {
  readonly report: QuantizationReport;
  readonly errors: LoadedPropagated;
  readonly sensitivity: StageRow | undefined;
  readonly isFormer: boolean;
}) {
  const preset = isJsonObject(scheme.preset) ? scheme.preset.name : undefined;
  return (
    <p class="soft">
      {typeof preset === 'string' && (
        <>
          Preset <b>{plainText(preset)}</b>;{' '}
        </>
      )}
      {countOf(activations.length, 'activation')}, {countOf(weights.length, 'weight')}, {countOf(inFloat.length, 'node')} in float;
      calibrated on {countOf(samples, 'sample')}.
      {positions !== undefined &&
        (positions.moves.length === 0
          ? ' All scales are within the bounds of the target.'
          : ` ${countOf(positions.moves.length, 'scale')} moved into the bounds of the target.`)}{' '}
      {found === undefined
        ? 'Propagated errors need a “verify” stage with values: all.'
        : `Propagated errors are those of ${found.verify.id}${hasFormerErrors ? ' before its last run' : describeAge(found.verify)}.`}{' '}
      {problem !== undefined && `A report of verify cannot be read: ${plainText(problem)}. `}
      {sensitivity === undefined && 'A “sensitivity” stage would add what each value costs at the outputs.'}{' '}
      {(isFormer || hasFormerErrors) && <Badge look="warn">before the last run; loading</Badge>}
    </p>
  );
}

/** A stage that failed, as by a missed threshold, keeps its former artifacts. */
function describeAge(stage: StageRow): string {
  const { last } = stage;
  if (!isOutdated(stage)) return '';
  if (last?.outcome === 'failed') return `, which failed${last.run === undefined ? '' : ` in ${last.run}`}: they are of an earlier build`;
  return ', which is out of date';
}
