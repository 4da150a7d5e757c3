/** The platform class: machines of one class compute equal bytes with a model. It names system, Node, ONNX Runtime, and the digest of probe results. */
import { createHash } from 'node:crypto';
import { arch, platform } from 'node:os';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import type { Tensor } from '../../tensor/tensor.js';
import { openSession } from '../session/session.js';
import { nodeMajor, onnxRuntimeVersion } from './platform-guard.js';
import { makeProbe, makeThreadsProbe } from './probe-model.js';

/** The readable name of the class ("linux-x64 node20 ort1.30.0 5b1c…"). Loads ONNX Runtime and runs the probes. */
export async function computePlatformClass(): Promise<string> {
  const { model, feeds } = makeProbe();
  const bytes = encodeModel(model);
  const hash = createHash('sha256');
  for (const optimization of ['basic', 'all'] as const) {
    const session = await openSession(bytes, { optimization });
    try {
      digestOutputs(hash, await session.run(feeds));
    } finally {
      await session.close();
    }
  }
  const other = await findOtherSums(MOST_THREADS);
  if (other !== undefined) digestOutputs(hash, other);
  return `${platform()}-${arch()} node${nodeMajor()} ort${onnxRuntimeVersion()} ${hash.digest('hex').slice(0, 16)}`;
}

/** Of sessions whose results are kept. */
const MOST_THREADS = 2;

type Outputs = Readonly<Record<string, Tensor>>;

/**
 * What the probe of threads computes with so many, if one thread computes other bits. With two threads that is so on processors with cores of two kinds,
 * for which ONNX Runtime splits work into four pieces per thread.
 */
export async function findOtherSums(threads: number): Promise<Outputs | undefined> {
  const { model, feeds } = makeThreadsProbe();
  const bytes = encodeModel(model);
  const digests = new Set<string>();
  let outputs: Outputs = {};
  for (const count of [1, threads]) {
    const session = await openSession(bytes, { optimization: 'basic', threads: count });
    try {
      outputs = await session.run(feeds);
    } finally {
      await session.close();
    }
    const hash = createHash('sha256');
    digestOutputs(hash, outputs);
    digests.add(hash.digest('hex'));
  }
  return digests.size === 1 ? undefined : outputs;
}

function digestOutputs(hash: ReturnType<typeof createHash>, outputs: Outputs): void {
  for (const name of Object.keys(outputs).sort()) {
    const data = outputs[name]?.data;
    if (!ArrayBuffer.isView(data)) continue;
    hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
}
