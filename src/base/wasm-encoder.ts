/** How is a small WebAssembly module written? From functions in plain instruction bytes to the binary format, so that a kernel needs no other toolchain. */

/** Types of parameters and locals, by their byte. */
export const WASM_TYPE = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b } as const;
export type WasmType = keyof typeof WASM_TYPE;

/** Instructions, flat: helpers of wasm-instructions.ts give them. */
export type WasmCode = readonly number[];

export interface WasmFunction {
  readonly name: string;
  readonly params: readonly WasmType[];
  /** Numbered after the parameters. */
  readonly locals: readonly WasmType[];
  /** Leaves nothing on the stack: functions give results in memory. */
  readonly body: WasmCode;
}

/** Exports its functions by name, and `memory` of `pages` times 64 KiB. @see WebAssembly Core Specification 2.0, section 5 (binary format). */
export function encodeWasm({ pages, functions }: { readonly pages: number; readonly functions: readonly WasmFunction[] }): Uint8Array {
  const types = functions.map(({ params }) => [0x60, ...vector(params.map(type => [WASM_TYPE[type]])), 0]);
  const exported = functions.map(({ name }, index) => [...text(name), 0x00, ...unsigned(index)]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, vector(types)),
    ...section(3, vector(functions.map((_, index) => unsigned(index)))),
    ...section(5, vector([[0x01, ...unsigned(pages), ...unsigned(pages)]])),
    ...section(7, vector([...exported, [...text('memory'), 0x02, 0x00]])),
    ...section(10, vector(functions.map(encodeBody))),
  ]);
}

function encodeBody({ locals, body }: WasmFunction): number[] {
  const code = [...vector(locals.map(type => [1, WASM_TYPE[type]])), ...body, 0x0b];
  return [...unsigned(code.length), ...code];
}

function section(id: number, content: readonly number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function vector(members: readonly (readonly number[])[]): number[] {
  return [...unsigned(members.length), ...members.flat()];
}

function text(name: string): number[] {
  const bytes = [...new TextEncoder().encode(name)];
  return [...unsigned(bytes.length), ...bytes];
}

/** LEB128. */
export function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

/** LEB128 in two's complement. */
export function signed(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest < -64n || rest > 63n) {
    bytes.push(Number(rest & 0x7fn) + 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest & 0x7fn)];
}
