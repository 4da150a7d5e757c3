/** Why units are not on the NPU, or need attention there, with the source of each limit, and the rules that would fix it. */
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { CompiledModel, Unit } from './compile-report.js';

type Finding = CompiledModel['findings'][number];

interface ReasonsProps {
  readonly units: readonly Unit[];
  readonly findings: readonly Finding[];
  readonly pick: (id: number) => void;
}

/** Units of one operator with equal reasons are one entry. */
export function Reasons({ units, findings, pick }: ReasonsProps) {
  return (
    <section>
      <h2>{units.some(({ device }) => device === 'cpu') ? 'Not on the NPU' : 'Findings'}</h2>
      <ul class="reasons">
        {findings.map((finding, index) => (
          <li key={index}>
            <Explained finding={finding} />
          </li>
        ))}
        {groupUnits(units).map(({ opType, members, reasons, demoted }) => (
          <li key={members[0]?.id}>
            {opType}
            {members[0]?.device === 'npu' && ' on the NPU'}{' '}
            {members.slice(0, MOST_NAMED).map(({ id, name }) => (
              <button key={id} type="button" class="as-link mono" onClick={() => pick(id)}>
                {plainText(name)}
              </button>
            ))}
            {members.length > MOST_NAMED && <span class="soft">and {members.length - MOST_NAMED} more</span>}
            {reasons.map((finding, index) => (
              <div key={index}>
                <Explained finding={finding} />
              </div>
            ))}
            {reasons.length === 0 && <div>{plainText(demoted ?? 'no reason is stated')}</div>}
          </li>
        ))}
      </ul>
    </section>
  );
}

const MOST_NAMED = 4;

const SEVERITIES = { error: 'bad', refused: 'bad', undocumented: 'warn', warning: 'mute' } as const;

function Explained({ finding: { rule, severity, message, limit, source, note, fixIts } }: { readonly finding: Finding }) {
  return (
    <>
      <Badge look={SEVERITIES[severity]}>{severity}</Badge> <code>{plainText(rule)}</code>: {plainText(message)}
      {limit !== '' && <> Limit: {plainText(limit)}.</>} <Origin source={source} />
      {note !== undefined && <div class="soft">{plainText(note)}</div>}
      {fixIts.map(({ rule, form, effect, note: how }) => (
        <div key={`${rule} ${form ?? ''}`}>
          Fix: <code>{form === undefined ? rule : `${rule}, ${form}`}</code> <span class="soft">({effect})</span> {plainText(how)}
        </div>
      ))}
    </>
  );
}

/** An address is a link that only the reader follows. */
export function Origin({ source: { title, ref } }: { readonly source: Finding['source'] }) {
  if (!/^https:\/\//.test(ref)) return <span class="soft">({plainText(ref === '' ? title : `${title}, ${ref}`)})</span>;
  return (
    <a href={ref} target="_blank" rel="noreferrer noopener">
      {plainText(title)}
    </a>
  );
}

interface UnitGroup {
  readonly opType: string;
  readonly members: Unit[];
  readonly reasons: readonly Finding[];
  readonly demoted: string | undefined;
}

function groupUnits(units: readonly Unit[]): readonly UnitGroup[] {
  const groups = new Map<string, UnitGroup>();
  for (const unit of units) {
    const { opType, findings, demoted } = unit;
    const key = JSON.stringify([opType, unit.device, demoted ?? findings.map(({ rule, message }) => [rule, message])]);
    const group = groups.get(key) ?? { opType, members: [], reasons: demoted === undefined ? findings : [], demoted };
    group.members.push(unit);
    groups.set(key, group);
  }
  return [...groups.values()];
}
