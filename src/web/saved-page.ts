/** Serves a page that `report` wrote: the same views, from the data in its file. Nothing can be started or changed. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { answerKey } from '../report/saved/answer-key.js';
import { findAnswer } from '../report/saved/find-answer.js';
import { findAnswers, type SavedAnswers } from '../report/saved/saved-answers.js';
import { fixedToken } from './access/access-token.js';
import { ARTIFACT_HEADERS } from './access/security-headers.js';
import { type Answer, errorAnswer, jsonAnswer } from './http/answer.js';
import { openEventStream } from './http/event-stream.js';
import { openPageFiles } from './http/page-files.js';
import { type DataRequest, listen } from './http/serve.js';
import type { OpenPage, PageOptions } from './open-page.js';
import type { LiveEvent } from './project/live-event.js';

/**
 * @param path of the HTML file.
 * @throws CodedError `ui-saved-page`; system errors of reading the file, of listening, and of reading the page's files.
 */
export async function openSavedPage(
  path: string,
  { tryPorts, pageFolder, onDefect }: Pick<PageOptions, 'tryPorts' | 'pageFolder' | 'onDefect'>,
): Promise<OpenPage> {
  const answers = findAnswers(readFileSync(path, 'utf8'));
  const token = fixedToken(randomBytes(32).toString('base64url'));
  const stream = openEventStream(() => undefined);
  const first: readonly LiveEvent[] = [{ event: 'hello', data: { access: 'saved' } }];
  const { server, port } = await listen(tryPorts, {
    token,
    files: openPageFiles(pageFolder),
    answer: async request => {
      if (request.name === 'events')
        return stream.add(request.response, first) ? 'taken' : errorAnswer(503, 'ui-too-many', 'too many pages are open');
      return answerFrom(answers, request);
    },
    onDefect,
  });
  return {
    port,
    address: () => `http://127.0.0.1:${port}/#token=${token.current()}`,
    async close() {
      stream.close();
      await new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function answerFrom(answers: SavedAnswers, { name, query, method }: DataRequest): Answer {
  if (method === 'POST')
    return errorAnswer(403, 'ui-read-only', 'a saved page has no project that could be changed', 'open the project with `tanren ui`');
  const found = findAnswer(answers, answerKey(`${name}?${query}`));
  if (found === undefined)
    return errorAnswer(404, 'ui-not-found', 'the saved page does not hold it', 'open the project with `tanren ui` to see it');
  if (found.kind === 'json') return jsonAnswer(found.value);
  const type = /^image\/(webp|png|jpeg)$/.test(found.type) ? found.type : 'application/octet-stream';
  return {
    status: 200,
    headers: { ...ARTIFACT_HEADERS, 'content-type': type, 'cache-control': 'no-store' },
    body: Buffer.from(found.base64, 'base64'),
  };
}
