/** Opens ONNX Runtime sessions. Their options never depend on the machine's size or on `--jobs`. */
import { basename } from 'node:path';
import ort from 'onnxruntime-node';
import { assertNever } from '../../base/assert-never.js';
import { invariant } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import type { DType } from '../../tensor/dtype.js';
import type { DataOf, Tensor } from '../../tensor/tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { addsExactly } from './integer-kernels.js';
import { RuntimeError } from './runtime-error.js';

// Otherwise ONNX Runtime keeps a database of events in the user's home folder and sends it to its vendor. The variable is read with the first session.
process.env.ORT_DISABLE_TELEMETRY = '1';

export interface SessionOptions {
  /** ONNX Runtime's graph optimization level. */
  readonly optimization: 'disabled' | 'basic' | 'extended' | 'all';
  /** Whether memory is kept between runs (faster, the default) or released. Does not change results. */
  readonly memoryArena?: 'kept' | 'none';
  /**
   * How ONNX Runtime computes operators between DequantizeLinear and QuantizeLinear. 'exact' (default): in integers if it has a kernel, otherwise in float with
   * weights dequantized in every run; sums of int8 weights do not saturate. 'fused': the same with its own choice of kernels, which is what users deploy.
   * 'float': in float, with weights dequantized once. It can change results, except in a model that is exact in float.
   * 'integers': in integers where activations are int8, for which it prefers float on x86-64. Where kernels saturate, only for models without uint8 activations.
   */
  readonly quantized?: 'exact' | 'fused' | 'float' | 'integers';
  /** Threads inside one operator; default 1. More threads can change the last bits of sums, so use them only for measurements. */
  readonly threads?: number;
  /** How threads wait for each other: 'spinning' (the default, ONNX Runtime's own) or 'sleeping', which takes less processor time. Does not change results. */
  readonly waiting?: 'spinning' | 'sleeping';
  /** With `quantized: 'fused'`: ONNX Runtime writes its profile to "<prefix>_<time>.json" when the session is closed. Does not change results. */
  readonly profilePrefix?: string;
}

/**
 * Threads inside one operator. Fixed, because splitting a sum over threads can change its last bit. One, because stages and parts of stages run in parallel.
 */
const INTRA_OP_THREADS = 1;

/** The session options that can change results: part of the manifest of every part that runs a model. */
export function sessionManifest(options: SessionOptions): JsonObject {
  return {
    optimization: options.optimization,
    intraOpThreads: options.threads ?? INTRA_OP_THREADS,
    executionProvider: 'cpu',
    ...(options.quantized === undefined || options.quantized === 'exact' ? {} : { quantized: options.quantized }),
  };
}

export interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  /**
   * Runs the model. `fetches` names the outputs to return (default: all).
   * @throws RuntimeError `model-run`.
   */
  run(feeds: Readonly<Record<string, Tensor>>, fetches?: readonly string[]): Promise<Readonly<Record<string, Tensor>>>;
  close(): Promise<void>;
}

/** Opens models: `openSession`, or that of a runner. @throws RuntimeError `model-load`. */
export type OpenModel = (model: string | Uint8Array, options: SessionOptions) => Promise<Session>;

// Keys of ONNX Runtime's session configuration.

/**
 * Kernels for x86-64 without VNNI add two products of uint8 and int8 in 16 bits, which saturate. Those of uint8 and uint8, taken instead, add exactly, and
 * are slower. From `extended` on, for constant weights. Of processors whose kernels do not saturate, ONNX Runtime takes some for such, so that the option is set by a probe.
 */
const EXACT_SUMS = { x64quantprecision: '1' } as const;

async function quantizedSettings({ quantized = 'exact', optimization }: SessionOptions): Promise<Readonly<Record<string, string>>> {
  const isRewritten = optimization === 'extended' || optimization === 'all';
  const sums = (quantized === 'exact' || quantized === 'float') && isRewritten && !(await addsExactly()) ? EXACT_SUMS : {};
  switch (quantized) {
    case 'exact':
    case 'fused':
      return sums;
    case 'float':
      return { ...sums, disable_quant_qdq: '1' };
    case 'integers':
      return { qdqisint8allowed: '1' };
    default:
      return assertNever(quantized);
  }
}

const WAITING = { spinning: {}, sleeping: { intra_op: { allow_spinning: '0' } } } as const;

const LEVELS = { disabled: 'disabled', basic: 'basic', extended: 'extended', all: 'all' } as const;

