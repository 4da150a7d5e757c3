/** Compares the placement that a runner reports with the device that the stage requires. */
import type { Placement } from '../device/runner-identity.js';
import type { ExternalParams } from '../device/runner-params.js';

/** The reason if a placement is a fallback to the CPU (or to another device); otherwise undefined. */
export function findFallback(
  placement: Placement,
  { device, minDeviceShare }: Pick<ExternalParams, 'device' | 'minDeviceShare'>,
): string | undefined {
  const total = placement.reduce((sum, { nodes }) => sum + nodes, 0);
  const own = placement.reduce((sum, share) => sum + (share.device === device ? share.nodes : 0), 0);
  if (own > 0 && own >= minDeviceShare * total) return undefined;
  const where = placement.map(({ device: kind, provider, nodes }) => `${nodes} on the ${kind.toUpperCase()} (${provider})`).join(', ');
  const wanted = own === 0 ? 'no node' : `only ${own} of ${total} nodes (expected at least ${Math.ceil(minDeviceShare * total)})`;
  return `${wanted} ran on the ${device.toUpperCase()}: ${where}`;
}
