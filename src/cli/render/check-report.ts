/** Formats whether a second run gave the same bytes. */
import { assertNever } from '../../base/assert-never.js';
import type { CheckResult, Difference } from '../../engine/model/check-result.js';
import type { Console } from '../terminal/console.js';
import { formatFailure } from './format-failure.js';

/** One line per check, printed when it ends. */
export function checkLine(check: CheckResult, { style }: Pick<Console, 'style'>): string {
  switch (check.verdict) {
    case 'same':
      return `${style('green', '✓')} check ${check.stage}: same bytes`;
    case 'different':
      return `${style('red', '✗')} check ${check.stage}: different bytes`;
    case 'measured':
      return `– check ${check.stage}: not compared, because it measures`;
    case 'failed':
      return `${style('red', '✗')} check ${check.stage}: the second run failed`;
    case 'not-compared':
      return `– check ${check.stage}: not compared, because ${check.because} before it measures or differs`;
    case 'cancelled':
      return `– check ${check.stage}: cancelled`;
    default:
      return assertNever(check);
  }
}

/** The error of a stage that did not give the same result again, for the end of the build; no lines if there is no error. */
export function formatUnreproduced(check: CheckResult, console: Pick<Console, 'style'>): readonly string[] {
  if (check.verdict === 'failed') return formatFailure(check.stage, check.failure, console);
  if (check.verdict !== 'different') return [];
  return [
    console.style(
      'red',
      `error[non-deterministic]: ${check.stage}: ${check.build ?? 'a second run of the same action'} gave different bytes`,
    ),
    ...check.differences.map(difference => `  ${describeDifference(difference)}`),
    '  help: the first result stays; the stage depends on something that it does not declare: the time, the order of a listing, a random number, a path, another file',
  ];
}

function describeDifference(difference: Difference): string {
  const { path } = difference;
  switch (difference.kind) {
    case 'bytes': {
      const [first, second] = difference.sizes;
      const sizes = first === second ? `${first} bytes` : `${first} bytes, then ${second}`;
      return `${path}: differs from byte ${difference.offset} on (${sizes})`;
    }
    case 'missing':
      return `${path}: written by the first run only`;
    case 'new':
      return `${path}: written by the second run only`;
    case 'form':
      return `${path}: ${difference.forms[0]}, then ${difference.forms[1]}`;
    case 'unread':
      return `${path}: has another digest; the first run's bytes are no longer in the cache`;
    case 'part':
      return `${path}: different bytes than the stored ones`;
    default:
      return assertNever(difference);
  }
}
