/** A saved page: its data stands in the file, and its views ask nothing else. */
import type { Json } from '../../../base/json.js';
import { answerKey, DATA_ID } from '../../../report/saved/answer-key.js';
import { findAnswer } from '../../../report/saved/find-answer.js';
import type { SavedAnswers } from '../../../report/saved/saved-answers.js';
import { createStore } from './store.js';

/** Whether the components are drawn without a browser, for the document of a saved page. */
export const isStatic = typeof document === 'undefined';

/** Whether this is the script of a saved page. Its file has an element that the page of a server lacks. */
export const isSaved = !isStatic && document.getElementById('app')?.dataset.form === 'saved';

/** Whether the view "Report" shows what the document of a saved page shows, so that it can take its place. */
export const reportShown = createStore(false);

let inflating: Promise<SavedAnswers> | undefined;

/** The answer to a request for data, in the form in which a server would give it. */
export async function answerSaved(path: string): Promise<Response> {
  inflating ??= inflate();
  const answers = await inflating;
  const found = findAnswer(answers, answerKey(path));
  if (found === undefined) {
    const error = { code: 'ui-not-found', message: 'this file does not hold it', help: 'open the project with `tanren ui` to see it' };
    return jsonResponse({ error }, 404);
  }
  if (found.kind === 'json') return jsonResponse(found.value, 200);
  return new Response(bytesOf(found.base64), { headers: { 'content-type': found.type } });
}

function jsonResponse(value: Json, status: number): Response {
  return new Response(JSON.stringify(value), { status, headers: { 'content-type': 'application/json' } });
}

async function inflate(): Promise<SavedAnswers> {
  const text = document.getElementById(DATA_ID)?.textContent ?? '';
  const stream = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const { answers } = (await new Response(stream).json()) as { readonly answers: SavedAnswers };
  return answers;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
