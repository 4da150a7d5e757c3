/** Latencies of networks on NPUs that vendors and users published, each with its source, and the work of these networks. */
import { getDefined } from '../../../base/invariant.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import type { Source } from '../../report/finding.js';
import { TargetError } from '../../report/target-error.js';
import { type LatencyPoint, NETWORKS_SCHEMA, type NetworkWork, POINTS_SCHEMA, type PublishedPoint, unpackUnits } from './latency-point.js';
import networks from './networks.json' with { type: 'json' };
import points from './points.json' with { type: 'json' };

const networksReader = readerOf(NETWORKS_SCHEMA);
const pointsReader = readerOf(POINTS_SCHEMA);

export interface Published {
  readonly points: readonly PublishedPoint[];
  readonly sources: Readonly<Record<string, Source>>;
  readonly networks: readonly NetworkWork[];
}

export function readPublished(): Published {
  const read = readJsonShape(pointsReader, points as Json);
  const work = readJsonShape(networksReader, networks as Json);
  for (const one of [read, work])
    if (one.kind === 'problems')
      throw new TargetError('profile-malformed', `the published latencies are damaged: ${formatJsonProblems(one.problems).join('; ')}`);
  if (read.kind !== 'ok' || work.kind !== 'ok') throw new TargetError('profile-malformed', 'the published latencies are damaged');
  return { points: read.value.points, sources: read.value.sources, networks: work.value.networks };
}

/** The points that name device and version, with the units that run there. */
export function listPublishedPoints({ points: all, networks: work }: Published, device: string): readonly LatencyPoint[] {
  return all.flatMap(({ network, device: on, software, ms, source }) => {
    if (on !== device || software === undefined) return [];
    const placed = work.find(
      one => one.network === network && one.targets.some(target => target.device === device && target.software.includes(software)),
    );
    const { units } = getDefined(placed, `the work of ${network} on ${device}, version ${software}`);
    return [{ network, device, software, ms, source, units: unpackUnits(units) }];
  });
}
