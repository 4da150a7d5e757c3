/** Messages of an executing action: one JSON document per line of its standard output. */
import { parseJson } from '../../../base/json.js';
import { clipText } from '../../../base/text/clip-text.js';
import type { Failure } from '../../model/failure.js';
import { type FromWorker, isFromWorker } from '../worker/messages.js';

/** What makes a machine refuse an action. Another machine may run it. */
export type Refusal = 'system' | 'platform-class' | 'tool' | 'document' | 'disk';

/** Messages about parts and the slots that they run in: they are of a worker and its engine on one machine. */
type AboutParts = 'find-part' | 'keep-part' | 'drop-part' | 'slots-wanted' | 'slot-returned';

const ABOUT_PARTS: ReadonlySet<FromWorker['kind']> = new Set<AboutParts>([
  'find-part',
  'keep-part',
  'drop-part',
  'slots-wanted',
  'slot-returned',
]);

export type FromExecution =
  | Exclude<FromWorker, { readonly kind: AboutParts }>
  | { readonly kind: 'refused'; readonly reason: Refusal; readonly message: string };

const REFUSALS: ReadonlySet<unknown> = new Set<Refusal>(['system', 'platform-class', 'tool', 'document', 'disk']);

/** Longer lines and more of them are not read: a worker of another kind may write anything. */
const MOST_LINE_CHARACTERS = 1 << 20;

export function encodeMessage(message: FromExecution): string {
  return `${JSON.stringify(message)}\n`;
}

/** The message of a line; a line that is none is output of something else, such as Node itself. */
export function decodeLine(line: string): FromExecution {
  const value: unknown = line.length > MOST_LINE_CHARACTERS ? undefined : parseJson(line);
  if (isRefusal(value)) return { ...value, message: clipText(value.message) };
  if (isFromWorker(value) && !isAboutParts(value) && (value.kind !== 'failed' || isFailure(value.failure))) return value;
  return { kind: 'output', text: `${clipText(line)}\n` };
}

function isRefusal(value: unknown): value is Extract<FromExecution, { readonly kind: 'refused' }> {
  if (typeof value !== 'object' || value === null) return false;
  const { kind, reason, message } = value as Readonly<Record<string, unknown>>;
  return kind === 'refused' && REFUSALS.has(reason) && typeof message === 'string';
}

function isAboutParts(message: FromWorker): message is Exclude<FromWorker, FromExecution> {
  return ABOUT_PARTS.has(message.kind);
}

function isFailure(value: unknown): value is Failure {
  if (typeof value !== 'object' || value === null) return false;
  // Any JSON is fine as `details`, and `logPath` is not read.
  const { code, message, causes, help, stack } = value as Partial<Record<keyof Failure, unknown>>;
  const isText = (text: unknown): boolean => typeof text === 'string';
  const isTextOrAbsent = (text: unknown): boolean => text === undefined || isText(text);
  return isText(code) && isText(message) && isTextOrAbsent(help) && isTextOrAbsent(stack) && Array.isArray(causes) && causes.every(isText);
}
