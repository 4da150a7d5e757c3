/** Keys of signatures in PEM files: Ed25519, private for signing, public for checking. */
import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf } from '../../../engine/model/engine-error.js';
import { settingsError } from './choose-remote.js';

/** @param path absolute. @throws CodedError `remote-settings`. */
export function readPrivateKey(path: string): KeyObject {
  return readKey(path, createPrivateKey);
}

/** @param path absolute. @throws CodedError `remote-settings`. */
export function readPublicKey(path: string): KeyObject {
  return readKey(path, createPublicKey);
}

function readKey(path: string, parse: (pem: Buffer) => KeyObject): KeyObject {
  const pem = readPem(path, 'correct its path');
  try {
    const key = parse(pem);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The message below says what the file must be.
  }
  throw settingsError(`${path} is not an Ed25519 key in PEM form`, 'make one with "openssl genpkey -algorithm ed25519"');
}

/** @throws CodedError `remote-settings`. */
export function readPem(path: string, help: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw settingsError(`${path} cannot be read: ${messageOf(error)}`, help);
  }
}
