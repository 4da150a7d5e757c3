/** What `verify` computes besides outputs and detections: errors of inner values, and errors with the selection of the reference. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import type { PartErrors } from '../../src/quant/compare/propagated-error.js';
import type { SelectedErrors } from '../../src/quant/compare/selected-errors.js';
import type { NamedTensors } from '../../src/runtime/session/model-inputs.js';
import { nameSample } from '../../src/stage/name-sample.js';
import type { VerifyJob } from './params.js';
import { type OutputForms, openSelections } from './selections.js';
import { openValueErrors } from './value-errors.js';

export interface PartFigures {
  /** Undefined if only outputs are compared. */
  readonly propagated: readonly PartErrors[] | undefined;
  readonly selections: readonly SelectedErrors[];
}

export interface AddedSample {
  /** The sample, which errors name. */
  readonly label: string;
  /** 'selections': `addValues` has its inner values already. */
  readonly what: 'all' | 'selections';
}

export interface PartComparer {
  /** Compares a part on its input, now or later. */
  add(part: string, inputs: PartValuesByName, sample: AddedSample): Promise<void>;
  /** Compares the inner values of a part on its input. Samples of one part are added in their order. `label` is the sample, which errors name. */
  addValues(part: string, inputs: PartValuesByName, label: string): Promise<void>;
  /** Whether `addValues` is of use before the detectors are open: a second thread compares. */
  wantsMore(): boolean;
  /** The same for any model, by input names. */
  addFeeds(part: string, feeds: NamedTensors, label: string): Promise<void>;
  /** Opens the comparison of a part with equal selections. @returns the outputs whose shapes may differ, because they depend on what each side selects. */
  openSelections(part: string, forms: OutputForms): Promise<ReadonlySet<string>>;
  /** Compares what waits. No part can be added then. */
  finish(): Promise<void>;
  /** After `finish`. `differing`: values of which the shapes differ. */
  conclude(differing: Pick<ReadonlySet<string>, 'has'>): PartFigures;
  close(): Promise<void>;
}

export function openPartComparer(job: VerifyJob): PartComparer {
  const [values, selections] = [openValueErrors(job), openSelections(job)];
  return {
    async add(part, inputs, { label, what }) {
      if (what === 'all') await values.add(part, inputs, label);
      await nameSample(label, () => selections.add(part, inputs));
    },
    async addFeeds(part, feeds, label) {
      await values.addFeeds(part, feeds, label);
      await nameSample(label, () => selections.addFeeds(part, feeds));
    },
    addValues: values.add,
    wantsMore: values.wantsMore,
    openSelections: (part, forms) => selections.open(part, forms),
    finish: values.finish,
    conclude: differing => ({ propagated: values.conclude(), selections: selections.conclude(differing) }),
    async close() {
      await values.close();
      await selections.close();
    },
  };
}
