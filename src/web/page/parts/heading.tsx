/** Headings of parts that stand in sections of different depth. */
import { type ComponentChildren, h } from 'preact';

export type HeadingLevel = 2 | 3 | 4 | 5;

export function Heading({ level, children }: { readonly level: HeadingLevel; readonly children: ComponentChildren }) {
  return h(`h${level}`, null, children);
}
