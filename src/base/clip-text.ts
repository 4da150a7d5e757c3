/** The bound of a text that a stage logs in one piece: the log keeps more of what comes in pieces, the console and the channel of a worker do not. */

const MAX_CHARACTERS = 1 << 18;

export function clipText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}… (cut here: it has ${text.length} characters)`;
}
