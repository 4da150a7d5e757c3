/** Texts from files and other programs: control characters are shown, not interpreted. */

/** Visible signs in place of control characters and of characters that turn the direction of text. */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, character => {
    const code = character.charCodeAt(0);
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
}

/** The log without the sequences that color a terminal. */
export function logText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character begins such a sequence
  return plainText(text.replace(/\u001b\[[0-9;]*[A-Za-z]/g, '').replaceAll('\r\n', '\n'));
}

export function shortDigest(digest: string): string {
  return digest.slice(0, 12);
}

export function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** "2026-11-25 17:46:03" in the reader's time zone. */
export function formatTime(iso: string): string {
  const date = new Date(iso);
  return Number.isNaN(date.getTime())
    ? iso
    : new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19).replace('T', ' ');
}
