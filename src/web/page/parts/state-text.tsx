/** The state of a stage or run: sign, word and color. */
import { lookOf } from './states.js';

export function StateText({ state }: { readonly state: string }) {
  const { tone, sign, word } = lookOf(state);
  return (
    <span class={`state-text ${tone}`}>
      {sign} {word}
    </span>
  );
}
