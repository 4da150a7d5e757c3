/** The part store of a run whose results are only compared. Every part is computed and none is stored. */
import { join } from 'node:path';
import { digestJson } from '../../../base/digest.js';
import { getDefined } from '../../../base/invariant.js';
import type { CodeRoot } from '../../action/code/pinned-code.js';
import type { WarningCode } from '../../model/events.js';
import { digestPath } from '../../store/files/digest-file.js';
import { statPath } from '../../store/files/stamp.js';
import { makePartManifest, nextTicket, type PartService, type RunPartStore } from './part-service.js';

export interface ComparingRun {
  readonly plugin: CodeRoot;
  /** Called for each file that differs from the stored one. */
  readonly differs: (path: string) => void;
  readonly warn: (code: WarningCode, message: string) => void;
}

export function createComparingPartStore(service: PartService, { plugin, differs, warn }: ComparingRun): RunPartStore {
  const requested = new Map<string, { readonly key: string; readonly part: string }>();
  return {
    async find(question) {
      const ticket = nextTicket(service);
      requested.set(ticket, { key: digestJson(await makePartManifest(service, question, plugin)), part: question.name });
      return { kind: 'missing', ticket };
    },
    async keep(ticket, folder, names) {
      const { key, part } = getDefined(requested.get(ticket), ticket);
      const record = await service.records.find(key);
      const before = record === undefined || record === 'damaged' ? undefined : record.results.at(-1)?.outputs;
      for (const name of names) {
        const path = join(folder, name);
        const digest = await digestPath(path, statPath(path)?.sizeBytes ?? 0);
        if (before !== undefined && before[name]?.digest !== digest) differs(`part ${part}: ${name}`);
      }
      return Object.fromEntries(names.map(name => [name, join(folder, name)]));
    },
    drop(_ticket, why) {
      if (why !== '') warn('part-not-kept', why);
    },
    release: () => undefined,
    used: new Set(),
  };
}
