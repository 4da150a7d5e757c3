/** Reading of the tensors of checkpoint files. The format is detected from the content, not from the name. */

import type { RawTensor } from '../tensor.js';
import { TensorError } from '../tensor-error.js';
import { readFileBytes } from './file-bytes.js';
import { decodeSafetensors } from './safetensors.js';
import { decodeTorchLegacy, decodeTorchZip, LEGACY_MAGIC } from './torch-checkpoint.js';

/**
 * Reads .safetensors and both torch formats. Names in nested dictionaries are joined with dots ("state_dict.backbone.conv1.weight"): see `selectStateDict`.
 * @throws TensorError `file-missing`, `file-unreadable`, `unknown-format`, `truncated`, and those of the formats.
 */
export async function readStateDict(path: string): Promise<ReadonlyMap<string, RawTensor>> {
  return decodeStateDict(await readFileBytes(path));
}

/** @throws TensorError as `readStateDict`. */
export function decodeStateDict(bytes: Uint8Array): ReadonlyMap<string, RawTensor> {
  switch (findFormat(bytes)) {
    case 'zip':
      return decodeTorchZip(bytes);
    case 'legacy':
      return decodeTorchLegacy(bytes);
    case 'safetensors':
      return decodeSafetensors(bytes).tensors;
    case undefined:
      throw new TensorError(
        'unknown-format',
        'the file is not a checkpoint: it is neither .safetensors nor a zip or legacy file of torch.save',
        {
          help: 'save the state dict again with safetensors or torch.save',
        },
      );
  }
}

/**
 * The tensors with the prefix of `probe`, the name of one expected tensor, without that prefix: this removes wrappers such as
 * "state_dict.…", "model.…" or "module.…". All tensors if no prefix matches. The shortest prefix is used.
 */
export function selectStateDict(
  tensors: ReadonlyMap<string, RawTensor>,
  probe: string,
): { prefix: string; tensors: ReadonlyMap<string, RawTensor> } {
  const prefixes = [...tensors.keys()]
    .filter(name => name === probe || name.endsWith(`.${probe}`))
    .map(name => name.slice(0, name.length - probe.length));
  const prefix = prefixes.sort((a, b) => a.length - b.length)[0] ?? '';
  if (prefix === '') return { prefix, tensors };
  return {
    prefix,
    tensors: new Map([...tensors].filter(([name]) => name.startsWith(prefix)).map(([name, tensor]) => [name.slice(prefix.length), tensor])),
  };
}

function findFormat(bytes: Uint8Array): 'zip' | 'legacy' | 'safetensors' | undefined {
  if (bytes.length < 9)
    throw new TensorError('truncated', `a file of ${bytes.length} bytes is not a checkpoint`, { help: 'copy the checkpoint again' });
  const startsWith = (magic: readonly number[]): boolean => magic.every((byte, index) => bytes[index] === byte);
  if (startsWith([0x50, 0x4b, 0x03, 0x04]) || startsWith([0x50, 0x4b, 0x05, 0x06])) return 'zip';
  if (startsWith(LEGACY_MAGIC.slice(0, Math.min(bytes.length, LEGACY_MAGIC.length)))) return 'legacy';
  return bytes[8] === '{'.charCodeAt(0) ? 'safetensors' : undefined;
}
