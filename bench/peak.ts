/** The peak memory of this process. */
import { readFile } from 'node:fs/promises';

/** In bytes. On Linux `maxRSS` includes the memory of a large parent process that was forked; VmHWM covers this program only. */
export async function readPeak(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
