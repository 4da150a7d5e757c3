/** A failure as plain text: what the console prints, without color. */
import type { Failure } from '../../../engine/model/failure.js';
import type { StageId } from '../../../engine/model/plan.js';
import type { Console } from '../../terminal/console.js';
import { formatFailure } from '../format-failure.js';

export function failureText(stage: StageId, failure: Failure): string {
  return formatFailure(stage, failure, PLAIN).join('\n');
}

export const PLAIN: Pick<Console, 'style'> = { style: (_format, text) => text };
