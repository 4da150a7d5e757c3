/** Conversion between metadata entries and maps. */
import type { StringStringEntryProto } from '../proto/generated/messages.js';

/** ONNX requires distinct keys; of equal keys, the last one counts. */
export function decodeEntries(entries: readonly StringStringEntryProto[] | undefined): Map<string, string> {
  return new Map((entries ?? []).map(entry => [entry.key ?? '', entry.value ?? '']));
}

export function encodeEntries(entries: ReadonlyMap<string, string>): StringStringEntryProto[] {
  return [...entries].map(([key, value]) => ({ key, value }));
}
