/** What a report of `bench` says of an image: its time, the device, and the fastest ways. */
import { isJsonObject } from '../../../base/json.js';
import { formatCount } from '../../../report/numbers.js';
import { type BenchReport, describeStrategy } from '../../../runtime/measure/bench-report.js';
import { plainText } from '../parts/text.js';

/** Of all parts of an image, each in its fastest way; undefined where a part lacks the form, and where single calls were timed on a board. */
export function addPerImage(bench: BenchReport, form: string): number | undefined {
  if (bench.where.runner === 'bundle') return undefined;
  let sum = 0;
  for (const part of bench.parts) {
    const timed = part.forms.find(one => one.form === form);
    const row = timed?.rows[timed.best];
    if (row === undefined) return undefined;
    sum += row.perImageMs;
  }
  return bench.parts.length === 0 ? undefined : sum;
}

/** The processor of this machine, or the device that an external runner or a bundle names. */
export function nameDevice({ where }: BenchReport): string {
  const { identity } = where;
  if (where.runner === 'bundle' && isJsonObject(identity) && isJsonObject(identity.device)) return plainText(String(identity.device.name));
  const named = [where.processor, where.label].find(name => typeof name === 'string' && name !== '');
  return named === undefined ? 'the device of the runner' : plainText(`${String(named)}${where.runner === 'cpu' ? ' (CPU)' : ''}`);
}

/** How each part of an image is fed fastest, with the calls at the median count of RoIs: "backbone as it is, box_head all in one batch (1 call)". */
export function describeFastest({ parts }: BenchReport, form: string): string {
  return parts
    .flatMap(({ part, counts, forms }) => {
      const timed = forms.find(one => one.form === form);
      const row = timed?.rows[timed.best];
      if (row === undefined) return [];
      const calls = row.counts[row.counts.length >> 1]?.calls;
      return [
        `${plainText(part)} ${describeStrategy(row.strategy)}${counts.length === 0 || calls === undefined ? '' : ` (${formatCount(calls)} ${calls === 1 ? 'call' : 'calls'})`}`,
      ];
    })
    .join(', ');
}
