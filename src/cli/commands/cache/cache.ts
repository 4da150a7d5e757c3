/** `tanren cache stats | gc | verify`: reports what the cache holds, removes what is no longer needed, and checks its integrity. */

import { countOf } from '../../../base/text/count-of.js';
import { formatBytes, formatDuration } from '../../../base/text/format.js';
import { listSome } from '../../../base/text/list-some.js';
import { planGarbage, sizeOf, sizeOfRest } from '../../../engine/store/maintenance/collect-garbage.js';
import { type Inventory, takeInventory } from '../../../engine/store/maintenance/inventory.js';
import { collectGarbage, type Users, verifyCache } from '../../../engine/store/maintenance/maintain-cache.js';
import { type CacheChoice, cacheOf, findWanted, interruptible, usersOf } from '../../pipeline/open-cache.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { columnWidths, formatRow } from '../../terminal/text-table.js';

export interface CacheOptions extends CacheChoice {
  readonly json: boolean;
}

export async function runCacheStats(options: CacheOptions): Promise<ExitCode> {
  const { json } = options;
  const console = makeConsole({ json });
  const cache = cacheOf(options);
  const inventory = takeInventory(cache);
  const unnamed = planGarbage(inventory, {}, 0);
  const groups = groupRecords(inventory);
  const restBytes = sizeOfRest(cache);
  if (json) {
    const { blobs, records } = inventory;
    const sizes = {
      sizeBytes: sizeOf(inventory) + restBytes,
      blobs: blobs.size,
      records: records.length,
      unnamedBytes: unnamed.freedBytes,
    };
    console.json({ folder: cache.root, ...sizes, by: groups });
    return EXIT.built;
  }
  console.line(`${cache.root}: ${formatBytes(sizeOf(inventory) + restBytes)}`);
  const rows = [
    ...groups.map(({ kind, name, records, sizeBytes, accepted }) => [
      `${kind} ${name}`,
      `${records}`,
      `${formatBytes(sizeBytes)}${accepted === 0 ? '' : `, ${accepted} in use now`}`,
    ]),
    ['states, logs, plans', '–', formatBytes(restBytes)],
  ];
  const widths = columnWidths(rows);
  for (const row of rows) console.line(`  ${formatRow(row, widths, [false, true, false])}`);
  if (unnamed.freedBytes > 0) console.line(`${formatBytes(unnamed.freedBytes)} belong to no result: tanren cache gc removes them`);
  return EXIT.built;
}

interface RecordGroup {
  readonly kind: 'stage' | 'part';
  readonly name: string;
  readonly records: number;
  /** A blob that several results use counts once per group. */
  readonly sizeBytes: number;
  readonly accepted: number;
}

/** Groups the records by plugin and by part, the largest group first. */
function groupRecords({ records, blobs }: Inventory): readonly RecordGroup[] {
  return [...groupBy(records).values()]
    .map(members => {
      const [first] = members;
      const named = new Set(members.flatMap(member => [...member.blobs]));
      const blobBytes = [...named].reduce((sum, digest) => sum + (blobs.get(digest) ?? 0), 0);
      return {
        kind: first?.of.kind ?? 'stage',
        name: first?.of.name ?? '',
        records: members.length,
        sizeBytes: blobBytes + members.reduce((sum, member) => sum + member.sizeBytes, 0),
        accepted: members.filter(({ accepted }) => accepted).length,
      };
    })
    .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.name < b.name ? -1 : 1));
}

function groupBy(records: Inventory['records']): Map<string, Inventory['records'][number][]> {
  const groups = new Map<string, Inventory['records'][number][]>();
  for (const record of records) {
    const name = `${record.of.kind} ${record.of.name}`;
    groups.set(name, [...(groups.get(name) ?? []), record]);
  }
  return groups;
}

export async function runCacheGc(
  options: CacheOptions & { readonly maxSize?: number; readonly maxAge?: number; readonly dryRun: boolean },
): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const cache = cacheOf(options);
  const limits = { maxSizeBytes: options.maxSize, maxAgeMs: options.maxAge };
  const nowMs = Date.now();
  const users = usersOf(options);
  const mode = options.dryRun ? 'dry-run' : 'remove';
  const pins = await findWanted(options, console);
  if (pins === undefined) return EXIT.failed;
  const wanted = { users, pins };
  const plan = await interruptible(console, ports => collectGarbage(cache, limits, mode, nowMs, ports, wanted));
  if (plan === undefined) return EXIT.interrupted;
  const { records, blobs, damaged, foreign, freedBytes, keptBytes } = plan;
  if (options.json) {
    console.json({
      dryRun: options.dryRun,
      records: records.length,
      blobs: blobs.length,
      damaged: damaged.length,
      foreign,
      freedBytes,
      keptBytes,
    });
    return EXIT.built;
  }
  const verb = options.dryRun ? 'would remove' : 'removed';
  const oldest = records.at(0);
  const age = oldest === undefined ? '' : `, the oldest unused for ${formatDuration(nowMs - oldest.lastUsedMs)}`;
  console.line(`${verb} ${countOf(records.length, 'result')} and ${countOf(blobs.length, 'blob')}, ${formatBytes(freedBytes)}${age}`);
  if (damaged.length > 0) console.line(`${verb} ${countOf(damaged.length, 'damaged or unfinished file')}`);
  sayForeign(cache.root, foreign, console);
  console.line(`${formatBytes(keptBytes)} ${options.dryRun ? 'would stay' : 'stay'}`);
  if (options.maxSize !== undefined && keptBytes > options.maxSize)
    console.line(`more than ${formatBytes(options.maxSize)}: ${describeRest(users)}`);
  return EXIT.built;
}

/** Reports files in the folder that Tanren did not write. They are not changed. */
function sayForeign(root: string, paths: readonly string[], console: Console): void {
  if (paths.length > 0) console.line(`kept in ${root}, because no build wrote it: ${listSome(paths)}`);
}

function describeRest(users: Users): string {
  if (users === 'checkouts') return 'the rest is pinned, or so new that a build may still need it';
  return 'the rest are current results of the pipelines and lock files; tanren clean --all removes those too';
}

export async function runCacheVerify(options: CacheOptions): Promise<ExitCode> {
  const { json } = options;
  const console = makeConsole({ json });
  const cache = cacheOf(options);
  const check = await interruptible(console, ports =>
    verifyCache(cache, () => undefined, ports, { users: usersOf(options), nowMs: Date.now() }),
  );
  if (check === undefined) return EXIT.interrupted;
  const { blobs, records, foreign, damagedBlobs, damagedRecords, incompleteRecords } = check;
  const whole = damagedBlobs.length + damagedRecords.length + incompleteRecords.length === 0;
  if (json) console.json(check);
  else {
    for (const digest of damagedBlobs) console.line(`removed blob ${digest}: its bytes do not match this digest`);
    for (const path of damagedRecords) console.line(`removed ${path}: it is invalid`);
    for (const key of incompleteRecords) console.line(`result ${key} lacks a blob: a build that needs it makes it again`);
    sayForeign(cache.root, foreign, console);
    console.line(
      `${countOf(blobs, 'blob')} and ${countOf(records, 'record')}: ${whole ? 'all intact' : 'damaged ones were removed, and builds make them again when needed'}`,
    );
  }
  return whole ? EXIT.built : EXIT.failed;
}
