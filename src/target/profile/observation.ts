/** Observations: what a board, or a vendor's log of one, showed. */

import { anyList, anyOf, anyText, constant, list, mapOf, matching, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { INTEGER_SET_SCHEMA } from './integer-set.js';

const OPERATOR_SCHEMA = object(
  {
    kind: constant('operator'),
    ops: list(text(), "Operators; '*' means all. 'DepthwiseConv' is a Conv with one input channel per group, 'Conv' any other Conv."),
  },
  {
    attributes: mapOf(list(anyOf([anyText(), number()])), {
      description: "Attributes of which every element is one of the values. An absent attribute has the value ''.",
    }),
    /** Ranks of the first input: "5" or "5-9". */
    rank: INTEGER_SET_SCHEMA,
    only: oneOf(['smaller', 'activations'], 'smaller: an output size is below that of the input. activations: no input is a constant.'),
  },
);

export type ObservedOperator = FromSchema<typeof OPERATOR_SCHEMA>;

const FORM_SCHEMA = object({
  kind: constant('form'),
  form: oneOf(
    ['com.microsoft', 'per-channel', 'activation-scale', 'weight-scale', 'product-bias', 'float-tail'],
    'com.microsoft: Q and DQ of that domain. per-channel: a vector of several scales. activation-scale, weight-scale: no power of two. product-bias: int32 with the scale input · weight. float-tail: operators in float before an output of the model.',
  ),
});

export type ObservedForm = FromSchema<typeof FORM_SCHEMA>;

export type QuantizationForm = ObservedForm['form'];

export const OBSERVATION_SCHEMA = object(
  {
    name: text('Kebab-case; unique in its profile.'),
    subject: anyOf([OPERATOR_SCHEMA, FORM_SCHEMA]),
    outcome: oneOf(
      ['npu', 'cpu', 'mixed', 'whole-model', 'wrong', 'unreliable', 'fails'],
      'npu, cpu: it ran there. mixed: on both, by what else differed. whole-model: no part of the model ran on the NPU. wrong: it ran on the NPU and computed wrong values. unreliable: it did in some models. fails: it could not be compiled.',
    ),
    versions: list(text(), "Versions of the vendor's software."),
    dtypes: list(text()),
    date: matching(/^\d{4}(-\d{2}){0,2}$/, 'a date such as "2026-09-06", "2026-09" or "2026"', 'Of the observation or its publication.'),
    source: text(),
    note: text(),
  },
  {
    devices: list(text(), 'Absent: the source names no device, so that the observation is only a warning.'),
    fixIts: anyList(text(), 'Names of `rewrite` rules.'),
  },
);

/** It is claimed for the devices, versions and data types that were seen. For a later version it is only a warning; for an earlier one it says nothing. */
export type Observation = FromSchema<typeof OBSERVATION_SCHEMA>;

export type Outcome = Observation['outcome'];

/** An observation for a chosen target. */
export interface Observed extends Observation {
  /** 'exactly': on the chosen device and version. 'nearby': on a device without a name, or in earlier versions only. */
  readonly seen: 'exactly' | 'nearby';
}

/** The observations for a choice. */
export function chooseObservations(
  all: readonly Observation[],
  versions: readonly string[],
  choice: { readonly device: string; readonly dtype: string; readonly version: string },
): readonly Observed[] {
  return all.flatMap(one => {
    const seen = findNearness(one, versions, choice);
    return seen === undefined ? [] : [{ ...one, seen }];
  });
}

function findNearness(
  one: Observation,
  versions: readonly string[],
  choice: { readonly device: string; readonly dtype: string; readonly version: string },
): Observed['seen'] | undefined {
  if (!one.dtypes.includes(choice.dtype) || one.devices?.includes(choice.device) === false) return undefined;
  const age = (version: string): number => versions.indexOf(version);
  if (one.versions.includes(choice.version)) return one.devices === undefined ? 'nearby' : 'exactly';
  return one.versions.every(version => age(version) < age(choice.version)) ? 'nearby' : undefined;
}

/** "phx-hpt, software 1.7.1, xint8, 2026". */
export function describeSeen({ devices = ['an unnamed device'], versions, dtypes, date }: Observation): string {
  return `${devices.join(' and ')}, software ${versions.join(', ')}, ${dtypes.join(', ')}, ${date}`;
}
