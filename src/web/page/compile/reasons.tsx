/** Why units are not on the NPU, or need attention there, with the source of each limit, and the rules that would fix it. */
import { Badge } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { Unit } from './compile-report.js';
import { type Finding, groupReasons } from './group-reasons.js';

interface ReasonsProps {
  readonly units: readonly Unit[];
  readonly findings: readonly Finding[];
  readonly pick: (id: number) => void;
}

/** Findings of one rule about one operator are one entry, whatever each unit has. */
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
        {groupReasons(units).map(({ opType, device, units: members, finding, measured, demoted }, index) => (
          <li key={index}>
            {members.length > 1 && `${members.length} × `}
            {opType}
            {device === 'npu' && ' on the NPU'}{' '}
            {members.slice(0, MOST_NAMED).map(({ id, name }, place) => (
              <span key={id}>
                {place > 0 && ', '}
                <button type="button" class="as-link mono" onClick={() => pick(id)}>
                  {plainText(name)}
                </button>
              </span>
            ))}
            {members.length > MOST_NAMED && <span class="soft"> and {members.length - MOST_NAMED} more</span>}
            <div>
              {finding === undefined ? (
                plainText(demoted ?? 'no reason is stated')
              ) : (
                <Explained finding={finding} {...(measured.length > 1 ? { measured } : {})} />
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}

const MOST_NAMED = 4;

/** Values in a tooltip. */
const MOST_LISTED = 40;

const SEVERITIES = { error: 'bad', refused: 'bad', undocumented: 'warn', warning: 'mute' } as const;

interface ExplainedProps {
  readonly finding: Finding;
  /** What the units have, where it differs: in place of the message, which has one of them. */
  readonly measured?: readonly string[];
}

function Explained({ finding: { rule, severity, message, limit, source, note, fixIts }, measured }: ExplainedProps) {
  return (
    <>
      <Badge look={SEVERITIES[severity]}>{severity}</Badge> <code>{plainText(rule)}</code>:{' '}
      {measured === undefined ? `${plainText(message.replace(/\.$/, ''))}.` : <Found measured={measured} />}
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

function Found({ measured }: { readonly measured: readonly string[] }) {
  const more = measured.length - MOST_NAMED;
  return (
    <span title={plainText(measured.slice(0, MOST_LISTED).join('\n'))}>
      found {plainText(measured.slice(0, MOST_NAMED).join('; '))}
      {more > 0 && `; and ${more} more`}.
    </span>
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
