/** The identity of this machine, for the keys of stages that measure. */

export function identifyHost(): string {
  // Loaded here: a build with nothing to do takes less time than this module.
  const { arch, cpus, hostname, platform } = process.getBuiltinModule('node:os');
  return [hostname(), platform(), arch(), cpus()[0]?.model ?? 'unknown', cpus().length].join(' / ');
}
