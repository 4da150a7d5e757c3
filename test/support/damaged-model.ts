/** Decodes models whose bytes were damaged. */
import { isCodedError } from '../../src/base/coded-error.js';
import { checkModel } from '../../src/onnx/check/check-model.js';
import { decodeModel } from '../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../src/onnx/serde/encode-model.js';
import { type Damage, damageBytes } from './mutate-bytes.js';

/** Decodes, checks and encodes the damaged bytes. @throws whatever is not a coded error. */
export function tryDamaged(bytes: Uint8Array, damage: Damage): 'decoded' | 'refused' {
  try {
    const model = decodeModel(damageBytes(bytes, damage));
    checkModel(model);
    encodeModel(model);
    return 'decoded';
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return 'refused';
  }
}
