/** Compares outputs behind selections a second time, with the selection of the reference in both models, part by part. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSelectedComparer, type SelectedComparer } from '../../src/quant/compare/compare-selected.js';
import { findSelections, type HeldSelections, holdSelections } from '../../src/quant/compare/held-selections.js';
import type { SelectedErrors } from '../../src/quant/compare/selected-errors.js';
import { fitsInput, listModelInputs, type ModelInput, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import type { VerifyJob } from './params.js';
import { fitInputs, pairOf } from './part-models.js';

export interface Selections {
  /** The outputs of a part that depend on a selection: the shapes of both sides may differ. */
  outputsOf(part: string): Promise<ReadonlySet<string>>;
  add(part: string, inputs: PartValuesByName): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors): Promise<void>;
  /** The parts in which something was compared. */
  conclude(): readonly SelectedErrors[];
  close(): Promise<void>;
}

interface OpenPart {
  readonly held: HeldSelections;
  readonly comparer: SelectedComparer;
  /** Inputs of the reference. */
  readonly wanted: readonly ModelInput[];
  samples: number;
  failed: boolean;
}

/** Models of parts, run on this machine, can be changed to use positions of the other side. Parts are opened when they are first compared. */
export function openSelections(job: VerifyJob): Selections {
  const { runner, reference, candidate, optimization } = job.params;
  const canHold = runner === 'cpu' && reference !== 'captured' && reference !== 'whole' && candidate !== 'whole';
  const parts = new Map<string, OpenPart | undefined>();

  const open = async (part: string): Promise<OpenPart | undefined> => {
    if (!canHold) return undefined;
    if (!parts.has(part)) parts.set(part, await openPart(part));
    return parts.get(part);
  };

  async function openPart(part: string): Promise<OpenPart | undefined> {
    const paths = pairOf(job, part);
    const original = await readModel(paths.reference);
    const held = findSelections(original).length === 0 ? undefined : holdSelections(original, await readModel(paths.candidate));
    if (held === undefined) return undefined;
    const comparer = await openSelectedComparer(held, { optimization, memoryArena: 'none' });
    return { held, comparer, wanted: listModelInputs(original), samples: 0, failed: false };
  }

  async function compare(opened: OpenPart, feeds: NamedTensors): Promise<void> {
    const fits = opened.wanted.every(input => {
      const tensor = feeds[input.name];
      return tensor !== undefined && fitsInput(input, tensor);
    });
    if (!fits || opened.failed) return;
    try {
      await opened.comparer.compare(feeds);
      opened.samples++;
    } catch (error) {
      // Selections inside of branches and loops stay those of each side, and may not fit the positions of the other.
      if (!(error instanceof RuntimeError) || error.code !== 'model-run') throw error;
      opened.failed = true;
      job.context.log(
        'warning',
        `outputs behind selections are not compared with equal selections, because the candidate cannot run so: ${error.message}`,
      );
    }
  }

  return {
    outputsOf: async part => new Set((await open(part))?.held.outputs),
    async add(part, inputs) {
      const opened = await open(part);
      if (opened === undefined || Object.values(inputs).some(({ dims }) => dims[0] === 0)) return;
      await compare(opened, fitInputs(inputs, opened.wanted));
    },
    async addFeeds(part, feeds) {
      const opened = await open(part);
      if (opened !== undefined) await compare(opened, feeds);
    },
    conclude: () =>
      [...parts].flatMap(([part, opened]) =>
        opened === undefined || opened.failed || opened.samples === 0 ? [] : [opened.comparer.conclude(part)],
      ),
    async close() {
      for (const opened of parts.values()) await opened?.comparer.close();
    },
  };
}
