/** Opens WebAssembly kernels: small modules that import nothing and export functions and one memory. */

/** Node has it as a global; its types come with no library that a program for Node takes. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

export interface WasmInstance {
  readonly memory: ArrayBuffer;
  readonly functions: Readonly<Record<string, (...args: readonly number[]) => void>>;
}

/** Compiles and instantiates a module synchronously. @param base64 its bytes, as generated modules hold them. */
export function openWasm(base64: string): WasmInstance {
  const bytes = Buffer.from(base64, 'base64');
  const { memory, ...functions } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  return { memory: (memory as { readonly buffer: ArrayBuffer }).buffer, functions: functions as WasmInstance['functions'] };
}
