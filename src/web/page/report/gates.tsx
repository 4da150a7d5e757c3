/** Whether the gates of the pipeline hold: the missed ones first. */

import { formatFigure } from '../../../report/numbers.js';
import type { GateView, StageRow } from '../../../report/views/pipeline-data.js';
import { Link } from '../parts/link.js';
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';

interface StageGate {
  readonly stage: string;
  readonly gate: GateView;
}

export function listGates(stages: readonly StageRow[]): readonly StageGate[] {
  const all = stages.flatMap(({ id, gates }) => gates.map(gate => ({ stage: id, gate })));
  const rank = ({ gate: { verdict } }: StageGate): number => ['missed', 'unknown', 'met'].indexOf(verdict);
  return all.sort((a, b) => rank(a) - rank(b));
}

export function Gates({ gates }: { readonly gates: readonly StageGate[] }) {
  if (gates.length === 0) return null;
  return (
    <details class="gates" open={gates.some(({ gate }) => gate.verdict !== 'met')}>
      <summary>All gates</summary>
      <ul>
        {gates.map(({ stage, gate: { metric, bound, value, verdict, reasons = [] } }) => (
          <li key={`${stage} ${metric} ${bound}`}>
            <Badge look={LOOKS[verdict]}>{WORDS[verdict]}</Badge>{' '}
            <Link view="pipeline" query={{ stage }}>
              {plainText(stage)}
            </Link>
            :{' '}
            <code>
              {plainText(metric)} {bound}
            </code>
            {verdict === 'unknown' ? ', not built' : `, is ${value === undefined ? 'missing' : formatFigure(value)}`}
            {reasons.map(reason => (
              <div key={reason}>{plainText(reason)}</div>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

const LOOKS = { met: 'good', missed: 'bad', unknown: 'mute' } as const;
const WORDS = { met: '✓ met', missed: '✗ missed', unknown: '· unknown' } as const;
