/** System paths that every program may read or write without a declaration. docs/sandbox.md lists them. */

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

/** Entries of /etc that are visible in the sandbox, for libraries, names, fonts, certificates and language runtimes. A name that ends with * is a prefix. */
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

/** Further entries of /etc for a stage that may use the network. */
export const NETWORK_SETTINGS: readonly string[] = ['gai.conf', 'host.conf', 'hosts', 'resolv.conf'];

export const DEVICES: readonly string[] = ['full', 'null', 'random', 'tty', 'urandom', 'zero'];

/** The folder behind shared memory of programs: a file system in memory, which may also hold projects. */
export const SHARED_MEMORY = '/dev/shm';

/** Facts about the machine's processors, which numerical libraries query. */
export const MACHINE_FACTS = '/sys/devices/system';

/** Paths that a traced program may read: all of the above, and the kernel's own files. */
export const READABLE: readonly string[] = [
  ...SYSTEM_FOLDERS,
  '/etc',
  '/proc',
  '/run/systemd/resolve',
  '/sys',
  '/dev/fd',
  '/dev/ptmx',
  '/dev/pts',
  SHARED_MEMORY,
  ...DEVICES.map(name => `/dev/${name}`),
];

/** Paths that it may write to. */
export const WRITABLE: readonly string[] = [
  '/proc',
  '/dev/fd',
  '/dev/ptmx',
  '/dev/pts',
  SHARED_MEMORY,
  ...DEVICES.map(name => `/dev/${name}`),
];

/** Folders for temporary files of programs. In the sandbox each run has its own. */
export const TEMPORARY: readonly string[] = ['/tmp', '/var/tmp'];

/** Whether `path` is one of the places or below one. Both must be absolute and without `..`. */
export function isAmong(places: readonly string[], path: string): boolean {
  return places.some(place => path === place || path.startsWith(place === '/' ? '/' : `${place}/`));
}