/** Opens `model`: a path (so that external data is found), or bytes. @throws RuntimeError `model-load`. */
export async function openSession(model: string | Uint8Array, options: SessionOptions): Promise<Session> {
  const settings: ort.InferenceSession.SessionOptions = {
    executionProviders: ['cpu'],
    graphOptimizationLevel: LEVELS[options.optimization],
    enableCpuMemArena: options.memoryArena !== 'none',
    intraOpNumThreads: options.threads ?? INTRA_OP_THREADS,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Errors are thrown, and their catcher reports them.
    logSeverityLevel: 4,
    extra: { session: { ...(await quantizedSettings(options)), ...WAITING[options.waiting ?? 'spinning'] } },
    ...(options.profilePrefix === undefined ? {} : { enableProfiling: true, profileFilePrefix: options.profilePrefix }),
  };
  const session = await load(model, settings);
  return {
    inputNames: session.inputNames,
    outputNames: session.outputNames,
    async run(feeds, fetches) {
      try {
        const inputs = Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, toOrt(tensor)]));
        const results = fetches === undefined ? await session.run(inputs) : await session.run(inputs, [...fetches]);
        return Object.fromEntries(Object.entries(results).map(([name, value]) => [name, fromOrt(value)]));
      } catch (error) {
        throw new RuntimeError('model-run', `ONNX Runtime: ${messageOf(error)}`, { cause: error });
      }
    },
    async close() {
      if (options.profilePrefix !== undefined) session.endProfiling();
      await session.release();
    },
  };
}

async function load(model: string | Uint8Array, settings: ort.InferenceSession.SessionOptions): Promise<ort.InferenceSession> {
  try {
    return await create(model, settings);
  } catch (error) {
    if (!(error instanceof RuntimeError) || !/Attempt to replace the existing tensor/.test(error.message)) throw error;
    const { encodeWithOwnConstants } = await import('./own-constants.js');
    try {
      return await create(await encodeWithOwnConstants(model), settings);
    } catch (cause) {
      throw new RuntimeError(error.code, error.message, { cause, ...(error.help === undefined ? {} : { help: error.help }) });
    }
  }
}

async function create(model: string | Uint8Array, settings: ort.InferenceSession.SessionOptions): Promise<ort.InferenceSession> {
  try {
    return typeof model === 'string'
      ? await ort.InferenceSession.create(model, settings)
      : await ort.InferenceSession.create(model, settings);
  } catch (error) {
    // ONNX Runtime's message has the whole path, which is in a temporary folder. The file name identifies the model.
    const path = typeof model === 'string' ? model : undefined;
    const reason = path === undefined ? messageOf(error) : messageOf(error).replaceAll(path, basename(path));
    throw new RuntimeError('model-load', `ONNX Runtime cannot load ${path === undefined ? 'the model' : basename(path)}: ${reason}`, {
      cause: error,
      help: helpWithLoading(reason),
    });
  }
}

const CUT = 'or end the model before it with `cut` of import: `tanren lint` names the values';

/** What to do about ONNX Runtime's `reason` not to load a model. */
function helpWithLoading(reason: string): string {
  const [, domain, custom] = /([\w.-]+):(\w+)\(-?\d+\) is not a registered function\/op/.exec(reason) ?? [];
  if (custom !== undefined)
    return `ONNX Runtime has no operator ${custom} of domain ${domain}: export the model with operators of ONNX, ${CUT}`;
  const [, absent, opset] = /No Op registered for (\w+) with domain_version of (\d+)/.exec(reason) ?? [];
  if (absent !== undefined) return `ONNX Runtime has no operator ${absent} in opset ${opset}: export with the opset that has it, ${CUT}`;
  const [, operator, version] = /Could not find an implementation for (\w+)\((\d+)\)/.exec(reason) ?? [];
  if (operator !== undefined) {
    return `ONNX Runtime has no kernel for ${operator} of opset ${version} with these types or ranks: export with another opset or other types, ${CUT}`;
  }
  return 'the file may be truncated, not an ONNX model, or use operators or an opset that ONNX Runtime does not support; export or copy it again';
}

const ORT_DTYPES = new Set<DType>([
  'float32',
  'float64',
  'float16',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'bool',
  'string',
]);

function toOrt(tensor: Tensor): ort.Tensor {
  if (!ORT_DTYPES.has(tensor.dtype))
    throw new RuntimeError('unsupported-dtype', `ONNX Runtime's Node binding does not support ${tensor.dtype} tensors`);
  const made = new ort.Tensor(tensor.dtype as ort.Tensor.Type, tensor.data as ort.Tensor.DataType, [...tensor.dims]);
  // Where Node has Float16Array, ONNX Runtime's JavaScript makes one of halves, and its native code then finds no bytes in it.
  return tensor.dtype === 'float16' ? Object.assign(made, { cpuData: tensor.data }) : made;
}

function fromOrt(value: ort.OnnxValue): Tensor {
  const { type, dims, data } = value as ort.Tensor;
  const own = type === 'float16' ? bitsOfHalves(data) : data;
  return makeTensor(type as DType, dims, own as DataOf[DType]) as Tensor;
}

/** The bits of halves, also where Node has Float16Array. */
function bitsOfHalves(data: ort.Tensor.DataType): Uint16Array {
  invariant(ArrayBuffer.isView(data), 'halves of ONNX Runtime are in a typed array');
  return new Uint16Array(data.buffer, data.byteOffset, data.byteLength / Uint16Array.BYTES_PER_ELEMENT);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
