/** How do metadata entries become a map, and back? */
import type { StringStringEntryProto } from '../proto/generated/messages.js';

/** Keys are distinct by ONNX's rules; of equal ones the last counts. */
export function decodeEntries(entries: readonly StringStringEntryProto[] | undefined): Map<string, string> {
  return new Map((entries ?? []).map(entry => [entry.key ?? '', entry.value ?? '']));
}

export function encodeEntries(entries: ReadonlyMap<string, string>): StringStringEntryProto[] {
  return [...entries].map(([key, value]) => ({ key, value }));
}
