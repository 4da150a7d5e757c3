/** A text form of QDQ models for tests: one line per operator, with QuantizeLinear and DequantizeLinear of the named parameters around it. */
import type { Attribute, Constant, Model } from '../../src/onnx/ir/model.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../src/tensor/tensor.js';
import { type SmallNode, smallModel } from './small-model.js';

export interface QdqParams {
  readonly scale?: number | readonly number[];
  readonly zeroPoint?: number;
  readonly dtype?: 'uint8' | 'int8' | 'int16' | 'int32';
}

export interface QdqGraph {
  /** A quantized input of the model: Q behind it. */
  input(name: string, dims: readonly (number | string)[], params?: QdqParams): void;
  /** An integer constant with its DQ. */
  constant(name: string, dims: readonly number[], params?: QdqParams): void;
  float(name: string, constant: Constant): void;
  /** DQ of every input that is quantized, the operator, its activation where one is named, and Q after each output. */
  unit(op: string, inputs: readonly string[], outputs: readonly string[], options?: UnitOptions): void;
  /** A node as it is, in float: what is quantized is dequantized before it. */
  plain(op: string, inputs: readonly string[], outputs: readonly string[], attributes?: SmallNode['attributes']): void;
  /** DQ of `from` and Q to `to`, with nothing between. */
  requantize(from: string, to: string, params?: QdqParams): void;
  /** A DQ at the end, called `name`_out. */
  output(...names: string[]): void;
  build(opset?: number): Model;
}

interface UnitOptions {
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly activation?: string;
  readonly activationInputs?: readonly string[];
  readonly activationAttributes?: Readonly<Record<string, Attribute>>;
  readonly params?: QdqParams;
}

const DATA = { uint8: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array } as const;

/** What is not said is XINT8: scale 2⁻⁴, activations uint8 around 128, constants int8 around 0. */
export function qdqGraph(): QdqGraph {
  const inputs: Record<string, readonly ['float32', readonly (number | string)[]]> = {};
  const constants: Record<string, Constant> = {};
  const nodes: SmallNode[] = [];
  const outputs: string[] = [];
  const quantized = new Set<string>();
  let count = 0;

  const parameters = (name: string, { scale = 2 ** -4, zeroPoint, dtype = 'uint8' }: QdqParams): readonly [string, string] => {
    const scales = typeof scale === 'number' ? [scale] : scale;
    const dims = typeof scale === 'number' ? [] : [scales.length];
    constants[`${name}_s`] = encodeRawTensor(makeTensor('float32', dims, Float32Array.from(scales)));
    const zeros = DATA[dtype].from(scales.map(() => zeroPoint ?? (dtype === 'uint8' ? 128 : 0)));
    constants[`${name}_z`] = encodeRawTensor(makeTensor(dtype, dims, zeros as never));
    return [`${name}_s`, `${name}_z`];
  };
  const quantize = (from: string, name: string, params: QdqParams): void => {
    nodes.push({ op: 'QuantizeLinear', in: [from, ...parameters(name, params)], out: [name], name: `q_${name}` });
    quantized.add(name);
  };
  const dequantize = (name: string): string => {
    if (!quantized.has(name)) return name;
    const out = `${name}_d${count++}`;
    nodes.push({ op: 'DequantizeLinear', in: [name, `${name}_s`, `${name}_z`], out: [out], name: `dq_${out}` });
    return out;
  };
  return {
    input(name, dims, params = {}) {
      inputs[`${name}_f`] = ['float32', dims];
      quantize(`${name}_f`, name, params);
    },
    constant(name, dims, params = {}) {
      const { dtype = 'int8' } = params;
      const size = dims.reduce((product, dim) => product * dim, 1);
      const data = new DATA[dtype](size);
      for (let index = 0; index < size; index++) data[index] = (index % 7) - 3;
      constants[name] = encodeRawTensor(makeTensor(dtype, dims, data as never));
      parameters(name, { ...params, dtype });
      quantized.add(name);
    },
    float(name, constant) {
      constants[name] = constant;
    },
    unit(op, given, names, { attributes = {}, activation, activationInputs = [], activationAttributes = {}, params = {} } = {}) {
      const ins = given.map(name => (name === '' ? '' : dequantize(name)));
      nodes.push({ op, in: ins, out: names.map(name => `${name}_f`), attributes, name: `${op}_${names[0]}` });
      for (const name of names) {
        const after = `${name}_a`;
        if (activation !== undefined)
          nodes.push({ op: activation, in: [`${name}_f`, ...activationInputs], out: [after], attributes: activationAttributes });
        quantize(activation === undefined ? `${name}_f` : after, name, params);
      }
    },
    plain(op, given, names, attributes = {}) {
      nodes.push({ op, in: given.map(dequantize), out: names, attributes, name: `${op}_${names[0]}` });
    },
    requantize(from, to, params = {}) {
      quantize(dequantize(from), to, params);
    },
    output(...names) {
      for (const name of names) {
        if (!quantized.has(name)) outputs.push(name);
        else {
          nodes.push({ op: 'DequantizeLinear', in: [name, `${name}_s`, `${name}_z`], out: [`${name}_out`], name: `dq_${name}_out` });
          outputs.push(`${name}_out`);
        }
      }
    },
    build: (opset = 17) => smallModel({ opset, inputs, constants, nodes, outputs }),
  };
}
