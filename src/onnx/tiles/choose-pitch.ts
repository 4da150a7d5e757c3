/** Chooses the smallest pitch of the canvas that meets every need, and checks a given one. */
import { invariant } from '../../base/invariant.js';
import { OnnxError } from '../ir/onnx-error.js';
import { type Pair, type PitchNeed, type Ratio, scalePitch } from './tile-facts.js';

/** Larger than every product of strides that a network has. */
const MOST = 1 << 16;

/** The smallest pitch of the inputs' canvas for both axes. @throws OnnxError `tiles-pitch` if `given` breaks a need. */
export function choosePitch(needs: readonly PitchNeed[], given: Pair<number> | undefined): Pair<number> {
  if (given !== undefined) checkPitch(needs, given);
  return given ?? [smallestPitch(needs, 0), smallestPitch(needs, 1)];
}

function smallestPitch(needs: readonly PitchNeed[], axis: 0 | 1): number {
  const own = needs.filter(need => need.axis === axis);
  for (let pitch = 1; pitch < MOST; pitch++) if (own.every(need => isMet(need, pitch))) return pitch;
  invariant(false, `no pitch below ${MOST} meets all needs`);
}

function checkPitch(needs: readonly PitchNeed[], given: Pair<number>): void {
  const broken = needs.filter(need => !isMet(need, given[need.axis])).map(need => describeNeed(need));
  if (broken.length === 0) return;
  throw new OnnxError('tiles-pitch', `a pitch of ${given.join(' × ')} is not possible: ${[...new Set(broken)].join('; ')}`, {
    details: broken,
    help: `the smallest possible pitch is ${smallestPitch(needs, 0)} × ${smallestPitch(needs, 1)}`,
  });
}

function isMet({ scale, least, multiple }: PitchNeed, pitch: number): boolean {
  const own = scalePitch(pitch, scale);
  return Number.isInteger(own) && own >= least && own % multiple === 0;
}

function describeNeed({ axis, scale, least, multiple, what }: PitchNeed): string {
  const side = axis === 0 ? 'height' : 'width';
  const many = multiple === 1 ? '' : `, and a multiple of ${multiple}`;
  return `${what} needs a ${side} pitch of at least ${least}${many}${describeScale(scale)}`;
}

function describeScale({ up, down }: Ratio): string {
  return up === down ? '' : ` at ${up}/${down} of the canvas`;
}
