/** The data of a saved page: keys of requests, the round trip through a file, and damaged files. */
import { answerKey, DATA_ID, keyOf } from '../../../src/report/saved/answer-key.js';
import { findAnswer } from '../../../src/report/saved/find-answer.js';
import { encodeAnswers, findAnswers, type SavedAnswers } from '../../../src/report/saved/saved-answers.js';

const ANSWERS: SavedAnswers = {
  pipeline: { kind: 'json', value: { text: '</script><script>alert(1)</script>\u202e' } },
  'input?name=a&stage=b': { kind: 'bytes', type: 'image/webp', base64: 'AAEC' },
  'input?name=a&stage=c': { kind: 'same', as: 'input?name=a&stage=b' },
};
const inPage = (data: string): string => `<!doctype html><p>x</p><script type="application/gzip" id="${DATA_ID}">${data}</script>`;

it('comes back as it was, whatever order it was put together in, and cannot end its element', () => {
  const text = encodeAnswers(ANSWERS);
  expect(text).toMatch(/^[A-Za-z0-9+/=]+$/);
  expect(findAnswers(inPage(text))).toEqual(ANSWERS);
  expect(encodeAnswers(Object.fromEntries(Object.entries(ANSWERS).reverse()))).toBe(text);
});

it('an answer that equals another one is found there, and only there', () => {
  const answers: SavedAnswers = { ...ANSWERS, loop: { kind: 'same', as: 'loop' }, lost: { kind: 'same', as: 'toString' } };
  const bytes = { kind: 'bytes', type: 'image/webp', base64: 'AAEC' };
  expect(['input?name=a&stage=b', 'input?name=a&stage=c'].map(key => findAnswer(answers, key))).toEqual([bytes, bytes]);
  expect(['loop', 'lost', 'none', 'toString'].map(key => findAnswer(answers, key))).toEqual([undefined, undefined, undefined, undefined]);
});

it('a request has one key: without the version, and in any order of its parameters', () => {
  const key = keyOf('artifact', { stage: 'a@b/c', port: 'x y' });
  expect(answerKey('artifact?v=123&stage=a%40b%2Fc&port=x+y')).toBe(key);
  expect(answerKey('artifact?port=x%20y&stage=a@b/c')).toBe(key);
  expect(answerKey('pipeline')).toBe('pipeline');
});

it.each([
  ['no element', '<p>none'],
  ['no data', inPage('')],
  ['cut data', inPage(encodeAnswers(ANSWERS).slice(0, 40))],
  ['no gzip', inPage(Buffer.from('{}').toString('base64'))],
  ['another format', inPage(encodeAnswers({ x: { kind: 'else' } } as never))],
])('a page with %s is refused', (_, html) => {
  expect(() => findAnswers(html)).toThrow(expect.objectContaining({ code: 'ui-saved-page' }));
});
