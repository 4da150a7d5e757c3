/** The bound of a text that a stage logs in one piece: the log keeps more of what comes in pieces, the console and the channel of a worker do not. */

const MAX_CHARACTERS = 1 << 18;

/** What a stage says of its progress: more does not fit in a line of a terminal. */
export const MAX_PROGRESS_CHARACTERS = 200;

export function clipText(text: string, most = MAX_CHARACTERS): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most)}… (cut here: it has ${text.length} characters)`;
}
