/** Edits of one value of a quantized model: previewed as a difference of the pipeline file, then applied. */
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../../base/json.js';
import { Select } from '../parts/select.js';
import { useEdit } from './use-edit.js';

interface EditPanelProps {
  readonly stage: string;
  readonly value: string;
  /** Type of the integers now; undefined for a value without. */
  readonly dtype: string | undefined;
  readonly range: readonly number[] | undefined;
}

/** A list of a `foreach` item belongs to one instance. */
function noteOf(place: string): string {
  return /^stages\.[^.]+\.foreach\./.test(place)
    ? 'The list is that of this instance alone.'
    : 'The list applies to every instance of the stage; a model without this value ignores it.';
}

const METHODS = ['min-max', 'percentile', 'entropy', 'mse', 'power-of-two-min-mse', 'power-of-two-non-overflow'];

export function EditPanel({ stage, value, dtype, range }: EditPanelProps) {
  const { preview: show, shown } = useEdit(noteOf);
  const [low = 0, high = 0] = range ?? [];
  const [bounds, setBounds] = useState<readonly [string, string]>([String(low), String(high)]);
  const preview = (change: JsonObject): void => show({ stage, value, ...change });
  const override = (set: Readonly<Record<string, Json>>) => preview({ kind: 'override', set });
  return (
    <section>
      <h3>Change</h3>
      <div class="edit-tools">
        <button type="button" onClick={() => preview({ kind: 'exclude' })}>
          Keep in float
        </button>
        {dtype?.endsWith('8') === true && (
          <button type="button" onClick={() => override({ dtype: dtype.replace('8', '16') })}>
            Widen to {dtype.replace('8', '16')}
          </button>
        )}
        <Select
          label={<span class="sr">Range method</span>}
          value=""
          choices={METHODS}
          none="range method …"
          pick={range => range !== '' && override({ range })}
        />
        <span class="buttons">
          {(['low', 'high'] as const).map((bound, index) => (
            <input
              key={bound}
              type="text"
              inputMode="decimal"
              size={8}
              aria-label={`${bound} end of the range`}
              value={bounds[index]}
              onInput={event => setBounds(index === 0 ? [event.currentTarget.value, bounds[1]] : [bounds[0], event.currentTarget.value])}
            />
          ))}
          <button
            type="button"
            disabled={!isRange(bounds)}
            onClick={() => override({ range: { low: Number(bounds[0]), high: Number(bounds[1]) } })}
          >
            Set range
          </button>
        </span>
      </div>
      {shown}
    </section>
  );
}

function isRange([low, high]: readonly [string, string]): boolean {
  return low.trim() !== '' && high.trim() !== '' && Number.isFinite(Number(low)) && Number(low) < Number(high);
}
