/** Reads the Python programs that run a bundle on the board. */
import { readFile } from 'node:fs/promises';

/** A file of the bundle, with its path in it. */
export interface BoardProgram {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Literal paths: the digest of the stage's code covers the files that its modules name so. */
const FILES: Readonly<Record<string, URL>> = {
  'detector.py': new URL('./board/detector.py', import.meta.url),
  'runner.py': new URL('./board/runner.py', import.meta.url),
  'tanren_host/__init__.py': new URL('./board/tanren_host/__init__.py', import.meta.url),
  'tanren_host/arguments.py': new URL('./board/tanren_host/arguments.py', import.meta.url),
  'tanren_host/boxes.py': new URL('./board/tanren_host/boxes.py', import.meta.url),
  'tanren_host/bundle.py': new URL('./board/tanren_host/bundle.py', import.meta.url),
  'tanren_host/check.py': new URL('./board/tanren_host/check.py', import.meta.url),
  'tanren_host/coco.py': new URL('./board/tanren_host/coco.py', import.meta.url),
  'tanren_host/decoders.py': new URL('./board/tanren_host/decoders.py', import.meta.url),
  'tanren_host/detector.py': new URL('./board/tanren_host/detector.py', import.meta.url),
  'tanren_host/device.py': new URL('./board/tanren_host/device.py', import.meta.url),
  'tanren_host/errors.py': new URL('./board/tanren_host/errors.py', import.meta.url),
  'tanren_host/golden.py': new URL('./board/tanren_host/golden.py', import.meta.url),
  'tanren_host/images.py': new URL('./board/tanren_host/images.py', import.meta.url),
  'tanren_host/latency.py': new URL('./board/tanren_host/latency.py', import.meta.url),
  'tanren_host/machine.py': new URL('./board/tanren_host/machine.py', import.meta.url),
  'tanren_host/maskrcnn.py': new URL('./board/tanren_host/maskrcnn.py', import.meta.url),
  'tanren_host/masks.py': new URL('./board/tanren_host/masks.py', import.meta.url),
  'tanren_host/overlay.py': new URL('./board/tanren_host/overlay.py', import.meta.url),
  'tanren_host/own_constants.py': new URL('./board/tanren_host/own_constants.py', import.meta.url),
  'tanren_host/parts.py': new URL('./board/tanren_host/parts.py', import.meta.url),
  'tanren_host/pooling.py': new URL('./board/tanren_host/pooling.py', import.meta.url),
  'tanren_host/preprocess.py': new URL('./board/tanren_host/preprocess.py', import.meta.url),
  'tanren_host/resample.py': new URL('./board/tanren_host/resample.py', import.meta.url),
  'tanren_host/resize.py': new URL('./board/tanren_host/resize.py', import.meta.url),
  'tanren_host/serve.py': new URL('./board/tanren_host/serve.py', import.meta.url),
  'tanren_host/session.py': new URL('./board/tanren_host/session.py', import.meta.url),
  'tanren_host/single.py': new URL('./board/tanren_host/single.py', import.meta.url),
  'tanren_host/tiles.py': new URL('./board/tanren_host/tiles.py', import.meta.url),
  'tanren_host/yolact.py': new URL('./board/tanren_host/yolact.py', import.meta.url),
};

/** Sorted by name. */
export async function readBoardPrograms(): Promise<readonly BoardProgram[]> {
  return Promise.all(Object.entries(FILES).map(async ([name, url]) => ({ name, bytes: await readFile(url) })));
}
