/** The jest environment that shares the outer realm's typed arrays with tests: `session.run` and `sharp` check with instanceof. */
import { TestEnvironment } from 'jest-environment-node';

const SHARED = [
  'ArrayBuffer',
  'SharedArrayBuffer',
  'DataView',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int8Array',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'BigInt64Array',
  'BigUint64Array',
  'Float32Array',
  'Float64Array',
  'Error',
  'Buffer',
] as const;

export default class SharedTypedArraysEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    for (const name of SHARED)
      (this.global as unknown as Record<string, unknown>)[name] = (globalThis as unknown as Record<string, unknown>)[name];
  }
}
