/** The work of the published networks as the compiler measures and places it: the content of src/target/estimate/published/networks.json. */
import { evaluate } from '../../src/runtime/session/evaluate.js';
import { compileModel } from '../../src/target/compile-model.js';
import { findPlacedWork } from '../../src/target/estimate/placed-work.js';
import { type NetworkWork, packUnits } from '../../src/target/estimate/published/latency-point.js';
import { readPublished } from '../../src/target/estimate/published/published-points.js';
import { chooseTarget, getBuiltInProfile } from '../../src/target/profile/choose-target.js';
import { PUBLISHED_NETWORKS } from './published-networks.js';

/** What AMD's table leaves blank is taken to run on the NPU, unless a board showed the opposite. */
export async function listNetworkWork(): Promise<string> {
  const { points } = readPublished();
  const networks: NetworkWork[] = [];
  for (const [network, make] of Object.entries(PUBLISHED_NETWORKS)) {
    const byUnits = new Map<string, NetworkWork>();
    const model = make();
    for (const { device, software } of points.filter(point => point.network === network)) {
      if (software === undefined) continue;
      const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { device, version: software, dtype: 'xint8' });
      const { report } = await compileModel(network, model, target, { evaluate, undocumented: 'npu', accept: 'quantized' });
      const units = packUnits(findPlacedWork(report) ?? []);
      const key = JSON.stringify(units);
      const known = byUnits.get(key)?.targets ?? [];
      byUnits.set(key, { network, targets: withTarget(known, device, software), units });
    }
    networks.push(...byUnits.values());
  }
  return formatNetworks(networks);
}

type Targets = NetworkWork['targets'];

function withTarget(targets: Targets, device: string, software: string): Targets {
  const own = targets.find(target => target.device === device)?.software ?? [];
  const added = { device, software: [...new Set([...own, software])].sort() };
  return [...targets.filter(target => target.device !== device), added];
}

/** One line per row of units, so that a difference is read easily. */
function formatNetworks(networks: readonly NetworkWork[]): string {
  const texts = networks.map(
    ({ network, targets, units }) =>
      `    {\n      "network": ${JSON.stringify(network)},\n      "targets": ${JSON.stringify(targets)},\n      "units": [\n${units
        .map(row => `        ${JSON.stringify(row)}`)
        .join(',\n')}\n      ]\n    }`,
  );
  return `{\n  "format": "tanren-network-work/1",\n  "networks": [\n${texts.join(',\n')}\n  ]\n}\n`;
}
