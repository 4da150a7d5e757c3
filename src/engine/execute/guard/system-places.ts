/** Which places belong to the system, so that every program may read them without saying so? docs/sandbox.md lists them. */

/** Folders with programs and libraries. */
export const SYSTEM_FOLDERS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/opt',
  '/nix/store',
  '/gnu/store',
];

/** What of /etc is in the sandbox: how libraries, names, fonts, certificates and language runtimes are found. A name that ends with * is a beginning. */
export const SYSTEM_SETTINGS: readonly string[] = [
  'ImageMagick-*',
  'OpenCL',
  'R',
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'fonts',
  'glvnd',
  'group',
  'java*',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'locale.alias',
  'localtime',
  'magic',
  'mime.types',
  'nsswitch.conf',
  'passwd',
  'perl',
  'pki',
  'protocols',
  'python*',
  'services',
  'ssl',
  'timezone',
  'vulkan',
];

/** And, for a stage that may use the network. */
export const NETWORK_SETTINGS: readonly string[] = ['gai.conf', 'host.conf', 'hosts', 'resolv.conf'];

export const DEVICES: readonly string[] = ['full', 'null', 'random', 'tty', 'urandom', 'zero'];

/** Facts about the machine's processors, which numerical libraries ask for. */
export const MACHINE_FACTS = '/sys/devices/system';

/** What a traced program may read: all of the above, and the kernel's own files. */
export const READABLE: readonly string[] = [
  ...SYSTEM_FOLDERS,
  '/etc',
  '/proc',
  '/run/systemd/resolve',
  '/sys',
  '/dev/fd',
  '/dev/ptmx',
  '/dev/pts',
  '/dev/shm',
  ...DEVICES.map(name => `/dev/${name}`),
];

/** What it may write to. */
export const WRITABLE: readonly string[] = [
  '/proc',
  '/dev/fd',
  '/dev/ptmx',
  '/dev/pts',
  '/dev/shm',
  ...DEVICES.map(name => `/dev/${name}`),
];

/** Where programs put files that nobody keeps: in the sandbox, each run has its own. */
export const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp'];

/** Is `path` one of the places, or below one? Both are absolute and without `..`. */
export function isAmong(places: readonly string[], path: string): boolean {
  return places.some(place => path === place || path.startsWith(place === '/' ? '/' : `${place}/`));
}
