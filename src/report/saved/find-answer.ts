/** Finds an answer of a saved page, by the key of its request. */
import type { SavedAnswer, SavedAnswers } from './saved-answers.js';

export type SavedContent = Exclude<SavedAnswer, { readonly kind: 'same' }>;

/** An answer that equals another one is found there. @returns undefined for an unknown key, and where 'same' does not lead to content. */
export function findAnswer(answers: SavedAnswers, key: string): SavedContent | undefined {
  const find = (at: string): SavedAnswer | undefined => (Object.hasOwn(answers, at) ? answers[at] : undefined);
  const own = find(key);
  const found = own?.kind === 'same' ? find(own.as) : own;
  return found?.kind === 'same' ? undefined : found;
}
