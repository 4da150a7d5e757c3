/** Sections with a heading, a sentence and one drawing per thing. */
import type { Section } from '../../../src/report/document.js';
import { type Html, html } from '../../../src/report/html.js';

interface Frame {
  readonly id: string;
  readonly title: string;
  /** Above the drawings. */
  readonly lead: Html;
}

/** @param draw gets the place of the thing, for ids of its charts. @returns undefined where there is nothing to draw. */
export async function drawEach<T>(
  { id, title, lead }: Frame,
  things: readonly T[],
  draw: (thing: T, index: number) => Promise<Html>,
): Promise<Section | undefined> {
  if (things.length === 0) return undefined;
  const drawn: Html[] = [];
  for (const [index, thing] of things.entries()) drawn.push(await draw(thing, index));
  return { id, title, body: html`${lead}${drawn}` };
}
