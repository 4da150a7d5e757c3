/** The platform class: machines of one class compute equal bytes with a model. It names system, Node, ONNX Runtime, and the digest of probe results. */
import { createHash } from 'node:crypto';
import { arch, platform } from 'node:os';
import { encodeModel } from '../../onnx/serde/encode-model.js';
import type { Tensor } from '../../tensor/tensor.js';
import { openSession } from '../session/session.js';
import { nodeMajor, onnxRuntimeVersion } from './platform-guard.js';
import { makeProbe } from './probe-model.js';

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
  return `${platform()}-${arch()} node${nodeMajor()} ort${onnxRuntimeVersion()} ${hash.digest('hex').slice(0, 16)}`;
}

function digestOutputs(hash: ReturnType<typeof createHash>, outputs: Readonly<Record<string, Tensor>>): void {
  for (const name of Object.keys(outputs).sort()) {
    const data = outputs[name]?.data;
    if (!ArrayBuffer.isView(data)) continue;
    hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }
}
