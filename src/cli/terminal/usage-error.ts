/** Formats the argument parser's errors in the form of all other messages. */
import type { CommanderError } from 'commander';

/** `error[unknown-option]: unknown option '--jsno'` with a help line: the nearest name, or where to look. */
export function formatUsageError({ code, message }: Pick<CommanderError, 'code' | 'message'>): string {
  const name = code.replace(/^commander\./, '').replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`);
  const suggestion = /\n?\(Did you mean (?:one of )?(.+)\?\)$/.exec(message);
  const text = (suggestion === null ? message : message.slice(0, suggestion.index)).replace(/^error: /, '').trim();
  const help =
    suggestion === null
      ? 'run the command with --help to see its arguments and options'
      : `did you mean "${suggestion[1]?.replaceAll(', ', '" or "')}"?`;
  return `error[${name}]: ${text}\n  help: ${help}`;
}
