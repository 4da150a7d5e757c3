/** How is a WebAssembly module made to run here? Compiled at once, as kernels are small, with nothing imported. */

/** Node has it as a global; its types come with no library that a program for Node takes. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
};

export interface WasmInstance {
  readonly memory: ArrayBuffer;
  readonly functions: Readonly<Record<string, (...args: readonly number[]) => void>>;
}

/** Opens what `encodeWasm` wrote. */
export function openWasm(bytes: Uint8Array): WasmInstance {
  const { memory, ...functions } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  return { memory: (memory as { readonly buffer: ArrayBuffer }).buffer, functions: functions as WasmInstance['functions'] };
}
