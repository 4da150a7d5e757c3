/** Formatting of sizes and durations for people. */

/** "512 B", "3.4 kB", "170 MB": decimal units, two or three digits. */
export function formatBytes(sizeBytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = sizeBytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** "35 ms", "4.2 s", "3 min 12 s". */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)} s`;
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
