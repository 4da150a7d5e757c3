/**
 * The jest environment with an ordinary global object, and with the outer realm's typed arrays: `session.run` and `sharp` check with instanceof.
 * Jest's own global object is a Proxy, so that each `Math` or `Float32Array` in a loop costs two calls: loops over weights take ten times as long.
 */
import vm from 'node:vm';
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
  constructor(...options: ConstructorParameters<typeof TestEnvironment>) {
    const { createContext } = vm;
    vm.createContext = () => createContext(vm.constants.DONT_CONTEXTIFY);
    try {
      super(...options);
    } finally {
      vm.createContext = createContext;
    }
  }

  override async setup(): Promise<void> {
    await super.setup();
    for (const name of SHARED)
      (this.global as unknown as Record<string, unknown>)[name] = (globalThis as unknown as Record<string, unknown>)[name];
  }
}
