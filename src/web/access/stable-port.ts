/** The port of a project's page: derived from its folder and pipeline, so that a bookmarked address stays valid. */
import { digestBytes } from '../../base/digest.js';

/** Registered ports below those that systems give to outgoing connections. */
const [FIRST, COUNT] = [20_000, 12_000];

/** Further ports, in order, for a port that another program uses. */
const TRIES = 8;

/** The ports to try, in order. Equal folders and pipelines give equal ports. */
export function portsOf(projectFolder: string, pipeline: string): readonly number[] {
  const start = Number.parseInt(digestBytes(`${projectFolder}\n${pipeline}`).slice(0, 8), 16) % COUNT;
  return Array.from({ length: TRIES }, (_, index) => FIRST + ((start + index) % COUNT));
}
