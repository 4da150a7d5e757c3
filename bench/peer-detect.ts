/** Measures torchvision's own detector on the same images, if Python has it: one process that stays open and runs one round per request. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PYTHON = 'python3';
const SCRIPT = fileURLToPath(new URL('../../bench/peer_detect.py', import.meta.url));
const MODULES = 'torch, torchvision, safetensors, PIL, pycocotools, numpy';

export interface PeerFiles {
  readonly checkpoint: string;
  readonly config: string;
  readonly annotations: string;
  /** The folder of the images. */
  readonly images: string;
}

export interface Round {
  readonly ms: number;
  /** Processor time of all threads. Other load on the machine affects it less. */
  readonly cpuMs: number;
  readonly objects: number;
  /** By step, in ms over all images. */
  readonly steps: Readonly<Record<string, number>>;
}

export interface PeerDetector {
  /** With the versions. */
  readonly name: string;
  detectAll(): Promise<Round>;
  close(): void;
}

/** Undefined if Python has no torchvision, which is reported in one line. */
export async function openPeer(files: PeerFiles, images: number, threads: number): Promise<PeerDetector | undefined> {
  if (spawnSync(PYTHON, ['-c', `import ${MODULES}`], { stdio: 'ignore' }).status !== 0) {
    console.log(`  ${PYTHON} has not all of ${MODULES} here: torchvision is not measured`);
    return undefined;
  }
  const { checkpoint, config, annotations } = files;
  const child = spawn(PYTHON, [SCRIPT, checkpoint, config, annotations, files.images, String(images), String(threads)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  }) as unknown as ChildProcessWithoutNullStreams;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <T>(): Promise<T> => {
    const line = await lines.next();
    if (line.done === true) throw new Error('torchvision ended before it answered');
    return JSON.parse(line.value) as T;
  };
  const { torch, torchvision } = await next<{ torch: string; torchvision: string }>();
  return {
    name: `torchvision ${torchvision}, torch ${torch}`,
    detectAll() {
      child.stdin.write('\n');
      return next<Round>();
    },
    close: () => child.stdin.end(),
  };
}
