/** What each preset is modeled on, and where it differs from its model. docs/numerics.md has these facts as tables. */
import type { PresetName } from './scheme.js';

/** By the short names that the tables use. */
export const PRESET_DIFFERENCES = {
  align: 'inputs of a Concat keep their own scales; the model gives them that of the output (AlignConcat)',
  equalization: 'the model equalizes layers by default; here this is a rewrite before calibration',
  forms: 'the model replaces activation functions, pools and Split by forms for DPUs; here these are rewrites',
  histogram: 'the percentile comes from the sketch, in the model from a histogram of 2,048 bins',
  narrow: 'weights and biases can be −128; the model clips them to −127',
  operators: 'three more operators that only move data are quantized',
  'per-channel': 'the model has one weight scale per tensor',
  samples: 'samples stay float32; the model rounds them to float16 before calibration',
} as const;

export interface PresetOrigin {
  readonly model: string;
  readonly version: string;
  readonly differences: readonly (keyof typeof PRESET_DIFFERENCES)[];
}

const ORT: PresetOrigin = { model: 'onnxruntime.quantization, QDQ', version: '1.30', differences: ['operators'] };
const quark = (name: string, ...differences: PresetOrigin['differences']): PresetOrigin => ({
  model: `AMD Quark, ${name}`,
  version: '0.11',
  differences,
});

export const PRESET_ORIGINS: Readonly<Record<PresetName, PresetOrigin>> = {
  u8s8: ORT,
  s8s8: ORT,
  u8u8: ORT,
  a8w8: quark('A8W8', 'align', 'equalization'),
  a16w8: quark('A16W8', 'align', 'equalization'),
  xint8: quark('XINT8', 'equalization', 'forms', 'narrow', 'samples'),
  'u8s8-per-channel': ORT,
  's8s8-per-channel': ORT,
  's8s8-aaws': quark('S8S8_AAWS', 'equalization', 'histogram'),
  'a8w8-per-channel': quark('A8W8', 'align', 'equalization', 'per-channel'),
  'a8w8-2': quark('A8W8 of QConfig', 'align', 'histogram'),
  'a16w8-per-channel': quark('A16W8', 'align', 'equalization', 'per-channel'),
  'a16w8-2': quark('A16W8 of QConfig', 'align', 'histogram'),
  'xint8-2': quark('XINT8 of QConfig', 'forms', 'narrow', 'samples'),
};

/** "xint8: AMD Quark, XINT8, version 0.11." for every preset. */
export function describePresets(): string {
  return Object.entries(PRESET_ORIGINS)
    .map(([name, { model, version }]) => `${name}: ${model}, version ${version}.`)
    .join(' ');
}
