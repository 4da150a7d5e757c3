/** On which machine was something measured? Only for the keys of stages that measure. */
import { arch, cpus, hostname, platform } from 'node:os';

export function identifyHost(): string {
  return [hostname(), platform(), arch(), cpus()[0]?.model ?? 'unknown', cpus().length].join(' / ');
}
