/** Counts the results that a rounding mode makes different from rounding halves to even, operator by operator on equal sums. */
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import type { SimulateParams } from '../../runtime/device/runner-params.js';
import { type OpenModel, openSession, type Session } from '../../runtime/session/session.js';
import { type CountedRounding, nudgeAndCount } from './nudged-model.js';
import { openSimulated } from './open-simulated.js';
import { isShiftMode } from './steps/rounding-mode.js';

/** One rounded value of a model. */
export interface RoundingCount extends JsonObject {
  readonly value: string;
  readonly opType: string;
  readonly shift: number;
  readonly elements: number;
  /** Elements that are different. */
  readonly changed: number;
  /** Elements that would be different if the bits that are cut off were evenly distributed: a share of 2^−(shift + 1). */
  readonly expected: number;
}

export interface RoundingCounter {
  /** Opens models that count in every run. Models that cannot be counted are opened like any other. */
  readonly open: OpenModel;
  /** In the order of first runs. */
  counts(): readonly RoundingCount[];
}

export function countRoundings(simulate: SimulateParams): RoundingCounter {
  const { arithmetic, rounding } = simulate;
  const counts = new Map<string, RoundingCount>();
  let opened = 0;
  const openPlainly = openSimulated(simulate, () => undefined);
  const open: OpenModel = async (file, options) => {
    if (arithmetic !== 'integers' || !isShiftMode(rounding)) return openPlainly(file, options);
    const { nudged, counted } = nudgeAndCount(typeof file === 'string' ? await readModel(file) : decodeModel(file), rounding);
    if (nudged.kind === 'declined' || counted.length === 0) return openPlainly(file, options);
    return countIn(await openSession(encodeModel(nudged.model), { ...options, quantized: 'float' }), counted, `${opened++}`, counts);
  };
  return { open, counts: () => [...counts.values()] };
}

/** `share`: of the results that can differ. */
export function sumCounts(counts: readonly RoundingCount[]): {
  readonly elements: number;
  readonly changed: number;
  readonly share: number;
} {
  const sum = (of: (count: RoundingCount) => number): number => counts.reduce((total, count) => total + of(count), 0);
  const [elements, changed] = [sum(count => count.elements), sum(count => count.changed)];
  return { elements, changed, share: elements === 0 ? 0 : changed / elements };
}

/** One line with the share, and the value that has most of it. */
export function describeCounts({ rounding }: SimulateParams, counts: readonly RoundingCount[]): string {
  const { elements, changed, share } = sumCounts(counts);
  const [most] = counts.toSorted((a, b) => b.changed / b.elements - a.changed / a.elements);
  const worst = most === undefined || changed === 0 ? '' : `; most in "${most.value}" (${formatShare(most.changed / most.elements)})`;
  return `${rounding} changes ${changed} of ${elements} rounded results (${formatShare(share)}) from rounding to even${worst}`;
}

const formatShare = (share: number): string => `${(100 * share).toPrecision(3)} %`;

function countIn(session: Session, counted: readonly CountedRounding[], model: string, counts: Map<string, RoundingCount>): Session {
  const extra = counted.flatMap(({ elements, changed }) => [elements, changed]);
  const outputNames = session.outputNames.filter(name => !extra.includes(name));
  return {
    ...session,
    outputNames,
    async run(feeds, fetches) {
      const outputs = await session.run(feeds, [...(fetches ?? outputNames), ...extra]);
      const numberOf = (name: string): number => Number((getDefined(outputs[name], name).data as ArrayLike<number | bigint>)[0]);
      for (const { value, opType, shift, elements, changed } of counted) {
        const before = counts.get(`${model}/${value}`) ?? { elements: 0, changed: 0, expected: 0 };
        const [own, different] = [numberOf(elements), numberOf(changed)];
        const expected = before.expected + own * 2 ** -(shift + 1);
        counts.set(`${model}/${value}`, {
          value,
          opType,
          shift,
          elements: before.elements + own,
          changed: before.changed + different,
          expected,
        });
      }
      return Object.fromEntries(Object.entries(outputs).filter(([name]) => !extra.includes(name)));
    },
  };
}
