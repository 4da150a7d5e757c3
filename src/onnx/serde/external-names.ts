/** Names of external data: the locations that a model states, and the usual names of files. */
import { posix } from 'node:path';

/** What follows the model's name: torch.onnx writes `model.onnx.data`, ONNX Runtime's and Hugging Face's tools `model.onnx_data`. */
export const EXTERNAL_DATA_SUFFIXES: readonly string[] = ['.data', '_data'];

/** The reason why a location could be outside the folder of the model, if any. Backslashes and drive letters are checked on every operating system. */
export function findUnsafeReason(location: string): string | undefined {
  if (location === '') return 'is empty';
  if (location.includes('\0')) return 'contains a zero byte';
  if (/^[/\\]|^[A-Za-z]:/.test(location)) return 'is absolute';
  if (location.split(/[/\\]/).includes('..')) return 'leaves the folder with ".."';
  return undefined;
}

/** A location in one spelling: "./weights\\a.bin" becomes "weights/a.bin". */
export function normalizeLocation(location: string): string {
  return posix.normalize(location.replaceAll('\\', '/'));
}
