/** Entries of the build journal: what other processes can follow of a running build. */
import { readJsonShape } from '../../../base/json/json-shape.js';
import { parseJson } from '../../../base/json.js';
import { anyList, anyText, integer, number, oneOf, openObject, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';

/** How stages end. */
export const OUTCOMES = ['up-to-date', 'restored', 'executed', 'failed', 'skipped', 'cancelled'] as const;

/** One line of the journal. A newer version may add members and kinds. */
const ENTRY_SCHEMA = openObject(
  {
    kind: oneOf(['build', 'running', 'progress', 'retrying', 'stopped', 'ended', 'gate', 'end']),
    atMs: number({ minimum: 0 }, 'Milliseconds since 1970, by the clock of the build.'),
  },
  {
    command: anyText('Of `build`: the command line.'),
    pid: integer(0, 'Of `build`: the process, for people.'),
    pending: anyList(
      openObject({ stage: text() }, { expectedMs: number({ minimum: 0 }) }),
      'Of `build`: the stages that may have to run, with the durations of their last runs.',
    ),
    stage: text(),
    reasons: anyList(anyText(), 'Of `running`: why it runs.'),
    attempt: integer(1),
    done: number({ minimum: 0 }),
    total: number({ minimum: 0 }),
    what: anyText('Of `progress`: the unit.'),
    outcome: oneOf(OUTCOMES),
    from: oneOf(['remote'], 'Of a restored stage; absent for the local cache.'),
    durationMs: number({ minimum: 0 }),
    message: anyText('Of a failed or skipped stage, of a retry and of a stopped run: why.'),
    metric: anyText(),
    verdict: oneOf(['met', 'missed']),
    conclusion: oneOf(['built', 'gate-missed', 'not-reproduced', 'failed', 'cancelled']),
  },
);

export type JournalEntry = FromSchema<typeof ENTRY_SCHEMA>;

const reader = readerOf(ENTRY_SCHEMA);

/** The entry on a line; undefined if the line is damaged, or of a kind that this version does not know. */
export function parseJournalEntry(line: string): JournalEntry | undefined {
  const result = readJsonShape(reader, parseJson(line));
  return result.kind === 'ok' ? result.value : undefined;
}
