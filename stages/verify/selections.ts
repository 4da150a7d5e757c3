/** Compares outputs behind selections a second time, with the selection of the reference in both models, part by part. */

import type { SplitKinds } from '../../src/detection/compare/compare-parts.js';
import type { DetectorPart } from '../../src/detection/detector/detector-part.js';
import { type PartValuesByName, toFloats } from '../../src/detection/detector/part-runner.js';
import { OnnxError } from '../../src/onnx/ir/onnx-error.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { openSelectedComparer, type SelectedComparer } from '../../src/quant/compare/compare-selected.js';
import { findSelections, type HeldSelections, holdSelections } from '../../src/quant/compare/held-selections.js';
import type { SelectedErrors } from '../../src/quant/compare/selected-errors.js';
import { fitsInput, listModelInputs, type ModelInput, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import type { VerifyJob } from './params.js';
import { fitInputs, pairOf } from './part-models.js';

/** How outputs of a part are compared. */
export interface OutputForms {
  /** The outputs that are compared, as numbers. */
  readonly toFloats: (outputs: NamedTensors) => PartValuesByName;
  readonly splitKinds: SplitKinds;
}

/** The outputs of a detector's part that its host reads; integers are numbers. */
export function formsOf({ name, values }: DetectorPart, splitKinds: SplitKinds): OutputForms {
  const read = new Set(values.outputs);
  return {
    toFloats: outputs => toFloats(name, Object.fromEntries(Object.entries(outputs).filter(([output]) => read.has(output)))),
    splitKinds,
  };
}

export interface Selections {
  /** Opens a part. @returns the outputs that depend on a selection: the shapes of both sides may differ. */
  open(part: string, forms: OutputForms): Promise<ReadonlySet<string>>;
  /** Compares a part that is open on its input. */
  add(part: string, inputs: PartValuesByName): Promise<void>;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors): Promise<void>;
  /** The parts in which something was compared. Outputs that were not compared on every sample have no figures. `differing`: values of which the shapes differ. */
  conclude(differing: Pick<ReadonlySet<string>, 'has'>): readonly SelectedErrors[];
  close(): Promise<void>;
}

interface OpenPart {
  readonly comparer: SelectedComparer;
  /** Inputs of the reference. */
  readonly wanted: readonly ModelInput[];
  /** Samples that were given, and those that were compared. */
  given: number;
  samples: number;
  failed: boolean;
}

/** Models of parts, run on this machine, can be changed to use positions of the other side. */
export function openSelections(job: VerifyJob): Selections {
  const { runner, reference, candidate, optimization } = job.params;
  const canHold = runner === 'cpu' && reference !== 'captured' && reference !== 'whole' && candidate !== 'whole';
  const parts = new Map<string, OpenPart>();

  const warn = (reason: string): void =>
    job.context.log('warning', `outputs behind selections are not compared with equal selections, because ${reason}`);

  const openComparer = async (held: HeldSelections, { toFloats, splitKinds }: OutputForms): Promise<SelectedComparer | undefined> => {
    try {
      return await openSelectedComparer(held, { optimization, memoryArena: 'none', toFloats, splitOutputs: splitKinds });
    } catch (error) {
      if (!isRefused(error)) throw error;
      warn(`a model with the positions as inputs or outputs cannot be opened: ${error.message}`);
      return undefined;
    }
  };

  async function compare(part: OpenPart, feeds: NamedTensors): Promise<void> {
    part.given++;
    if (part.failed) return;
    const misfit = part.wanted.find(input => {
      const tensor = feeds[input.name];
      return tensor === undefined || !fitsInput(input, tensor);
    });
    if (misfit !== undefined) {
      part.failed = true;
      return warn(`a sample does not fit the input "${misfit.name}" of the model in one run`);
    }
    try {
      await part.comparer.compare(feeds);
      part.samples++;
    } catch (error) {
      // Selections inside of branches and loops stay those of each side, and may not fit the positions of the other.
      if (!(error instanceof RuntimeError) || error.code !== 'model-run') throw error;
      part.failed = true;
      warn(`the candidate cannot run so: ${error.message}`);
    }
  }

  return {
    async open(part, forms) {
      if (!canHold) return new Set();
      const paths = pairOf(job, part);
      const original = await readModel(paths.reference);
      const held = findSelections(original).length === 0 ? undefined : holdSelections(original, await readModel(paths.candidate));
      const comparer = held === undefined ? undefined : await openComparer(held, forms);
      if (held === undefined || comparer === undefined) return new Set();
      parts.set(part, { comparer, wanted: listModelInputs(original), given: 0, samples: 0, failed: false });
      return new Set([...held.outputs, ...held.followers]);
    },
    async add(part, inputs) {
      const opened = parts.get(part);
      if (opened === undefined || Object.values(inputs).some(({ dims }) => dims[0] === 0)) return;
      await compare(opened, fitInputs(inputs, opened.wanted));
    },
    async addFeeds(part, feeds) {
      const opened = parts.get(part);
      if (opened !== undefined) await compare(opened, feeds);
    },
    conclude: differing =>
      [...parts].flatMap(([part, { comparer, given, samples, failed }]) =>
        failed || samples === 0 ? [] : [comparer.conclude(part, given, differing)],
      ),
    async close() {
      for (const { comparer } of parts.values()) await comparer.close();
    },
  };
}

/** Whether ONNX Runtime or the size of a file refuses a model. */
function isRefused(error: unknown): error is RuntimeError | OnnxError {
  return (error instanceof RuntimeError && error.code === 'model-load') || (error instanceof OnnxError && error.code === 'model-too-large');
}
