/** Events that the server sends to its pages: the one form that both sides use. */
import { readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { anyList, anyObject, anyOf, anyText, constant, integer, NULL, object, oneOf } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { ACCESSES } from '../../report/views/pipeline-data.js';
import { RUNNING_BUILD } from './running-build.js';
import { ENDED_BUILD } from './started-builds.js';

const LIVE_EVENT = anyOf([
  object({ event: constant('hello'), data: object({ access: oneOf(ACCESSES) }) }),
  object({ event: constant('changed'), data: anyObject() }, {}, 'Anything that a page shows may have changed.'),
  object({ event: constant('build'), data: anyOf([RUNNING_BUILD, NULL]) }, {}, 'The running or last build, whichever process runs it.'),
  object({ event: constant('started'), data: anyList(integer(0)) }, {}, 'Processes of the builds that the server started.'),
  object({ event: constant('sweep'), data: object({ name: anyText(), line: anyText() }) }, {}, 'What a sweep of the page printed last.'),
  object({ event: constant('ended'), data: ENDED_BUILD }, {}, 'A build that the server started.'),
]);

export type LiveEvent = FromSchema<typeof LIVE_EVENT>;

const reader = readerOf(LIVE_EVENT);

/** @returns undefined for an event in another form, as a server of another version may send. */
export function parseLiveEvent(event: string, text: string): LiveEvent | undefined {
  const data = parseJson(text);
  const read = readJsonShape(reader, data === undefined ? undefined : { event, data });
  return read.kind === 'ok' ? read.value : undefined;
}
