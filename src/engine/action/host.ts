/** The identity of this machine, for the keys of stages that measure. */

export function identifyHost(): string {
  // The module is loaded only here, because loading it takes longer than a no-op build.
  const { arch, cpus, hostname, platform } = process.getBuiltinModule('node:os');
  return [hostname(), platform(), arch(), cpus()[0]?.model ?? 'unknown', cpus().length].join(' / ');
}
