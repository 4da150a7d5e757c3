/** The data of a saved page: every answer that its views ask for, compressed, as a text that stands in the HTML file. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { CodedError } from '../../base/coded-error.js';
import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import { parseJson } from '../../base/json.js';
import { ANYTHING, anyOf, anyText, constant, mapOf, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { DATA_ID } from './answer-key.js';

const ANSWER = anyOf([
  object({ kind: constant('json'), value: ANYTHING }),
  object({ kind: constant('bytes'), type: anyText('A media type.'), base64: anyText() }),
  object({ kind: constant('same'), as: anyText('The key of the answer that this one equals.') }),
]);

export type SavedAnswer = FromSchema<typeof ANSWER>;

/** By the key of the request, see `answerKey`. */
export type SavedAnswers = Readonly<Record<string, SavedAnswer>>;

const DOCUMENT = object({ format: constant('tanren-saved-page'), version: constant(1), answers: mapOf(ANSWER) });

const reader = readerOf(DOCUMENT);

/** A page of a project with thousands of images has some megabytes; more is no page. */
const MOST_BYTES = 512_000_000;

/** @returns letters, digits, "+", "/" and "=". Keys are sorted, so that equal answers give equal texts. */
export function encodeAnswers(answers: SavedAnswers): string {
  const sorted = Object.fromEntries(Object.entries(answers).sort(([a], [b]) => (a < b ? -1 : 1)));
  return gzipSync(JSON.stringify({ format: 'tanren-saved-page', version: 1, answers: sorted }), { level: 9 }).toString('base64');
}

/** The answers that a page holds. @param html the file's text. @throws CodedError `ui-saved-page`. */
export function findAnswers(html: string): SavedAnswers {
  const text = new RegExp(`<script type="[^"]*" id="${DATA_ID}">([A-Za-z0-9+/=]*)</script>`).exec(html)?.[1];
  if (text === undefined) throw unreadable('it holds no views: `report` of Tanren 0.2 writes such pages');
  const read = readJsonShape(reader, parseJson(inflate(text)) ?? null);
  if (read.kind === 'ok') return read.value.answers;
  throw unreadable(formatJsonProblems(read.problems).slice(0, 3).join('; '));
}

function inflate(text: string): string {
  try {
    return gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }).toString();
  } catch (error) {
    throw unreadable(`its data is damaged (${error instanceof Error ? error.message : String(error)})`);
  }
}

function unreadable(why: string): CodedError {
  return new CodedError('ui-saved-page', `the page cannot be shown: ${why}`, {
    help: 'name a page that the `report` stage wrote, or its folder',
  });
}
