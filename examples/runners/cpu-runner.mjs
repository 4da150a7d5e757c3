/**
 * The smallest runner: ONNX Runtime's CPU provider behind the protocol of docs/runner-protocol.md. A pattern for runners of real devices, and what tests use.
 *
 *   node cpu-runner.mjs [--identity FILE]     FILE: JSON whose members replace those of the identity, to play another driver
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeSync } from 'node:fs';
import { arch, cpus, platform, release } from 'node:os';
import ort from 'onnxruntime-node';

const MAGIC = 'TNR1';
const START_BYTES = 16;
const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  float16: Uint16Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
  uint32: Uint32Array,
  int64: BigInt64Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
};
const sessions = new Map();

function writeFrame(header, payload = []) {
  const text = Buffer.from(JSON.stringify(header), 'utf8');
  const start = Buffer.alloc(START_BYTES);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(text.length, 4);
  start.writeBigUInt64LE(BigInt(payload.reduce((sum, piece) => sum + piece.length, 0)), 8);
  for (const piece of [start, text, ...payload]) {
    for (let done = 0; done < piece.length; ) {
      try {
        done += writeSync(1, piece, done);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
      }
    }
  }
}

async function* readFrames(stream) {
  let held = Buffer.alloc(0);
  for await (const chunk of stream) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= START_BYTES) {
      if (held.toString('latin1', 0, 4) !== MAGIC) throw new Error('the client sent something else than a frame');
      const headerBytes = held.readUInt32LE(4);
      const end = START_BYTES + headerBytes + Number(held.readBigUInt64LE(8));
      if (held.length < end) break;
      const header = JSON.parse(held.toString('utf8', START_BYTES, START_BYTES + headerBytes));
      yield { header, payload: held.subarray(START_BYTES + headerBytes, end) };
      held = held.subarray(end);
    }
  }
}

function identify() {
  const own = {
    runner: { name: 'tanren-cpu-runner', version: '1' },
    provider: 'CPUExecutionProvider',
    device: { kind: 'cpu', name: cpus()[0]?.model ?? 'unknown', driver: '' },
    versions: { onnxruntime: ort.env.versions.node, os: `${platform()} ${arch()} ${release()}` },
  };
  const at = process.argv.indexOf('--identity');
  return at < 0 ? own : { ...own, ...JSON.parse(readFileSync(process.argv[at + 1], 'utf8')) };
}

async function load({ model, session: { optimization } }, payload) {
  const bytes = model.path === undefined ? payload : readFileSync(model.path);
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== model.digest) throw new Error(`${model.name} has digest ${digest}, announced was ${model.digest}`);
  const source = model.path ?? new Uint8Array(bytes);
  const opened = await ort.InferenceSession.create(source, {
    executionProviders: ['cpu'],
    graphOptimizationLevel: optimization,
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    logSeverityLevel: 3,
  });
  const id = sessions.size;
  sessions.set(id, opened);
  const describe = ({ name, type, shape }) => ({ name, dtype: type, dims: shape.map(dim => (typeof dim === 'number' && dim >= 0 ? dim : null)) });
  return { session: id, inputs: opened.inputMetadata.map(describe), outputs: opened.outputMetadata.map(describe) };
}

async function run({ session, warmup, repeats, inputs, outputs }, payload) {
  const opened = sessions.get(session);
  if (opened === undefined) throw new Error(`there is no session ${session}`);
  let offset = 0;
  const feeds = {};
  for (const { name, dtype, dims, bytes } of inputs) {
    feeds[name] = new ort.Tensor(dtype, toArray(dtype, payload.subarray(offset, offset + bytes)), dims);
    offset += bytes;
  }
  const durationsMs = [];
  let results;
  for (let count = 0; count < warmup + repeats; count++) {
    const started = performance.now();
    results = await opened.run(feeds, outputs);
    if (count >= warmup) durationsMs.push(performance.now() - started);
  }
  const pieces = outputs.map(name => Buffer.from(results[name].data.buffer, results[name].data.byteOffset, results[name].data.byteLength));
  const headers = outputs.map((name, at) => ({ name, dtype: results[name].type, dims: [...results[name].dims], bytes: pieces[at].length }));
  const placement = [{ device: 'cpu', provider: 'CPUExecutionProvider', nodes: 1 }];
  return { header: { outputs: headers, durationsMs, placement }, pieces };
}

function toArray(dtype, bytes) {
  if (ARRAYS[dtype] === undefined) throw new Error(`${dtype} tensors are not taken`);
  return new ARRAYS[dtype](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

for await (const { header, payload } of readFrames(process.stdin)) {
  const { id, type } = header;
  try {
    if (type === 'hello') writeFrame({ id, type, protocol: 1, identity: identify() });
    else if (type === 'load') writeFrame({ id, type, ...(await load(header, payload)) });
    else if (type === 'run') {
      const { header: ran, pieces } = await run(header, payload);
      writeFrame({ id, type, ...ran }, pieces);
    } else if (type === 'unload') {
      await sessions.get(header.session)?.release();
      writeFrame({ id, type });
    } else if (type === 'bye') {
      writeFrame({ id, type });
      break;
    } else throw new Error(`"${type}" is no request`);
  } catch (error) {
    writeFrame({ id, type: 'error', code: 'failed', message: error.message });
  }
}
process.exit(0);
