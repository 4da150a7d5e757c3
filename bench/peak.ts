/** What was the most memory that this process held? */
import { readFile } from 'node:fs/promises';

/** Linux counts the parent's size in `maxRSS` where a process was forked from a large one: VmHWM is of this program alone. */
export async function readPeak(): Promise<number> {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes) * 1024;
}
