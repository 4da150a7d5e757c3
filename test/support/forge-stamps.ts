/** Makes the state of a project believe that nothing was touched: what a write that leaves a file's stamp as it was looks like to a build. */
import { isAbsolute, join } from 'node:path';
import type { RecordedStamps } from '../../src/engine/store/files/recorded-stamps.js';
import { type Stamp, stampOf, stampOfLink } from '../../src/engine/store/files/stamp.js';
import { publishedSignature } from '../../src/engine/store/published.js';
import { loadState, openStateWriter } from '../../src/engine/store/state-log.js';

/** Every stamp in the state of pipeline.yaml becomes that of now; digests stay. Outputs are files that are called like their port. */
export function forgeStamps(folder: string): void {
  const path = join(folder, 'cache/state/pipeline.log');
  const loaded = loadState(path);
  const writer = openStateWriter(path, loaded);
  const now = (file: string): Stamp => stampOf(isAbsolute(file) ? file : join(folder, file)) as Stamp;
  for (const [file, { digest }] of [...loaded.state.files]) writer.stampFile(file, { stamp: now(file), digest });
  for (const [module, code] of [...loaded.state.code]) writer.stampCode(module, { ...code, stamps: refresh(code.stamps) });
  for (const [id, accepted] of [...loaded.state.stages]) {
    const own = join(folder, 'artifacts', id);
    const outputs = Object.entries(accepted.outputs).map(([port, artifact]) => {
      const signature = publishedSignature(join(own, port), artifact.kind) ?? '';
      return [port, { ...artifact, signature }] as const;
    });
    writer.acceptStage(id, { ...accepted, outputs: Object.fromEntries(outputs), folderStamp: stampOfLink(own) });
  }
  writer.flush();
}

function refresh(stamps: RecordedStamps): RecordedStamps {
  const renew = (pairs: readonly string[], stamp: (path: string) => string): readonly string[] =>
    pairs.map((entry, index) => (index % 2 === 0 ? entry : stamp(pairs[index - 1] ?? '')));
  return { ...stamps, itself: renew(stamps.itself, stampOfLink), followed: renew(stamps.followed, stampOf) };
}
