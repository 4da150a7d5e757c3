/** Did the model run where it was to run? What a runner says of its nodes, against what the stage wants. */
import type { Placement } from '../device/runner.js';
import type { ExternalParams } from '../device/runner-params.js';

/** Why a placement counts as a fall back to the CPU (or to another device); undefined where it does not. */
export function findFallback(
  placement: Placement,
  { device, minDeviceShare }: Pick<ExternalParams, 'device' | 'minDeviceShare'>,
): string | undefined {
  const total = placement.reduce((sum, { nodes }) => sum + nodes, 0);
  const own = placement.reduce((sum, share) => sum + (share.device === device ? share.nodes : 0), 0);
  if (own > 0 && own >= minDeviceShare * total) return undefined;
  const where = placement.map(({ device: kind, provider, nodes }) => `${nodes} on the ${kind.toUpperCase()} (${provider})`).join(', ');
  const wanted = own === 0 ? 'none' : `${own} of ${total}, at least ${Math.ceil(minDeviceShare * total)} are wanted,`;
  return `of its nodes ${wanted} ran on the ${device.toUpperCase()}: ${where}`;
}
